#include "search/steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/searchers.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct clt_step {
  clt_config config;
  double time_s;
  bool told;
};

struct clt_step_of {
  clt_config config;
  size_t index;  /* in steps; SIZE_MAX: was evaluated before the first of them */
  double time_s; /* NaN: not learnt */
  UT_hash_handle hh;
};

static struct clt_step_of *find(const clt_steps *s, clt_config config) {
  struct clt_step_of *entry;
  HASH_FIND(hh, s->known, &config, sizeof config, entry);
  return entry;
}

static int remember(clt_steps *s, clt_config config, size_t index, clt_error *error) {
  struct clt_step_of *entry = malloc(sizeof *entry);
  if (entry == NULL) return clt_fail_memory(error);
  *entry = (struct clt_step_of){.config = config, .index = index, .time_s = NAN};
  HASH_ADD(hh, s->known, config, sizeof entry->config, entry);
  if (entry->hh.tbl) return CLT_OK;
  free(entry);
  return clt_fail_memory(error);
}

int clt_steps_init(clt_steps *s, const clt_search_setup *setup, const clt_steps_rules *rules, void *state,
                   clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, setup->seed);
  *s = (clt_steps){.space = setup->space, .rules = rules, .state = state, .window = 1};
  s->rng = clt_rng_split(&rng);
  s->left = clt_search_allowance(setup);
  clt_draw_init(&s->draw, setup->space, setup->seed);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < setup->n_evaluated; i++)
    rc = remember(s, setup->evaluated[i], SIZE_MAX, error);
  return rc;
}

void clt_steps_release(clt_steps *s) {
  struct clt_step_of *entry, *next;
  HASH_ITER(hh, s->known, entry, next) {
    HASH_DEL(s->known, entry);
    free(entry);
  }
  clt_draw_release(&s->draw);
  free(s->steps);
}

double clt_steps_time(const clt_steps *s, clt_config config) {
  const struct clt_step_of *entry = find(s, config);
  return entry ? entry->time_s : NAN;
}

bool clt_steps_is_new(const clt_steps *s, clt_config config) {
  return clt_space_contains(s->space, config) && clt_space_canonical(s->space, config) == config &&
         find(s, config) == NULL;
}

int clt_steps_random(clt_steps *s, clt_config *out, clt_error *error) {
  int rc;
  do rc = clt_draw_next(&s->draw, out, error);
  while (rc == CLT_OK && *out != CLT_CONFIG_NONE && find(s, *out));
  return rc;
}

/* --- asking --- */

static int learn_next(clt_steps *s, clt_error *error) {
  const struct clt_step *step = &s->steps[s->n_learnt++];
  find(s, step->config)->time_s = step->time_s;
  return s->rules->learn(s->state, step->config, step->time_s, error);
}

static bool next_is_told(const clt_steps *s) { return s->n_learnt < s->n_asked && s->steps[s->n_learnt].told; }

/* How many results have to be learnt before the next proposal. */
static size_t due(const clt_steps *s) { return s->n_asked + 1 > s->window ? s->n_asked + 1 - s->window : 0; }

static int note(clt_steps *s, clt_config config, clt_error *error) {
  if (clt_grow(&s->steps, &s->capacity, s->n_asked + 1, sizeof *s->steps)) return clt_fail_memory(error);
  int rc = remember(s, config, s->n_asked, error);
  if (rc) return rc;
  s->steps[s->n_asked++] = (struct clt_step){.config = config, .time_s = NAN};
  s->left--;
  return CLT_OK;
}

/* Learns what is due and proposes. CLT_CONFIG_NONE: a result is missing, or the space is exhausted. */
static int next(clt_steps *s, clt_config *out, clt_error *error) {
  int rc = CLT_OK;
  *out = CLT_CONFIG_NONE;
  while (rc == CLT_OK && s->n_learnt < due(s)) {
    if (!next_is_told(s)) return CLT_OK;
    rc = learn_next(s, error);
  }
  while (rc == CLT_OK) {
    rc = s->rules->propose(s->state, out, error);
    if (rc || *out != CLT_CONFIG_NONE || !next_is_told(s)) break;
    rc = learn_next(s, error);
  }
  if (rc || *out != CLT_CONFIG_NONE || s->n_learnt < s->n_asked) return rc;
  rc = clt_steps_random(s, out, error);
  s->exhausted = *out == CLT_CONFIG_NONE;
  return rc;
}

int clt_steps_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  clt_steps *s = state;
  *n_out = 0;
  if (n > s->window) s->window = n;
  while (*n_out < n && s->left > 0 && !s->exhausted) {
    clt_config config;
    int rc = next(s, &config, error);
    if (rc) return rc;
    if (config == CLT_CONFIG_NONE) break;
    rc = note(s, config, error);
    if (rc) return rc;
    out[(*n_out)++] = config;
  }
  return CLT_OK;
}

/* --- telling --- */

int clt_steps_tell(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error) {
  (void)measurement;
  clt_steps *s = state;
  double time_s = isnan(cost) ? INFINITY : cost;
  struct clt_step_of *entry = find(s, config);
  if (entry == NULL) return CLT_OK;
  if (entry->index == SIZE_MAX) {
    entry->time_s = time_s;
    return s->rules->learn(s->state, config, time_s, error);
  }
  s->steps[entry->index].time_s = time_s;
  s->steps[entry->index].told = true;
  return CLT_OK;
}
