/* FANN's own trainer: iRPROP- (Igel and Huesken, "Improving the Rprop learning algorithm", 2000). */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/trainer.h"

#define LOOK_EVERY 10

struct run {
  const clt_training *training;
  float *weights;
};

static bool look(void *user, const clt_network *network, long epoch) {
  struct run *run = user;
  clt_network_get_weights(network, run->weights);
  return clt_stopping_look(run->training->stopping, run->weights, epoch);
}

/* The chosen rows, one after another. */
static void gather(const clt_training *t, float *x, float *y) {
  size_t n_inputs = t->shape->n_inputs;
  for (size_t i = 0; i < t->n_rows; i++) {
    memcpy(x + i * n_inputs, t->x + t->rows[i] * n_inputs, n_inputs * sizeof *x);
    y[i] = t->y[t->rows[i]];
  }
}

static int train(const clt_training *t, float *weights, clt_error *error) {
  struct run run = {t, weights};
  clt_network *network = NULL;
  float *x = clt_new_array(t->n_rows, t->shape->n_inputs * sizeof *x), *y = clt_new_array(t->n_rows, sizeof *y);
  int rc = x && y ? clt_network_new(&network, t->shape, error) : clt_fail_memory(error);
  if (rc) goto done;
  gather(t, x, y);
  clt_network_set_weights(network, weights);
  rc = clt_network_rprop(network, x, y, t->n_rows, t->iterations, LOOK_EVERY, look, &run, error);
  if (!rc) look(&run, network, t->iterations + 1);
done:
  clt_network_free(network);
  free(x);
  free(y);
  return rc;
}

const clt_trainer clt_trainer_rprop = {"rprop", train};
