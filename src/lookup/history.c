/* What a store holds of a kernel at all sizes. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/predictor.h"
#include "lookup/related.h"

struct clt_history {
  const clt_instance *own;
  clt_rows_at *sizes;
  clt_instance **instances; /* by size; NULL: the own one */
  size_t n_sizes, sizes_capacity, instances_capacity, n_rows;
};

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

/* Sizes without a measurement are left out: *kept. */
static int read_key(clt_history *h, clt_store *store, const clt_store_key *key, const clt_instance *instance,
                    bool *kept, clt_error *error) {
  row_list list = {0};
  int rc = clt_store_newest(store, key, clt_instance_space(instance), false, collect_row, &list, NULL, error);
  *kept = rc == CLT_OK && list.n > 0;
  if (*kept && (clt_grow(&h->sizes, &h->sizes_capacity, h->n_sizes + 1, sizeof *h->sizes) ||
                clt_grow(&h->instances, &h->instances_capacity, h->n_sizes + 1, sizeof(clt_instance *)))) {
    rc = clt_fail_memory(error);
    *kept = false;
  }
  if (!*kept) return free(list.rows), rc;
  h->instances[h->n_sizes] = NULL;
  h->sizes[h->n_sizes++] = (clt_rows_at){instance, list.rows, list.n};
  h->n_rows += list.n;
  return CLT_OK;
}

/* Other sizes on the same device with the same driver, where they are of today's kernel. */
static int read_other_sizes(clt_history *h, clt_store *store, const clt_store_key *own, clt_error *error) {
  const clt_problem *problem = clt_instance_problem(h->own);
  const clt_related_query query = {own, clt_problem_name(problem), "", false};
  clt_related_list related = {0};
  int rc = clt_related_add(&related, store, &query, error);
  for (size_t i = 0; rc == CLT_OK && i < related.n; i++) {
    const clt_related *r = &related.all[i];
    clt_instance *instance = NULL;
    bool kept = false;
    if (!r->same_device || !r->same_driver) continue;
    rc = clt_related_instance(&instance, r, problem, clt_instance_device(h->own), error);
    if (rc == CLT_OK && instance && clt_space_same_parameters(clt_instance_space(instance), clt_instance_space(h->own)))
      rc = read_key(h, store, &r->key, instance, &kept, error);
    if (kept)
      h->instances[h->n_sizes - 1] = instance;
    else
      clt_instance_free(instance);
  }
  clt_related_release(&related);
  return rc;
}

int clt_history_read(clt_history **out, clt_store *store, const clt_instance *instance, bool own_size,
                     clt_error *error) {
  clt_history *h = clt_new_array(1, sizeof *h);
  clt_store_key own;
  bool kept;
  if (h == NULL) return clt_fail_memory(error);
  h->own = instance;
  int rc = clt_store_key_init(&own, instance, error);
  if (rc == CLT_OK) rc = read_key(h, store, &own, instance, &kept, error);
  if (rc == CLT_OK && !own_size) rc = read_other_sizes(h, store, &own, error);
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
