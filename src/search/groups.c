/* groups: one group of parameters after the other, where the problem says whose best values do not depend on each
 * other's (Giles, "Auto-tuning", 2010: nested groups {a, b, {c, d}, {e, f}}). For every choice of a group's own
 * parameters the groups below it are tuned one after the other, all others being held: |a| |b| (|c| |d| + |e| |f|)
 * evaluations in place of the product. Without groups it is an exhaustive search. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/guidance.h"
#include "search/search.h"

#define NOT_BEGUN SIZE_MAX

typedef struct groups_options {
  int64_t rounds;
} groups_options;

typedef struct group {
  size_t *own; /* parameters */
  size_t n_own;
  size_t *children;
  size_t n_children;
  uint64_t n_choices; /* of the own parameters' values */
} group;

/* A group that is being tuned. */
typedef struct frame {
  size_t group;
  uint64_t choice;
  size_t child; /* the next one below; NOT_BEGUN: the choice is not made */
  double best_cost;
  uint32_t *best; /* positions of all parameters */
} frame;

typedef struct groups_state {
  const clt_space *space;
  size_t n_parameters, n_groups;
  group *groups;
  frame *stack;
  size_t depth;
  uint32_t *current;
  int64_t left, rounds;
  size_t n_awaited;
  clt_config before; /* the best of the last round */
  clt_map costs;     /* of what was asked for, by canonical configuration: NaN: awaited; INFINITY: it failed */
} groups_state;

/* --- answers --- */

static double get_cost(const groups_state *s, clt_config config, bool *known) {
  const uint64_t *bits = clt_map_find(&s->costs, config);
  double cost = INFINITY;
  if (bits) memcpy(&cost, bits, sizeof cost);
  *known = bits != NULL;
  return cost;
}

static int set_cost(groups_state *s, clt_config config, double cost, clt_error *error) {
  uint64_t *bits = clt_map_add(&s->costs, config, NULL);
  if (bits == NULL) return clt_fail_memory(error);
  memcpy(bits, &cost, sizeof cost);
  return CLT_OK;
}

/* --- the tree --- */

/* guidance NULL: one group. */
static int add_members(groups_state *s, const clt_guidance *guidance, clt_error *error) {
  for (size_t g = 0; g < s->n_groups; g++) {
    s->groups[g] = (group){.own = clt_new_array(s->n_parameters, sizeof(size_t)),
                           .children = clt_new_array(s->n_groups, sizeof(size_t)),
                           .n_choices = 1};
    if (s->groups[g].own == NULL || s->groups[g].children == NULL) return clt_fail_memory(error);
  }
  for (size_t p = 0; p < s->n_parameters; p++) {
    group *g = &s->groups[guidance ? guidance->group_of[p] : 0];
    g->own[g->n_own++] = p;
    g->n_choices *= clt_space_parameter(s->space, p)->n_values; /* at most the cartesian product, which fits */
  }
  for (size_t g = 1; g < s->n_groups; g++) {
    group *parent = &s->groups[guidance->group_parents[g]];
    parent->children[parent->n_children++] = g;
  }
  return CLT_OK;
}

static void set_choice(groups_state *s, const group *g, uint64_t choice) {
  for (size_t i = g->n_own; i-- > 0;) {
    uint64_t n = clt_space_parameter(s->space, g->own[i])->n_values;
    s->current[g->own[i]] = (uint32_t)(choice % n);
    choice /= n;
  }
}

static int push_group(groups_state *s, size_t g, clt_error *error) {
  frame *f = &s->stack[s->depth];
  *f = (frame){.group = g, .child = NOT_BEGUN, .best_cost = INFINITY};
  f->best = clt_new_array(s->n_parameters, sizeof *f->best);
  if (f->best == NULL) return clt_fail_memory(error);
  memcpy(f->best, s->current, s->n_parameters * sizeof *f->best);
  s->depth++;
  return CLT_OK;
}

/* What was best stays. */
static void pop_group(groups_state *s) {
  frame *f = &s->stack[--s->depth];
  memcpy(s->current, f->best, s->n_parameters * sizeof *f->best);
  free(f->best);
}

/* Keeps the current values if they are the best of the group's so far. What failed, is not valid or was left out is
 * not. */
static void keep_better(const groups_state *s, frame *f) {
  bool known = false;
  clt_config config = clt_space_from_positions(s->space, s->current);
  double cost = INFINITY;
  if (clt_space_contains(s->space, config)) cost = get_cost(s, clt_space_canonical(s->space, config), &known);
  if (!(cost < f->best_cost)) return; /* NaN, too */
  f->best_cost = cost;
  memcpy(f->best, s->current, s->n_parameters * sizeof *f->best);
}

/* --- asking --- */

/* Whether the current values make a configuration that has to be asked for. */
static bool is_new(const groups_state *s, clt_config *config) {
  *config = clt_space_from_positions(s->space, s->current);
  if (!clt_space_contains(s->space, *config)) return false;
  *config = clt_space_canonical(s->space, *config);
  return clt_map_find(&s->costs, *config) == NULL;
}

/* A group without others below it: all choices, in any number at once; then the best of them. False: wait. */
static bool step_leaf(groups_state *s, frame *f, clt_config *out) {
  const group *g = &s->groups[f->group];
  while (f->choice < g->n_choices) {
    set_choice(s, g, f->choice++);
    if (is_new(s, out)) return true;
  }
  *out = CLT_CONFIG_NONE;
  if (s->n_awaited > 0) return false;
  for (uint64_t choice = 0; choice < g->n_choices; choice++) {
    set_choice(s, g, choice);
    keep_better(s, f);
  }
  pop_group(s);
  return true;
}

