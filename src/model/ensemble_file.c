/* The ensemble as JSON and back (docs/model-file.md). */
#include <jansson.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/ensemble.h"
#include "model/json.h"

/* --- saving --- */

static json_t *save_members(const clt_ensemble *e) {
  size_t n = clt_shape_n_weights(&e->shape);
  float *weights = clt_new_array(n, sizeof *weights);
  json_t *array = weights ? json_array() : NULL;
  for (size_t i = 0; array && i < e->n_members; i++) {
    clt_network_get_weights(e->members[i], weights);
    if (json_array_append_new(array, clt_json_floats(weights, n)) == 0) continue;
    json_decref(array);
    array = NULL;
  }
  free(weights);
  return array;
}

/* null: none. */
static json_t *save_trees(const clt_ensemble *e) {
  if (e->boosted == NULL) return json_null();
  json_t *array = json_array();
  for (size_t i = 0; array && i < e->n_members; i++) {
    if (json_array_append_new(array, clt_forest_save(e->boosted[i])) == 0) continue;
    json_decref(array);
    array = NULL;
  }
  return json_pack("{s:f, s:o}", "share", e->share, "members", array);
}

int clt_ensemble_save(const void *state, json_t **out, clt_error *error) {
  const clt_ensemble *e = state;
  size_t hidden2 = e->shape.n_layers > 2 ? e->shape.width[1] : 0;
  json_t *json = json_pack("{s:I, s:I, s:f, s:f, s:o*, s:o*, s:o*, s:o*}", "hidden", (json_int_t)e->shape.width[0],
                           "hidden2", (json_int_t)hidden2, "centre", e->centre, "scale", e->scale, "resources",
                           clt_resources_save(e->encoding), "residuals", clt_json_floats(e->residuals, e->n_residuals),
                           "members", save_members(e), "trees", save_trees(e));
  bool whole = json && json_object_get(json, "resources") && json_object_get(json, "residuals") &&
               json_object_get(json, "members") && json_object_get(json, "trees");
  if (!whole) return json_decref(json), clt_fail_memory(error);
  *out = json;
  return CLT_OK;
}

/* --- loading --- */

static int load_shape(clt_ensemble *e, const json_t *json, clt_error *error) {
  size_t hidden, hidden2;
  bool good = clt_json_read_size(&hidden, json_object_get(json, "hidden"), 1, CLT_MAX_HIDDEN) &&
              clt_json_read_size(&hidden2, json_object_get(json, "hidden2"), 0, CLT_MAX_HIDDEN) &&
              clt_json_read_number(&e->centre, json_object_get(json, "centre")) &&
              clt_json_read_number(&e->scale, json_object_get(json, "scale")) && e->scale > 0 &&
              e->encoding->n_inputs > 0;
  if (!good) return clt_model_damaged(error, "layers");
  e->shape = clt_ensemble_shape(e->encoding, hidden, hidden2);
  return CLT_OK;
}

static int load_residuals(clt_ensemble *e, const json_t *array, clt_error *error) {
  size_t n = json_array_size(array);
  e->residuals = clt_new_array(n, sizeof *e->residuals);
  if (e->residuals == NULL) return clt_fail_memory(error);
  e->n_residuals = n;
  return json_is_array(array) && clt_json_read_floats(e->residuals, n, array) ? CLT_OK
                                                                              : clt_model_damaged(error, "residuals");
}

static int load_members(clt_ensemble *e, const json_t *array, clt_error *error) {
  size_t n = json_array_size(array), n_weights = clt_shape_n_weights(&e->shape);
  if (n < 1 || n > CLT_MAX_MEMBERS) return clt_model_damaged(error, "members");
  float *weights = clt_new_array(n_weights, sizeof *weights);
  int rc = weights ? clt_ensemble_allocate(e, n, error) : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < n; i++) {
    if (clt_json_read_floats(weights, n_weights, json_array_get(array, i)))
      clt_network_set_weights(e->members[i], weights);
    else
      rc = clt_model_damaged(error, "weights");
  }
  free(weights);
  return rc;
}

/* Files without the member have none. */
static int load_trees(clt_ensemble *e, const json_t *json, clt_error *error) {
  if (json == NULL || json_is_null(json)) return CLT_OK;
  const json_t *array = json_object_get(json, "members");
  bool good = clt_json_read_number(&e->share, json_object_get(json, "share")) && e->share > 0 && e->share <= 1 &&
              json_array_size(array) == e->n_members;
  if (!good) return clt_model_damaged(error, "trees");
  e->boosted = clt_new_array(e->n_members, sizeof(clt_forest *));
  int rc = e->boosted ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < e->n_members; i++)
    rc = clt_forest_load(&e->boosted[i], e->encoding, json_array_get(array, i), error);
  return rc;
}

int clt_ensemble_load(void *state, const clt_space *space, const clt_instance *instance, const json_t *json,
                      clt_error *error) {
  clt_ensemble *e = state;
  int rc = clt_encoding_new(&e->encoding, space, NULL, error);
  if (!rc) rc = clt_resources_load(e->encoding, instance, json_object_get(json, "resources"), error);
  if (!rc) rc = load_shape(e, json, error);
  if (!rc) rc = load_residuals(e, json_object_get(json, "residuals"), error);
  if (!rc) rc = load_members(e, json_object_get(json, "members"), error);
  if (!rc) rc = load_trees(e, json_object_get(json, "trees"), error);
  return rc ? rc : clt_ensemble_ready(e, error);
}
