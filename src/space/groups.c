/* From constraints to groups of parameters and their diagrams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/code.h"
#include "space/order.h"
#include "space/parts.h"

#define FEW_TRIES 4096 /* with a quickly chosen order */
#define AGAIN 3        /* (not one of the diagram's codes) a constraint must not be split: start again */

typedef struct grouping {
  clt_space *space;
  clt_expr **exprs;
  bool *whole; /* constraints that are not split */
  clt_flow *flow;
  clt_domain domains[CLT_MAX_PARAMETERS];
  size_t group_of[CLT_MAX_PARAMETERS]; /* before sorting: the least parameter of the group */
  bool impossible;                     /* a constraint without parameters is false */
  clt_diagram_limits limits;           /* of each diagram */
  clt_error *error;
} grouping;

/* --- constraints that cannot be evaluated --- */

/* Says with which values. positions: by parameter; known: which of them are set. */
static int cannot_evaluate(const grouping *g, uint32_t constraint, const uint32_t *positions, clt_mask known) {
  const clt_expr *expr = g->exprs[constraint];
  clt_value values[CLT_MAX_PARAMETERS], ignored;
  clt_error inner = {0};
  char with[400] = "", value[100];
  size_t used = 0;
  clt_space_values(g->space, positions, values);
  for (size_t i = 0; i < clt_expr_n_slots(expr) && used < sizeof with; i++) {
    uint32_t p = clt_expr_slot(expr, i);
    if (!clt_mask_has(&known, p)) continue;
    clt_value_print(values[p], value, sizeof value);
    int n = snprintf(with + used, sizeof with - used, "%s%s=%s", used ? " " : ", with ", g->space->parameters[p].name,
                     value);
    used += n > 0 ? (size_t)n : 0;
  }
  if (clt_expr_eval(expr, values, &ignored, &inner) != CLT_E_EXPRESSION)
    snprintf(inner.message, sizeof inner.message, "cannot evaluate '%.300s'", clt_expr_text(expr));
  return clt_expr_mistake(expr, CLT_E_EXPRESSION, g->error, "%s%s", inner.message, with);
}

/* A part of a constraint fails for good. That counts if all the parts before it are known to be true; otherwise one of
 * them may forbid its evaluation, and the constraint has to be kept in one piece. */
static int failed_part(grouping *g, uint32_t root, const uint32_t *positions, clt_mask known) {
  const clt_flow_root *failed = &g->flow->roots[root];
  for (size_t r = 0; r < g->flow->n_roots; r++) {
    const clt_flow_root *other = &g->flow->roots[r];
    if (other->constraint != failed->constraint || other->part >= failed->part) continue;
    if (clt_mask_within(g->flow->nodes[other->node].support, known)) continue;
    g->whole[failed->constraint] = true;
    return AGAIN;
  }
  return cannot_evaluate(g, failed->constraint, positions, known);
}

/* --- domains: what the constraints on single parameters leave --- */

static int new_domains(grouping *g) {
  for (size_t p = 0; p < g->space->n_parameters; p++) {
    clt_domain *d = &g->domains[p];
    d->parameter = (uint32_t)p;
    d->n_positions = g->space->parameters[p].n_values;
    d->positions = clt_new_array(d->n_positions, sizeof *d->positions);
    if (d->positions == NULL) return clt_fail_memory(g->error);
    for (size_t i = 0; i < d->n_positions; i++) d->positions[i] = (uint32_t)i;
  }
  return CLT_OK;
}

static int narrow(grouping *g, uint32_t root) {
  const clt_flow_node *node = &g->flow->nodes[g->flow->roots[root].node];
  size_t p = clt_mask_least(node->support), kept = 0;
  clt_domain *d = &g->domains[p];
  if (g->impossible) return CLT_OK; /* nothing is valid, and what failed here would not have been evaluated */
  for (size_t i = 0; i < d->n_positions; i++) {
    uint32_t position = d->positions[i];
    clt_value v = node->table[position];
    if (clt_failed_fatally(v)) {
      uint32_t positions[CLT_MAX_PARAMETERS] = {0};
      positions[p] = position;
      return failed_part(g, root, positions, node->support);
    }
    if (v.type != CLT_FAILED && clt_value_truthy(v)) d->positions[kept++] = position;
  }
  d->n_positions = kept;
  return CLT_OK;
}

