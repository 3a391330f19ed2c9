/* tests/lookup/fixture.h - a problem with a size n in a folder of its own, a device, and a store that may not be there.
 */
#ifndef CLT_TESTS_LOOKUP_FIXTURE_H
#define CLT_TESTS_LOOKUP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "clatune/lookup.h"

typedef struct fixture {
  char *folder, problem_path[600], store_path[600];
  clt_problem *problem;
  clt_device_info device;
  bool older; /* stores are as those who did not describe the kernel wrote them */
} fixture;

/* Of the problem file of that name, which is in the folder. */
static inline fixture *fixture_new(char *folder, const char *problem_file) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->folder = folder;
  snprintf(f->problem_path, sizeof f->problem_path, "%s/%s", folder, problem_file);
  snprintf(f->store_path, sizeof f->store_path, "%s/store.sqlite", folder);
  f->device = make_device();
  assert_int_equal(clt_problem_new(&f->problem, f->problem_path, NULL), 0);
  return f;
}

static int tear_down(void **state) {
  fixture *f = *state;
  clt_problem_free(f->problem);
  remove_folder(f->folder);
  free(f);
  return 0;
}

static inline clt_instance *instance_on(const fixture *f, const clt_device_info *device, int64_t n) {
  clt_instance *instance = NULL;
  clt_error error = {0};
  const clt_size size = {"n", n};
  if (clt_instance_new(&instance, f->problem, &size, 1, device, &error)) fail_msg("%s", error.message);
  return instance;
}

static inline clt_catalog *open_catalog(const fixture *f) {
  clt_catalog *catalog = NULL;
  clt_error error = {0};
  const char *const stores[] = {f->store_path};
  if (clt_catalog_new(&catalog, stores, 1, &error)) fail_msg("%s", error.message);
  return catalog;
}

#endif
