/* Model files: saved models are read back; damaged and foreign files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clatune/sys/model.h>
#include <cmocka.h>

#include "base/hash.h"
#include "landscape.h"
#include "model/model.h"

#define ROWS 60

struct setting {
  char folder[64], path[96];
  clt_space *space;
  row *rows;
  char *bytes; /* of a saved model, a small one */
  size_t n_bytes;
};

static clt_model *fit(const struct setting *s, const char *type, size_t n_settings) {
  static const clt_setting small[] = {{"members", "3"}, {"hidden", "3"}, {"hidden2", "2"}};
  clt_model *model = NULL;
  clt_error error = {0};
  int rc = fit_rows(&model, type, small, n_settings, s->space, NULL, s->rows, ROWS, 1, 0, &error);
  if (rc) fail_msg("%s", error.message);
  return model;
}

static void read_file(const char *path, char **bytes, size_t *n) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  *bytes = malloc(1 << 22);
  *n = fread(*bytes, 1, 1 << 22, file);
  fclose(file);
}

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

static int set_up(void **state) {
  struct setting *s = calloc(1, sizeof *s);
  strcpy(s->folder, "/tmp/clatune-model-XXXXXX");
  if (mkdtemp(s->folder) == NULL) return -1;
  snprintf(s->path, sizeof s->path, "%s/m.model", s->folder);
  s->space = landscape_space(false);
  s->rows = landscape_rows(s->space, ROWS, 0.02, 4);
  clt_model *model = fit(s, "ensemble", 3);
  if (clt_model_save(model, s->path, NULL)) return -1;
  clt_model_free(model);
  read_file(s->path, &s->bytes, &s->n_bytes);
  *state = s;
  return 0;
}

static int tear_down(void **state) {
  struct setting *s = *state;
  remove(s->path);
  rmdir(s->folder);
  clt_space_free(s->space);
  free(s->rows);
  free(s->bytes);
  free(s);
  return 0;
}

static void predict_rows(const struct setting *s, const clt_model *model, clt_prediction *out) {
  clt_config configs[ROWS];
  for (size_t i = 0; i < ROWS; i++) configs[i] = s->rows[i].config;
  assert_int_equal(clt_model_predict(out, model, configs, ROWS, NULL), 0);
}

static void check_same(const struct setting *s, const clt_model *a, const clt_model *b) {
  clt_prediction p[ROWS], q[ROWS];
  clt_model_accuracy x, y;
  size_t n, m;
  predict_rows(s, a, p);
  predict_rows(s, b, q);
  assert_memory_equal(p, q, sizeof p);
  clt_model_accuracy_get(&x, a);
  clt_model_accuracy_get(&y, b);
  assert_true(x.n_rows == y.n_rows && x.n_failed == y.n_failed && x.mean_relative_error == y.mean_relative_error &&
              x.log_error_sd == y.log_error_sd && x.fit_s == y.fit_s);
  const float *r = clt_model_residuals(a, &n), *t = clt_model_residuals(b, &m);
  assert_int_equal(n, m);
  assert_memory_equal(r, t, n * sizeof *r);
}

static void every_model_comes_back_as_it_was(void **state) {
  struct setting *s = *state;
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    clt_model *model = fit(s, clt_plugin_name(&clt_models, i), 0), *back = NULL;
    clt_error error = {0};
    assert_int_equal(clt_model_save(model, s->path, &error), 0);
    if (clt_model_new_saved(&back, s->space, NULL, s->path, &error)) fail_msg("%s", error.message);
    check_same(s, model, back);
    clt_model_free(model);
    clt_model_free(back);
  }
}

static int load_bytes(const struct setting *s, const char *bytes, size_t n) {
  clt_model *model = NULL;
  clt_error error = {0};
  write_file(s->path, bytes, n);
  int rc = clt_model_new_saved(&model, s->space, NULL, s->path, &error);
  assert_true((rc == 0) == (model != NULL));
  assert_int_equal(error.code, rc);
  clt_model_free(model);
  return rc;
}

static void a_file_cut_short_anywhere_is_refused(void **state) {
  struct setting *s = *state;
  assert_int_equal(load_bytes(s, s->bytes, s->n_bytes), 0);
  for (size_t n = 0; n < s->n_bytes; n += n < 200 ? 1 : 101) assert_int_equal(load_bytes(s, s->bytes, n), CLT_E_FORMAT);
}

