/* groups: tunes one group of parameters after the other. The problem declares groups whose best values are independent
 * of each other (Giles, "Auto-tuning", 2010: nested groups {a, b, {c, d}, {e, f}}). For every choice of a group's own
 * parameters the groups below it are tuned one after the other, with all other parameters fixed. This needs
 * |a| |b| (|c| |d| + |e| |f|) evaluations instead of the product of all. Without groups it is an exhaustive search. */
#include "base/base.h"
#include "problem/guidance.h"
#include "search/search.h"
#include "space/space.h"

typedef struct groups_options {
  int64_t rounds;
} groups_options;

/* A group that is being tuned. */
typedef struct frame {
  size_t group, child; /* child: the last group below that was started; 0: none, since group 0 is the root */
  uint64_t choice;     /* of the values of its own parameters: the next */
  bool chosen;         /* a choice is made, for which the groups below are tuned */
  double best_cost;
} frame;

typedef struct groups_state {
  clt_steps steps;              /* first: its ask and tell are the searcher's */
  const clt_guidance *guidance; /* NULL: one group */
  size_t n_parameters, n_groups;
  uint64_t *n_choices; /* [group], of its own parameters' values */
  frame *stack;        /* depth of n_groups */
  size_t depth;
  uint32_t *current, *best; /* positions of all parameters: now; [depth][n_parameters], the best of a frame */
  int64_t rounds;
  clt_config before; /* the best of the last round */
} groups_state;

static void push_group(groups_state *s, size_t group) {
  memcpy(s->best + s->depth * s->n_parameters, s->current, s->n_parameters * sizeof *s->best);
  s->stack[s->depth++] = (frame){.group = group, .best_cost = INFINITY};
}

/* Sets the group's parameters to its best values. */
static void pop_group(groups_state *s) {
  memcpy(s->current, s->best + --s->depth * s->n_parameters, s->n_parameters * sizeof *s->best);
}

static size_t group_of(const groups_state *s, size_t parameter) {
  return s->guidance ? s->guidance->group_of[parameter] : 0;
}

/* An earlier parameter of the group that p must differ from. */
static bool excludes(const groups_state *s, size_t earlier, size_t p) {
  const size_t set = clt_space_distinct_of(s->steps.space, p);
  return earlier < p && set != SIZE_MAX && set == clt_space_distinct_of(s->steps.space, earlier) &&
         group_of(s, earlier) == group_of(s, p);
}

/* The number of values that are left for a parameter once the earlier ones of its group are set. */
static uint64_t n_left(const groups_state *s, size_t p) {
  uint64_t n = clt_space_parameter(s->steps.space, p)->n_values;
  for (size_t earlier = 0; earlier < p; earlier++) n -= excludes(s, earlier, p);
  return n;
}

static void set_choice(groups_state *s, size_t group, uint64_t choice) {
  for (size_t p = s->n_parameters; p-- > 0;) {
    if (group_of(s, p) != group) continue;
    s->current[p] = (uint32_t)(choice % n_left(s, p));
    choice /= n_left(s, p);
  }
  for (size_t p = 0; p < s->n_parameters; p++) { /* from a number among the values left to a position */
    clt_mask taken = {{0}};
    if (group_of(s, p) != group || clt_space_distinct_of(s->steps.space, p) == SIZE_MAX) continue;
    for (size_t earlier = 0; earlier < p; earlier++)
      if (excludes(s, earlier, p)) clt_mask_add(&taken, s->current[earlier]);
    s->current[p] = clt_mask_free(&taken, s->current[p]);
  }
}

/* The group below it that comes after `child`; n_groups: none. */
static size_t next_child(const groups_state *s, size_t group, size_t child) {
  do child++;
  while (child < s->n_groups && s->guidance->group_parents[child] != group);
  return child;
}

/* The canonical configuration of the current values; CLT_CONFIG_NONE: not valid. */
static clt_config current_config(const groups_state *s) {
  clt_config config = clt_space_from_positions(s->steps.space, s->current);
  return clt_space_contains(s->steps.space, config) ? clt_space_canonical(s->steps.space, config) : CLT_CONFIG_NONE;
}

/* Keeps the current values if they are the best of the group so far. Failed, invalid and skipped configurations never
 * are. */
