/* Bagged networks: the model `ensemble` (Falch and Elster 2015, section 4), and committees for searches. */
#include <fann.h>

#include "base/base.h"
#include "base/file.h"
#include "model/model.h"
#include "model/network.h"

#define MOST_MEMBERS 64
#define TABLE_ROWS 512 /* of a table that is filled once */

typedef struct ensemble_options {
  int64_t members, hidden, hidden2, iterations, patience;
  double decay;
  const char *trainer;
  bool resources;
} ensemble_options;

#define AT(field) offsetof(ensemble_options, field)
static const clt_option options[] = {
    {"members", CLT_OPTION_INT, "11", 2, MOST_MEMBERS, AT(members),
     "networks, each trained without one part of the rows"},
    {"hidden", CLT_OPTION_INT, "30", 1, CLT_MAX_HIDDEN, AT(hidden), "units in the first hidden layer"},
    {"hidden2", CLT_OPTION_INT, "15", 0, CLT_MAX_HIDDEN, AT(hidden2),
     "units in the second hidden layer; 0: no such layer"},
    {"trainer", CLT_OPTION_TEXT, "lbfgs", 0, 0, AT(trainer), "lbfgs, or rprop (FANN's own)"},
    {"iterations", CLT_OPTION_INT, "2000", 1, 1e6, AT(iterations), "maximum training iterations, or epochs of rprop"},
    {"patience", CLT_OPTION_INT, "300", 1, 1e6, AT(patience),
     "iterations without improvement on the rows left out after which training stops"},
    {"decay", CLT_OPTION_REAL, "0.005", 0, 1e6, AT(decay),
     "weight decay of lbfgs; it is divided by the number of rows"},
    {"resources", CLT_OPTION_BOOL, "yes", 0, 0, AT(resources), "uses the problem's Resources as inputs, if it has any"},
};

/* Allocates n_members networks for the inputs of the encoding. */
static int make_members(clt_ensemble *e, size_t n_members, size_t hidden, size_t hidden2, clt_error *error) {
  size_t n_inputs = e->encoding->n_inputs;
  e->shape = hidden2 ? (clt_shape){n_inputs, 3, {hidden, hidden2, 1}} : (clt_shape){n_inputs, 2, {hidden, 1}};
  e->weights = clt_new_array(n_members, clt_shape_n_weights(&e->shape) * sizeof *e->weights);
  e->n_members = n_members;
  return e->weights ? CLT_OK : clt_fail_memory(error);
}

int clt_ensemble_pack(clt_ensemble *e, clt_error *error) {
  clt_arena_release(&e->pack.memory);
  int rc = clt_split_init(&e->split, e->encoding, TABLE_ROWS, &e->shape, e->weights, e->n_members, error);
  return rc ? rc : clt_pack_init(&e->pack, &e->split, 0, &e->shape, e->weights, e->n_members, error);
}

/* Starts from normal weights, so that every unit's sum has a standard deviation near 1 for inputs in [-1, 1]; biases
 * 0. */
static int fit_member(const clt_bag *bag, size_t member, const size_t *rows, size_t n_train, float *outputs,
                      clt_error *error) {
  const clt_ensemble *e = bag->state;
  const ensemble_options *o = bag->options;
  const clt_shape *shape = &e->shape;
  float *weights = e->weights + member * clt_shape_n_weights(shape), *w = weights;
  size_t n_in = shape->n_inputs;
  for (size_t layer = 0; layer < shape->n_layers; n_in = shape->width[layer++]) {
    double size = (layer ? 1 : 2) / sqrt((double)n_in);
    for (size_t unit = 0; unit < shape->width[layer]; unit++) {
      for (size_t i = 0; i < n_in; i++) *w++ = (float)(size * clt_rng_normal(&bag->rng[member]));
      *w++ = 0;
    }
  }
  clt_training training = {.shape = shape,
                           .x = bag->x,
                           .y = bag->y,
                           .rows = rows,
                           .n_rows = n_train,
                           .n_left_out = bag->n - n_train,
                           .iterations = (long)o->iterations,
                           .patience = (long)o->patience,
                           .decay = o->decay / (double)n_train,
                           .rprop = strcmp(o->trainer, "rprop") == 0};
  return clt_train(&training, weights, outputs, error);
}

