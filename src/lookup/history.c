/* What a store holds of a kernel at all sizes. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/lookup.h"

/* A key of the store that is of this kernel, perhaps. */
typedef struct candidate {
  clt_store_key key;
  char *sizes;
} candidate;

struct clt_history {
  const clt_instance *own;
  clt_rows_at *sizes;
  clt_instance **instances; /* by size; NULL: the own one */
  size_t n_sizes, sizes_capacity, instances_capacity, n_rows;
};

typedef struct reading {
  clt_history *history;
  clt_store *store;
  clt_store_key own;
  candidate *candidates;
  size_t n, capacity;
} reading;

/* --- finding the keys --- */

static int note(void *user, const clt_store_description *d) {
  reading *r = user;
  const char *name = clt_problem_name(clt_instance_problem(r->history->own));
  bool fits = strcmp(d->problem_name, name) == 0 && strcmp(d->key.device, r->own.device) == 0 &&
              strcmp(d->key.driver, r->own.driver) == 0 && strcmp(d->key.problem, r->own.problem) != 0;
  if (!fits) return 0;
  if (clt_grow(&r->candidates, &r->capacity, r->n + 1, sizeof *r->candidates)) return CLT_E_MEMORY;
  char *sizes = strdup(d->sizes);
  if (sizes == NULL) return CLT_E_MEMORY;
  r->candidates[r->n++] = (candidate){d->key, sizes};
  return 0;
}

/* NULL in *out: it is not of today's kernel. */
static int instance_of(clt_instance **out, const clt_instance *own, const candidate *c, clt_error *error) {
  const clt_problem *problem = clt_instance_problem(own);
  int rc = clt_stored_instance(out, problem, clt_instance_device(own), &c->key, c->sizes, error);
  if (rc || *out == NULL || clt_space_same_parameters(clt_instance_space(*out), clt_instance_space(own))) return rc;
  clt_instance_free(*out);
  *out = NULL;
  return CLT_OK;
}

/* --- reading one --- */

typedef struct row_list {
  clt_row *rows;
  size_t n, capacity;
} row_list;

static int collect_row(void *user, const clt_store_answer *answer) {
  row_list *list = user;
  if (answer->newest == NULL) return 0;
  if (clt_grow(&list->rows, &list->capacity, list->n + 1, sizeof *list->rows)) return CLT_E_MEMORY;
  list->rows[list->n++] = (clt_row){answer->config, answer->newest->time_s, !clt_measurement_correct(answer->newest)};
  return 0;
}

static int keep(clt_history *h, const clt_instance *instance, clt_row *rows, size_t n, clt_error *error) {
  bool full = clt_grow(&h->sizes, &h->sizes_capacity, h->n_sizes + 1, sizeof *h->sizes) ||
              clt_grow(&h->instances, &h->instances_capacity, h->n_sizes + 1, sizeof(clt_instance *));
  if (full) return clt_fail_memory(error);
  h->instances[h->n_sizes] = NULL;
  h->sizes[h->n_sizes++] = (clt_rows_at){instance, rows, n};
  h->n_rows += n;
  return CLT_OK;
}

/* Sizes without a measurement are left out. */
static int read_key(reading *r, const clt_store_key *key, const clt_instance *instance, bool *kept, clt_error *error) {
  row_list list = {0};
  int rc = clt_store_newest(r->store, key, clt_instance_space(instance), false, collect_row, &list, NULL, error);
  *kept = rc == CLT_OK && list.n > 0;
  if (*kept) rc = keep(r->history, instance, list.rows, list.n, error);
  if (rc || !*kept) free(list.rows);
  return rc;
}

static int read_candidate(reading *r, candidate *c, clt_error *error) {
  clt_instance *instance = NULL;
  bool kept = false;
  int rc = instance_of(&instance, r->history->own, c, error);
  if (rc == CLT_OK && instance) rc = read_key(r, &c->key, instance, &kept, error);
  if (rc || !kept)
    clt_instance_free(instance);
  else
    r->history->instances[r->history->n_sizes - 1] = instance;
  return rc;
}

static int read_all(reading *r, bool own_size, clt_error *error) {
  bool kept;
  int rc = clt_store_key_init(&r->own, r->history->own, error);
  if (rc == CLT_OK) rc = read_key(r, &r->own, r->history->own, &kept, error);
  if (rc || own_size) return rc;
  rc = clt_store_each_key(r->store, false, note, r, error);
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++) rc = read_candidate(r, &r->candidates[i], error);
  return rc;
}

int clt_history_read(clt_history **out, clt_store *store, const clt_instance *instance, bool own_size,
                     clt_error *error) {
  clt_history *h = clt_new_array(1, sizeof *h);
  if (h == NULL) return clt_fail_memory(error);
  h->own = instance;
  reading r = {.history = h, .store = store};
  int rc = read_all(&r, own_size, error);
  for (size_t i = 0; i < r.n; i++) free(r.candidates[i].sizes);
  free(r.candidates);
  if (rc == CLT_E_MEMORY)
    clt_fail_memory(error); /* from a visit, which has no error of its own; the first one stands */
  if (rc) return clt_history_free(h), rc;
  *out = h;
  return CLT_OK;
}

void clt_history_free(clt_history *h) {
  if (h == NULL) return;
  for (size_t i = 0; i < h->n_sizes; i++) {
    free((void *)h->sizes[i].rows);
    clt_instance_free(h->instances[i]);
  }
  free(h->sizes);
  free(h->instances);
  free(h);
}

size_t clt_history_n_rows(const clt_history *h) { return h->n_rows; }
size_t clt_history_n_sizes(const clt_history *h) { return h->n_sizes; }

const clt_rows_at *clt_history_sizes(const clt_history *h, size_t *n_sizes) {
  *n_sizes = h->n_sizes;
  return h->sizes;
}

/* Rows of this size alone give a model of this size, as they always did. */
int clt_history_fit(clt_model **out, const clt_history *h, const char *type, const clt_setting *settings,
                    size_t n_settings, uint64_t seed, unsigned threads, clt_error *error) {
  clt_model *model = NULL;
  if (h->n_sizes == 1 && h->sizes[0].instance == h->own)
    return clt_model_fit(out, type, settings, n_settings, clt_instance_space(h->own), h->own, h->sizes[0].rows,
                         h->sizes[0].n_rows, seed, threads, error);
  int rc = clt_model_fit_sizes(&model, type, settings, n_settings, h->sizes, h->n_sizes, seed, threads, error);
  if (rc == CLT_OK) rc = clt_model_bind(model, h->own, error);
  if (rc) return clt_model_free(model), rc;
  *out = model;
  return CLT_OK;
}