/* A group with others below it: they are tuned for each choice. */
static int step_inner(groups_state *s, frame *f, clt_error *error) {
  const group *g = &s->groups[f->group];
  if (f->child == NOT_BEGUN) {
    if (f->choice == g->n_choices) return pop_group(s), CLT_OK;
    set_choice(s, g, f->choice++);
    f->child = 0;
    return CLT_OK;
  }
  if (f->child < g->n_children) return push_group(s, g->children[f->child++], error);
  keep_better(s, f);
  f->child = NOT_BEGUN;
  return CLT_OK;
}

/* The end of a round: another one, if that was asked for and this one changed anything. */
static int next_round(groups_state *s, bool *over, clt_error *error) {
  clt_config best = clt_space_from_positions(s->space, s->current);
  *over = s->rounds-- <= 0 || best == s->before;
  s->before = best;
  return *over ? CLT_OK : push_group(s, 0, error);
}

/* The next configuration; CLT_CONFIG_NONE: wait for results, or it is over. */
static int next_of_groups(groups_state *s, clt_config *out, clt_error *error) {
  bool over = false, waits = false;
  int rc = CLT_OK;
  *out = CLT_CONFIG_NONE;
  while (rc == CLT_OK && *out == CLT_CONFIG_NONE && !over && !waits) {
    frame *f = s->depth ? &s->stack[s->depth - 1] : NULL;
    if (f == NULL)
      rc = next_round(s, &over, error);
    else if (s->groups[f->group].n_children == 0)
      waits = !step_leaf(s, f, out);
    else
      rc = step_inner(s, f, error);
  }
  return rc;
}

static int groups_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  groups_state *s = state;
  size_t asked = 0;
  while (asked < n && s->left > 0) {
    clt_config config;
    int rc = next_of_groups(s, &config, error);
    if (rc == CLT_OK && config != CLT_CONFIG_NONE) rc = set_cost(s, config, NAN, error);
    if (rc) return rc;
    if (config == CLT_CONFIG_NONE) break;
    out[asked++] = config;
    s->n_awaited++;
    s->left--;
  }
  *n_out = asked;
  return CLT_OK;
}

static int groups_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                       clt_error *error) {
  (void)measurement;
  groups_state *s = state;
  bool known;
  if (isnan(get_cost(s, config, &known))) s->n_awaited--;
  return set_cost(s, config, isnan(cost) ? INFINITY : cost, error);
}

/* --- beginning and ending --- */

static int groups_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  groups_state *s = state;
  const clt_guidance *guidance = setup->instance ? clt_problem_guidance(clt_instance_problem(setup->instance)) : NULL;
  if (guidance && guidance->n_groups == 0) guidance = NULL;
  s->space = setup->space;
  s->n_parameters = clt_space_n_parameters(s->space);
  s->n_groups = guidance ? guidance->n_groups : 1;
  s->rounds = ((const groups_options *)options)->rounds;
  s->left = clt_search_allowance(setup);
  s->before = CLT_CONFIG_NONE;
  s->groups = clt_new_array(s->n_groups, sizeof *s->groups);
  s->stack = clt_new_array(s->n_groups, sizeof *s->stack);
  s->current = clt_new_array(s->n_parameters, sizeof *s->current);
  if (s->groups == NULL || s->stack == NULL || s->current == NULL) return clt_fail_memory(error);
  int rc = add_members(s, guidance, error);
  if (rc) return rc;
  clt_space_positions(s->space, setup->has_default ? setup->evaluated[0] : clt_space_at(s->space, 0), s->current);
  /* Their results come without being awaited. */
  for (size_t i = 0; rc == CLT_OK && i < setup->n_evaluated; i++)
    rc = set_cost(s, setup->evaluated[i], INFINITY, error);
  return rc;
}

static void groups_report(const void *state, clt_search_report *out) {
  const groups_state *s = state;
  snprintf(out->phase, sizeof out->phase, s->n_groups > 1 ? "one group after the other" : "all configurations");
}

static void groups_fini(void *state) {
  groups_state *s = state;
  clt_map_release(&s->costs);
  while (s->depth > 0) free(s->stack[--s->depth].best);
  for (size_t g = 0; s->groups && g < s->n_groups; g++) {
    free(s->groups[g].own);
    free(s->groups[g].children);
  }
  free(s->groups);
  free(s->stack);
  free(s->current);
}

/* As many as the groups make. */
static int64_t groups_budget(const void *options) {
  (void)options;
  return INT64_MAX;
}

static const clt_option options[] = {
    {"rounds", CLT_OPTION_INT, "1", 1, 1000, offsetof(groups_options, rounds),
     "how often all groups are gone through, at most; it ends earlier where a round changes nothing"},
};

const clt_searcher_type clt_searcher_groups = {
    .abi = CLT_SEARCHER_ABI,
    .name = "groups",
    .summary = "one group of independent parameters after the other (\"Groups\" of the problem)",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(groups_options),
    .state_size = sizeof(groups_state),
    .budget = groups_budget,
    .init = groups_init,
    .ask = groups_ask,
    .tell = groups_tell,
    .report = groups_report,
    .fini = groups_fini,
};
