/* What a store holds of a kernel at all sizes. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/predictor.h"
#include "lookup/related.h"
#include "model/rows.h"

struct clt_history {
  const clt_instance *own;
  clt_rows rows;
  clt_instance **instances; /* of the rows; NULL: the own one */
  size_t instances_capacity;
};

typedef struct row_reader {
  clt_history *history;
  const clt_instance *instance;
  size_t index; /* among the rows' instances, once there is a measurement */
} row_reader;

static int collect_row(void *user, const clt_store_answer *answer) {
  row_reader *r = user;
  clt_rows *rows = &r->history->rows;
  const clt_measurement *m = answer->newest;
  if (m == NULL) return 0;
  if (r->index == rows->n_instances && clt_rows_add_instance(rows, r->instance, NULL)) return CLT_E_MEMORY;
  return clt_rows_add(rows, answer->config, clt_measurement_correct(m) ? log(m->time_s) : NAN, r->index, NULL);
}

/* Sizes without a measurement are left out: *kept. */
static int read_key(clt_history *h, clt_store *store, const clt_store_key *key, const clt_instance *instance,
                    bool *kept, clt_error *error) {
  row_reader reader = {h, instance, h->rows.n_instances};
  *kept = false;
  if (clt_grow(&h->instances, &h->instances_capacity, reader.index + 1, sizeof(clt_instance *)))
    return clt_fail_memory(error);
  h->instances[reader.index] = NULL;
  int rc = clt_store_newest(store, key, clt_instance_space(instance), false, collect_row, &reader, NULL, error);
  *kept = h->rows.n_instances > reader.index;
  return rc;
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
      h->instances[h->rows.n_instances - 1] = instance;
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
  for (size_t i = 0; i < h->rows.n_instances; i++) clt_instance_free(h->instances[i]);
  clt_rows_release(&h->rows);
  free(h->instances);
  free(h);
}

size_t clt_history_n_rows(const clt_history *h) { return h->rows.n; }
size_t clt_history_n_sizes(const clt_history *h) { return h->rows.n_instances; }

/* Rows of this size alone give a model of this size. */
int clt_history_fit(clt_model **out, const clt_history *h, const char *type, const clt_setting *settings,
                    size_t n_settings, uint64_t seed, unsigned threads, clt_error *error) {
  clt_model *model = NULL;
  int rc = clt_model_fit(&model, type, settings, n_settings, &h->rows, seed, threads, error);
  bool own = rc == CLT_OK && h->rows.n_instances == 1 && h->rows.instances[0] == h->own;
  if (rc == CLT_OK && !own) rc = clt_model_bind(model, h->own, error);
  if (rc) return clt_model_free(model), rc;
  *out = model;
  return CLT_OK;
}
