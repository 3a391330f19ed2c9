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

/* Fits a model of n rows with options. Fails the test if that fails. */
static inline clt_model *fit_with(const struct setting *s, const char *type, size_t n, uint64_t seed, unsigned threads,
                                  const clt_setting *settings, size_t n_settings) {
  clt_model *model = NULL;
  clt_error error = {0};
  int rc = fit_rows(&model, type, settings, n_settings, s->space, NULL, s->rows, n, seed, threads, &error);
  if (rc) fail_msg("%s", error.message);
  return model;
}

/* With one option; option NULL: none. */
static inline clt_model *fit_named(const struct setting *s, const char *type, size_t n, uint64_t seed, unsigned threads,
                                   const char *option, const char *value) {
  return fit_with(s, type, n, seed, threads, &(clt_setting){option, value}, option ? 1 : 0);
}

/* Trained briefly: for tests that do not depend on the quality of the model. */
static inline clt_model *fit_briefly(const struct setting *s, size_t n, const char *option, const char *value) {
  return fit_with(s, "ensemble", n, 1, 0, (clt_setting[]){{"iterations", "100"}, {option, value}}, option ? 2 : 1);
}

static inline clt_model *fit(const struct setting *s, size_t n) { return fit_briefly(s, n, NULL, NULL); }

static inline void predictions_of(const clt_model *model, const struct setting *s, clt_prediction *out, size_t n) {
  clt_config configs[N];
  for (size_t i = 0; i < n; i++) configs[i] = s->rows[i].config;
  assert_int_equal(clt_model_predict(out, model, configs, n, NULL), 0);
}

#endif
