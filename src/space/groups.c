/* From constraints to a flow, to groups of parameters and their diagrams. */
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "space/parts.h"
#include "space/space.h"

#define FEW_TRIES 4096 /* with a quickly chosen order */
#define MOST_NAMED 4
#define MOST_ORDERED 20 /* 21! exceeds 2^63 */
#define AGAIN 4         /* not a result of clt_diagram_new: a constraint must not be split; start again */

/* --- the flow --- */

/* Evaluates a node that depends on no parameter, or tabulates one that depends on a single parameter. */
static int evaluate_flow_node(clt_flow *flow, clt_flow_node *node) {
  unsigned arity = clt_op_arity(node->op);
  const clt_parameter *parameter = node->n_support == 1 ? &flow->parameters[clt_mask_least(node->support)] : NULL;
  const clt_value *operands[4];
  if (node->n_support == 2) return CLT_OK;
  if (parameter) node->table = clt_arena_array(&flow->arena, parameter->n_values, sizeof *node->table);
  if (parameter && node->table == NULL) return CLT_E_MEMORY;
  for (size_t v = 0; v < (parameter ? parameter->n_values : 1); v++) {
    clt_value *out = parameter ? &node->table[v] : &node->value;
    for (unsigned k = 0; k < arity; k++) {
      const clt_flow_node *operand = &flow->nodes[node->operands[k]];
      operands[k] = operand->table ? &operand->table[v] : &operand->value;
    }
    if (arity > 0)
      *out = clt_op_apply((clt_op)node->op, operands);
    else if (parameter)
      *out = parameter->values[v];
  }
  return CLT_OK;
}

/* Finds or adds a node, so that equal nodes exist once. */
static int intern_flow_node(clt_flow *flow, clt_flow_node node, uint32_t *out) {
  struct {
    uint64_t op, type;
    int64_t value;
    uint32_t operands[4];
  } id = {node.op, node.value.type, node.value.integer, {0}};
  uint64_t *entry;
  bool is_new = false;
  memcpy(id.operands, node.operands, sizeof id.operands);
  if (clt_grow(&flow->nodes, &flow->nodes_capacity, flow->n_nodes + 1, sizeof *flow->nodes)) return CLT_E_MEMORY;
  for (uint64_t key = clt_hash64(&id, sizeof id) >> 1;; key++) {
    if ((entry = clt_map_add(&flow->index, key, &is_new)) == NULL) return CLT_E_MEMORY;
    if (is_new) break;
    const clt_flow_node *known = &flow->nodes[*entry];
    if (known->op == node.op && known->value.type == node.value.type && known->value.integer == node.value.integer &&
        memcmp(known->operands, node.operands, sizeof node.operands) == 0) {
      *out = (uint32_t)*entry;
      return CLT_OK;
    }
  }
  *entry = *out = (uint32_t)flow->n_nodes;
  if (node.n_support == 1 && evaluate_flow_node(flow, &node)) return CLT_E_MEMORY;
  flow->nodes[flow->n_nodes++] = node;
  return CLT_OK;
}

/* numbers: the numbers in the flow of the earlier nodes of the expression. */
static int import_expr_node(clt_flow *flow, const clt_expr_node *from, const uint32_t *numbers, uint32_t *out) {
  unsigned arity = clt_op_arity(from->op);
  clt_flow_node node = {.op = from->op};
  if (from->op == CLT_OP_CONSTANT) node.value = from->value;
  if (from->op == CLT_OP_SLOT) {
    const clt_parameter *parameter = &flow->parameters[from->operands[0]];
    if (parameter->n_values == 1) { /* the same as a constant */
      node = (clt_flow_node){.op = CLT_OP_CONSTANT, .value = parameter->values[0]};
    } else {
      node.operands[0] = from->operands[0];
      clt_mask_add(&node.support, from->operands[0]);
    }
  }
  for (unsigned k = 0; k < arity; k++) {
    node.operands[k] = numbers[from->operands[k]];
    node.support = clt_mask_union(node.support, flow->nodes[node.operands[k]].support);
  }
  size_t n = clt_mask_count(node.support);
  node.n_support = n > 2 ? 2 : (uint8_t)n;
  if (arity > 0 && n == 0) {
    evaluate_flow_node(flow, &node);
    node = (clt_flow_node){.op = CLT_OP_CONSTANT, .value = node.value};
  }
  /* Operands of commutative operations are sorted, so that a*b and b*a are one node. */
  bool free_order =
      node.op == CLT_OP_ADD || node.op == CLT_OP_MULTIPLY || node.op == CLT_OP_EQUAL || node.op == CLT_OP_NOT_EQUAL;
  if (free_order && node.operands[0] > node.operands[1]) {
    uint32_t first = node.operands[1];
    node.operands[1] = node.operands[0];
    node.operands[0] = first;
  }
  return intern_flow_node(flow, node, out);
}

