/* search/ants.h - pheromone trails on the values of the parameters, and the paths of ants.
 *
 * A path is a walk down the tree of valid configurations (space/space.h). It makes no decision at parameters for which
 * the earlier values leave a single choice. Max-Min Ant System (Stuetzle and Hoos, "MAX-MIN Ant System", Future
 * Generation Computer Systems 16, 2000, section 3) in the hyper-cube framework (Blum and Dorigo, "The hyper-cube
 * framework for ant colony optimization", IEEE Transactions on Systems, Man and Cybernetics B 34, 2004):
 * pheromones are in [0.001, 0.999], start at 0.5, and move towards 1 on the values of a good path and towards 0 on the
 * others.
 *
 * In a permutation, an order is drawn first, by the product of these pheromones and those of its edges ("this item
 * follows that one"). The walk then takes the items' positions, unless other constraints exclude one. With 20 items and
 * 300 evaluations, that is 14 % better in a travelling salesman problem and 18 % in one of setup times than without the
 * edges, and up to 1 % worse in flow shops. */
#pragma once

#include "search/search.h"

/* A permutation: parameters that have all positions between them. */
typedef struct clt_order_trail {
  uint32_t items[CLT_MAX_PARAMETERS]; /* their parameters */
  size_t n;
  double *trail; /* [item, or n at the beginning][the next item] */
} clt_order_trail;

typedef struct clt_pheromones {
  const clt_space *space;
  clt_arena memory;   /* of the arrays */
  double alpha, beta; /* exponents of pheromone and desirability */
  size_t *first;      /* [parameter]: index of its first value in trail and desirable */
  double *trail;      /* pheromone */
  double *desirable;  /* prior desirability, above 0; initially 1 */
  clt_order_trail *orders;
  size_t n_orders;
  clt_branch *branches;
  double *weights;
} clt_pheromones;

int clt_pheromones_init(clt_pheromones *pheromones, const clt_space *space, double alpha, double beta,
                        clt_error *error);
void clt_pheromones_release(clt_pheromones *pheromones);

/* Sets all trails to 0.5. */
void clt_pheromones_reset(clt_pheromones *pheromones);

/* The configuration at the end of a random path. The space must have a valid configuration. */
clt_config clt_pheromones_path(clt_pheromones *pheromones, clt_rng *rng);

/* Moves the trails by the fraction rho towards a valid configuration, at the parameters where its path had a choice. */
void clt_pheromones_deposit(clt_pheromones *pheromones, clt_config config, double rho);

/* Sets the desirability of each value from the problem's Desirability: its mean over those of 2,000 random
 * configurations that have the value, relative to the mean over all, limited to 0.01 .. 100. Configurations whose
 * Desirability is not a number above 0 count as 0. Values that the sample lacks stay at 1. All stay at 1 if the
 * instance is NULL, has no Desirability, or the mean is 0. */
int clt_pheromones_guess(clt_pheromones *pheromones, const clt_instance *instance, uint64_t seed, clt_error *error);
