/* From constraints to groups of parameters and their diagrams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/parts.h"

#define FEW_TRIES 4096 /* with a quickly chosen order */
#define AGAIN 3        /* (not one of the diagram's codes) a constraint must not be split: start again */

typedef struct grouping {
  clt_space *space;
  bool *whole; /* constraints that are not split */
  clt_flow *flow;
  clt_domain domains[CLT_MAX_PARAMETERS];
  bool impossible;           /* a constraint without parameters is false */
  clt_diagram_limits limits; /* of each diagram */
  clt_error *error;
} grouping;

/* --- constraints that cannot be evaluated --- */

/* A root fails for good at these positions (by parameter). The constraint that it is a part of is tried again in one
 * piece, because the other parts may forbid its evaluation; if that fails, too, it is a mistake. */
static int report_failed_root(grouping *g, uint32_t root, const uint32_t *positions) {
  uint32_t constraint = g->flow->roots[root].constraint;
  if (!g->whole[constraint]) {
    g->whole[constraint] = true;
    return AGAIN;
  }
  const clt_expr *expr = g->space->constraints[constraint].expr;
  clt_value values[CLT_MAX_PARAMETERS], ignored;
  clt_error why = {0};
  char with[400] = "", value[100];
  size_t used = 0;
  clt_space_values(g->space, positions, values);
  for (size_t i = 0; i < clt_expr_n_slots(expr) && used < sizeof with; i++) {
    uint32_t p = clt_expr_slot(expr, i);
    if (g->space->parameters[p].n_values == 1) continue;
    clt_value_print(value, sizeof value, values[p]);
    int n = snprintf(with + used, sizeof with - used, "%s%s=%s", used ? " " : ", with ", g->space->parameters[p].name,
                     value);
    used += n > 0 ? (size_t)n : 0;
  }
  if (clt_expr_eval(expr, values, &ignored, &why) != CLT_E_EXPRESSION)
    snprintf(why.message, sizeof why.message, "cannot evaluate '%.300s'", clt_expr_text(expr));
  return clt_expr_mistake(expr, CLT_E_EXPRESSION, g->error, "%s%s", why.message, with);
}

/* --- constraints on no parameter or on a single one --- */

/* Decides them; the domains become what they leave. */
static int decide_simple(grouping *g) {
  for (size_t p = 0; p < g->space->n_parameters; p++) {
    size_t n = g->space->parameters[p].n_values;
    clt_domain *d = &g->domains[p];
    *d = (clt_domain){(uint32_t)p, clt_new_array(n, sizeof *d->positions), n};
    if (d->positions == NULL) return clt_fail_memory(g->error);
    for (size_t i = 0; i < n; i++) d->positions[i] = (uint32_t)i;
  }
  for (uint32_t r = 0; r < g->flow->n_roots && !g->impossible; r++) {
    /* (behind an impossible one nothing is valid, and what fails there would not have been evaluated) */
    const clt_flow_node *node = &g->flow->nodes[g->flow->roots[r].node];
    uint32_t positions[CLT_MAX_PARAMETERS] = {0};
    if (node->n_support == 0) {
      int rc = clt_failed_fatally(node->value) ? report_failed_root(g, r, positions) : CLT_OK;
      if (rc) return rc;
      g->impossible = node->value.type == CLT_FAILED || !clt_value_truthy(node->value);
    } else if (node->n_support == 1) {
      size_t p = clt_mask_least(node->support), kept = 0;
      clt_domain *d = &g->domains[p];
      for (size_t i = 0; i < d->n_positions; i++) {
        clt_value v = node->table[positions[p] = d->positions[i]];
        if (clt_failed_fatally(v)) return report_failed_root(g, r, positions);
        if (v.type != CLT_FAILED && clt_value_truthy(v)) d->positions[kept++] = positions[p];
      }
      d->n_positions = kept;
    }
  }
  return CLT_OK;
}

/* --- groups: parameters that share a constraint --- */

/* Most groups are done before a good order is found; the others are worth the search. It goes by estimates: where these
 * mislead, the first order may still do. */
