/* clatune/space.h - the space of configurations.
 *
 * A space has tuning parameters, each with a list of values, and constraints.
 *
 * A configuration (clt_config) is a number: the mixed-radix number of its value positions in the cartesian product, the
 * last parameter fastest. It depends on neither constraints nor device, so it can be hashed and compared. If the
 * product exceeds 2^63, a configuration's number is its rank, and invalid ones have none. If more than 2^63 are valid,
 * it is the next free number when the space first meets the configuration, and means nothing in another space.
 *
 * The rank of a configuration is its number among the valid ones, 0 .. valid - 1. The order of the ranks is fixed for a
 * space, but is not the order of clt_config, and changes with the constraints: do not store ranks. If more than 2^63
 * are valid, a rank stands for a configuration drawn at random.
 *
 * No function walks the cartesian product. Constraints split the parameters into groups. Each group is enumerated as a
 * tree with early pruning, and groups combine by arithmetic (chain of trees: Rasch, Schulze, Gorlatch, "Efficient
 * auto-tuning of parallel programs with interdependent tuning parameters via ATF", TACO 2021, section 4). Equal
 * subtrees are kept once, so a group may have billions of valid combinations (docs/explanation/spaces.md).
 *
 * Several threads may use a clt_space. */
#ifndef CLATUNE_SPACE_H
#define CLATUNE_SPACE_H

#include <clatune/error.h>
#include <clatune/rng.h>
#include <clatune/value.h>

CLT_BEGIN_C

typedef uint64_t clt_config;
#define CLT_CONFIG_NONE UINT64_MAX /* no configuration */
#define CLT_MAX_PARAMETERS 128     /* tuning parameters in a space */

typedef struct clt_space clt_space;
typedef struct clt_space_builder clt_space_builder;

/* A tuning parameter, borrowed from its space. values has n_values entries, all different, in the listed order. */
typedef struct clt_parameter {
  const char *name;
  const clt_value *values;
  size_t n_values;
} clt_parameter;

/* The origin of a constraint: a condition of the problem file, or a limit of the device. */
typedef enum clt_constraint_origin { CLT_CONDITION, CLT_DEVICE_LIMIT } clt_constraint_origin;

/* --- building --- */

/* Makes an empty builder. Free it with clt_space_builder_free, also after clt_space_new. */
int clt_space_builder_new(clt_space_builder **out, clt_error *error);
void clt_space_builder_free(clt_space_builder *builder);

/* Adds a constant that expressions can use, such as a problem parameter or a property of the device. The name may
 * contain dots: "device.local_memory_bytes". Copies name and value. */
int clt_space_builder_constant(clt_space_builder *builder, const char *name, clt_value value, clt_error *error);

/* Adds a tuning parameter with at least one value, all different. Copies name and values. */
int clt_space_builder_parameter(clt_space_builder *builder, const char *name, const clt_value *values, size_t n_values,
                                clt_error *error);

/* The same with values as text, as in "Values" of a T1 file: a list or tuple "[1, 2, 4]", "list(range(32, 1025, 32))",
 * "range(...)", a comprehension "[2**i for i in range(8)]" with an optional "if", or several of these joined with "+".
 * Constants added before can be used. The text is parsed, never executed; at most 65,536 values. type is "Type" of T1
 * ("int", "uint", "float", "bool", "string" ...), and values of another type are refused; NULL: any. */
int clt_space_builder_parameter_text(clt_space_builder *builder, const char *name, const char *type, const char *values,
                                     clt_error *error);

/* Adds a constraint: an expression (docs/reference/expressions.md) over the constants and parameters that were added
 * before. message describes it in errors, such as "work-group size at most 4096"; NULL, only for a condition: the text.
 * CLT_E_EXPRESSION: it cannot be compiled. */
int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error);

/* Declares that each configuration for which the expression `when` holds has the same effect as the one with parameter
 * `name` set to `value`; see clt_space_canonical. CLT_E_NOT_FOUND: no such parameter or value. CLT_E_EXPRESSION: `when`
 * cannot be compiled. */
int clt_space_builder_alias(clt_space_builder *builder, const char *when, const char *name, clt_value value,
                            clt_error *error);

/* Builds the space. The builder can be used again afterwards. A space without valid configurations is not an error.
 * CLT_E_RANGE: a group has more than 2^63 combinations, or needs too much memory. CLT_E_EXPRESSION: a
 * constraint cannot be evaluated, as its types do not match or an integer exceeds 64 bits. A division by zero makes the
 * configuration invalid instead. Free *out with clt_space_free (NULL is allowed). */
int clt_space_new(clt_space **out, const clt_space_builder *builder, clt_error *error);
void clt_space_free(clt_space *space);

/* --- asking --- */
size_t clt_space_n_parameters(const clt_space *space);
const clt_parameter *clt_space_parameter(const clt_space *space, size_t index); /* index < n_parameters */
int clt_space_find_parameter(const clt_space *space, const char *name);         /* index, or -1 */
uint64_t clt_space_cartesian(const clt_space *space); /* number of all combinations of values; at most INT64_MAX */
uint64_t clt_space_valid(const clt_space *space);     /* number of valid configurations; 2^63 - 1: or more than 2^63 */

/* Whether a configuration satisfies all constraints; false for numbers that stand for no configuration. */
bool clt_space_contains(const clt_space *space, clt_config config);

/* The configuration of a rank (rank < valid), and the rank of a configuration (false if it is invalid, or more than
 * 2^63 are valid). */
clt_config clt_space_at(const clt_space *space, uint64_t rank);
bool clt_space_rank(uint64_t *rank, const clt_space *space, clt_config config);

/* Converts between a configuration and the positions of its values: n_parameters entries, each below n_values.
 * CLT_CONFIG_NONE: they have no number. */
void clt_space_positions(uint32_t *positions, const clt_space *space, clt_config config);
clt_config clt_space_from_positions(const clt_space *space, const uint32_t *positions);

/* The value of a parameter in a configuration. */
clt_value clt_space_value(const clt_space *space, clt_config config, size_t parameter);

/* The canonical configuration for this one: aliases are applied until none holds. It is config itself if no alias holds
 * or the result would be invalid. */
clt_config clt_space_canonical(const clt_space *space, clt_config config);

/* Draws n different valid configurations uniformly at random, in random order; fewer if the space has fewer. Returns
 * their number, or a negative result code. */
int64_t clt_space_sample(clt_config *out, const clt_space *space, clt_rng *rng, size_t n, clt_error *error);

/* The valid configurations that differ from config in exactly one parameter, in ascending order. If parameters must
 * differ from each other, as the positions of a permutation, then those in which two of them exchange their values or
 * one is inserted elsewhere. Writes at most capacity of them and returns the number of all. config may be invalid. */
size_t clt_space_neighbours(clt_config *out, size_t capacity, const clt_space *space, clt_config config);

/* --- as text --- */

/* A configuration as text, "a=1 b=2 ...", in the order of the parameters. In values, bytes outside of [A-Za-z0-9_.+-]
 * are written as %XX, a blank as %20. Returns the length that the whole text needs, as snprintf does. */
int clt_config_print(char *out, size_t capacity, const clt_space *space, clt_config config);
char *clt_config_string(const clt_space *space, clt_config config); /* the same; free with free(); NULL: no memory */

/* Reads a configuration in this form. Names can be in any order; parameters with a single value may be missing. If this
 * fails, values are read without escapes, as in "flags=-O3 -g size=4". CLT_E_NOT_FOUND: the space has no such name or
 * value. */
int clt_config_parse(clt_config *out, const clt_space *space, const char *text, clt_error *error);

CLT_END_C
#endif