static int decide_constant(grouping *g, uint32_t root) {
  clt_value v = g->flow->nodes[g->flow->roots[root].node].value;
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  if (clt_failed_fatally(v) && !g->impossible) return failed_part(g, root, positions, (clt_mask){{0}});
  if (v.type == CLT_FAILED || !clt_value_truthy(v)) g->impossible = true;
  return CLT_OK;
}

static int decide_simple(grouping *g) {
  int rc = CLT_OK;
  for (uint32_t r = 0; rc == CLT_OK && r < g->flow->n_roots; r++) {
    unsigned n = g->flow->nodes[g->flow->roots[r].node].n_support;
    if (n == 0) rc = decide_constant(g, r);
    if (n == 1) rc = narrow(g, r);
  }
  return rc;
}

/* --- groups: parameters that share a constraint --- */

static void unite(grouping *g, size_t a, size_t b) {
  size_t from = g->group_of[a] > g->group_of[b] ? g->group_of[a] : g->group_of[b];
  size_t to = g->group_of[a] > g->group_of[b] ? g->group_of[b] : g->group_of[a];
  for (size_t p = 0; p < g->space->n_parameters; p++)
    if (g->group_of[p] == from) g->group_of[p] = to;
}

static void find_groups(grouping *g) {
  for (size_t p = 0; p < g->space->n_parameters; p++) g->group_of[p] = p;
  for (size_t r = 0; r < g->flow->n_roots; r++) {
    const clt_flow_node *node = &g->flow->nodes[g->flow->roots[r].node];
    for (size_t p = 0; node->n_support == 2 && p < g->space->n_parameters; p++)
      if (clt_mask_has(&node->support, p)) unite(g, clt_mask_least(node->support), p);
  }
}

/* --- one group's diagram --- */

typedef struct cluster {
  const clt_domain *domains[CLT_MAX_PARAMETERS];
  size_t n_domains;
  uint32_t *roots;
  clt_mask *supports; /* of the roots */
  size_t n_roots;
} cluster;

static int collect(const grouping *g, size_t least, cluster *out) {
  *out = (cluster){0};
  out->roots = clt_new_array(g->flow->n_roots, sizeof *out->roots);
  out->supports = clt_new_array(g->flow->n_roots, sizeof *out->supports);
  if (out->roots == NULL || out->supports == NULL) return clt_fail_memory(g->error);
  for (size_t p = 0; p < g->space->n_parameters; p++)
    if (g->group_of[p] == least) out->domains[out->n_domains++] = &g->domains[p];
  for (uint32_t r = 0; r < g->flow->n_roots; r++) {
    const clt_flow_node *node = &g->flow->nodes[g->flow->roots[r].node];
    if (node->n_support < 2 || g->group_of[clt_mask_least(node->support)] != least) continue;
    out->supports[out->n_roots] = node->support;
    out->roots[out->n_roots++] = r;
  }
  return CLT_OK;
}

static int failed_in_diagram(grouping *g, const cluster *group, const clt_diagram_failure *failure) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  clt_mask known = {{0}};
  for (size_t l = 0; l <= failure->level; l++) {
    positions[group->domains[l]->parameter] = failure->positions[l];
    clt_mask_add(&known, group->domains[l]->parameter);
  }
  return failed_part(g, failure->root, positions, known);
}

static int too_large(grouping *g, const cluster *group) {
  char names[300] = "";
  size_t used = 0;
  for (size_t l = 0; l < group->n_domains && used < sizeof names; l++) {
    const char *name = g->space->parameters[group->domains[l]->parameter].name;
    used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", l ? ", " : "", name);
  }
  return clt_fail(
      g->error, CLT_E_RANGE,
      "the conditions on %s leave too many combinations to keep in memory; list fewer values, or use simpler "
      "conditions",
      names);
}

static int try_order(grouping *g, cluster *group, size_t tries, clt_diagram **out) {
  clt_program *program = NULL;
  clt_diagram_failure failure;
  if (clt_program_new(&program, g->flow, group->domains, group->n_domains, group->roots, group->n_roots))
    return clt_fail_memory(g->error);
  int rc = clt_diagram_new(out, program, g->space->weights, (clt_diagram_limits){tries, g->limits.bytes}, &failure);
  clt_program_free(program);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(g->error);
  return rc == CLT_DIAGRAM_FAILED ? failed_in_diagram(g, group, &failure) : rc;
}

/* Most groups are done before a good order is found; the others are worth the search. It goes by estimates: where these
 * mislead, the first order may still do. */
