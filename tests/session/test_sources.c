/* A session's knowledge from the store: which keys it takes, and their names in messages. */
#include "lookup/lookup.h"
#include "measurement/measurement.h"
#include "stage.h"
#include <time.h>
#include "store/store.h"

struct said {
  int n;
  char last[400];
};

static void hear(void *user, clt_log_level level, const char *text) {
  struct said *said = user;
  (void)level;
  said->n++;
  snprintf(said->last, sizeof said->last, "%s", text);
}

static void add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_config config, double time_s) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  if (time_s > 0) {
    m.time_s = m.runs_s[0] = time_s;
    m.n_runs = 1;
  } else {
    clt_measurement_fail(&m, CLT_REASON_RUN_CRASH, NULL);
  }
  assert_int_equal(clt_store_add(store, key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  clt_measurement_release(&m);
}

/* n configurations with times 2, 3, 4 ... s; the last one failed. */
static void fill_at(clt_store *store, const clt_store_key *key, const char *name, const char *sizes,
                    const clt_space *space, uint64_t n) {
  assert_int_equal(clt_store_describe(store, &(clt_store_description){.key = *key,
          .problem_name = name, .problem_path = "p.json", .sizes = sizes, .device_json = "{}"}, NULL), 0);
  for (uint64_t i = 0; i < n; i++) add(store, key, space, clt_space_at(space, i), i + 1 < n ? 2 + (double)i : 0);
}

static void fill(clt_store *store, const clt_store_key *key, const char *name, const clt_space *space, uint64_t n) {
  fill_at(store, key, name, "width=7", space, n);
}

static const clt_store_key own = {.problem = "p", .device = "here", .driver = "1"};

static clt_sources read(clt_store *store, const clt_space *space, struct said *said) {
  clt_sources sources = {0};
  clt_objective *time = NULL;
  const clt_related_query query = {&own, NULL, "blur", "width=16", true};
  *said = (struct said){0};
  assert_int_equal(clt_objective_new_for(&time, space, NULL, 0, NULL, NULL, NULL), 0);
  assert_int_equal(clt_sources_add_stored(&sources, space, time, store, &query, hear, said, NULL), 0);
  clt_objective_free(time);
  return sources;
}

static void what_was_measured_later_is_not_learnt_from(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  clt_store_key there = {.problem = "p", .device = "there", .driver = "1"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  fill(store, &there, "blur", space, 20);
  store->before_s = (int64_t)time(NULL) + 60;
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 1);
  assert_int_equal(sources.sources[0].n, 20);
  clt_sources_release(&sources);
  store->before_s = (int64_t)time(NULL) - 60;
  sources = read(store, space, &said);
  assert_int_equal(sources.n + (size_t)said.n, 0);
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

static void another_device_is_learnt_from(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  clt_store_key there = {.problem = "p", .device = "there", .driver = "1"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  fill(store, &own, "blur", space, 30);
  fill(store, &there, "blur", space, 20);
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 1);
  assert_int_equal(sources.sources[0].n, 20);
  assert_string_equal(sources.sources[0].name, "there");
  for (size_t i = 0; i < 20; i++) {
    clt_config config = sources.sources[0].configs[i];
    size_t rank = 0;
    while (clt_space_at(space, rank) != config) rank++;
    assert_true(rank < 19 ? sources.sources[0].log_costs[i] == (float)log(2 + (double)rank)
                          : isnan(sources.sources[0].log_costs[i]));
    assert_true(i == 0 || config > sources.sources[0].configs[i - 1]);
  }
  assert_int_equal(said.n, 1);
  assert_non_null(strstr(said.last, "20 measurements on there"));
  assert_null(strstr(said.last, "differ"));
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

static void other_drivers_and_sizes_come_behind_and_are_said(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  clt_store_key size = {.problem = "q", .device = "here", .driver = "1"};
  clt_store_key driver = {.problem = "p", .device = "here", .driver = "2"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  fill(store, &size, "blur", space, 40);
  fill(store, &driver, "blur", space, 20);
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 2);
  assert_int_equal(sources.sources[0].n, 20);
  assert_int_equal(sources.sources[1].n, 40);
  assert_int_equal(said.n, 2);
  assert_non_null(strstr(said.last, "other sizes (width=7)"));
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

static void near_sizes_come_before_many_measurements(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  const char *const sizes[] = {"width=1024", "width=17", "height=3", "width=8", "width=160", "width=0"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  for (uint64_t i = 0; i < 6; i++) {
    clt_store_key key = {.device = "here", .driver = "1"};
    snprintf(key.problem, sizeof key.problem, "q%d", (int)i);
    fill_at(store, &key, "blur", sizes[i], space, 40 - i);
  }
  clt_sources sources = read(store, space, &said);
  const size_t expected[] = {39, 37, 36, 40, 38, 35};
  assert_int_equal(sources.n, 6);
  for (size_t i = 0; i < 6; i++) assert_int_equal(sources.sources[i].n, expected[i]);
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

static void other_kernels_and_crumbs_are_left_out(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  clt_store_key few = {.problem = "p", .device = "few", .driver = "1"};
  clt_store_key name = {.problem = "q", .device = "there", .driver = "1"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  fill(store, &few, "blur", space, 9);
  fill(store, &name, "sharpen", space, 30);
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 0);
  assert_int_equal(said.n, 0);
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

static clt_space *space_of(const char *name) {
  clt_value values[20];
  clt_space_builder *builder;
  clt_space *space;
  for (int i = 0; i < 20; i++) values[i] = (clt_value){CLT_INT, .integer = i};
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, name, values, 20, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static void a_kernel_with_other_parameters_is_left_out(void **state) {
  (void)state;
  clt_space *space = space_of("tile"), *other = space_of("block");
  clt_store *store;
  struct said said;
  clt_store_key there = {.problem = "q", .device = "there", .driver = "1"};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  fill(store, &there, "blur", other, 20);
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 0);
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
  clt_space_free(other);
}

static void at_most_eight_are_read(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  struct said said;
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  for (uint64_t i = 0; i < 12; i++) {
    clt_store_key key = {.problem = "p", .device = "there"};
    snprintf(key.driver, sizeof key.driver, "%d", (int)i);
    fill(store, &key, "blur", space, 20 + i);
  }
  clt_sources sources = read(store, space, &said);
  assert_int_equal(sources.n, 8);
  for (size_t i = 0; i < 8; i++) assert_int_equal(sources.sources[i].n, 31 - i);
  clt_sources_release(&sources);
  clt_store_free(store);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_device_is_learnt_from),
      cmocka_unit_test(what_was_measured_later_is_not_learnt_from),
      cmocka_unit_test(other_drivers_and_sizes_come_behind_and_are_said),
      cmocka_unit_test(near_sizes_come_before_many_measurements),
      cmocka_unit_test(other_kernels_and_crumbs_are_left_out),
      cmocka_unit_test(a_kernel_with_other_parameters_is_left_out),
      cmocka_unit_test(at_most_eight_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
