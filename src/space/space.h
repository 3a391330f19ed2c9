/* space/space.h - functions on spaces that only the library uses, in addition to clatune/space.h. */
#pragma once

#include <clatune/space.h>
#include <jansson.h>

#include "base/hash.h"
#include "base/text.h"

double clt_space_build_s(const clt_space *space); /* wall seconds that clt_space_new took */

/* Whether a clt_config means the same in both spaces: they have the same parameters with the same values, in the same
 * order. Constraints may differ, unless they decide the numbers. */
bool clt_space_same_parameters(const clt_space *a, const clt_space *b);

/* Whether a number stands for a combination of values. There may be too many combinations for 63 bits; then only the
 * valid ones have a number, which is their rank. */
bool clt_space_numbers(const clt_space *space, clt_config config);
bool clt_space_is_ranked(const clt_space *space);
/* Too many are valid, too. A configuration then gets its number from clt_space_from_positions, when the space first
 * meets it; it is valid, and the number means nothing in another space or process. */
bool clt_space_has_too_many(const clt_space *space);

/* Sets of parameters that differ from each other, such as the positions in a permutation: writes the parameters of one
 * of them and returns their number; 0: there is no such set. */
size_t clt_space_distinct(const clt_space *space, size_t set, uint32_t members[CLT_MAX_PARAMETERS]);
size_t clt_space_distinct_of(const clt_space *space, size_t parameter); /* its set; SIZE_MAX: none */

/* Sets a parameter to a position. If another parameter, which must differ from it, has this position, both exchange
 * theirs, or (shift) those in between move up to where it was. */
void clt_space_move(const clt_space *space, uint32_t *positions, size_t parameter, uint32_t position, bool shift);

/* Whether b is a neighbour of a (clt_space_neighbours); whether both have the same value of a parameter; in how many
 * parameters they differ. */
bool clt_space_is_neighbour(const clt_space *space, clt_config a, clt_config b);
bool clt_space_agree(const clt_space *space, clt_config a, clt_config b, size_t parameter);
size_t clt_space_difference(const clt_space *space, clt_config a, clt_config b);

/* Adds the names and values of the parameters to a hash, but not the constraints. */
void clt_space_hash(clt_hasher *hasher, const clt_space *space);

size_t clt_space_n_groups(const clt_space *space); /* groups of parameters that share constraints */
bool clt_space_has_aliases(const clt_space *space);
/* The number of valid configurations that are not canonical. Enumerates only the groups of parameters that aliases read
 * or set. CLT_E_RANGE: these have more than 2^22 combinations. */
int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error);

/* --- config.c: configurations as text ---
 *
 * The same spelling is used for printing, typing and storing. In string values, bytes outside of [A-Za-z0-9_.+-] are
 * written as %XX, so that a space always ends a value. The first byte of a string is also written as %XX if the string
 * would otherwise be read as a number that the parameter lists. */

/* Adds a parameter's value in that spelling. */
void clt_value_spell(clt_text *out, const clt_parameter *parameter, size_t position);
/* Whether a text would be read as a number that the parameter lists. */
bool clt_value_looks_listed(const clt_parameter *parameter, const char *text);

/* Reads a number or boolean, also in another spelling than the printed one: 1.0 or true for 1. */
bool clt_value_parse(clt_value *out, const char *text, size_t length);

/* Replaces %XX by bytes, in place. False: a % is not followed by two hex digits; the text is unchanged. */
bool clt_value_unspell(char *text);

/* The position of a value; n_values if the parameter does not list it. */
size_t clt_parameter_find(const clt_parameter *parameter, clt_value value);

/* A mapping of the configurations of one space to another: parameters are matched by name, values by equality. */
typedef struct clt_space_match {
  const clt_space *from, *to;
  int column[CLT_MAX_PARAMETERS]; /* for each parameter of `to`, its index in `from`; -1: none */
  const char *extra, *missing;    /* the first parameter with several values that only `from` has (extra), or only `to`
                                     (missing); NULL: none */
} clt_space_match;

clt_space_match clt_space_match_new(const clt_space *from, const clt_space *to);

/* The configuration in `to`, which may be invalid there. CLT_CONFIG_NONE: it has a value that `to` does not list. */
clt_config clt_space_translate(const clt_space_match *match, clt_config config);

/* As clt_config_parse, but parameters that the text omits keep their values from *config, and given[i] tells whether
 * parameter i is named. clt_config_read_onto reads JSON: such a text, an object {name: value}, or an object whose
 * member "configuration" is one of these. */
int clt_config_parse_onto(clt_config *config, bool *given, const clt_space *space, const char *text, clt_error *error);
int clt_config_read_onto(clt_config *config, bool *given, const clt_space *space, const json_t *json, clt_error *error);

/* CLT_E_NOT_FOUND: a parameter with several values is not given. */
int clt_config_check_given(const bool *given, const clt_space *space, clt_error *error);

/* --- sets of tuning parameters, or of the positions that such a set has taken --- */