static int ensemble_fit(void *state, const clt_rows *rows, const void *given, uint64_t seed, unsigned threads,
                        float *residuals, clt_error *error) {
  clt_ensemble *e = state;
  const ensemble_options *o = given;
  if (strcmp(o->trainer, "rprop") != 0 && strcmp(o->trainer, "lbfgs") != 0)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'trainer' needs lbfgs or rprop, not '%s'", o->trainer);
  int rc = clt_rows_encoding(&e->encoding, rows, o->resources, error);
  if (rc == CLT_OK) rc = make_members(e, (size_t)o->members, (size_t)o->hidden, (size_t)o->hidden2, error);
  if (rc) return rc;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < rows->n; i++) sum += rows->log_cost[i];
  e->centre = sum / (double)rows->n;
  for (size_t i = 0; i < rows->n; i++) squares += (rows->log_cost[i] - e->centre) * (rows->log_cost[i] - e->centre);
  e->scale = sqrt(squares / (double)rows->n);
  if (!(e->scale > 1e-12)) e->scale = 1; /* all costs are the same */
  clt_bag bag = {.state = e, .options = o, .fit_member = fit_member, .centre = e->centre, .scale = e->scale};
  rc = clt_bag_fit(&bag, e->encoding, rows, e->n_members, seed, threads, residuals, error);
  return rc ? rc : clt_ensemble_pack(e, error);
}

static int ensemble_predict(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                            clt_error *error) {
  const clt_ensemble *e = state;
  size_t most = clt_min(n, CLT_LAYOUT_MOST);
  clt_arena scratch = {0};
  float *mean = clt_arena_array(&scratch, most, sizeof *mean),
        *spread = clt_arena_array(&scratch, most, sizeof *spread);
  int rc = clt_arena_check(&scratch, error);
  for (size_t done = 0; rc == CLT_OK && done < n; done += CLT_LAYOUT_MOST) {
    clt_layout layout;
    size_t here = clt_min(n - done, CLT_LAYOUT_MOST);
    rc = clt_layout_init(&layout, &e->split, NULL, configs + done, here, error);
    if (rc == CLT_OK) rc = clt_pack_predict(&e->pack, &layout, mean, spread, error);
    clt_arena_release(&layout.memory);
    for (size_t i = 0; rc == CLT_OK && i < here; i++) {
      out[done + i].log_cost = (float)(e->centre + e->scale * mean[i]);
      out[done + i].spread = (float)(e->scale * spread[i]);
    }
  }
  clt_arena_release(&scratch);
  return rc;
}

/* --- as JSON (src/model/FORMAT.md) --- */

static int ensemble_save(const void *state, clt_model_record *out, clt_error *error) {
  const clt_ensemble *e = state;
  size_t n = clt_shape_n_weights(&e->shape);
  json_t *members = json_array();
  for (size_t i = 0; i < e->n_members; i++) clt_json_append(&members, clt_json_floats(e->weights + i * n, n));
  json_t *json = json_pack("{s:I, s:I, s:f, s:f, s:o, s:o}", "hidden", (json_int_t)e->shape.width[0], "hidden2",
                           (json_int_t)(e->shape.n_layers > 2 ? e->shape.width[1] : 0), "centre", e->centre, "scale",
                           e->scale, "resources", clt_encoding_save(e->encoding), "members", members);
  const bool whole = json && json_object_update(clt_record_json(out), json) == 0;
  json_decref(json);
  return whole ? CLT_OK : clt_fail_memory(error);
}

