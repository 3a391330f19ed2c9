/* How long a committed measurement takes, and how long reading them all back takes. Arguments: number, folder. */
#include <clatune/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

static int count(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind;
  *(size_t *)user += m->n_runs;
  return 0;
}

static int make_space(clt_space **out) {
  clt_space_builder *builder = NULL;
  clt_space_builder_new(&builder, NULL);
  char name[8];
  for (int i = 0; i < 9; i++) {
    snprintf(name, sizeof name, "p%d", i);
    clt_space_builder_parameter_text(builder, name, NULL, "[1, 2, 4, 8, 16, 32]", NULL);
  }
  int rc = clt_space_new(out, builder, NULL);
  clt_space_builder_free(builder);
  return rc;
}

static int add_all(clt_store *store, const clt_store_key *key, const clt_space *space, uint64_t n, clt_error *error) {
  int rc = 0;
  for (uint64_t i = 0; i < n && rc == 0; i++) {
    clt_measurement m;
    clt_measurement_init(&m, clt_space_at(space, i * 97 % clt_space_valid(space)));
    m.time_s = 1e-3;
    for (m.n_runs = 0; m.n_runs < 7; m.n_runs++) m.runs_s[m.n_runs] = 1e-3 + (double)m.n_runs * 1e-6;
    rc = clt_store_add(store, key, space, CLT_RECORD_SEARCH, &m, error);
  }
  return rc;
}

int main(int argc, char **argv) {
  uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;
  char folder[512], path[600];
  snprintf(folder, sizeof folder, "%s/clatune-bench-XXXXXX", argc > 2 ? argv[2] : ".");
  if (mkdtemp(folder) == NULL) return perror(folder), 1;
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  clt_store *store = NULL;
  clt_space *space = NULL;
  clt_error error = {0};
  const clt_store_key key = {"problem", "device", "driver"};
  size_t n_runs = 0;
  double start_s = clt_now_s(), opened_s = 0, added_s = 0;
  int rc = make_space(&space);
  if (rc == 0) rc = clt_store_new(&store, "sqlite", path, &error);
  opened_s = clt_now_s();
  if (rc == 0) rc = add_all(store, &key, space, n, &error);
  added_s = clt_now_s();
  if (rc == 0) rc = clt_store_each(store, &key, space, count, &n_runs, NULL, &error);
  double read_s = clt_now_s() - added_s;
  if (rc == 0)
    printf("open %.1f ms; add %.3f ms each, committed; read %llu with %zu runs in %.1f ms\n",
           (opened_s - start_s) * 1e3, (added_s - opened_s) * 1e3 / (double)n, (unsigned long long)n, n_runs,
           read_s * 1e3);
  if (rc) fprintf(stderr, "%s\n", error.message);
  clt_store_free(store);
  clt_space_free(space);
  unlink(path);
  rmdir(folder);
  return rc != 0;
}