/* Splits a node "not (a or b)", as "not in" a list makes, into "not a" and "not b". False: it has another form. */
static bool split_negated(clt_flow *flow, uint32_t i, uint32_t sides[2], int *rc) {
  uint32_t inner = flow->nodes[i].operands[0];
  if (flow->nodes[i].op != CLT_OP_NOT || flow->nodes[i].n_support < 2) return false;
  while (flow->nodes[inner].op == CLT_OP_BOOL) inner = flow->nodes[inner].operands[0];
  if (flow->nodes[inner].op != CLT_OP_OR) return false;
  for (int side = 0; *rc == CLT_OK && side < 2; side++) {
    uint32_t operand = flow->nodes[inner].operands[side];
    const clt_expr_node negation = {.op = CLT_OP_NOT};
    *rc = import_expr_node(flow, &negation, &operand, &sides[side]);
  }
  return true;
}

/* Adds a constraint. Unless `whole`, the operands of the "and"s at its top become separate roots, in the order of
 * evaluation. */
static int import_constraint(clt_flow *flow, const clt_expr *expr, bool whole, uint32_t constraint) {
  uint32_t *numbers = clt_arena_array(&flow->arena, expr->n_nodes, sizeof *numbers), *stack = NULL;
  size_t n = 0, capacity = 0;
  int rc = numbers ? clt_grow(&stack, &capacity, 1, sizeof *stack) : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < expr->n_nodes; i++)
    rc = import_expr_node(flow, &expr->nodes[i], numbers, &numbers[i]);
  if (rc == CLT_OK) stack[n++] = numbers[expr->n_nodes - 1];
  while (rc == CLT_OK && n > 0) {
    uint32_t i = stack[--n], sides[2];
    while (!whole && flow->nodes[i].op == CLT_OP_BOOL) i = flow->nodes[i].operands[0]; /* bool(x) is true if x is */
    bool split = !whole && split_negated(flow, i, sides, &rc);
    if (!whole && flow->nodes[i].op == CLT_OP_AND) {
      memcpy(sides, flow->nodes[i].operands, sizeof sides);
      split = true;
    }
    if (rc) break;
    if (!split) {
      rc = clt_grow(&flow->roots, &flow->roots_capacity, flow->n_roots + 1, sizeof *flow->roots);
      if (rc == CLT_OK) flow->roots[flow->n_roots++] = (clt_flow_root){i, constraint};
    } else if ((rc = clt_grow(&stack, &capacity, n + 2, sizeof *stack)) == CLT_OK) {
      stack[n++] = sides[1];
      stack[n++] = sides[0];
    }
  }
  free(stack);
  return rc;
}

/* --- constraints that cannot be evaluated --- */

typedef struct grouping {
  clt_space *space;
  bool *whole; /* per constraint: must not be split */
  clt_flow flow;
  clt_domain domains[CLT_MAX_PARAMETERS];
  bool impossible;           /* a constraint without parameters is false */
  clt_diagram_limits limits; /* of each diagram */
  clt_error *error;
} grouping;

/* Handles a root that cannot be evaluated at these positions (by parameter). First, its constraint is tried again
 * without splitting, because other parts of it may prevent this evaluation, as in "n > 0 and 8 / n > 1". If that fails
 * too, it is an error. */
static int report_failed_root(grouping *g, uint32_t root, const uint32_t *positions) {
  uint32_t constraint = g->flow.roots[root].constraint;
  if (!g->whole[constraint]) {
    g->whole[constraint] = true;
    return AGAIN;
  }
  const clt_expr *expr = g->space->constraints[constraint].expr;
  clt_value values[CLT_MAX_PARAMETERS], ignored;
  clt_error why = {0};
  clt_text with = {0};
  clt_space_values(g->space, positions, values);
  for (size_t i = 0; i < clt_expr_n_slots(expr); i++) {
    uint32_t p = clt_expr_slot(expr, i);
    if (g->space->parameters[p].n_values == 1) continue;
    clt_text_printf(&with, "%s%s=", with.n ? " " : ", with ", g->space->parameters[p].name);
    const bool is_text = values[p].type == CLT_STRING;
    clt_text_add(&with, is_text ? "'" : "");
    clt_text_add_value(&with, values[p]);
    clt_text_add(&with, is_text ? "' (a text; write numbers without quotes)" : "");
  }
  if (clt_expr_eval(expr, values, &ignored, &why) != CLT_E_EXPRESSION)
    snprintf(why.message, sizeof why.message, "cannot evaluate '%.300s'", clt_expr_text(expr));
  clt_expr_mistake(expr, CLT_E_EXPRESSION, g->error, "%s%.400s", why.message, with.n ? with.bytes : "");
  clt_text_release(&with);
  return CLT_E_EXPRESSION;
}

