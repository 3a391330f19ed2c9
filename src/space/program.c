#include "space/program.h"

#include <stdlib.h>

#include "base/memory.h"

void clt_program_free(clt_program *program) {
  if (program == NULL) return;
  for (size_t l = 0; program->levels && l < program->n_levels; l++) {
    free(program->levels[l].loads);
    free(program->levels[l].steps);
    free(program->levels[l].live);
  }
  free(program->levels);
  free(program->registers);
  free(program);
}

size_t clt_program_level(const clt_program *program, clt_mask support) {
  size_t level = program->n_levels;
  while (level > 1 && !clt_mask_has(&support, program->levels[level - 1].domain->parameter)) level--;
  return level - 1;
}

/* --- making --- */

typedef struct maker {
  const clt_flow *flow;
  clt_program *program;
  size_t *levels;    /* of a node */
  size_t *last_used; /* the deepest level that reads a node, plus one */
  bool *reached;     /* scratch: nodes that a root needs */
  bool *emitted;
  size_t loads_capacity, steps_capacity;
} maker;

static unsigned n_operands(const clt_flow_node *node) { return clt_op_arity((clt_op)node->op); }

/* Marks what root r is made of, without the insides of tables. */
static void reach(maker *m, uint32_t root) {
  for (uint32_t i = 0; i <= root; i++) m->reached[i] = false;
  m->reached[root] = true;
  for (uint32_t i = root + 1; i-- > 0;) {
    const clt_flow_node *node = &m->flow->nodes[i];
    if (!m->reached[i] || node->n_support < 2) continue;
    for (unsigned k = 0; k < n_operands(node); k++) m->reached[node->operands[k]] = true;
  }
}

static int emit(clt_level *level, size_t *capacity, clt_step step) {
  if (clt_grow(&level->steps, capacity, level->n_steps + 1, sizeof *level->steps)) return CLT_E_MEMORY;
  level->steps[level->n_steps++] = step;
  return CLT_OK;
}

static int emit_node(maker *m, size_t l, uint32_t i) {
  const clt_flow_node *node = &m->flow->nodes[i];
  clt_step step = {.op = node->op, .n_operands = (uint8_t)n_operands(node), .root = -1, .target = i};
  for (unsigned k = 0; k < step.n_operands; k++) {
    uint32_t operand = node->operands[k];
    step.operands[k] = operand;
    if (m->last_used[operand] < l + 1) m->last_used[operand] = l + 1;
  }
  m->emitted[i] = true;
  return emit(&m->program->levels[l], &m->steps_capacity, step);
}

static int emit_load(maker *m, size_t l, uint32_t i) {
  clt_level *level = &m->program->levels[l];
  if (clt_grow(&level->loads, &m->loads_capacity, level->n_loads + 1, sizeof *level->loads)) return CLT_E_MEMORY;
  level->loads[level->n_loads++] = (clt_load){.target = i, .table = m->flow->nodes[i].table};
  m->emitted[i] = true;
  return CLT_OK;
}

/* The operations of this level that a root needs; the check as well if it is decided here. */
static int emit_root(maker *m, size_t l, uint32_t root) {
  uint32_t top = m->flow->roots[root].node;
  int rc = CLT_OK;
  reach(m, top);
  for (uint32_t i = 0; rc == CLT_OK && i <= top; i++) {
    unsigned n = m->flow->nodes[i].n_support;
    if (!m->reached[i] || m->emitted[i] || n == 0 || m->levels[i] != l) continue;
    rc = n == 1 ? emit_load(m, l, i) : emit_node(m, l, i);
  }
  if (rc == CLT_OK && m->levels[top] == l)
    rc = emit(&m->program->levels[l], &m->steps_capacity, (clt_step){.root = (int32_t)root, .target = top});
  return rc;
}

/* First what decides here, so that it prunes early; then what deeper levels want. */
static int make_level(maker *m, size_t l, const uint32_t *roots, size_t n_roots) {
  int rc = CLT_OK;
  m->loads_capacity = m->steps_capacity = 0;
  for (int deeper = 0; deeper < 2; deeper++)
    for (size_t r = 0; rc == CLT_OK && r < n_roots; r++)
      if ((m->levels[m->flow->roots[roots[r]].node] == l) == !deeper) rc = emit_root(m, l, roots[r]);
  return rc;
}

