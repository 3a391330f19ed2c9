/* A folder of its own for a test, and problems written into it. */
#ifndef CLT_TEST_SCRATCH_H
#define CLT_TEST_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <clatune/problem.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[] = "/tmp/clatune-test-XXXXXX";
static char scratch_path_text[512];

static inline const char *scratch_path(const char *name) {
  snprintf(scratch_path_text, sizeof scratch_path_text, "%s/%s", scratch, name);
  return scratch_path_text;
}

static inline void scratch_write_bytes(const char *name, const void *bytes, size_t n) {
  unlink(scratch_path(name)); /* cutting a file short makes some file systems write it to the disk */
  FILE *file = fopen(scratch_path(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static inline void scratch_write(const char *name, const char *text) { scratch_write_bytes(name, text, strlen(text)); }

static inline int scratch_remove(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static inline int scratch_setup(void **state) {
  (void)state;
  if (mkdtemp(scratch) == NULL) return -1;
  setenv("XDG_CACHE_HOME", scratch, 1);
  return 0;
}

static inline int scratch_teardown(void **state) {
  (void)state;
  return nftw(scratch, scratch_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes p.json and loads it; fails the test if it cannot be loaded. */
static inline clt_problem *scratch_problem(const char *json) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  char text[2000];
  scratch_write("p.json", json);
  if (clt_problem_new(&problem, scratch_path("p.json"), &error) != CLT_OK) {
    clt_error_format(text, sizeof text, &error);
    fail_msg("%s", text);
  }
  return problem;
}

static inline clt_instance *scratch_instance(const clt_problem *problem, const clt_size *sizes, size_t n,
                                             const clt_device_info *device) {
  clt_instance *instance = NULL;
  clt_error error = {0};
  char text[2000];
  if (clt_instance_new(&instance, problem, sizes, n, device, &error) != CLT_OK) {
    clt_error_format(text, sizeof text, &error);
    fail_msg("%s", text);
  }
  return instance;
}

static inline clt_config scratch_config(const clt_instance *instance, const char *text) {
  clt_config config = CLT_CONFIG_NONE;
  clt_error error = {0};
  if (clt_config_parse(&config, clt_instance_space(instance), text, &error) != CLT_OK) fail_msg("%s", error.message);
  return config;
}

#endif
