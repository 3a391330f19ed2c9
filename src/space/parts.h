/* space/parts.h - the structures of builders and spaces. */
#pragma once

#include "space/flow.h"

typedef struct clt_constraint {
  clt_expr *expr;
  char *message;
  clt_constraint_origin origin;
} clt_constraint;

typedef struct clt_space_alias {
  clt_expr *when;
  uint32_t parameter, position;
} clt_space_alias;

/* --- numbers at first sight (met.c) --- */

/* The configurations that a space has met, each with the number that it got then. Threads may share it. */
typedef struct clt_met clt_met;
int clt_met_new(clt_met **out, const clt_parameter *parameters, size_t n_parameters, clt_error *error);
void clt_met_free(clt_met *met);
uint64_t clt_met_count(const clt_met *met);
clt_config clt_met_number(clt_met *met, const uint32_t *positions);                 /* CLT_CONFIG_NONE: out of memory */
void clt_met_positions(uint32_t *positions, const clt_met *met, clt_config config); /* below the count */

/* --- spaces --- */

struct clt_space {
  clt_parameter *parameters; /* owned: names, and the values in one block with their texts */
  uint64_t *weights;         /* the number that one position adds to clt_config */
  size_t n_parameters;
  clt_constraint *constraints;
  size_t n_constraints;
  clt_space_alias *aliases;
  size_t n_aliases;
  uint64_t cartesian, valid; /* cartesian: not of a ranked space; valid: at most INT64_MAX if there are too many */
  bool ranked;               /* there are too many combinations to number: a clt_config is its rank, */
  clt_met *met;              /* or, if too many are valid, its number in this table; else NULL */
  bool listed;               /* the valid ones were listed; there are no constraints */
  double build_s;
  clt_diagram **groups; /* the space is their product */
  size_t n_groups;
  size_t group_of[CLT_MAX_PARAMETERS];    /* CLT_NO_GROUP: a single value */
  size_t distinct_of[CLT_MAX_PARAMETERS]; /* parameters with the same number differ; CLT_NO_GROUP: in no such set */
  size_t n_distinct;
};

struct clt_space_builder {
  clt_space draft; /* parameters with values in one block each, constraints and aliases; nothing else */
  size_t parameters_capacity, constraints_capacity, aliases_capacity;
  const clt_value **sorted[CLT_MAX_PARAMETERS]; /* the values of each, ascending */
  clt_symbol *constants;                        /* names and texts owned */
  size_t n_constants, constants_capacity;
};

/* The limits of each group: some seconds, and half a gigabyte. */
#define CLT_SPACE_LIMITS ((clt_diagram_limits){.tries = (size_t)1 << 28, .bytes = (size_t)1 << 29})

/* clt_space_new with other limits per group. */
int clt_space_new_within(clt_space **out, const clt_space_builder *builder, clt_diagram_limits limits,
                         clt_error *error);

/* Finds the groups of the constraints and builds their diagrams. */
int clt_space_build_groups(clt_space *space, clt_diagram_limits limits, clt_error *error);

/* Sets everything that follows from the diagrams of the groups. */
int clt_space_count_valid(clt_space *space, bool impossible, clt_error *error);

/* The positions of a rank; all 0 if there is no such rank. The rank of positions; false: they are not valid. If too
 * many are valid, a rank seeds a random draw, and the rank of positions means nothing. */
void clt_space_unrank(uint32_t *positions, const clt_space *space, uint64_t rank);
bool clt_space_rank_positions(uint64_t *rank, const clt_space *space, const uint32_t *positions);

bool clt_parameter_same_values(const clt_parameter *a, const clt_parameter *b);

/* clt_space_violation for positions of a space that is not listed. */
const char *clt_space_violation_at(const clt_space *space, const uint32_t *positions, clt_constraint_origin *origin);

/* Writes all values of a configuration, as slots for expressions. */
void clt_space_values(const clt_space *space, const uint32_t *positions, clt_value *values);
