/* Models of the landscape, for the tests that ask them. */
#ifndef TEST_MODEL_FITTING_H
#define TEST_MODEL_FITTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/sys/model.h>
#include <cmocka.h>

#include "landscape.h"

#define N 600

struct setting {
  clt_space *space;
  row *rows;
};

static inline int set_up(void **state) {
  struct setting *s = calloc(1, sizeof *s);
  s->space = landscape_space(false);
  s->rows = s->space ? landscape_rows(s->space, N, 0.02, 11) : NULL;
  *state = s;
  return s->rows ? 0 : -1;
}

static inline int tear_down(void **state) {
  struct setting *s = *state;
  clt_space_free(s->space);
  free(s->rows);
  free(s);
  return 0;
}

/* Fits a model of n rows with one option; option NULL: none. Fails the test where that fails. */
static inline clt_model *fit_named(const struct setting *s, const char *type, size_t n, uint64_t seed, unsigned threads,
                                   const char *option, const char *value) {
  clt_model *model = NULL;
  clt_error error = {0};
  clt_setting setting = {option, value};
  int rc = fit_rows(&model, type, &setting, option ? 1 : 0, s->space, NULL, s->rows, n, seed, threads, &error);
  if (rc) fail_msg("%s", error.message);
  return model;
}

/* Trained briefly: for what does not depend on how good the model is. */
static inline clt_model *fit(const struct setting *s, size_t n) {
  return fit_named(s, "ensemble", n, 1, 0, "iterations", "100");
}

static inline void predictions_of(const clt_model *model, const struct setting *s, clt_prediction *out, size_t n) {
  clt_config configs[N];
  for (size_t i = 0; i < n; i++) configs[i] = s->rows[i].config;
  assert_int_equal(clt_model_predict(out, model, configs, n, NULL), 0);
}

#endif
