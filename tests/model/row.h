/* Rows as tests write them down, one struct each, and a model fitted on them. */
#ifndef TESTS_MODEL_ROW_H
#define TESTS_MODEL_ROW_H

#include <clatune/model.h>
#include <math.h>

#include "model/rows.h"

typedef struct row {
  clt_config config;
  double time_s; /* ignored if failed */
  bool failed;
} row;

static inline int add_rows(clt_rows *out, const row *rows, size_t n, size_t instance, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; !rc && i < n; i++)
    rc = clt_rows_add(out, rows[i].config, rows[i].failed ? NAN : log(rows[i].time_s), instance, error);
  return rc;
}

/* Of one instance, or none. */
static inline int fit_rows(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                           const clt_space *space, const clt_instance *instance, const row *rows, size_t n,
                           uint64_t seed, unsigned threads, clt_error *error) {
  clt_rows all = {.space = space};
  int rc = instance ? clt_rows_add_instance(&all, instance, error) : CLT_OK;
  if (!rc) rc = add_rows(&all, rows, n, 0, error);
  if (!rc) rc = clt_model_new(out, type, settings, n_settings, &all, seed, threads, error);
  clt_rows_release(&all);
  return rc;
}

#endif
