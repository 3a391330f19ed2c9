/* Hill climbing on a model, where the space is too large to be swept in the time there is. */
#include <clatune/rng.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/screening.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define SWEPT 4   /* times as many configurations as may be predicted one by one are swept in the same time */
#define SAMPLED 4 /* one in so many predictions is of a random configuration, to begin with */
#define CLIMBS 4  /* from the best of these; what is left goes to the neighbours of the best of all */

/* Where the way was found by quick predictions, so many times as many as wanted are predicted exactly at the end, */
#define SCREENED 4
#define FEWEST_SCREENED 32 /* and at least this many */

typedef struct seen {
  clt_config config;
  clt_candidate candidate;
  bool expanded;
  UT_hash_handle hh;
} seen;

typedef struct climb {
  const clt_model *model;
  double min_p_valid;
  bool screen; /* on the way the model's quick predictions do */
  seen *all, *index;
  size_t n, capacity;
  clt_config *batch; /* capacity */
  clt_prediction *predictions;
  clt_config *neighbours;
  size_t most_neighbours;
} climb;

static seen *find(const climb *c, clt_config config) {
  seen *s;
  HASH_FIND(hh, c->index, &config, sizeof config, s);
  return s;
}

/* Predicts those of n configurations that were not seen yet, as far as there is room. */
static int look_at(climb *c, const clt_config *configs, size_t n, clt_error *error) {
  size_t first = c->n, n_new = 0;
  for (size_t i = 0; i < n && c->n < c->capacity; i++) {
    if (find(c, configs[i])) continue;
    seen *s = &c->all[c->n];
    s->config = c->batch[n_new++] = configs[i];
    HASH_ADD(hh, c->index, config, sizeof s->config, s);
    if (s->hh.tbl == NULL) return clt_fail_memory(error);
    c->n++;
  }
  int rc = clt_model_predict_costs(c->model, c->batch, n_new, c->screen, c->predictions, error);
  if (!rc) rc = clt_model_predict_validity(c->model, c->batch, n_new, c->predictions, error);
  for (size_t i = 0; !rc && i < n_new; i++) {
    const clt_prediction *p = &c->predictions[i];
    c->all[first + i].candidate = (clt_candidate){c->batch[i], *p, !(p->p_valid < c->min_p_valid)};
  }
  return rc;
}

static bool better(const seen *a, const seen *b) {
  return b == NULL || clt_candidate_compare(&a->candidate, &b->candidate) < 0;
}

/* Looks at all neighbours; *best is the best of them that was predicted, NULL where there is none. */
static int expand(climb *c, seen *from, seen **best, clt_error *error) {
  from->expanded = true;
  size_t n = clt_space_neighbours(c->model->space, from->config, c->neighbours, c->most_neighbours);
  if (n > c->most_neighbours) n = c->most_neighbours;
  int rc = look_at(c, c->neighbours, n, error);
  *best = NULL;
  for (size_t i = 0; !rc && i < n; i++) {
    seen *s = find(c, c->neighbours[i]);
    if (s && better(s, *best)) *best = s;
  }
  return rc;
}

/* The best of the first n whose neighbours were not looked at; NULL: there is none. */
static seen *best_open(const climb *c, size_t n) {
  seen *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (!c->all[i].expanded && better(&c->all[i], best)) best = &c->all[i];
  return best;
}

static int climb_from(climb *c, seen *start, clt_error *error) {
  seen *at = start, *next = NULL;
  int rc = CLT_OK;
  while (!rc && at && !at->expanded && c->n < c->capacity) {
    rc = expand(c, at, &next, error);
    at = next && better(next, at) ? next : NULL;
  }
  return rc;
}

static int begin(climb *c, const clt_config *starts, size_t n_starts, clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, 1);
  int rc = look_at(c, starts, n_starts, error);
  if (rc) return rc;
  clt_config *sample = clt_new_array(c->capacity / SAMPLED + 1, sizeof *sample);
  if (sample == NULL) return clt_fail_memory(error);
  int64_t n = clt_space_sample(c->model->space, &rng, c->capacity / SAMPLED + 1, sample, error);
  rc = n < 0 ? (int)n : look_at(c, sample, (size_t)n, error);
  free(sample);
  return rc;
}

static int run(climb *c, const clt_config *starts, size_t n_starts, clt_error *error) {
  int rc = begin(c, starts, n_starts, error);
  size_t n_begun = c->n;
  for (int i = 0; !rc && i < CLIMBS; i++) rc = climb_from(c, best_open(c, n_begun), error);
  while (!rc && c->n < c->capacity) {
    seen *open = best_open(c, c->n), *ignored;
    if (open == NULL) break;
    rc = expand(c, open, &ignored, error);
  }
  return rc;
}

static int init(climb *c, clt_error *error) {
  const clt_space *space = c->model->space;
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    c->most_neighbours += clt_space_parameter(space, i)->n_values;
  c->all = clt_new_array(c->capacity, sizeof *c->all);
  c->batch = clt_new_array(c->capacity, sizeof *c->batch);
  c->predictions = clt_new_array(c->capacity, sizeof *c->predictions);
  c->neighbours = clt_new_array(c->most_neighbours, sizeof *c->neighbours);
  return c->all && c->batch && c->predictions && c->neighbours ? CLT_OK : clt_fail_memory(error);
}

static void fini(climb *c) {
  HASH_CLEAR(hh, c->index);
  free(c->all);
  free(c->batch);
  free(c->predictions);
  free(c->neighbours);
}

static int give_best(const climb *c, size_t m, clt_config *out, clt_prediction *predictions, size_t *n_out,
                     clt_error *error) {
  clt_heap heap;
  int rc =
      clt_heap_init(&heap, clt_screened(m, c->screen ? SCREENED : 1, c->screen ? FEWEST_SCREENED : 0, c->n), error);
  if (rc) return rc;
  for (size_t i = 0; i < c->n; i++) clt_heap_add(&heap, &c->all[i].candidate);
  if (c->screen) rc = clt_screened_predict(c->model, &heap, error);
  if (!rc) *n_out = clt_heap_give(&heap, m, out, predictions);
  clt_heap_release(&heap);
  return rc;
}

int clt_model_climb(const clt_model *model, size_t m, double min_p_valid, const clt_config *starts, size_t n_starts,
                    size_t n_predictions, clt_config *out, clt_prediction *predictions, size_t *n_out,
                    clt_error *error) {
  if (clt_space_valid(model->space) / SWEPT <= n_predictions)
    return clt_model_best(model, m, min_p_valid, NULL, 0, out, predictions, n_out, error);
  climb c = {.model = model, .min_p_valid = min_p_valid, .screen = clt_model_screens(model), .capacity = n_predictions};
  int rc = init(&c, error);
  if (!rc) rc = run(&c, starts, n_starts, error);
  if (!rc) rc = give_best(&c, m, out, predictions, n_out, error);
  fini(&c);
  return rc;
}
