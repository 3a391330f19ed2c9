/* Broken problem files are errors with a message, never a crash: a good file is cut, mutated and spliced. */
#include "scratch.h"

#include <clatune/rng.h>

#include "problem/data.h"
#include "problem/guidance.h"
#include "problem/plan.h"

#define N_MUTANTS 6000

static const char seed_text[] =
    "{\"General\": {\"BenchmarkName\": \"x\"}, \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 6, \"Min\": 1, "
    "\"Max\": 9}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Type\": \"int\", \"Values\": \"[2**i for i in "
    "range(3)]\","
    " \"Default\": 2}, {\"Name\": \"b\", \"Values\": [0, 1, true, 2.5]}], \"Conditions\": [{\"Expression\": \"a * n <= "
    "12 or b\"}],"
    " \"Aliases\": [{\"When\": \"b\", \"Parameter\": \"a\", \"Value\": 1}]},"
    "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelName\": \"k\", \"KernelFile\": \"k.cl\", "
    "\"IncludePaths\": [\".\"],"
    " \"CompilerOptions\": [\"-DT={a * 2}\", {\"Option\": \"-DB={{\", \"When\": \"b\"}], \"ProblemSize\": [\"n\", 8],"
    " \"GridDivX\": [\"a\"], \"GlobalSize\": {\"X\": \"n\", \"Y\": 1}, \"LocalSize\": {\"X\": \"a\"}, \"Arguments\": ["
    " {\"Name\": \"i\", \"Type\": \"float4\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": "
    "[\"n\", \"max(a)\"],"
    "  \"FillType\": \"Random\", \"Border\": [\"b\"], \"When\": \"not b\"},"
    " {\"Name\": \"i\", \"Type\": \"float4\", \"MemoryType\": \"Image2D\", \"Size\": [\"n\", \"max(a)\"], \"When\": "
    "\"b\"},"
    " {\"Name\": \"o\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": "
    "\"ProblemSize[0]\"},"
    " {\"Name\": \"l\", \"Type\": \"int\", \"MemoryType\": \"Local\", \"Size\": \"a\"},"
    " {\"Name\": \"s\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": \"1 / n\"}],"
    " \"Launches\": [{\"Repeat\": \"a\"}, {\"Arguments\": [\"o\"], \"When\": \"b\", \"GlobalSize\": [1]}],"
    " \"Resources\": {\"LocalMemoryBytes\": \"4 * a\", \"Rest\": \"1 // b\"}},"
    "\"Reference\": {\"KernelName\": \"r\", \"GlobalSize\": [\"n\"], \"Arguments\": [\"o\", \"i\"]},"
    "\"Budget\": [{\"Type\": \"ConfigurationCount\", \"BudgetValue\": 3}]}";

/* Uses everything that a problem that loads can do. */
static void exercise(const clt_problem *problem, const clt_device_info *device) {
  clt_instance *instance = NULL;
  clt_plan *plan = NULL;
  char key[33], *options = NULL;
  double resources[64];
  clt_error error = {0};
  if (clt_instance_new(&instance, problem, NULL, 0, device, &error) != CLT_OK) {
    assert_true(error.code < 0 && error.message[0]);
    return;
  }
  clt_config config = clt_instance_default(instance);
  if (clt_instance_n_resources(instance) <= 64) clt_instance_resources(instance, config, resources);
  if (clt_instance_options(&options, instance, config, NULL) == CLT_OK) free(options);
  if (clt_plan_new(&plan, instance, config, NULL) == CLT_OK) clt_plan_free(plan);
  if (clt_plan_new_reference(&plan, instance, NULL) == CLT_OK) clt_plan_free(plan);
  (void)clt_instance_key(key, instance, NULL);
  clt_instance_free(instance);
}

static void try_text(const char *bytes, size_t n, size_t *n_loaded) {
  static const clt_device_info device = {.max_work_group_size = 4, .local_memory_bytes = 8, .max_allocation_bytes = 64};
  clt_problem *problem = NULL;
  clt_error error = {0};
  scratch_write_bytes("m.json", bytes, n);
  if (clt_problem_new(&problem, scratch_path("m.json"), &error) != CLT_OK) {
    assert_null(problem);
    assert_true(error.code < 0 && error.message[0]);
    return;
  }
  (*n_loaded)++;
  exercise(problem, NULL);
  exercise(problem, &device);
  clt_problem_free(problem);
}

