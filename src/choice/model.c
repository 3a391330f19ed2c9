/* Models that 'clatune family train' wrote: reading them, and choosing with them. */
#include "base/base.h"
#include "base/json.h"
#include "choice/choice.h"

#define MAX_MODEL_BYTES ((size_t)256 << 20)

void clt_family_model_free(clt_family_model *m) {
  if (m == NULL) return;
  for (size_t i = 0; m->arms && i < m->n_arms; i++) {
    free(m->arms[i].variant);
    free(m->arms[i].configuration);
    free(m->arms[i].condition);
    clt_expr_free(m->arms[i].where);
  }
  free(m->arms);
  clt_words_free(m->names.all);
  free(m->scales);
  free(m->numbers.values);
  free(m->family);
  free(m->path);
  free(m);
}

bool clt_family_is_name(const char *text) {
  return text[0] != 0 &&
         strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(text);
}

bool clt_family_holds(const clt_expr *where, const double *features, size_t n_features) {
  clt_value slots[CLT_MAX_FEATURES], value;
  if (where == NULL) return true;
  for (size_t i = 0; i < n_features; i++) slots[i] = (clt_value){.type = CLT_REAL, .real = features[i]};
  return clt_expr_eval(where, slots, &value, NULL) == CLT_OK && clt_value_truthy(value);
}

double clt_family_margin(const clt_family_model *m) { return m->scorer->predicts_time ? log(1 + CLT_FAMILY_TIE) : 0; }

void clt_family_select(clt_family_choice *out, const clt_family_model *m, const double *features) {
  double scores[CLT_MAX_ARMS];
  const int outside = clt_family_score(scores, m, features);
  size_t best = m->standard;
  double least = outside < 0 ? scores[best] - clt_family_margin(m) : 0;
  for (size_t a = 0; outside < 0 && a < m->n_arms; a++)
    if (scores[a] < least && clt_family_holds(m->arms[a].where, features, m->n_features)) best = a, least = scores[a];
  const bool predicts = outside < 0 && m->scorer->predicts_time;
  *out = (clt_family_choice){.variant = m->arms[best].variant,
                             .configuration = m->arms[best].configuration,
                             .arm = best,
                             .predicted_s = predicts ? exp(scores[best]) : NAN};
  if (outside >= 0) out->outside = m->names.all[outside];
}

/* --- the file --- */

static char *copy(const clt_node *node, const char *text) {
  char *out = text ? strdup(text) : NULL;
  if (out == NULL && text) clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  return out;
}

/* Texts are exported as C strings: they must be printable, without quotes and backslashes. */
static char *copy_plain(const clt_node *node, const char *text) {
  for (const char *at = text; text && *at; at++)
    if (*at < ' ' || *at > '~' || strchr("\"\\?", *at))
      clt_node_fail(node, "must be printable ASCII without quotes, backslashes and question marks");
  return copy(node, clt_node_ok(node) ? text : NULL);
}

static void read_feature(clt_family_model *m, size_t i, const clt_node *node) {
  clt_node scale = clt_node_member(node, "Scale");
  const char *name = clt_read_required_text(node, "Name");
  if (name && !clt_is_name(name)) clt_node_fail(node, "needs a name");
  for (size_t k = 0; k < 5 && clt_node_ok(node); k++)
    if (!clt_json_read_number(&m->scales[i][k], json_array_get(scale.json, k)))
      clt_node_fail(&scale, "needs 5 numbers");
  if (clt_node_ok(node) && m->scales[i][2] >= 0 && m->scales[i][0] + m->scales[i][2] <= 0)
    clt_node_fail(&scale, "takes the logarithm of a range that includes negative numbers");
  if (clt_node_ok(node) && clt_words_add(&m->names, strdup(name), NULL))
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
}

static void read_arm(clt_family_model *m, size_t i, const clt_node *node) {
  clt_family_model_arm *arm = &m->arms[i];
  clt_error cause = {0};
  clt_symbol symbols[CLT_MAX_FEATURES];
  arm->variant = copy_plain(node, clt_read_required_text(node, "Variant"));
  arm->configuration = copy_plain(node, clt_read_text(node, "Configuration"));
  arm->condition = copy(node, clt_read_text(node, "Where"));
  if (arm->configuration == NULL || (arm->variant && !clt_family_is_name(arm->variant)))
    clt_node_fail(node, "needs a \"Variant\" and its \"Configuration\"");
  for (size_t k = 0; k < m->n_features; k++) symbols[k] = (clt_symbol){.name = m->names.all[k], .slot = (uint32_t)k};
  if (arm->condition && clt_node_ok(node))
    clt_node_wrap(node, clt_expr_compile(&arm->where, arm->condition, symbols, m->n_features, &cause), &cause);
}