/* In files of older versions, "trees" may hold boosted trees that were mixed into the ensemble; null: none. */
static int ensemble_load(void *state, const clt_space *space, const clt_instance *instance,
                         const clt_model_record *record, clt_error *error) {
  clt_ensemble *e = state;
  const json_t *json = clt_record_json(record), *members = json_object_get(json, "members"),
               *trees = json_object_get(json, "trees");
  size_t hidden, hidden2, n = json_array_size(members);
  if (trees && !json_is_null(trees))
    return clt_fail(error, CLT_E_FORMAT,
                    "the model is of a type that clatune no longer supports (networks mixed with trees); train it "
                    "again with --model average");
  int rc = clt_encoding_load(&e->encoding, space, instance, json_object_get(json, "resources"), error);
  if (rc) return rc;
  bool good = clt_json_read_size(&hidden, json_object_get(json, "hidden"), 1, CLT_MAX_HIDDEN) &&
              clt_json_read_size(&hidden2, json_object_get(json, "hidden2"), 0, CLT_MAX_HIDDEN) &&
              clt_json_read_number(&e->centre, json_object_get(json, "centre")) &&
              clt_json_read_number(&e->scale, json_object_get(json, "scale")) && e->scale > 0;
  if (!good) return clt_model_damaged(error, "layers");
  if (n < 1 || n > MOST_MEMBERS) return clt_model_damaged(error, "members");
  rc = make_members(e, n, hidden, hidden2, error);
  size_t n_weights = clt_shape_n_weights(&e->shape);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (!clt_json_read_floats(e->weights + i * n_weights, n_weights, json_array_get(members, i)))
      rc = clt_model_damaged(error, "weights");
  return rc ? rc : clt_ensemble_pack(e, error);
}

static void ensemble_bind(void *state, const clt_instance *instance) {
  clt_encoding_bind(((clt_ensemble *)state)->encoding, instance);
}

static void ensemble_fini(void *state) {
  clt_ensemble *e = state;
  clt_arena_release(&e->pack.memory);
  free(e->weights);
  clt_encoding_free(e->encoding);
}

const clt_model_type clt_model_ensemble = {
    .abi = CLT_MODEL_ABI,
    .name = "ensemble",
    .summary = "an ensemble of neural networks (FANN), fitted to log time",
    CLT_OPTIONS(options, ensemble_options),
    .state_size = sizeof(clt_ensemble),
    .fit = ensemble_fit,
    .predict = ensemble_predict,
    .save = ensemble_save,
    .load = ensemble_load,
    .bind = ensemble_bind,
    .fini = ensemble_fini,
};

/* --- as FANN files --- */

int clt_model_save_networks(const clt_model *model, const char *folder, clt_error *error) {
  const clt_ensemble *e = model->state;
  if (model->type != &clt_model_ensemble)
    return clt_fail(
        error, CLT_E_ARGUMENT,
        "only models of type 'ensemble' can be written as networks, not '%s'; train one with --model ensemble",
        model->type->name);
  int rc = clt_folder_make(folder, error);
  for (size_t i = 0; rc == CLT_OK && i < e->n_members; i++) {
    struct fann *fann = NULL;
    char *path = clt_format("%s/network-%02zu.net", folder, i);
    rc = path ? clt_fann_new(&fann, &e->shape, e->weights + i * clt_shape_n_weights(&e->shape), error)
              : clt_fail_memory(error);
    locale_t before = clt_c_locale_enter(); /* FANN prints by the locale */
    clt_replacement r = {.fd = -1};
    if (rc == CLT_OK) rc = clt_file_replace_open(&r, path, error);
    if (rc == CLT_OK && fann_save(fann, r.beside ? r.beside : r.path) != 0)
      rc = clt_fail_errno(error, CLT_E_IO, "write", path);
    clt_c_locale_leave(before);
    if (rc == CLT_OK) rc = clt_file_replace_commit(&r, error);
    clt_file_replace_abort(&r);
    if (fann) fann_destroy(fann);
    free(path);
  }
  return rc;
}

/* --- committees --- */

struct clt_committee {
  clt_committee_options options;
  size_t n_extra, n_weights;
  clt_shape shape;
  float *weights;      /* [member][weight], of sigmoid units once they are fitted */
  float centre, scale; /* y = centre + scale * output */
};

int clt_committee_new(clt_committee **out, const clt_encoding *encoding, size_t n_extra,
                      const clt_committee_options *given, clt_error *error) {
  clt_committee *c = clt_new_array(1, sizeof *c);
  if (c == NULL) return clt_fail_memory(error);
  c->options = *given;
  c->n_extra = n_extra;
  c->shape = (clt_shape){encoding->n_inputs + n_extra, 2, {given->hidden, 1}, .symmetric = true};
  c->n_weights = clt_shape_n_weights(&c->shape);
  c->weights = clt_new_array(given->members, c->n_weights * sizeof *c->weights);
  if (c->weights == NULL) {
    clt_committee_free(c);
    return clt_fail_memory(error);
  }
  *out = c;
  return CLT_OK;
}

