/* The cost of a search itself: bench_search PROBLEM.json... runs the surrogate search with 200 evaluations on one
 * thread on the spaces of problem files, times made up by the synthetic evaluator, and prints the seconds that the
 * searcher took for an evaluation: wall, and of the processor. bench_search alone takes the shipped stereo problem. */
#include <clatune/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int rc, const clt_error *error) {
  char text[2000];
  if (rc == 0) return;
  clt_error_format(text, sizeof text, error);
  fprintf(stderr, "bench_search: %s\n", text);
  exit(1);
}

static double processor_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void search(const char *name, const clt_space *space) {
  clt_tune_settings settings;
  clt_tune_result *result;
  clt_error error = {0};
  clt_tune_settings_init(&settings);
  settings.space = space;
  settings.evaluator = "synthetic";
  settings.searcher = "surrogate";
  settings.budget = 200;
  settings.finalists = 0;
  settings.threads = 1;
  double start_s = processor_s();
  check(clt_tune_run(&result, &settings, &error), &error);
  double n = (double)result->evaluations;
  printf("%-40s %10llu valid  %8.2f ms an evaluation, of the processor %8.2f ms\n", name,
         (unsigned long long)result->valid, 1e3 * result->search_s / n, 1e3 * (processor_s() - start_s) / n);
  clt_tune_result_free(result);
}

static void search_problem(const char *path) {
  clt_problem *problem;
  clt_instance *instance;
  clt_error error = {0};
  check(clt_problem_new(&problem, path, &error), &error);
  check(clt_instance_new(&instance, problem, NULL, 0, NULL, &error), &error);
  search(path, clt_instance_space(instance));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) search_problem(argv[i]);
  if (argc == 1) search_problem(KERNELS_FOLDER "/stereo.json");
  return 0;
}