static void read_model(clt_family_model *m, const clt_node *root) {
  clt_node features = clt_node_member(root, "Features"), arms = clt_node_member(root, "Arms"),
           values = clt_node_member(root, "Values"), chooser = clt_node_member(root, "Chooser");
  if (!clt_read_object(root, NULL, false)) return;
  const int64_t version = clt_read_integer(root, "FamilyModel", 0);
  if (version != CLT_FAMILY_MODEL_VERSION)
    clt_node_fail(root, version > CLT_FAMILY_MODEL_VERSION ? "a newer version of clatune wrote this model"
                                                           : "is not a model of 'clatune family train'");
  m->family = copy(root, clt_read_required_text(root, "Family"));
  if (m->family && !clt_is_name(m->family)) clt_node_fail(root, "\"Family\" needs a name");
  const char *path = clt_read_text(root, "File"), *name = clt_read_required_text(root, "Chooser");
  m->path = copy(root, path ? path : "");
  m->scorer = name ? clt_family_scorer_find(name) : NULL;
  if (name && m->scorer == NULL) clt_node_fail(&chooser, "there is no chooser \"%.64s\"", name);
  m->n_features = clt_read_list(&features);
  const size_t n_arms = clt_read_list(&arms);
  if (m->n_features == 0 || m->n_features > CLT_MAX_FEATURES)
    clt_node_fail(&features, "needs 1 to %d features", CLT_MAX_FEATURES);
  if (n_arms == 0 || n_arms > CLT_MAX_ARMS) clt_node_fail(&arms, "needs 1 to %d arms", CLT_MAX_ARMS);
  if (!clt_node_ok(root)) return;
  m->scales = calloc(m->n_features, sizeof *m->scales);
  m->arms = calloc(n_arms, sizeof *m->arms);
  m->numbers.n = clt_read_list(&values);
  m->numbers.values = clt_new_array(m->numbers.n, sizeof *m->numbers.values);
  if (!m->scales || !m->arms || !m->numbers.values)
    clt_node_fail_as(root, CLT_E_MEMORY, "out of memory");
  else
    m->n_arms = n_arms;
  for (size_t i = 0; i < m->n_features && clt_node_ok(root); i++) {
    clt_node item = clt_node_item(&features, i);
    read_feature(m, i, &item);
  }
  for (size_t i = 0; i < m->n_arms && clt_node_ok(root); i++) {
    clt_node item = clt_node_item(&arms, i);
    read_arm(m, i, &item);
  }
  m->standard = (size_t)clt_read_integer_within(root, "Standard", 0, 0, CLT_MAX_ARMS);
  m->numbers.dim = (int)clt_read_integer_within(root, "Dimension", 0, 0, 1 << 20);
  for (size_t i = 0; i < m->numbers.n && clt_node_ok(root); i++) {
    double number;
    if (!clt_json_read_number(&number, json_array_get(values.json, i)) || fabs(number) > 3e38)
      clt_node_fail(&values, "needs numbers");
    m->numbers.values[i] = clt_node_ok(root) ? (float)number : 0;
  }
  if (clt_node_ok(root) && (m->standard >= m->n_arms || m->arms[m->standard].condition))
    clt_node_fail(root, "\"Standard\" must be the number of an arm without a \"Where\"");
  if (clt_node_ok(root) && !m->scorer->fits(&m->numbers, m->n_features, m->n_arms))
    clt_node_fail(&values, "are not valid for the chooser '%s'; train the model again", m->scorer->name);
}

int clt_family_model_new(clt_family_model **out, const char *const **features, const char *path, clt_error *error) {
  clt_source source = {0};
  clt_family_model *m = calloc(1, sizeof *m);
  if (m == NULL) return clt_fail_memory(error);
  int rc = clt_source_read(&source, path, MAX_MODEL_BYTES, error);
  clt_reading reading = {&source, error, CLT_OK};
  if (rc == CLT_OK) {
    clt_node root = clt_node_root(&reading);
    read_model(m, &root);
    rc = reading.rc;
  }
  clt_source_release(&source);
  if (rc != CLT_OK) {
    clt_family_model_free(m);
    return rc;
  }
  if (features) *features = (const char *const *)m->names.all;
  *out = m;
  return CLT_OK;
}
