/* clatune/space.h - the space of configurations.
 *
 * A space has tuning parameters with listed values, and constraints over them. A *configuration* (clt_config) is the
 * mixed-radix number of its value positions in the cartesian product, the last parameter fastest: it depends on neither
 * constraints nor device, nobody owns it, and it can be stored, hashed and compared. Its *rank* is its number among the
 * valid configurations, 0 .. valid-1, in an order that is fixed for a space (not that of clt_config); ranks change with
 * the constraints and stay inside a run.
 *
 * No function walks the cartesian product: the constraint graph splits the parameters into groups, each enumerated as a
 * tree with early pruning, and the groups combine by arithmetic (chain of trees: Rasch, Schulze, Gorlatch, "Efficient
 * auto-tuning of parallel programs with interdependent tuning parameters via ATF", TACO 2021, section 4). Subtrees that
 * see the same intermediate values of the constraints are kept once, so that a group may have billions of valid
 * combinations.
 *
 * A clt_space is immutable once built and may be read from several threads. */
#ifndef CLATUNE_SPACE_H
#define CLATUNE_SPACE_H

#include <clatune/error.h>
#include <clatune/rng.h>
#include <clatune/value.h>

CLT_BEGIN_C

typedef uint64_t clt_config;
#define CLT_CONFIG_NONE UINT64_MAX
#define CLT_MAX_PARAMETERS 128 /* tuning parameters in a space */

typedef struct clt_space clt_space;
typedef struct clt_space_builder clt_space_builder;

/* A tuning parameter; borrowed from its space. values has n_values entries, all different, in the listed order. */
typedef struct clt_parameter {
  const char *name;
  const clt_value *values;
  size_t n_values;
} clt_parameter;

/* Where a constraint comes from: what an author wrote, or a limit of the device. */
typedef enum clt_constraint_origin { CLT_CONDITION, CLT_DEVICE_LIMIT } clt_constraint_origin;

/* --- building --- */

/* Owned by the caller, freed with clt_space_builder_free, also after clt_space_new. */
int clt_space_builder_new(clt_space_builder **out, clt_error *error);
void clt_space_builder_free(clt_space_builder *builder);

/* Adds a name that expressions may use and that is the same for all configurations (a problem parameter, a device
 * property; names may contain dots: "device.local_memory_bytes"). Copies name and value. */
int clt_space_builder_constant(clt_space_builder *builder, const char *name, clt_value value, clt_error *error);

/* Adds a tuning parameter with its listed values (copied), at least one, no two equal. */
int clt_space_builder_parameter(clt_space_builder *builder, const char *name, const clt_value *values, size_t n_values,
                                clt_error *error);

/* The same from the text of a T1 "Values" string: a list or tuple "[1, 2, 4]", "list(range(32, 1025, 32))",
 * "range(...)", a comprehension "[2**i for i in range(8)]" with an optional "if", or concatenations of these with "+".
 * Constants added before may be used. Parsed, never executed; at most 65,536 values. type is the T1 "Type" ("int",
 * "uint", "float", "bool", "string", ...; NULL: as the values are); values that do not fit it are refused. */
int clt_space_builder_parameter_text(clt_space_builder *builder, const char *name, const char *type, const char *values,
                                     clt_error *error);

/* Adds a constraint over the constants and parameters that were added before: Python's expression syntax with C's
 * operators accepted as well (docs/expressions.md). A device limit needs a message for people ("work-group size at most
 * 4096"); for a condition NULL stands for the text itself. CLT_E_EXPRESSION where it cannot be compiled. */
int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error);

/* Declares that a configuration for which `when` holds does the same as the one with parameter `name` set to `value`.
 * See clt_space_canonical. CLT_E_NOT_FOUND where there is no such parameter or value, CLT_E_EXPRESSION as above. */
int clt_space_builder_alias(clt_space_builder *builder, const char *when, const char *name, clt_value value,
                            clt_error *error);

/* Builds the space: splits it into groups, enumerates. The builder can be used again afterwards. Fails with
 * CLT_E_RANGE if the cartesian product exceeds 2^63 or the trees exceed the memory cap, CLT_E_EXPRESSION where a
 * constraint cannot be evaluated (types that do not go together, integers beyond 64 bits; but a division by
 * zero counts as "not valid", as short-circuiting authors expect). A space without valid configurations is no error. */
int clt_space_new(clt_space **out, const clt_space_builder *builder, clt_error *error);

void clt_space_free(clt_space *space);

/* --- asking --- */
size_t clt_space_n_parameters(const clt_space *space);
const clt_parameter *clt_space_parameter(const clt_space *space, size_t index); /* index < n_parameters */
int clt_space_find_parameter(const clt_space *space, const char *name);         /* index, or -1 */
uint64_t clt_space_cartesian(const clt_space *space);
uint64_t clt_space_valid(const clt_space *space);

/* Whether a configuration satisfies all constraints (false for numbers outside the cartesian product). */
bool clt_space_contains(const clt_space *space, clt_config config);

/* rank -> configuration (rank < valid), and back (false if the configuration is not valid). */
clt_config clt_space_at(const clt_space *space, uint64_t rank);
bool clt_space_rank(uint64_t *rank, const clt_space *space, clt_config config);

/* value positions <-> configuration; positions has n_parameters entries, each below n_values. */
void clt_space_positions(uint32_t *positions, const clt_space *space, clt_config config);
clt_config clt_space_from_positions(const clt_space *space, const uint32_t *positions);
clt_value clt_space_value(const clt_space *space, clt_config config, size_t parameter);

/* The configuration that stands for this one: aliases applied until none holds. Equal to config where no alias holds,
 * or where the result would not be valid. */
clt_config clt_space_canonical(const clt_space *space, clt_config config);

/* n different valid configurations, uniformly at random, in random order (fewer if the space has fewer). Returns how
 * many were written, or a negative result code. */
int64_t clt_space_sample(clt_config *out, const clt_space *space, clt_rng *rng, size_t n, clt_error *error);

/* The valid configurations that differ from config in exactly one parameter (Hamming distance 1), in ascending order.
 * Writes at most capacity and returns how many there are in all. config need not be valid. */
size_t clt_space_neighbours(clt_config *out, size_t capacity, const clt_space *space, clt_config config);

/* --- as text --- */

/* "a=1 b=2 ..." in the order of the parameters. Bytes of texts outside of [A-Za-z0-9_.+-] are written as %XX: a blank
 * as %20. Returns the length needed, as snprintf does. */
int clt_config_print(char *out, size_t capacity, const clt_space *space, clt_config config);
char *clt_config_string(const clt_space *space, clt_config config); /* the same, malloc'ed; NULL when out of memory */

/* Reads that form (names in any order, all parameters but those with a single value required, values among the listed
 * ones), and texts as they are ("flags=-O3 -g size=4") where no other reading is meant. CLT_E_NOT_FOUND where a name or
 * a value is not in the space. */
int clt_config_parse(clt_config *out, const clt_space *space, const char *text, clt_error *error);

CLT_END_C
#endif