void clt_committee_free(clt_committee *c) {
  if (c == NULL) return;
  free(c->weights);
  free(c);
}

/* From tanh units to sigmoid ones, which pack and predict: tanh(z) = 2 sigmoid(2 z) - 1. A member whose training
 * diverged predicts the mean. */
static void make_sigmoid(const clt_committee *c, float *weights) {
  size_t hidden = c->options.hidden, n_first = hidden * (c->shape.n_inputs + 1);
  float *output = weights + n_first, *bias = output + hidden;
  bool sound = true;
  for (size_t i = 0; i < c->n_weights; i++) sound = sound && isfinite(weights[i]);
  if (!sound) memset(weights, 0, c->n_weights * sizeof *weights);
  for (size_t i = 0; i < n_first; i++) weights[i] *= 2;
  for (size_t u = 0; u < hidden; u++) {
    *bias -= output[u];
    output[u] *= 2;
  }
}

int clt_committee_fit(clt_committee *c, const float *x, const float *y, size_t n, clt_rng *rng, clt_error *error) {
  clt_arena scratch = {0};
  float *targets = clt_arena_array(&scratch, n, sizeof *targets);
  uint32_t *fold = clt_arena_array(&scratch, n, sizeof *fold);
  size_t *rows = clt_arena_array(&scratch, n, sizeof *rows);
  int rc = clt_arena_check(&scratch, error);
  if (rc) goto done;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += y[i];
  double centre = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (y[i] - centre) * (y[i] - centre);
  double scale = sqrt(squares / (double)n);
  if (!(scale > 1e-12)) scale = 1; /* all are the same */
  for (size_t i = 0; i < n; i++) targets[i] = (float)((y[i] - centre) / scale);
  c->centre = (float)centre;
  c->scale = (float)scale;
  clt_deal_folds(fold, n, c->options.members, rng);
  /* The start is uniform, with the standard deviation that keeps each unit's sum near 1 for inputs in [-1, 1]; biases
   * 0. All members are drawn side by side, as many as there can be. */
  for (size_t u = 0, at = 0, hidden = c->options.hidden; u <= hidden; u++) {
    size_t n_in = u < hidden ? c->shape.n_inputs : hidden;
    double reach = sqrt(3.0 / (double)n_in);
    for (size_t i = 0; i <= n_in; i++, at++) {
      for (size_t m = 0; m < CLT_LANES; m++) {
        float w = i < n_in ? (float)(reach * (2 * clt_rng_unit(rng) - 1)) : 0;
        if (m < c->options.members) c->weights[m * c->n_weights + at] = w;
      }
    }
  }
  for (size_t m = 0; rc == CLT_OK && m < c->options.members; m++) {
    float *weights = c->weights + m * c->n_weights;
    size_t n_train = clt_fold_split(rows, fold, n, m);
    clt_training training = {.shape = &c->shape,
                             .x = x,
                             .y = targets,
                             .rows = rows,
                             .n_rows = n_train ? n_train : n,
                             .iterations = (long)c->options.iterations,
                             .decay = c->options.decay};
    rc = clt_train(&training, weights, NULL, error);
    make_sigmoid(c, weights);
  }
done:
  clt_arena_release(&scratch);
  return rc;
}

int clt_committee_predict(const clt_committee *c, const clt_layout *layout, float *mean, float *spread,
                          clt_error *error) {
  clt_pack pack;
  int rc = clt_pack_init(&pack, layout->split, c->n_extra, &c->shape, c->weights, c->options.members, error);
  if (rc == CLT_OK) rc = clt_pack_predict(&pack, layout, mean, spread, error);
  for (size_t i = 0; rc == CLT_OK && i < layout->n; i++) {
    mean[i] = c->centre + c->scale * mean[i];
    spread[i] *= c->scale;
  }
  clt_arena_release(&pack.memory);
  return rc;
}
