/* space/program.h - the operations of one group of parameters, sorted into levels: a level sets one parameter and then
 * calculates everything that is known from there on. Values stand in registers, one for each node of the flow; a
 * level's registers stay as they are while deeper levels run. */
#ifndef CLT_SPACE_PROGRAM_H
#define CLT_SPACE_PROGRAM_H

#include "space/flow.h"

/* A parameter that the levels may set, with the positions that its own constraints leave. */
typedef struct clt_domain {
  uint32_t parameter;
  uint32_t *positions; /* ascending */
  size_t n_positions;
} clt_domain;

/* One operation; or, with root >= 0, the check that a register is true. */
typedef struct clt_step {
  uint8_t op, n_operands;
  int32_t root; /* number of the root in the flow */
  uint32_t target;
  uint32_t operands[4];
} clt_step;

/* A table's entry at the position of the level goes into a register. */
typedef struct clt_load {
  uint32_t target;
  const clt_value *table;
} clt_load;

typedef struct clt_level {
  const clt_domain *domain;
  clt_load *loads;
  size_t n_loads;
  clt_step *steps;
  size_t n_steps;
  uint32_t *live; /* registers that deeper levels read */
  size_t n_live;
} clt_level;

typedef struct clt_program {
  clt_level *levels;
  size_t n_levels;
  clt_value *registers; /* constants are set */
} clt_program;

/* domains: the group's parameters in the order of the levels (borrowed). roots: the numbers of the group's roots, those
 * that depend on more than one parameter. CLT_E_MEMORY only. */
int clt_program_new(clt_program **out, const clt_flow *flow, const clt_domain *const *domains, size_t n_domains,
                    const uint32_t *roots, size_t n_roots);
void clt_program_free(clt_program *program);

/* The level of a node: the last one of its parameters. */
size_t clt_program_level(const clt_program *program, clt_mask support);

/* Sets a level to a position and runs it. False: a check failed; *failed is then the root (its register says how). */
bool clt_program_run(clt_program *program, size_t level, uint32_t position, const clt_step **failed);

#endif