static void every_truncation_is_an_error(void **state) {
  (void)state;
  size_t n_loaded = 0;
  for (size_t n = 0; n + 1 < sizeof seed_text; n += 3) try_text(seed_text, n, &n_loaded);
  assert_int_equal(n_loaded, 0);
  try_text(seed_text, sizeof seed_text - 1, &n_loaded);
  assert_int_equal(n_loaded, 1);
}

/* Swaps, copies, deletes or overwrites pieces, with a preference for the characters of JSON and expressions. */
static size_t mutate(char *bytes, size_t n, size_t capacity, clt_rng *rng) {
  static const char *const pieces[] = {"\"",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       "null",
                                       "-1",
                                       "1e99",
                                       "a",
                                       "\"a\"",
                                       "{}",
                                       "[]",
                                       "9223372036854775807",
                                       "\"device.images\"",
                                       "0",
                                       "(",
                                       ")",
                                       "\\u0000",
                                       " / 0",
                                       "true"};
  size_t at = clt_rng_below(rng, n), length = 1 + clt_rng_below(rng, 12);
  if (at + length > n) length = n - at;
  const char *piece = pieces[clt_rng_below(rng, sizeof pieces / sizeof *pieces)];
  size_t piece_length = strlen(piece), from = clt_rng_below(rng, n - length + 1);
  switch (clt_rng_below(rng, 4)) {
    case 0: bytes[at] = (char)clt_rng_below(rng, 256); return n;
    case 1: memmove(bytes + at, bytes + at + length, n - at - length); return n - length;
    case 2: memmove(bytes + at, bytes + from, length); return n;
    default:
      if (n + piece_length > capacity) return n;
      memmove(bytes + at + piece_length, bytes + at, n - at);
      memcpy(bytes + at, piece, piece_length);
      return n + piece_length;
  }
}

static void mutants_never_crash(void **state) {
  (void)state;
  static char bytes[sizeof seed_text + 256];
  size_t n_loaded = 0;
  clt_rng rng;
  clt_rng_init(&rng, 1);
  for (size_t i = 0; i < N_MUTANTS; i++) {
    size_t n = sizeof seed_text - 1;
    memcpy(bytes, seed_text, n);
    for (uint64_t k = 1 + clt_rng_below(&rng, 3); k > 0; k--) n = mutate(bytes, n, sizeof bytes, &rng);
    try_text(bytes, n, &n_loaded);
  }
  assert_true(n_loaded > N_MUTANTS / 100); /* or the test would test jansson only */
}

/* Keeps the JSON whole and breaks its content: every string and number in turn becomes something else. */
static void wrong_values_in_every_place_never_crash(void **state) {
  (void)state;
  static const char *const values[] = {"null",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       "-1",
                                       "\"a +\"",
                                       "[[\"a\"]]",
                                       "1e300",
                                       "\"{\"",
                                       "\"n\"",
                                       "\"device.name\"",
                                       "{\"X\": null}",
                                       "\"0\"",
                                       "\"2**62\"",
                                       "99999999999"};
  static char bytes[sizeof seed_text + 64];
  size_t n_loaded = 0;
  for (const char *at = strstr(seed_text, ": "); at; at = strstr(at + 1, ": ")) {
    const char *end = at + 2 + strcspn(at + 2, ",}]");
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      int n = snprintf(bytes, sizeof bytes, "%.*s%s%s", (int)(at + 2 - seed_text), seed_text, values[v], end);
      try_text(bytes, (size_t)n < sizeof bytes ? (size_t)n : sizeof bytes - 1, &n_loaded);
    }
  }
  assert_true(n_loaded > 20);
}

static int write_kernel(void **state) {
  int rc = scratch_setup(state);
  if (rc == 0) scratch_write("k.cl", "#include \"k.cl\"\n");
  return rc;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_truncation_is_an_error),
      cmocka_unit_test(mutants_never_crash),
      cmocka_unit_test(wrong_values_in_every_place_never_crash),
  };
  return cmocka_run_group_tests(tests, write_kernel, scratch_teardown);
}