static int build_group(grouping *g, clt_group *group, clt_diagram **out) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0}, failed;
  clt_estimate *estimate = NULL;
  if (clt_estimate_new(&estimate, group)) return clt_fail_memory(g->error);
  int rc = CLT_DIAGRAM_TOO_LARGE;
  for (int attempt = 0; rc == CLT_DIAGRAM_TOO_LARGE && attempt < 3; attempt++) {
    clt_diagram_limits limits = {attempt ? g->limits.tries : FEW_TRIES, g->limits.bytes};
    rc = attempt == 1 ? clt_order_well(group, estimate) : (clt_order_quickly(group, estimate), CLT_OK);
    if (rc == CLT_OK) rc = clt_diagram_new(out, group, g->space->weights, limits, positions, &failed);
  }
  clt_estimate_free(estimate);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(g->error);
  if (rc == CLT_DIAGRAM_FAILED) return report_failed_root(g, failed, positions);
  if (rc != CLT_DIAGRAM_TOO_LARGE) return rc;
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

/* --- all groups --- */

static int build_once(grouping *g) {
  clt_space *space = g->space;
  size_t n = space->n_parameters;
  if (clt_flow_new(&g->flow, space, g->whole)) return clt_fail_memory(g->error);
  const clt_flow *flow = g->flow;
  int rc = decide_simple(g);
  for (size_t p = 0; p < n; p++) space->group_of[p] = p; /* at first the least parameter of the group */
  for (size_t r = 0; r < flow->n_roots; r++) {
    const clt_flow_node *node = &flow->nodes[flow->roots[r].node];
    for (size_t p = 0; node->n_support == 2 && p < n; p++) {
      if (!clt_mask_has(&node->support, p)) continue;
      size_t a = space->group_of[clt_mask_least(node->support)], b = space->group_of[p];
      for (size_t q = 0; q < n; q++)
        if (space->group_of[q] == (a > b ? a : b)) space->group_of[q] = a > b ? b : a;
    }
  }
  for (size_t least = 0; rc == CLT_OK && !g->impossible && least < n; least++) {
    if (space->group_of[least] != least || space->parameters[least].n_values == 1) continue;
    clt_group group = {.flow = flow, .roots = clt_new_array(flow->n_roots, sizeof *group.roots)};
    if (group.roots == NULL) return clt_fail_memory(g->error);
    for (size_t p = 0; p < n; p++)
      if (space->group_of[p] == least) group.domains[group.n_domains++] = &g->domains[p];
    for (uint32_t r = 0; r < flow->n_roots; r++) {
      const clt_flow_node *node = &flow->nodes[flow->roots[r].node];
      if (node->n_support == 2 && space->group_of[clt_mask_least(node->support)] == least)
        group.roots[group.n_roots++] = r;
    }
    rc = build_group(g, &group, &space->groups[space->n_groups]);
    space->n_groups += rc == CLT_OK;
    free(group.roots);
  }
  return rc;
}

static int compare_sizes(const void *left, const void *right) {
  const clt_diagram *a = *(const clt_diagram *const *)left, *b = *(const clt_diagram *const *)right;
  if (a->valid != b->valid) return a->valid < b->valid ? -1 : 1;
  return a->parameters[0] < b->parameters[0] ? -1 : 1;
}

int clt_space_build_groups(clt_space *space, clt_diagram_limits limits, clt_error *error) {
  grouping g = {.space = space, .limits = limits, .error = error};
  g.whole = clt_new_array(space->n_constraints, sizeof *g.whole);
  space->groups = clt_new_array(space->n_parameters, sizeof *space->groups);
  int rc = g.whole && space->groups ? AGAIN : clt_fail_memory(error);
  while (rc == AGAIN) {
    g.impossible = false;
    rc = build_once(&g);
    for (size_t p = 0; p < space->n_parameters; p++) free(g.domains[p].positions);
    memset(g.domains, 0, sizeof g.domains);
    clt_flow_free(g.flow);
    g.flow = NULL;
    while (rc && space->n_groups > 0) clt_diagram_free(space->groups[--space->n_groups]);
  }
  free(g.whole);
  if (rc) return rc;
  /* The largest group comes last: ranks that follow each other then differ in this group alone for as long as can be.
   */
  qsort(space->groups, space->n_groups, sizeof *space->groups, compare_sizes);
  space->valid = g.impossible ? 0 : 1;
  for (size_t p = 0; p < space->n_parameters; p++) space->group_of[p] = CLT_NO_GROUP;
  for (size_t i = 0; i < space->n_groups; i++) {
    const clt_diagram *d = space->groups[i];
    space->valid *= d->valid;
    for (size_t l = 0; l < d->n_levels; l++) space->group_of[d->parameters[l]] = i;
  }
  return CLT_OK;
}
