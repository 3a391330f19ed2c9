#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/pq.h"
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

bool has_stores(const char *type) { return strcmp(type, "postgresql") != 0 || getenv("CLATUNE_TEST_DATABASE"); }

static void empty_database(const char *url) {
  clt_pq *pq = NULL;
  clt_error error = {0};
  if (clt_pq_new(&pq, url, CLT_PQ_SCHEMA, 30, &error) ||
      clt_pq_run_text(pq,
                      "TRUNCATE clatune.measurement, clatune.revoked, clatune.origin, clatune.described, clatune.key,"
                      " clatune.device, clatune.problem",
                      &error))
    fail_msg("%s", error.message);
  clt_pq_free(pq);
}

char *make_place(char out[PLACE_BYTES], const char *type, const char *folder, int i) {
  snprintf(out, PLACE_BYTES, "%s/%d.sqlite", folder, i);
  if (strcmp(type, "postgresql") != 0) return out;
  const char *url = getenv("CLATUNE_TEST_DATABASE");
  while (i-- > 0) url += strcspn(url, " ") + 1;
  snprintf(out, PLACE_BYTES, "%.*s", (int)strcspn(url, " "), url);
  empty_database(out);
  return out;
}

void write_text(const char *folder, const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

clt_problem *make_add_problem(const char *folder) {
  char path[600];
  clt_error error = {0};
  clt_problem *problem = NULL;
  write_text(folder, "add.cl",
             "__kernel void add(__global float *c, int n) { if (get_global_id(0) < n) c[get_global_id(0)] = 1; }\n");
  write_text(folder, "add.json",
             "{\"General\": {\"BenchmarkName\": \"add\"}, \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 64}],"
             " \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"block\", \"Type\": \"int\", \"Values\": "
             "[8, 16]}]},"
             " \"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelFile\": \"add.cl\", \"KernelName\": \"add\","
             " \"GlobalSize\": {\"X\": \"n\"}, \"LocalSize\": {\"X\": \"block\"}, \"Arguments\": ["
             "{\"Name\": \"c\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", "
             "\"Size\": \"n\"},"
             "{\"Name\": \"n\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"n\"}]}}");
  snprintf(path, sizeof path, "%s/add.json", folder);
  if (clt_problem_new(&problem, path, &error)) fail_msg("%s", error.message);
  return problem;
}

clt_device_info make_device(void) {
  clt_device_info device;
  memset(&device, 0, sizeof device);
  strcpy(device.platform_name, "Portable Computing Language");
  strcpy(device.name, "pthread-generic");
  strcpy(device.driver_version, "3.1+debian");
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = device.max_work_item_sizes[2] = 4096;
  device.local_memory_bytes = 1 << 18;
  device.global_memory_bytes = device.max_allocation_bytes = (uint64_t)1 << 30;
  return device;
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