static void keep_better(groups_state *s) {
  frame *f = &s->stack[s->depth - 1];
  clt_config config = current_config(s);
  double cost = config == CLT_CONFIG_NONE ? NAN : clt_steps_cost(&s->steps, config);
  if (!(cost < f->best_cost)) return; /* NaN, too */
  f->best_cost = cost;
  memcpy(s->best + (s->depth - 1) * s->n_parameters, s->current, s->n_parameters * sizeof *s->best);
}

static int groups_propose(void *state, clt_config *out, clt_error *error) {
  groups_state *s = state;
  *out = CLT_CONFIG_NONE;
  for (;;) {
    if (s->depth == 0) { /* another round, if that was asked for and this one changed anything */
      clt_config best = clt_space_from_positions(s->steps.space, s->current);
      if (s->rounds-- <= 0 || best == s->before) {
        s->steps.left = 0;
        return CLT_OK;
      }
      s->before = best;
      push_group(s, 0);
    }
    frame *f = &s->stack[s->depth - 1];
    uint64_t n_choices = s->n_choices[f->group];
    if (next_child(s, f->group, 0) == s->n_groups) { /* all choices, in any number at once; then the best of them */
      while (f->choice < n_choices) {
        set_choice(s, f->group, f->choice++);
        clt_config config = current_config(s);
        if (config != CLT_CONFIG_NONE && clt_map_find(&s->steps.known, config) == NULL) {
          *out = config;
          return CLT_OK;
        }
      }
      if (s->steps.n_learnt < s->steps.n_asked) return CLT_OK;
      for (uint64_t choice = 0; choice < n_choices; choice++) {
        set_choice(s, f->group, choice);
        keep_better(s);
      }
      pop_group(s);
    } else if (f->chosen) { /* the groups below are tuned for each choice */
      f->child = next_child(s, f->group, f->child);
      if (f->child < s->n_groups) {
        push_group(s, f->child);
      } else {
        keep_better(s);
        f->chosen = false;
      }
    } else if (f->choice < n_choices) {
      set_choice(s, f->group, f->choice++);
      f->child = 0;
      f->chosen = true;
    } else {
      pop_group(s);
    }
  }
}

static int groups_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.propose = groups_propose};
  groups_state *s = state;
  const clt_guidance *guidance = setup->instance ? clt_problem_guidance(clt_instance_problem(setup->instance)) : NULL;
  s->guidance = guidance && guidance->n_groups ? guidance : NULL;
  int rc = clt_steps_init(&s->steps, setup, &rules, error);
  if (rc) return rc;
  s->n_parameters = clt_space_n_parameters(setup->space);
  s->n_groups = s->guidance ? guidance->n_groups : 1;
  s->rounds = ((const groups_options *)options)->rounds;
  s->before = CLT_CONFIG_NONE;
  clt_arena *memory = &s->steps.memory;
  s->n_choices = clt_arena_array(memory, s->n_groups, sizeof *s->n_choices);
  s->stack = clt_arena_array(memory, s->n_groups, sizeof *s->stack);
  s->current = clt_arena_array(memory, s->n_parameters, sizeof *s->current);
  s->best = clt_arena_array(memory, s->n_groups, (s->n_parameters + 1) * sizeof *s->best);
  if (memory->failed) return clt_fail_memory(error);
  for (size_t g = 0; g < s->n_groups; g++) s->n_choices[g] = 1;
  for (size_t p = 0; p < s->n_parameters; p++) {
    uint64_t *n = &s->n_choices[group_of(s, p)];
    if (__builtin_mul_overflow(*n, n_left(s, p), n)) *n = UINT64_MAX;
    if (*n == UINT64_MAX && clt_space_has_too_many(setup->space)) return clt_search_too_many(error);
  }
  clt_space_positions(s->current, s->steps.space,
                      setup->has_default ? setup->evaluated[0] : clt_space_at(s->steps.space, 0));
  s->steps.phase = s->n_groups > 1 ? "one group after the other" : "all configurations";
  return CLT_OK;
}

static const clt_option options[] = {
    {"rounds", CLT_OPTION_INT, "1", 1, 1000, offsetof(groups_options, rounds),
     "maximum rounds over all groups; a round that changes nothing is the last"},
};

const clt_searcher_type clt_searcher_groups = {
    CLT_STEPS_SEARCHER("groups",
                       "tunes one group of independent parameters after the other (\"Groups\" in the problem file)",
                       groups_state),
    CLT_OPTIONS(options, groups_options),
    .budget = clt_search_without_end,
    .tell = clt_steps_tell,
    .init = groups_init,
    .report = clt_steps_report,
    .fini = clt_steps_fini,
};