/* --- constraints on no parameter or on a single one --- */

/* Evaluates them, and restricts the domains. */
static int decide_simple(grouping *g) {
  for (size_t p = 0; p < g->space->n_parameters; p++) {
    size_t n = g->space->parameters[p].n_values;
    clt_domain *d = &g->domains[p];
    *d = (clt_domain){(uint32_t)p, clt_arena_array(&g->flow.arena, n, sizeof *d->positions), n};
    if (d->positions == NULL) return clt_fail_memory(g->error);
    for (size_t i = 0; i < n; i++) d->positions[i] = (uint32_t)i;
  }
  for (uint32_t r = 0; r < g->flow.n_roots && !g->impossible; r++) {
    /* after a constraint that is always false, the others are not evaluated */
    const clt_flow_node *node = &g->flow.nodes[g->flow.roots[r].node];
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

/* --- parameters that differ from each other --- */

/* Whether a root is "a != b" or "not (a == b)" of two parameters with the same values. */
static bool compares_two(const grouping *g, const clt_flow_root *root, uint32_t sides[2]) {
  const clt_flow_node *nodes = g->flow.nodes, *node = &nodes[root->node];
  const bool negated = node->op == CLT_OP_NOT;
  if (negated && node->n_support == 2) node = &nodes[node->operands[0]];
  if (node->n_support < 2 || node->op != (negated ? CLT_OP_EQUAL : CLT_OP_NOT_EQUAL)) return false;
  for (int i = 0; i < 2; i++) {
    const clt_flow_node *side = &nodes[node->operands[i]];
    if (side->op != CLT_OP_SLOT) return false;
    sides[i] = side->operands[0];
  }
  const clt_parameter *a = &g->space->parameters[sides[0]], *b = &g->space->parameters[sides[1]];
  return a->n_values <= CLT_MOST_DISTINCT && clt_parameter_same_values(a, b);
}

/* Finds sets of parameters that all differ from each other, as the positions of a permutation do, and removes the
 * roots that say so. Two of many values are no set: for them, a root is enough. */
static void find_distinct(grouping *g) {
  clt_space *space = g->space;
  clt_flow *flow = &g->flow;
  clt_mask differ[CLT_MAX_PARAMETERS] = {{{0}}};
  uint32_t sides[2];
  space->n_distinct = 0;
  for (size_t p = 0; p < space->n_parameters; p++) space->distinct_of[p] = CLT_NO_GROUP;
  for (size_t r = 0; r < flow->n_roots; r++) {
    if (!compares_two(g, &flow->roots[r], sides)) continue;
    clt_mask_add(&differ[sides[0]], sides[1]);
    clt_mask_add(&differ[sides[1]], sides[0]);
  }
  for (size_t p = 0; p < space->n_parameters; p++) {
    clt_mask set = {{0}};
    if (space->distinct_of[p] != CLT_NO_GROUP) continue;
    clt_mask_add(&set, p);
    for (size_t q = p + 1; q < space->n_parameters; q++)
      if (space->distinct_of[q] == CLT_NO_GROUP && clt_mask_within(set, differ[q])) clt_mask_add(&set, q);
    const size_t n = clt_mask_count(set);
    const size_t n_values = space->parameters[p].n_values;
    if (n < 2 || (n == 2 && n_values > 2) || (n < n_values && n_values > CLT_MOST_TAKEN)) continue;
    for (size_t q = p; q < space->n_parameters; q++)
      if (clt_mask_has(&set, q)) space->distinct_of[q] = space->n_distinct;
    space->n_distinct++;
  }
  const size_t *set_of = space->distinct_of;
  size_t kept = 0;
  for (size_t r = 0; r < flow->n_roots; r++) {
    const bool two = compares_two(g, &flow->roots[r], sides) && set_of[sides[0]] != CLT_NO_GROUP;
    if (!two || set_of[sides[0]] != set_of[sides[1]]) flow->roots[kept++] = flow->roots[r];
  }
  flow->n_roots = kept;
}

/* --- groups: parameters that share a constraint --- */

/* Names parameters and conditions, the first few, and says what can be done. */
static int refuse_group(const grouping *g, const clt_group *group, const char *why) {
  clt_text names = {0}, conditions = {0};
  size_t n_listed = 0, n_different = 0;
  uint32_t last = UINT32_MAX;
  for (size_t l = 0; l < group->n_domains; l++) {
    const uint32_t p = group->domains[l]->parameter;
    if (l < MOST_NAMED) clt_text_printf(&names, "%s'%s'", l ? ", " : "", g->space->parameters[p].name);
    n_different += g->space->distinct_of[p] != CLT_NO_GROUP;
  }
  if (group->n_domains > MOST_NAMED) clt_text_printf(&names, " and %zu more", group->n_domains - MOST_NAMED);
  for (size_t i = 0; i < group->n_roots && n_listed < MOST_NAMED; i++) {
    const uint32_t constraint = g->flow.roots[group->roots[i]].constraint;
    if (constraint != last)
      clt_text_printf(&conditions, "%s'%.100s'", n_listed++ ? ", " : "",
                      clt_expr_text(g->space->constraints[constraint].expr));
    last = constraint;
  }
  clt_fail(g->error, CLT_E_RANGE,
           "the combinations of %.300s that satisfy %.350s %s; list fewer values%s, or drop conditions and let what "
           "violates them fail",
           names.n ? names.bytes : "values", conditions.n ? conditions.bytes : "the conditions", why,
           n_different > MOST_ORDERED ? ", as a permutation with conditions rarely fits beyond 20 items" : "");
  clt_text_release(&names);
  clt_text_release(&conditions);
  return CLT_E_RANGE;
}

/* Most groups can be built faster than a good order is found, so a quickly chosen order is tried first. The good order
 * is based on estimates. If it fails, the quick order is tried again with the full limits. */
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
  if (rc != CLT_DIAGRAM_TOO_LARGE && rc != CLT_DIAGRAM_TOO_MANY) return rc;
  return refuse_group(g, group, rc == CLT_DIAGRAM_TOO_MANY ? "exceed 2^63" : "do not fit into memory");
}

/* --- all groups --- */

static int build_once(grouping *g) {
  clt_space *space = g->space;
  size_t n = space->n_parameters;
  clt_flow *flow = &g->flow;
  g->flow.parameters = space->parameters;
  g->flow.n_parameters = n;
  if (clt_grow(&g->flow.nodes, &g->flow.nodes_capacity, 1, sizeof *g->flow.nodes)) return clt_fail_memory(g->error);
  for (uint32_t i = 0; i < space->n_constraints; i++)
    if (import_constraint(&g->flow, space->constraints[i].expr, g->whole[i], i)) return clt_fail_memory(g->error);
  find_distinct(g);
  int rc = decide_simple(g);
  for (size_t p = 0; p < n; p++) { /* at first the smallest parameter of the group */
    space->group_of[p] = p;
    for (size_t q = 0; q < p && space->distinct_of[p] != CLT_NO_GROUP; q++)
      if (space->distinct_of[q] == space->distinct_of[p]) space->group_of[p] = clt_min(space->group_of[p], q);
  }
  for (size_t r = 0; r < flow->n_roots; r++) {
    const clt_flow_node *node = &flow->nodes[flow->roots[r].node];
    for (size_t p = 0; node->n_support == 2 && p < n; p++) {
      if (!clt_mask_has(&node->support, p)) continue;
      size_t a = space->group_of[clt_mask_least(node->support)], b = space->group_of[p];
      const size_t joined = a < b ? a : b;
      for (size_t q = 0; q < n; q++)
        if (space->group_of[q] == a || space->group_of[q] == b) space->group_of[q] = joined;
    }
  }
  for (size_t least = 0; rc == CLT_OK && !g->impossible && least < n; least++) {
    if (space->group_of[least] != least || space->parameters[least].n_values == 1) continue;
    clt_group group = {.flow = flow,
                       .distinct_of = space->distinct_of,
                       .roots = clt_arena_array(&flow->arena, flow->n_roots, sizeof *group.roots),
                       .nodes = clt_arena_array(&flow->arena, flow->n_nodes, sizeof *group.nodes)};
    rc = clt_arena_check(&flow->arena, g->error);
    for (size_t p = 0; p < n; p++)
      if (space->group_of[p] == least) group.domains[group.n_domains++] = &g->domains[p];
    for (uint32_t r = 0; rc == CLT_OK && r < flow->n_roots; r++) {
      const clt_flow_node *node = &flow->nodes[flow->roots[r].node];
      if (node->n_support < 2 || space->group_of[clt_mask_least(node->support)] != least) continue;
      group.roots[group.n_roots++] = r;
      group.nodes[flow->roots[r].node] = 1; /* first a mark for needed nodes, then their list */
    }
    for (size_t i = flow->n_nodes; rc == CLT_OK && i-- > 0;)
      for (unsigned k = 0; group.nodes[i] && k < clt_flow_arity(&flow->nodes[i]); k++)
        group.nodes[flow->nodes[i].operands[k]] = 1;
    for (uint32_t i = 0; rc == CLT_OK && i < flow->n_nodes; i++)
      if (group.nodes[i]) group.nodes[group.n_nodes++] = i;
    if (rc == CLT_OK) rc = build_group(g, &group, &space->groups[space->n_groups]);
    space->n_groups += rc == CLT_OK;
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
    clt_arena_release(&g.flow.arena);
    free(g.flow.nodes);
    free(g.flow.roots);
    clt_map_release(&g.flow.index);
    g.flow = (clt_flow){0};
    while (rc && space->n_groups > 0) clt_diagram_free(space->groups[--space->n_groups]);
  }
  free(g.whole);
  if (rc) return rc;
  /* The largest group comes last, so that consecutive ranks differ in as few groups as possible. */
  qsort(space->groups, space->n_groups, sizeof *space->groups, compare_sizes);
  return clt_space_count_valid(space, g.impossible, error);
}

int clt_space_count_valid(clt_space *space, bool impossible, clt_error *error) {
  bool empty = impossible, too_many = false;
  for (size_t p = 0; p < space->n_parameters; p++) space->group_of[p] = CLT_NO_GROUP;
  for (size_t i = 0; i < space->n_groups; i++) {
    const clt_diagram *d = space->groups[i];
    empty = empty || d->valid == 0;
    for (size_t l = 0; l < d->n_levels; l++) space->group_of[d->parameters[l]] = i;
  }
  space->valid = !empty;
  for (size_t i = space->n_groups; i-- > 0 && !empty;) {
    clt_diagram *d = space->groups[i];
    if (space->ranked) d->unit = space->valid;
    too_many |= __builtin_mul_overflow(space->valid, d->valid, &space->valid) || space->valid > CLT_MOST_NUMBERS;
  }
  if (!too_many) return CLT_OK;
  space->valid = INT64_MAX;
  return clt_met_new(&space->met, space->parameters, space->n_parameters, error);
}

/* --- why a space is empty --- */

/* Whether the space is still empty with these n constraints; also false if this takes too long to find out. */
static bool is_empty_with(const clt_space *space, clt_constraint *constraints, size_t n) {
  clt_space trial = {.parameters = space->parameters,
                     .weights = space->weights,
                     .n_parameters = space->n_parameters,
                     .constraints = constraints,
                     .n_constraints = n};
  int rc = clt_space_build_groups(&trial, (clt_diagram_limits){.tries = 1 << 20, .bytes = 1 << 26}, NULL);
  for (size_t i = 0; i < trial.n_groups; i++) clt_diagram_free(trial.groups[i]);
  free(trial.groups);
  clt_met_free(trial.met);
  return rc == CLT_OK && trial.valid == 0;
}

void clt_space_explain_empty(char *out, size_t capacity, const clt_space *space) {
  clt_constraint *left = clt_new_array(space->n_constraints, sizeof *left);
  size_t n = left ? space->n_constraints : 0;
  if (n) memcpy(left, space->constraints, n * sizeof *left);
  for (size_t i = n; i-- > 0;) { /* tries to drop the device's limits first, which are the last, because the author can
                                    change the conditions */
    const clt_constraint tried = left[i];
    memmove(&left[i], &left[i + 1], (n - i - 1) * sizeof *left);
    if (is_empty_with(space, left, n - 1)) {
      n--;
      continue;
    }
    memmove(&left[i + 1], &left[i], (n - i - 1) * sizeof *left);
    left[i] = tried;
  }
  const char *list = n == 1 ? ": " : "; these constraints exclude each other: ";
  int used = snprintf(out, capacity, "none of the %llu configurations satisfies the constraints%s",
                      (unsigned long long)clt_space_cartesian(space), n ? list : "");
  for (size_t i = 0; i < n && used >= 0 && (size_t)used < capacity; i++)
    used += snprintf(out + used, capacity - (size_t)used, "%s'%s'", i ? ", " : "", left[i].message);
  free(left);
}