static void any_changed_byte_is_noticed(void **state) {
  struct setting *s = *state;
  char *copy = malloc(s->n_bytes + 1);
  memcpy(copy, s->bytes, s->n_bytes);
  for (size_t i = 0; i < s->n_bytes; i += i < 200 ? 1 : 37) {
    copy[i] = (char)(s->bytes[i] ^ (1 << i % 8));
    assert_int_equal(load_bytes(s, copy, s->n_bytes), CLT_E_FORMAT);
    copy[i] = s->bytes[i];
  }
  copy[s->n_bytes] = '\n';
  assert_int_equal(load_bytes(s, copy, s->n_bytes + 1), CLT_E_FORMAT);
  free(copy);
}

/* Writes a text under a header that fits, as a user who edits a model would. */
static int load_forged(const struct setting *s, const char *text, size_t n) {
  char *bytes = malloc(n + 64);
  int header = snprintf(bytes, 64, "clatune-model 1 %016llx %014zu\n", (unsigned long long)clt_hash64(text, n), n);
  memcpy(bytes + header, text, n);
  int rc = load_bytes(s, bytes, (size_t)header + n);
  free(bytes);
  return rc;
}

/* Changes every digit, bracket and letter in turn, with a correct checksum: it may load or not, but never crash.
 */
static void forged_files_never_crash(void **state) {
  struct setting *s = *state;
  size_t n = s->n_bytes - 48, refused = 0;
  char *text = malloc(n);
  memcpy(text, s->bytes + 48, n);
  static const char other[] = "9-}],\"e{";
  assert_int_equal(load_forged(s, text, n), 0);
  for (size_t i = 0; i < n; i += i < 1500 ? 1 : 61) {
    char kept = text[i];
    text[i] = other[i % (sizeof other - 1)];
    refused += load_forged(s, text, n) != 0;
    text[i] = kept;
  }
  assert_true(refused > 500);
  static const char *const texts[] = {"", "null", "[]", "{}", "{\"model\":\"ensemble\"}", "{\"model\":3}"};
  for (size_t i = 0; i < 6; i++) assert_int_equal(load_forged(s, texts[i], strlen(texts[i])), CLT_E_FORMAT);
  free(text);
}

/* The same with boosted trees, at some places only: their files are large. */
static void forged_trees_never_crash(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, "trees", 1);
  size_t n, refused = 0, n_places = 0;
  char *bytes, *text;
  assert_int_equal(clt_model_save(model, s->path, NULL), 0);
  read_file(s->path, &bytes, &n);
  text = bytes + 48;
  n -= 48;
  assert_int_equal(load_forged(s, text, n), 0);
  for (size_t i = n / 500; i < n; i += n / 100, n_places++) {
    char kept = text[i];
    text[i] = "9-}],\"e{"[i % 8];
    refused += load_forged(s, text, n) != 0;
    text[i] = kept;
  }
  assert_true(refused > n_places / 4);
  free(bytes);
  clt_model_free(model);
}

static void another_space_is_refused(void **state) {
  struct setting *s = *state;
  clt_space_builder *b = NULL;
  clt_space *other = NULL;
  clt_model *model = NULL;
  clt_error error = {0};
  assert_int_equal(clt_space_builder_new(&b, NULL), 0);
  for (size_t i = 0; i < clt_space_n_parameters(s->space); i++) {
    const clt_parameter *p = clt_space_parameter(s->space, i);
    size_t fewer = strcmp(p->name, "unroll") == 0;
    assert_int_equal(clt_space_builder_parameter(b, p->name, p->values, p->n_values - fewer, NULL), 0);
  }
  assert_int_equal(clt_space_new(&other, b, NULL), 0);
  write_file(s->path, s->bytes, s->n_bytes);
  assert_int_equal(clt_model_new_saved(&model, other, NULL, s->path, &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, "'unroll'"));
  clt_space_free(other);
  clt_space_builder_free(b);
}

static void missing_files_and_folders_are_named(void **state) {
  struct setting *s = *state;
  clt_model *model = NULL;
  clt_error error = {0};
  assert_int_equal(clt_model_new_saved(&model, s->space, NULL, "/nonexistent/x", &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "'/nonexistent/x'"));
  model = fit(s, "ensemble", 3);
  memset(&error, 0, sizeof error);
  assert_int_equal(clt_model_save(model, "/nonexistent/x", &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "/nonexistent/x"));
  clt_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_comes_back_as_it_was),
      cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
      cmocka_unit_test(any_changed_byte_is_noticed),
      cmocka_unit_test(forged_files_never_crash),
      cmocka_unit_test(forged_trees_never_crash),
      cmocka_unit_test(another_space_is_refused),
      cmocka_unit_test(missing_files_and_folders_are_named),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
