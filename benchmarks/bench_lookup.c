/* How long looking up takes: warm (asked before), and cold (a fresh clt_catalog, problem file and kernel read). A store
 * with so many measurements (10,000), of 100 sizes. Then with a model trained on them: at sizes that were not asked for
 * before, warm (the model was loaded before) and cold. Arguments: number, folder. With CLATUNE_TEST_DATABASE the store
 * is that database (tests/farm/with_database.py), and no model is trained. */
#include <clatune/lookup.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lookup/lookup.h"

#include "base/base.h"
#include "base/file.h"
#include "store/schema.h"
#include "store/store.h"

#define N_SIZES 100
#define FIRST_WIDTH 1024
#define WIDTH_STEP 32
#define REPEATS 200
#define UNSEEN_WIDTH 1030 /* and every 32 above it: between those that were measured */

static clt_device_info make_device(void) {
  clt_device_info device;
  memset(&device, 0, sizeof device);
  strcpy(device.platform_name, "Portable Computing Language");
  strcpy(device.name, "a device");
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  for (int d = 0; d < 3; d++) device.max_work_item_sizes[d] = 4096;
  device.local_memory_bytes = 1 << 18;
  device.global_memory_bytes = device.max_allocation_bytes = (uint64_t)1 << 30;
  return device;
}

/* Something that a model can learn. */
static double made_up_time_s(const clt_space *space, clt_config config, int64_t width) {
  uint32_t positions[64];
  double slow = 0;
  clt_space_positions(positions, space, config);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) slow += 0.05 * fabs((double)positions[p] - 2);
  return 1e-6 * (double)width * exp(slow);
}

static int add_size(clt_store *store, const clt_problem *problem, const clt_device_info *device, int64_t width,
                    uint64_t n, clt_error *error) {
  clt_instance *instance = NULL;
  clt_store_key key;
  const clt_size size = {"width", width};
  int rc = clt_instance_new(&instance, problem, &size, 1, device, error);
  if (rc == 0) rc = clt_store_key_init(&key, instance, error);
  if (rc == 0) rc = clt_store_describe_instance(store, &key, instance, error);
  const clt_space *space = instance ? clt_instance_space(instance) : NULL;
  for (uint64_t i = 0; i < n && rc == 0; i++) {
    clt_measurement m;
    clt_measurement_init(&m, clt_space_at(space, i * 997 % clt_space_valid(space)));
    m.time_s = made_up_time_s(space, m.config, width);
    rc = clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, error);
  }
  clt_instance_free(instance);
  return rc;
}

static int fill(const char *path, const clt_problem *problem, const clt_device_info *device, uint64_t n,
                clt_error *error) {
  clt_store *store = NULL;
  int rc = clt_store_new(&store, NULL, path, error);
  const double start_s = clt_now_s();
  if (rc == 0) rc = store->type->transaction(store->state, CLT_STORE_BEGIN, NULL, error);
  for (int64_t i = 0; i < N_SIZES && rc == 0; i++)
    rc = add_size(store, problem, device, FIRST_WIDTH + WIDTH_STEP * i, n / N_SIZES, error);
  if (rc == 0) rc = store->type->transaction(store->state, CLT_STORE_COMMIT, NULL, error);
  if (rc == 0) printf("%llu measurements added in %.1f s\n", (unsigned long long)n, clt_now_s() - start_s);
  clt_store_free(store);
  return rc;
}

/* A tuning's read before it begins: the newest answers of its own size, opened again. */
static int read_answers(const char *path, const clt_problem *problem, const clt_device_info *device, clt_error *error) {
  clt_store *store = NULL;
  clt_instance *instance = NULL;
  clt_store_key key;
  clt_store_answers answers = {0};
  const clt_size size = {"width", 2048};
  const double start_s = clt_now_s();
  int rc = clt_store_new(&store, NULL, path, error);
  if (rc == 0) rc = clt_instance_new(&instance, problem, &size, 1, device, error);
  if (rc == 0) rc = clt_store_key_init(&key, instance, error);
  if (rc == 0) rc = clt_store_newest(&answers, store, &key, clt_instance_space(instance), false, NULL, error);
  if (rc == 0) printf("warm start: %zu answers read in %.0f ms\n", answers.n, 1e3 * (clt_now_s() - start_s));
  clt_store_answers_release(&answers);
  clt_instance_free(instance);
  clt_store_free(store);
  return rc;
}

