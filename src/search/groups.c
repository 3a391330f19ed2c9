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
#include "search/searchers.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define NOT_BEGUN SIZE_MAX

typedef struct groups_options {
  int64_t rounds;
} groups_options;

/* A configuration that was asked for. */
typedef struct answer {
  clt_config config; /* the one that stands for it */
  double time_s;     /* NaN: awaited; INFINITY: it failed */
  UT_hash_handle hh;
} answer;

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
  double best_s;
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
  answer *answers;
} groups_state;

/* --- answers --- */

static answer *find(const groups_state *s, clt_config config) {
  answer *found;
  HASH_FIND(hh, s->answers, &config, sizeof config, found);
  return found;
}

static int note(groups_state *s, clt_config config, double time_s, clt_error *error) {
  answer *a = find(s, config);
  if (a) return a->time_s = time_s, CLT_OK;
  a = calloc(1, sizeof *a);
  if (a == NULL) return clt_fail_memory(error);
  *a = (answer){.config = config, .time_s = time_s};
  HASH_ADD(hh, s->answers, config, sizeof a->config, a);
  if (a->hh.tbl) return CLT_OK;
  free(a);
  return clt_fail_memory(error);
}

/* INFINITY where it failed, is not valid, or was left out. */
static double time_of(const groups_state *s, const uint32_t *positions) {
  clt_config config = clt_space_from_positions(s->space, positions);
  const answer *a = clt_space_contains(s->space, config) ? find(s, clt_space_canonical(s->space, config)) : NULL;
  return a && !isnan(a->time_s) ? a->time_s : INFINITY;
}

/* --- the tree --- */

static int add_members(groups_state *s, const clt_problem *problem, clt_error *error) {
  for (size_t g = 0; g < s->n_groups; g++) {
    s->groups[g] = (group){.own = clt_new_array(s->n_parameters, sizeof(size_t)),
                           .children = clt_new_array(s->n_groups, sizeof(size_t)),
                           .n_choices = 1};
    if (s->groups[g].own == NULL || s->groups[g].children == NULL) return clt_fail_memory(error);
  }
  for (size_t p = 0; p < s->n_parameters; p++) {
    group *g = &s->groups[problem ? clt_problem_group_of(problem, p) : 0];
    g->own[g->n_own++] = p;
    g->n_choices *= clt_space_parameter(s->space, p)->n_values; /* at most the cartesian product, which fits */
  }
  for (size_t g = 1; g < s->n_groups; g++) {
    group *parent = &s->groups[clt_problem_group_parent(problem, g)];
    parent->children[parent->n_children++] = g;
  }
  return CLT_OK;
}

static void choose(groups_state *s, const group *g, uint64_t choice) {
  for (size_t i = g->n_own; i-- > 0;) {
    uint64_t n = clt_space_parameter(s->space, g->own[i])->n_values;
    s->current[g->own[i]] = (uint32_t)(choice % n);
    choice /= n;
  }
}

static int push(groups_state *s, size_t g, clt_error *error) {
  frame *f = &s->stack[s->depth];
  *f = (frame){.group = g, .child = NOT_BEGUN, .best_s = INFINITY};
  f->best = clt_new_array(s->n_parameters, sizeof *f->best);
  if (f->best == NULL) return clt_fail_memory(error);
  memcpy(f->best, s->current, s->n_parameters * sizeof *f->best);
  s->depth++;
  return CLT_OK;
}

/* What was best stays. */
static void pop(groups_state *s) {
  frame *f = &s->stack[--s->depth];
  memcpy(s->current, f->best, s->n_parameters * sizeof *f->best);
  free(f->best);
}

static void compare(const groups_state *s, frame *f) {
  double time_s = time_of(s, s->current);
  if (!(time_s < f->best_s)) return;
  f->best_s = time_s;
  memcpy(f->best, s->current, s->n_parameters * sizeof *f->best);
}

/* --- asking --- */