#define CLT_MASK_WORDS (CLT_MAX_PARAMETERS / 64)

typedef struct clt_mask {
  uint64_t words[CLT_MASK_WORDS];
} clt_mask;

static inline void clt_mask_add(clt_mask *m, size_t i) { m->words[i / 64] |= (uint64_t)1 << (i % 64); }
static inline bool clt_mask_has(const clt_mask *m, size_t i) { return m->words[i / 64] >> (i % 64) & 1; }

static inline clt_mask clt_mask_union(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) a.words[w] |= b.words[w];
  return a;
}

/* Whether a is a subset of b. */
static inline bool clt_mask_within(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++)
    if (a.words[w] & ~b.words[w]) return false;
  return true;
}

static inline size_t clt_mask_count(clt_mask m) {
  size_t n = 0;
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) n += (size_t)__builtin_popcountll(m.words[w]);
  return n;
}

/* The smallest member; the set must not be empty. */
static inline size_t clt_mask_least(clt_mask m) {
  size_t w = 0;
  while (m.words[w] == 0) w++;
  return w * 64 + (size_t)__builtin_ctzll(m.words[w]);
}

/* The i-th number that is no member, from 0 on. There must be one. */
static inline uint32_t clt_mask_free(const clt_mask *m, size_t i) {
  size_t w = 0;
  uint64_t free = ~m->words[0];
  for (size_t n; (n = (size_t)__builtin_popcountll(free)) <= i; free = ~m->words[++w]) i -= n;
  while (i-- > 0) free &= free - 1;
  return (uint32_t)(w * 64 + (size_t)__builtin_ctzll(free));
}

/* How many members are below i. */
static inline size_t clt_mask_below(const clt_mask *m, size_t i) {
  size_t n = (size_t)__builtin_popcountll(m->words[i / 64] & (((uint64_t)1 << (i % 64)) - 1));
  for (size_t w = 0; w < i / 64; w++) n += (size_t)__builtin_popcountll(m->words[w]);
  return n;
}

/* --- walks: building a valid configuration value by value ---
 *
 * At each step, a walk offers the values of one parameter for which valid configurations exist, with their number.
 * Whichever values are taken, the result is a valid configuration. Parameters come in the order of the stored trees:
 * group after group, each in the order of its levels; in a space that is a list, in the order of the parameters.
 * Parameters with a single value are skipped. A parameter that has only one possible value left has one branch. */

typedef struct clt_branch {
  uint32_t position; /* of the value */
  uint64_t n; /* number of valid configurations below, up to a factor that is the same for all branches of a step */
} clt_branch;

/* A walk can be copied, to take several branches. */
typedef struct clt_walk {
  const clt_space *space;
  size_t group, level;
  uint32_t node;
  clt_mask taken;    /* positions in this group, if all of its parameters differ */
  uint64_t end;      /* the number of combinations below the node */
  clt_config config; /* sum of what was taken so far */
  uint32_t positions[CLT_MAX_PARAMETERS];
} clt_walk;

void clt_walk_start(clt_walk *walk, const clt_space *space); /* the space must have a valid configuration */

/* The index of the parameter to set next; -1: config is complete. */
int clt_walk_parameter(const clt_walk *walk);

/* Writes the branches of this step, in ascending order of position, and returns their number, which is at least 1. out
 * has n_values entries of the parameter. Must not be called at the end. */
size_t clt_walk_branches(const clt_walk *walk, clt_branch *out);

/* Takes one of the branches. */
void clt_walk_take(clt_walk *walk, const clt_branch *branch);

/* The largest n_values of all parameters: the capacity that clt_walk_branches needs at most. */
size_t clt_walk_most_branches(const clt_space *space);

/* The position of a value. False: the parameter does not list it. */
bool clt_space_builder_position(uint32_t *position, const clt_space_builder *builder, size_t parameter,
                                clt_value value);

/* Makes a space whose valid configurations are the n listed ones, as in a recording: positions[n][n_parameters], in any
 * order, also several times. Ignores the builder's constraints. */
int clt_space_new_explicit(clt_space **out, const clt_space_builder *builder, const uint32_t *positions, size_t n,
                           clt_error *error);

/* The message (borrowed) of the first constraint that a configuration violates, and its origin (nullable). NULL: the
 * configuration is valid. */
const char *clt_space_violation(const clt_space *space, clt_config config, clt_constraint_origin *origin);

/* Explains why a space has no valid configurations: writes "none of the 448 configurations satisfies the constraints:
 * ..." with a minimal set of constraints that exclude each other. Builds the space again without each constraint; a
 * constraint for which this takes too long stays in the set. */
void clt_space_explain_empty(char *out, size_t capacity, const clt_space *space);

/* Writes the configurations of ranks first .. first + n - 1, or fewer at the end, and returns their number. Much
 * cheaper than n calls of clt_space_at. */
size_t clt_space_enumerate(const clt_space *space, uint64_t first, size_t n, clt_config *out);
