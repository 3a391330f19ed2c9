/* "Tuning": the limits of a search and the like, as `clatune tune` has them. */
#include "sweep/sweep.h"

static int read_count(int64_t *out, const clt_source *source, const clt_node *parent, const char *name, int64_t min,
                      int64_t max, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  int rc = clt_node_integer(out, source, parent, name, error);
  if (rc == CLT_OK && node.json && (*out < min || *out > max))
    rc = clt_node_fail(source, &node, error, "needs a whole number from %lld to %lld", (long long)min, (long long)max);
  return rc;
}

static int read_number(double *out, const clt_source *source, const clt_node *parent, const char *name, double min,
                       double max, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  int rc = clt_node_number(out, source, parent, name, error);
  if (rc == CLT_OK && node.json && !(*out >= min && *out <= max))
    rc = clt_node_fail(source, &node, error, "needs a number from %g to %g", min, max);
  return rc;
}

static int read_counts(clt_tune_settings *s, const clt_source *source, const clt_node *node, clt_error *error) {
  int64_t finalists = s->finalists, batch = 0, threads = 0;
  int rc = read_count(&finalists, source, node, "Finalists", 0, 1000, error);
  if (rc == CLT_OK) rc = read_count(&s->stagnation, source, node, "Stagnation", 1, INT64_MAX, error);
  if (rc == CLT_OK) rc = read_count(&batch, source, node, "Batch", 1, 1000000, error);
  if (rc == CLT_OK) rc = read_count(&threads, source, node, "Threads", 1, 1024, error);
  s->finalists = (unsigned)finalists;
  s->batch = (size_t)batch;
  s->threads = (unsigned)threads;
  return rc;
}

static int read_objective(clt_tune_settings *s, const clt_source *source, const clt_node *parent, clt_error *error) {
  clt_node node = clt_node_member(parent, "Objective");
  if (node.json == NULL) return CLT_OK;
  if (!json_is_string(node.json)) return clt_node_fail(source, &node, error, "needs a text, as --objective does");
  s->objective = json_string_value(node.json);
  return CLT_OK;
}

int clt_sweep_read_tuning(clt_sweep *sweep, const clt_node *root, clt_error *error) {
  static const char *const known[] = {"Finalists", "Time",        "SpaceFraction", "Target",  "Stagnation",
                                      "Tolerance", "Confidence",  "Batch",         "Threads", "Transfer",
                                      "Fresh",     "SkipDefault", "Objective"};
  const clt_source *source = &sweep->source;
  clt_tune_settings *s = &sweep->tuning;
  clt_node node = clt_node_member(root, "Tuning");
  bool transfer = false;
  clt_tune_settings_init(s);
  s->objective = ""; /* the standard one, whatever the problems say: tables compare what is alike */
  s->no_transfer = true;
  if (node.json == NULL) return CLT_OK;
  int rc = clt_node_object(source, &node, error);
  if (rc == CLT_OK) rc = clt_node_known(source, &node, known, sizeof known / sizeof *known, true, error);
  if (rc == CLT_OK) rc = read_counts(s, source, &node, error);
  if (rc == CLT_OK) rc = read_number(&s->time_s, source, &node, "Time", 0.001, 1e9, error);
  if (rc == CLT_OK) rc = read_number(&s->space_fraction, source, &node, "SpaceFraction", 1e-12, 1, error);
  if (rc == CLT_OK) rc = read_number(&s->target, source, &node, "Target", 1e-12, 1e9, error);
  if (rc == CLT_OK) rc = read_number(&s->tolerance, source, &node, "Tolerance", 1e-6, 1, error);
  if (rc == CLT_OK) rc = read_number(&s->confidence, source, &node, "Confidence", 0.01, 0.9999, error);
  if (rc == CLT_OK) rc = clt_node_flag(&transfer, source, &node, "Transfer", error);
  if (rc == CLT_OK) rc = clt_node_flag(&s->no_reuse, source, &node, "Fresh", error);
  if (rc == CLT_OK) rc = clt_node_flag(&s->skip_default, source, &node, "SkipDefault", error);
  if (rc == CLT_OK) rc = read_objective(s, source, &node, error);
  s->no_transfer = !transfer;
  return rc;
}