/* Whether the current values make a configuration that has to be asked for. */
static bool is_new(const groups_state *s, clt_config *config) {
  *config = clt_space_from_positions(s->space, s->current);
  if (!clt_space_contains(s->space, *config)) return false;
  *config = clt_space_canonical(s->space, *config);
  return find(s, *config) == NULL;
}

/* A group without others below it: all choices, in any number at once; then the best of them. False: wait. */
static bool step_leaf(groups_state *s, frame *f, clt_config *out) {
  const group *g = &s->groups[f->group];
  while (f->choice < g->n_choices) {
    choose(s, g, f->choice++);
    if (is_new(s, out)) return true;
  }
  *out = CLT_CONFIG_NONE;
  if (s->n_awaited > 0) return false;
  for (uint64_t choice = 0; choice < g->n_choices; choice++) {
    choose(s, g, choice);
    compare(s, f);
  }
  pop(s);
  return true;
}

/* A group with others below it: they are tuned for each choice. */
static int step_inner(groups_state *s, frame *f, clt_error *error) {
  const group *g = &s->groups[f->group];
  if (f->child == NOT_BEGUN) {
    if (f->choice == g->n_choices) return pop(s), CLT_OK;
    choose(s, g, f->choice++);
    f->child = 0;
    return CLT_OK;
  }
  if (f->child < g->n_children) return push(s, g->children[f->child++], error);
  compare(s, f);
  f->child = NOT_BEGUN;
  return CLT_OK;
}

/* The end of a round: another one, if that was asked for and this one changed anything. */
static int next_round(groups_state *s, bool *over, clt_error *error) {
  clt_config best = clt_space_from_positions(s->space, s->current);
  *over = s->rounds-- <= 0 || best == s->before;
  s->before = best;
  return *over ? CLT_OK : push(s, 0, error);
}

/* The next configuration; CLT_CONFIG_NONE: wait for results, or it is over. */
static int next(groups_state *s, clt_config *out, clt_error *error) {
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
    int rc = next(s, &config, error);
    if (rc == CLT_OK && config != CLT_CONFIG_NONE) rc = note(s, config, NAN, error);
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
  const answer *a = find(s, config);
  if (a && isnan(a->time_s)) s->n_awaited--;
  return note(s, config, isnan(cost) ? INFINITY : cost, error);
}

/* --- beginning and ending --- */

static int groups_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  groups_state *s = state;
  const clt_problem *problem = setup->instance ? clt_instance_problem(setup->instance) : NULL;
  if (problem && clt_problem_n_groups(problem) == 0) problem = NULL;
  s->space = setup->space;
  s->n_parameters = clt_space_n_parameters(s->space);
  s->n_groups = problem ? clt_problem_n_groups(problem) : 1;
  s->rounds = ((const groups_options *)options)->rounds;
  s->left = clt_search_allowance(setup);
  s->before = CLT_CONFIG_NONE;
  s->groups = clt_new_array(s->n_groups, sizeof *s->groups);
  s->stack = clt_new_array(s->n_groups, sizeof *s->stack);
  s->current = clt_new_array(s->n_parameters, sizeof *s->current);
  if (s->groups == NULL || s->stack == NULL || s->current == NULL) return clt_fail_memory(error);
  int rc = add_members(s, problem, error);
  if (rc) return rc;
  clt_space_positions(s->space, setup->has_default ? setup->evaluated[0] : clt_space_at(s->space, 0), s->current);
  /* Their results come without being awaited. */
  for (size_t i = 0; rc == CLT_OK && i < setup->n_evaluated; i++) rc = note(s, setup->evaluated[i], INFINITY, error);
  return rc;
}

static void groups_report(const void *state, clt_search_report *out) {
  const groups_state *s = state;
  snprintf(out->phase, sizeof out->phase, s->n_groups > 1 ? "one group after the other" : "all configurations");
}

static void groups_fini(void *state) {
  groups_state *s = state;
  answer *a, *next_answer;
  HASH_ITER(hh, s->answers, a, next_answer) {
    HASH_DEL(s->answers, a);
    free(a);
  }
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
