#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store_support.h"

clt_space *make_space(const char *name, ...) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  clt_error error = {0};
  assert_int_equal(clt_space_builder_new(&builder, &error), 0);
  va_list arguments;
  va_start(arguments, name);
  for (; name; name = va_arg(arguments, const char *)) {
    const char *values = va_arg(arguments, const char *);
    int rc = strcmp(name, "where") == 0 ? clt_space_builder_constraint(builder, values, CLT_CONDITION, NULL, &error)
                                        : clt_space_builder_parameter_text(builder, name, NULL, values, &error);
    if (rc) fail_msg("%s", error.message);
  }
  va_end(arguments);
  if (clt_space_new(&space, builder, &error)) fail_msg("%s", error.message);
  clt_space_builder_free(builder);
  return space;
}

clt_store_key make_key(const char *problem) {
  clt_store_key key = {.device = "Portable|cpu|2", .driver = "3.1"};
  snprintf(key.problem, sizeof key.problem, "%s", problem);
  return key;
}

char *make_folder(void) {
  const char *base = getenv("TMPDIR");
  char *folder = malloc(512);
  assert_non_null(folder);
  snprintf(folder, 512, "%s/clatune-store-XXXXXX", base ? base : "/tmp");
  assert_non_null(mkdtemp(folder));
  return folder;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status, (void)type, (void)where;
  return remove(path);
}

void remove_folder(char *folder) {
  nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

clt_measurement make_measurement(clt_config config, double time_s) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  m.time_s = time_s;
  m.runs_s[0] = time_s;
  m.runs_s[1] = time_s * 1.5;
  m.n_runs = 2;
  return m;
}

static int collect_one(void *user, clt_record_kind kind, const clt_measurement *m) {
  collected *c = user;
  assert_true(c->n < 2048);
  c->kinds[c->n] = kind;
  assert_int_equal(clt_measurement_copy(&c->measurements[c->n], m, NULL), 0);
  c->n++;
  return 0;
}

collected *collect(clt_store *store, const clt_store_key *key, const clt_space *space, size_t *n_foreign) {
  collected *c = calloc(1, sizeof *c);
  clt_error error = {0};
  assert_non_null(c);
  if (clt_store_each(store, key, space, collect_one, c, n_foreign, &error)) fail_msg("%s", error.message);
  return c;
}

void free_collected(collected *c) {
  for (size_t i = 0; i < c->n; i++) clt_measurement_release(&c->measurements[i]);
  free(c);
}
