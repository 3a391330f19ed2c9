#include "search/pheromones.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define LEAST 0.001
#define MOST 0.999
#define BEGINNING 0.5

int clt_pheromones_init(clt_pheromones *p, const clt_space *space, double alpha, double beta, clt_error *error) {
  size_t n_parameters = clt_space_n_parameters(space), most = clt_walk_most_branches(space), n = 0;
  *p = (clt_pheromones){.space = space, .alpha = alpha, .beta = beta};
  p->first = clt_new_array(n_parameters + 1, sizeof *p->first);
  if (p->first == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n_parameters; i++) {
    p->first[i] = n;
    n += clt_space_parameter(space, i)->n_values;
  }
  p->first[n_parameters] = n;
  p->trail = clt_new_array(n, sizeof *p->trail);
  p->desirable = clt_new_array(n, sizeof *p->desirable);
  p->branches = clt_new_array(most, sizeof *p->branches);
  p->weights = clt_new_array(most, sizeof *p->weights);
  if (!p->trail || !p->desirable || !p->branches || !p->weights) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) p->desirable[i] = 1;
  clt_pheromones_reset(p);
  return CLT_OK;
}

void clt_pheromones_release(clt_pheromones *p) {
  free(p->first);
  free(p->trail);
  free(p->desirable);
  free(p->branches);
  free(p->weights);
}

void clt_pheromones_reset(clt_pheromones *p) {
  size_t n = p->first[clt_space_n_parameters(p->space)];
  for (size_t i = 0; i < n; i++) p->trail[i] = BEGINNING;
}

double clt_pheromones_trail(const clt_pheromones *p, size_t parameter, uint32_t position) {
  return p->trail[p->first[parameter] + position];
}

static size_t choose(clt_pheromones *p, size_t parameter, size_t n, clt_rng *rng) {
  double sum = 0;
  if (n == 1) return 0;
  for (size_t i = 0; i < n; i++) {
    size_t at = p->first[parameter] + p->branches[i].position;
    p->weights[i] = pow(p->trail[at], p->alpha) * pow(p->desirable[at], p->beta);
    sum += p->weights[i];
  }
  double left = clt_rng_unit(rng) * sum;
  for (size_t i = 0; i + 1 < n; i++) {
    if (left < p->weights[i]) return i;
    left -= p->weights[i];
  }
  return n - 1;
}

clt_config clt_pheromones_path(clt_pheromones *p, clt_rng *rng) {
  clt_walk walk;
  clt_walk_start(&walk, p->space);
  for (int parameter; (parameter = clt_walk_parameter(&walk)) >= 0;) {
    size_t n = clt_walk_branches(&walk, p->branches);
    clt_walk_take(&walk, &p->branches[choose(p, (size_t)parameter, n, rng)]);
  }
  return walk.config;
}

static void move(clt_pheromones *p, size_t parameter, uint32_t taken, double rho) {
  size_t first = p->first[parameter], n = p->first[parameter + 1] - first;
  for (size_t i = 0; i < n; i++) {
    double *trail = &p->trail[first + i];
    *trail = fmin(fmax(*trail + rho * ((i == taken) - *trail), LEAST), MOST);
  }
}

void clt_pheromones_deposit(clt_pheromones *p, clt_config config, double rho) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_walk walk;
  clt_space_positions(p->space, config, positions);
  clt_walk_start(&walk, p->space);
  for (int parameter; (parameter = clt_walk_parameter(&walk)) >= 0;) {
    size_t n = clt_walk_branches(&walk, p->branches), i = 0;
    while (p->branches[i].position != positions[parameter]) i++;
    if (n > 1) move(p, (size_t)parameter, positions[parameter], rho);
    clt_walk_take(&walk, &p->branches[i]);
  }
}