static int make_live(maker *m, size_t l) {
  clt_level *level = &m->program->levels[l];
  size_t capacity = 0;
  for (uint32_t i = 0; i < m->flow->n_nodes; i++) {
    if (!m->emitted[i] || m->levels[i] > l || m->last_used[i] <= l + 1) continue;
    if (clt_grow(&level->live, &capacity, level->n_live + 1, sizeof *level->live)) return CLT_E_MEMORY;
    level->live[level->n_live++] = i;
  }
  return CLT_OK;
}

static int make(maker *m, const uint32_t *roots, size_t n_roots) {
  const clt_flow *flow = m->flow;
  int rc = CLT_OK;
  for (size_t i = 0; i < flow->n_nodes; i++) {
    m->levels[i] = clt_program_level(m->program, flow->nodes[i].support);
    if (flow->nodes[i].n_support == 0) m->program->registers[i] = flow->nodes[i].value;
  }
  for (size_t l = 0; rc == CLT_OK && l < m->program->n_levels; l++) rc = make_level(m, l, roots, n_roots);
  for (size_t l = 0; rc == CLT_OK && l < m->program->n_levels; l++) rc = make_live(m, l);
  return rc;
}

static clt_program *new_program(const clt_flow *flow, const clt_domain *const *domains, size_t n_domains) {
  clt_program *program = clt_new_array(1, sizeof *program);
  if (program == NULL) return NULL;
  program->levels = clt_new_array(n_domains, sizeof *program->levels);
  program->registers = clt_new_array(flow->n_nodes, sizeof *program->registers);
  if (program->levels == NULL || program->registers == NULL) {
    clt_program_free(program);
    return NULL;
  }
  program->n_levels = n_domains;
  for (size_t l = 0; l < n_domains; l++) program->levels[l].domain = domains[l];
  return program;
}

int clt_program_new(clt_program **out, const clt_flow *flow, const clt_domain *const *domains, size_t n_domains,
                    const uint32_t *roots, size_t n_roots) {
  clt_program *program = new_program(flow, domains, n_domains);
  maker m = {.flow = flow, .program = program};
  m.levels = clt_new_array(flow->n_nodes, sizeof *m.levels);
  m.last_used = clt_new_array(flow->n_nodes, sizeof *m.last_used);
  m.reached = clt_new_array(flow->n_nodes, sizeof *m.reached);
  m.emitted = clt_new_array(flow->n_nodes, sizeof *m.emitted);
  bool ok = program && m.levels && m.last_used && m.reached && m.emitted && make(&m, roots, n_roots) == CLT_OK;
  free(m.levels);
  free(m.last_used);
  free(m.reached);
  free(m.emitted);
  if (ok)
    *out = program;
  else
    clt_program_free(program);
  return ok ? CLT_OK : CLT_E_MEMORY;
}

/* --- running --- */

static inline clt_value operate(const clt_step *step, const clt_value *registers) {
  const clt_value *operands[4];
  clt_value out;
  for (unsigned k = 0; k < step->n_operands; k++) operands[k] = &registers[step->operands[k]];
  if (step->n_operands == 2 && operands[0]->type == CLT_INT && operands[1]->type == CLT_INT &&
      clt_op_quick((clt_op)step->op, operands[0]->integer, operands[1]->integer, &out))
    return out;
  return clt_op_apply((clt_op)step->op, operands, 0);
}

static inline bool holds(clt_value v) {
  return v.type == CLT_BOOL ? v.integer != 0 : v.type != CLT_FAILED && clt_value_truthy(v);
}

bool clt_program_run(clt_program *program, size_t l, uint32_t position, const clt_step **failed) {
  const clt_level *level = &program->levels[l];
  clt_value *registers = program->registers;
  for (size_t i = 0; i < level->n_loads; i++) registers[level->loads[i].target] = level->loads[i].table[position];
  for (size_t i = 0; i < level->n_steps; i++) {
    const clt_step *step = &level->steps[i];
    if (step->root < 0) {
      registers[step->target] = operate(step, registers);
    } else if (!holds(registers[step->target])) {
      *failed = step;
      return false;
    }
  }
  return true;
}
