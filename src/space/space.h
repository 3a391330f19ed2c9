/* space/space.h - what the library itself asks of spaces, beyond clatune/space.h. */
#ifndef CLT_SPACE_SPACE_H
#define CLT_SPACE_SPACE_H

#include <clatune/space.h>
#include <jansson.h>

#include "base/hash.h"
#include "base/text.h"

double clt_space_build_s(const clt_space *space); /* wall seconds that clt_space_new took */

/* Whether both have the same parameters in the same order, with the same values: a configuration of one is then the
 * same in the other, whatever their constraints. */
bool clt_space_same_parameters(const clt_space *a, const clt_space *b);

/* In how many parameters two configurations differ. */
size_t clt_space_difference(const clt_space *space, clt_config a, clt_config b);

/* Adds the names and values of the parameters to a hash. Constraints are no part of it. */
void clt_space_hash(clt_hasher *hasher, const clt_space *space);

size_t clt_space_n_groups(const clt_space *space); /* of parameters, each with the constraints that they share */

bool clt_space_has_aliases(const clt_space *space);
/* How many valid configurations another one stands for. Looks only at the groups of parameters that aliases read or
 * set: CLT_E_RANGE where these have more than 2^22 combinations. */
int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error);

/* --- config.c: configurations as text ---
 *
 * One spelling serves what is printed, typed and stored: bytes of texts outside of [A-Za-z0-9_.+-] are written as %XX,
 * so that a space ends a value; so is the first byte of a text that would be read as a number of its parameter. */

/* Adds a parameter's value in that spelling. */
void clt_value_spell(clt_text *out, const clt_parameter *parameter, size_t position);
/* Whether a text would be read as a number of the parameter. */
bool clt_value_looks_listed(const clt_parameter *parameter, const char *text);

/* A number, also one that is written otherwise than it is printed: 1.0 for 1, true for 1. */
bool clt_value_parse(clt_value *out, const char *text, size_t length);

/* %XX back to bytes, in place; false, with the text as it was, where it is no such spelling. */
bool clt_value_unspell(char *text);

/* The position of a value; n_values where the parameter does not list it. */
size_t clt_parameter_find(const clt_parameter *parameter, clt_value value);

/* How configurations of a space are those of another one: parameters by name, values by value. */
typedef struct clt_space_match {
  const clt_space *from, *to;
  int column[CLT_MAX_PARAMETERS]; /* of a parameter of `to`: its number in `from`; -1: none */
  const char *extra, *missing;    /* the first parameter with several values that `to`, or `from`, lacks; NULL: none */
} clt_space_match;

clt_space_match clt_space_match_new(const clt_space *from, const clt_space *to);

/* CLT_CONFIG_NONE: it has a value that `to` lacks. It need not be valid in `to`. */
clt_config clt_space_translate(const clt_space_match *match, clt_config config);

/* As clt_config_parse, but what the text leaves out stays as *config has it, and given[] says for each parameter
 * whether it is named. The second reads JSON: such a text, an object {name: value}, or an object with a member
 * "configuration" that is one of these. */
int clt_config_parse_onto(clt_config *config, bool *given, const clt_space *space, const char *text, clt_error *error);
int clt_config_read_onto(clt_config *config, bool *given, const clt_space *space, const json_t *json, clt_error *error);

/* CLT_E_NOT_FOUND where a parameter with several values is not given. */
int clt_config_check_given(const bool *given, const clt_space *space, clt_error *error);

/* --- walks: building a valid configuration value by value, down the tree of those that there are ---
 *
 * At each step a walk stands at a parameter and sees the values with which valid configurations still exist, and how
 * many; whichever is taken, the end is a valid configuration. The tree is the one the space is stored as: groups one
 * after the other, each in the order of its levels; a list is walked in the order of the parameters. Parameters with a
 * single value are passed over, and one that the values taken before leave without a choice has one branch. */

typedef struct clt_branch {
  uint32_t position; /* of the value */
  uint64_t n;        /* in proportion to the valid configurations below, among the branches of a step */
} clt_branch;

/* Copying a walk forks it. */
typedef struct clt_walk {
  const clt_space *space;
  size_t group, level; /* of a list: level is the parameter */
  uint32_t node;
  uint64_t first, end; /* of a list: the part that is left; else 0 and the combinations below the node */
  clt_config config;   /* what was taken adds up to */
} clt_walk;

void clt_walk_start(clt_walk *walk, const clt_space *space); /* the space has a valid configuration */

/* The parameter to be set next, by index; -1 at the end, where config is complete. */
int clt_walk_parameter(const clt_walk *walk);

/* The branches here in ascending order of position, at least one; returns how many. out has room for the parameter's
 * n_values. Not at the end. */
size_t clt_walk_branches(const clt_walk *walk, clt_branch *out);

/* Takes one of the branches. */
void clt_walk_take(clt_walk *walk, const clt_branch *branch);

/* The largest n_values: the room that branches of any step need. */
size_t clt_walk_most_branches(const clt_space *space);

/* Goes on with a configuration, which begins at 0, by the value of the next of the builder's parameters. False: that
 * does not list the value. */
bool clt_space_builder_extend(const clt_space_builder *builder, clt_config *config, size_t parameter, clt_value value);

/* A space whose valid configurations are exactly the n listed ones (any order, duplicates are refused): a recording.
 * The builder's constraints are not applied. */
int clt_space_new_explicit(clt_space **out, const clt_space_builder *builder, const clt_config *configs, size_t n,
                           clt_error *error);

/* The first constraint that a configuration of the cartesian product violates: its message (borrowed), and its origin
 * where origin is not NULL. NULL if it is valid. */
const char *clt_space_violation(const clt_space *space, clt_config config, clt_constraint_origin *origin);

/* Of a space without valid configurations, the messages of constraints that leave none between them while any one fewer
 * would; and how to tell people: "none of the 448 configurations satisfies the constraints: ...". out is a text of any
 * capacity. Counts the space anew for each constraint; one that cannot be done without in a short time stays. */
void clt_space_explain_empty(char *out, size_t capacity, const clt_space *space);

/* The configurations of ranks first .. first+n-1 (cut at the end); returns how many were written. Far cheaper than n
 * calls of clt_space_at. */
size_t clt_space_enumerate(const clt_space *space, uint64_t first, size_t n, clt_config *out);

#endif