static int build_with(grouping *g, cluster *group, const clt_estimate *estimate, clt_diagram **out) {
  clt_order_quickly(group->domains, group->n_domains, estimate);
  int rc = try_order(g, group, FEW_TRIES, out);
  if (rc != CLT_DIAGRAM_TOO_LARGE) return rc;
  if (clt_order_well(group->domains, group->n_domains, estimate)) return clt_fail_memory(g->error);
  rc = try_order(g, group, g->limits.tries, out);
  if (rc != CLT_DIAGRAM_TOO_LARGE) return rc;
  clt_order_quickly(group->domains, group->n_domains, estimate);
  rc = try_order(g, group, g->limits.tries, out);
  return rc == CLT_DIAGRAM_TOO_LARGE ? too_large(g, group) : rc;
}

static int build_group(grouping *g, cluster *group, clt_diagram **out) {
  clt_estimate *estimate = NULL;
  if (clt_estimate_new(&estimate, g->flow, group->domains, group->n_domains, group->roots, group->n_roots))
    return clt_fail_memory(g->error);
  int rc = build_with(g, group, estimate, out);
  clt_estimate_free(estimate);
  return rc;
}

static int build_groups(grouping *g) {
  clt_space *space = g->space;
  int rc = CLT_OK;
  for (size_t p = 0; rc == CLT_OK && p < space->n_parameters; p++) {
    cluster group;
    if (g->group_of[p] != p || space->parameters[p].n_values == 1) continue;
    rc = collect(g, p, &group);
    if (rc == CLT_OK) rc = build_group(g, &group, &space->groups[space->n_groups]);
    if (rc == CLT_OK) space->n_groups++;
    free(group.roots);
    free(group.supports);
  }
  return rc;
}

/* --- all groups --- */

static void forget(grouping *g) {
  for (size_t i = 0; i < g->space->n_groups; i++) clt_diagram_free(g->space->groups[i]);
  for (size_t p = 0; p < g->space->n_parameters; p++) free(g->domains[p].positions);
  memset(g->domains, 0, sizeof g->domains);
  clt_flow_free(g->flow);
  g->flow = NULL;
  g->impossible = false;
  g->space->n_groups = 0;
}

static int build_once(grouping *g) {
  const clt_space *space = g->space;
  if (clt_flow_new(&g->flow, space->parameters, space->n_parameters, g->exprs, g->whole, space->n_constraints))
    return clt_fail_memory(g->error);
  int rc = new_domains(g);
  if (rc == CLT_OK) rc = decide_simple(g);
  find_groups(g);
  if (rc == CLT_OK && !g->impossible) rc = build_groups(g);
  return rc;
}

static int by_valid(const void *left, const void *right) {
  const clt_diagram *a = *(const clt_diagram *const *)left, *b = *(const clt_diagram *const *)right;
  if (a->valid != b->valid) return a->valid < b->valid ? -1 : 1;
  return a->parameters[0] < b->parameters[0] ? -1 : 1;
}

/* The largest group comes last: ranks that follow each other then differ in this group alone for as long as can be. */
static void finish(grouping *g) {
  clt_space *space = g->space;
  qsort(space->groups, space->n_groups, sizeof *space->groups, by_valid);
  space->valid = g->impossible ? 0 : 1;
  for (size_t p = 0; p < space->n_parameters; p++) space->group_of[p] = CLT_NO_GROUP;
  for (size_t i = 0; i < space->n_groups; i++) {
    const clt_diagram *d = space->groups[i];
    space->valid *= d->valid;
    for (size_t l = 0; l < d->n_levels; l++) space->group_of[d->parameters[l]] = i;
  }
}

int clt_space_build_groups(clt_space *space, clt_diagram_limits limits, clt_error *error) {
  grouping g = {.space = space, .limits = limits, .error = error};
  int rc = CLT_OK;
  g.exprs = clt_new_array(space->n_constraints, sizeof *g.exprs);
  g.whole = clt_new_array(space->n_constraints, sizeof *g.whole);
  space->groups = clt_new_array(space->n_parameters, sizeof *space->groups);
  if (g.exprs == NULL || g.whole == NULL || space->groups == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < space->n_constraints; i++) g.exprs[i] = space->constraints[i].expr;
  if (rc == CLT_OK) rc = build_once(&g);
  while (rc == AGAIN) {
    forget(&g);
    rc = build_once(&g);
  }
  if (rc == CLT_OK) finish(&g);
  size_t kept = rc == CLT_OK ? space->n_groups : 0;
  if (kept) space->n_groups = 0; /* the diagrams are the space's now */
  forget(&g);
  space->n_groups = kept;
  free(g.exprs);
  free(g.whole);
  return rc;
}
