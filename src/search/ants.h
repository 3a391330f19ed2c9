/* search/ants.h - trails that ants leave on the values of the parameters, and the paths that follow them.
 *
 * A path is a walk down the tree of valid configurations (space/space.h): a parameter that the values before leave
 * without a choice is passed without a decision. Max-Min Ant System (Stuetzle and Hoos, "MAX-MIN Ant System", Future
 * Generation Computer Systems 16, 2000, section 3) in the hyper-cube framework (Blum and Dorigo, "The hyper-cube
 * framework for ant colony optimization", IEEE Transactions on Systems, Man and Cybernetics B 34, 2004):
 * pheromones lie in [0.001, 0.999], begin at 0.5, and move towards 1 on the values of a good path and towards 0 on the
 * others. */
#ifndef CLT_SEARCH_ANTS_H
#define CLT_SEARCH_ANTS_H

#include <clatune/problem.h>

#include "space/space.h"

typedef struct clt_pheromones {
  const clt_space *space;
  double alpha, beta; /* exponents of pheromone and desirability */
  size_t *first;      /* of a parameter, its first value in the tables */
  double *trail;      /* pheromone */
  double *desirable;  /* desirability known before, above 0; 1 at the beginning */
  clt_branch *branches;
  double *weights;
} clt_pheromones;

int clt_pheromones_init(clt_pheromones *pheromones, const clt_space *space, double alpha, double beta,
                        clt_error *error);
void clt_pheromones_release(clt_pheromones *pheromones);

/* All trails at 0.5. */
void clt_pheromones_reset(clt_pheromones *pheromones);

/* The pheromone on a value. */
double clt_pheromones_trail(const clt_pheromones *pheromones, size_t parameter, uint32_t position);

/* A path; the space has a valid configuration. */
clt_config clt_pheromones_path(clt_pheromones *pheromones, clt_rng *rng);

/* Moves the trails of the parameters where the path of a valid configuration had a choice by the share rho. */
void clt_pheromones_deposit(clt_pheromones *pheromones, clt_config config, double rho);

/* Fills in how desirable each value is, by what the author thinks before anything was measured: the mean of the
 * problem's Desirability over those of 2,000 random configurations that have the value, relative to the mean of all, at
 * least 0.01 and at most 100. Configurations without a number above 0 count as 0. Values that the sample lacks stay at
 * 1, and so does everything where the instance is NULL, has no Desirability, or is 0 everywhere. */
int clt_pheromones_guess(clt_pheromones *pheromones, const clt_instance *instance, uint64_t seed, clt_error *error);

#endif
