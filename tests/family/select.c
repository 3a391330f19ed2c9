/* select MODEL LIBRARY N: whether the exported function and the library choose the same for N random vectors of features. LIBRARY has
 * `int chosen(const double *features, int *arm)`. Prints "equal", how many arms occurred, how many vectors lay outside, and the
 * nanoseconds of processor time of a call for those inside; then each arm with the largest value of the last feature that it was chosen with. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <clatune/family.h>
#include <clatune/rng.h>

#include "family/train.h"

/* Of this thread alone, also if others run. */
static double processor_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  clt_family_model *model = NULL;
  const char *const *names = NULL;
  clt_error error = {0};
  void *library = argc == 4 ? dlopen(argv[2], RTLD_NOW) : NULL, *symbol = library ? dlsym(library, "chosen") : NULL;
  int (*chosen)(const double *, int *);
  if (symbol == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  memcpy(&chosen, &symbol, sizeof chosen);
  if (clt_family_model_new(&model, &names, argv[1], &error)) return fprintf(stderr, "%s\n", error.message), 1;
  const size_t n_vectors = strtoul(argv[3], NULL, 10);
  size_t n = 0, n_inside = 0, n_outside = 0, n_arms = 0, n_different = 0;
  while (names[n]) n++;
  double largest[CLT_MAX_ARMS], *all = malloc(n_vectors * n * sizeof *all);
  bool seen[CLT_MAX_ARMS] = {false};
  clt_rng rng;
  clt_rng_init(&rng, 77);
  for (size_t i = 0; i < n_vectors * n; i++) { /* a little beyond the known ones, in its own measure */
    const double *s = model->scales[i % n], low = s[2] < 0 ? s[0] : log(s[0] + s[2]), high = s[2] < 0 ? s[1] : log(s[1] + s[2]);
    const double t = low + (high - low) * (1.02 * clt_rng_unit(&rng) - 0.01);
    all[i] = s[2] < 0 ? t : exp(t) - s[2];
  }
  for (size_t i = 0; i < n_vectors; i++) {
    clt_family_choice choice;
    int arm = -1;
    const double *x = all + i * n;
    clt_family_select(&choice, model, x);
    const int outside = chosen(x, &arm);
    n_different += arm != (int)choice.arm || outside != (choice.outside != NULL);
    n_outside += choice.outside != NULL;
    if (!seen[choice.arm]) seen[choice.arm] = true, n_arms++, largest[choice.arm] = -INFINITY;
    largest[choice.arm] = fmax(largest[choice.arm], x[n - 1]);
    if (choice.outside == NULL) memmove(all + n_inside++ * n, x, n * sizeof *x); /* timed below */
  }
  const double start_s = processor_s();
  long sum = 0;
  for (size_t i = 0; i < n_inside; i++) {
    int arm = 0;
    chosen(all + i * n, &arm);
    sum += arm;
  }
  printf("%s %zu %zu %.0f\n", n_different ? "different" : "equal", n_arms, n_outside, (processor_s() - start_s) / (double)n_inside * 1e9 + (sum < 0));
  for (size_t a = 0; a < model->n_arms; a++) {
    char number[40];
    clt_snprintf(number, sizeof number, "%.17g", largest[a]); /* with a point in every locale */
    if (seen[a]) printf("%s %s\n", model->arms[a].variant, number);
  }
  clt_family_model_free(model);
  free(all);
  return n_different != 0;
}
