/* Time to build the spaces of problem files: bench_space a.json b.json ... Prints a line a file, and the sum; with no
 * files, the space of a stereo matching kernel (2,359,296 configurations) with limits of a device. */
#include <clatune/space.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "space/space.h"

#define REPEATS 20

static void check(int rc, const clt_error *error) {
  char text[2000];
  if (rc >= 0) return;
  clt_error_format(text, sizeof text, error);
  fprintf(stderr, "bench_space: %s\n", text);
  exit(1);
}

static const char *text_of(json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  if (text) return text;
  fprintf(stderr, "bench_space: '%s' is missing\n", key);
  exit(1);
}

static void add_file(clt_space_builder *builder, const char *path) {
  json_error_t problem;
  clt_error error = {0};
  size_t i;
  json_t *root = json_load_file(path, 0, &problem), *space = json_object_get(root, "ConfigurationSpace"), *entry;
  if (root == NULL) {
    fprintf(stderr, "bench_space: %s: %s\n", path, problem.text);
    exit(1);
  }
  json_array_foreach(json_object_get(space, "TuningParameters"), i, entry)
      check(clt_space_builder_parameter_text(builder, text_of(entry, "Name"), text_of(entry, "Type"),
                                             text_of(entry, "Values"), &error),
            &error);
  json_array_foreach(json_object_get(space, "Conditions"), i, entry)
      check(clt_space_builder_constraint(builder, text_of(entry, "Expression"), CLT_CONDITION, NULL, &error), &error);
  json_decref(root);
}

static void add_stereo(clt_space_builder *builder) {
  static const char *const parameters[][2] = {{"wg_x", "[2**i for i in range(8)]"},
                                              {"wg_y", "[2**i for i in range(8)]"},
                                              {"ppt_x", "[2**i for i in range(8)]"},
                                              {"ppt_y", "[2**i for i in range(8)]"},
                                              {"image_left", "[0, 1]"},
                                              {"image_right", "[0, 1]"},
                                              {"local_left", "[0, 1]"},
                                              {"local_right", "[0, 1]"},
                                              {"unroll_disparity", "[1, 2, 4, 8]"},
                                              {"unroll_dx", "[1, 2, 4]"},
                                              {"unroll_dy", "[1, 2, 4]"}};
  static const char *const conditions[] = {
      "wg_x * wg_y <= 4096", "(wg_x * ppt_x + 16) * (wg_y * ppt_y + 8) * 4 * (local_left + local_right) <= 262144",
      "wg_x * ppt_x <= 1024", "wg_y * ppt_y <= 1024"};
  clt_error error = {0};
  for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
    check(clt_space_builder_parameter_text(builder, parameters[i][0], "int", parameters[i][1], &error), &error);
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
    check(clt_space_builder_constraint(builder, conditions[i], CLT_CONDITION, NULL, &error), &error);
}

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for walking over all valid configurations (16 million at most), per configuration. */
static double walk_s(const clt_space *space) {
  static clt_config part[4096];
  uint64_t most = clt_space_valid(space) < 16000000 ? clt_space_valid(space) : 16000000, first = 0;
  double start_s = cpu_s();
  while (first < most) first += clt_space_enumerate(space, first, sizeof part / sizeof *part, part);
  return (cpu_s() - start_s) / (double)(most ? most : 1);
}

/* Seconds for the rank of one configuration. */
static double rank_s(const clt_space *space, const clt_config *sample, size_t n) {
  uint64_t rank;
  double start_s = cpu_s();
  for (size_t i = 0; i < n; i++)
    if (!clt_space_rank(&rank, space, sample[i])) abort();
  return (cpu_s() - start_s) / (double)(n ? n : 1);
}

/* The shortest of several times: processor time, so that other programs matter less. */
static double bench(const char *path) {
  clt_config sample[2000];
  clt_space_builder *builder = NULL;
  clt_error error = {0};
  double best_s = 1e9, sample_s = 1e9, step_s = 0, membership_s = 0;
  check(clt_space_builder_new(&builder, &error), &error);
  if (path)
    add_file(builder, path);
  else
    add_stereo(builder);
  for (int i = 0; i < REPEATS; i++) {
    clt_space *space = NULL;
    clt_rng rng;
    double start_s = cpu_s();
    check(clt_space_new(&space, builder, &error), &error);
    double built_s = cpu_s();
    if (built_s - start_s < best_s) best_s = built_s - start_s;
    clt_rng_init(&rng, 1);
    int64_t n = clt_space_sample(sample, space, &rng, 2000, &error);
    check((int)n, &error);
    double sampled_s = cpu_s();
    if (sampled_s - built_s < sample_s) sample_s = sampled_s - built_s;
    if (i == 0)
      printf("%-40s %14llu of %16llu valid, %2zu groups, ", path ? path : "stereo",
             (unsigned long long)clt_space_valid(space), (unsigned long long)clt_space_cartesian(space),
             clt_space_n_groups(space));
    step_s = walk_s(space);
    membership_s = rank_s(space, sample, (size_t)n);
    clt_space_free(space);
  }
  printf("built in %.3f ms, 2000 drawn in %.3f ms, a step %.1f ns, a rank %.0f ns\n", 1e3 * best_s, 1e3 * sample_s,
         1e9 * step_s, 1e9 * membership_s);
  clt_space_builder_free(builder);
  return best_s;
}

int main(int argc, char **argv) {
  double sum_s = 0;
  if (argc == 1) bench(NULL);
  for (int i = 1; i < argc; i++) sum_s += bench(argv[i]);
  if (argc > 1) printf("together: %.3f ms\n", 1e3 * sum_s);
  return 0;
}
