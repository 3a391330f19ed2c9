#include "search/desirability.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/guidance.h"

#define SAMPLE 2000
#define LEAST 0.01
#define MOST 100

static double desirability(const clt_instance *instance, clt_config config) {
  double guess = clt_instance_desirability(instance, config);
  return guess > 0 && isfinite(guess) ? guess : 0;
}

/* By value, as in the tables of the pheromones: the sum of the guesses, and of how many. */
typedef struct tally {
  double sum, n;
} tally;

static void count(const clt_pheromones *p, tally *tallies, clt_config config, double guess) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(p->space, config, positions);
  for (size_t i = 0; i < clt_space_n_parameters(p->space); i++) {
    tally *t = &tallies[p->first[i] + positions[i]];
    t->sum += guess;
    t->n++;
  }
}

static void guess_from(clt_pheromones *p, const clt_instance *instance, const clt_config *configs, size_t n,
                       tally *tallies) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    double guess = desirability(instance, configs[i]);
    count(p, tallies, configs[i], guess);
    sum += guess;
  }
  for (size_t v = 0; sum > 0 && v < p->first[clt_space_n_parameters(p->space)]; v++) {
    const tally *t = &tallies[v];
    if (t->n > 0) p->desirable[v] = fmin(fmax(t->sum / t->n / (sum / (double)n), LEAST), MOST);
  }
}

int clt_desirability_guess(clt_pheromones *p, const clt_instance *instance, uint64_t seed, clt_error *error) {
  clt_rng rng;
  if (instance == NULL || !clt_instance_has_desirability(instance)) return CLT_OK;
  clt_config *configs = clt_new_array(SAMPLE, sizeof *configs);
  tally *tallies = clt_new_array(p->first[clt_space_n_parameters(p->space)], sizeof *tallies);
  clt_rng_init(&rng, seed);
  int64_t n = configs && tallies ? clt_space_sample(p->space, &rng, SAMPLE, configs, error) : clt_fail_memory(error);
  if (n > 0) guess_from(p, instance, configs, (size_t)n, tallies);
  free(configs);
  free(tallies);
  return n < 0 ? (int)n : CLT_OK;
}