static int train(const char *path, const clt_problem *problem, const clt_device_info *device, clt_error *error) {
  clt_store *store = NULL;
  clt_instance *instance = NULL;
  clt_model *model = NULL;
  clt_model_accuracy accuracy;
  size_t n_sizes = 0;
  int rc = clt_store_new(&store, NULL, path, error);
  if (rc == 0) rc = clt_instance_new(&instance, problem, NULL, 0, device, error);
  if (rc == 0) rc = clt_predictor_fit(&model, &n_sizes, store, instance, false, "average", NULL, 0, 1, 0, error);
  if (rc == 0) rc = clt_predictor_save(model, path, instance, error);
  if (rc == 0) {
    clt_model_accuracy_get(&accuracy, model);
    printf("trained 'average' on %zu rows in %.1f s, calibrated error %.2g %%\n", accuracy.n_rows, accuracy.fit_s,
           100 * accuracy.calibrated_error);
  }
  clt_model_free(model);
  clt_instance_free(instance);
  clt_store_free(store);
  return rc;
}

static int by_time(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The median of look-ups, in microseconds; cold: each with stores opened again; step: how much wider each is than the
 * one before. Fewer at the sizes that were measured: so many there are. */
static int time_lookups(const char *path, const clt_device_info *device, int64_t width, int64_t step, bool cold,
                        const char *name, clt_error *error) {
  double times_s[REPEATS];
  clt_catalog *catalog = NULL;
  clt_tier tier = CLT_TIER_DEFAULT;
  const int n = step && width == FIRST_WIDTH ? N_SIZES : REPEATS;
  int rc = 0;
  for (int i = 0; i < n && rc == 0; i++) {
    const clt_size size = {"width", width + i * step};
    clt_lookup_result found;
    double start_s = clt_now_s();
    if (catalog == NULL) rc = clt_catalog_new(&catalog, &path, 1, error);
    if (rc == 0) rc = clt_catalog_lookup(&found, catalog, KERNELS_FOLDER "/convolution.json", &size, 1, device, error);
    times_s[i] = clt_now_s() - start_s;
    if (rc == 0) tier = found.tier, clt_lookup_result_release(&found);
    if (cold) clt_catalog_free(catalog), catalog = NULL;
  }
  clt_catalog_free(catalog);
  if (rc) return rc;
  qsort(times_s, (size_t)n, sizeof *times_s, by_time);
  printf("%s, %s: median %.1f us, 95 %% below %.1f us\n", clt_tier_name(tier), name, 1e6 * times_s[n / 2],
         1e6 * times_s[n * 95 / 100]);
  return 0;
}

int main(int argc, char **argv) {
  uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
  char folder[512], path[600];
  clt_error error = {0};
  clt_problem *problem = NULL;
  const clt_device_info device = make_device();
  snprintf(folder, sizeof folder, "%s/clatune-bench-XXXXXX", argc > 2 ? argv[2] : ".");
  if (mkdtemp(folder) == NULL) return perror(folder), 1;
  const char *database = getenv("CLATUNE_TEST_DATABASE");
  if (database)
    snprintf(path, sizeof path, "%s", database);
  else
    snprintf(path, sizeof path, "%s/store.sqlite", folder);
  int rc = database ? clt_schema_init(path, &error) : 0;
  if (rc == 0) rc = clt_problem_new(&problem, KERNELS_FOLDER "/convolution.json", &error);
  if (rc == 0) rc = fill(path, problem, &device, n, &error);
  if (rc == 0) rc = read_answers(path, problem, &device, &error);
  if (rc == 0) rc = time_lookups(path, &device, 2048, 0, false, "warm", &error);
  if (rc == 0) rc = time_lookups(path, &device, FIRST_WIDTH, WIDTH_STEP, false, "the first of each size", &error);
  if (rc == 0) rc = time_lookups(path, &device, 2048, 0, true, "cold", &error);
  if (rc == 0) rc = time_lookups(path, &device, 2040, 0, true, "cold", &error);
  if (rc == 0 && database == NULL) rc = train(path, problem, &device, &error);
  if (rc == 0 && database == NULL)
    rc = time_lookups(path, &device, UNSEEN_WIDTH, 32, false, "warm, a new size each", &error);
  if (rc == 0 && database == NULL) rc = time_lookups(path, &device, UNSEEN_WIDTH, 0, true, "cold", &error);
  if (rc) fprintf(stderr, "%s\n", error.message);
  clt_problem_free(problem);
  clt_remove_tree(folder, 0);
  return rc != 0;
}
