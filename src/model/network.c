#include "model/network.h"

#include <fann.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

struct clt_network {
  struct fann *fann;
  clt_shape shape;
};

/* fann_create_standard_array seeds and draws from rand(). Its state is swapped out meanwhile, so that the application's
 * random numbers stay what they would have been; the lock keeps two swaps from crossing. */
static struct fann *create_fann(const clt_shape *shape) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned layers[CLT_MAX_LAYERS + 1] = {(unsigned)shape->n_inputs};
  for (size_t i = 0; i < shape->n_layers; i++) layers[i + 1] = (unsigned)shape->width[i];
  char ours[64];
  pthread_mutex_lock(&lock);
  char *theirs = initstate(1, ours, sizeof ours);
  fann_set_error_log(NULL, NULL);
  struct fann *fann = fann_create_standard_array((unsigned)shape->n_layers + 1, layers);
  if (theirs) setstate(theirs);
  pthread_mutex_unlock(&lock);
  return fann;
}

int clt_network_new(clt_network **out, const clt_shape *shape, clt_error *error) {
  clt_network *network = clt_new_array(1, sizeof *network);
  if (network == NULL) return clt_fail_memory(error);
  network->shape = *shape;
  network->fann = create_fann(shape);
  if (network->fann == NULL) return clt_network_free(network), clt_fail_memory(error);
  struct fann *fann = network->fann;
  fann_set_error_log((struct fann_error *)fann, NULL);
  fann_set_activation_function_hidden(fann, FANN_SIGMOID);
  fann_set_activation_steepness_hidden(fann, 0.5f); /* FANN's sigmoid is 1 / (1 + exp(-2 * steepness * sum)) */
  fann_set_activation_function_output(fann, FANN_LINEAR);
  fann_set_activation_steepness_output(fann, 1);
  fann_set_train_error_function(fann, FANN_ERRORFUNC_LINEAR);
  fann_set_training_algorithm(fann, FANN_TRAIN_RPROP);
  size_t n = clt_shape_n_weights(shape);
  if (fann_get_total_connections(network->fann) != n)
    return clt_network_free(network), clt_fail(error, CLT_E_MODEL, "FANN connects its layers in an unknown way");
  for (size_t i = 0; i < n; i++) network->fann->weights[i] = 0;
  *out = network;
  return CLT_OK;
}

void clt_network_free(clt_network *network) {
  if (network == NULL) return;
  if (network->fann) fann_destroy(network->fann);
  free(network);
}

/* fann_set_weight_array and fann_get_connection_array go through the connections in this same order (layer by layer, a
 * neuron's inputs, then its bias); the first looks every connection up by a search, which costs n^2. */
void clt_network_set_weights(clt_network *network, const float *weights) {
  memcpy(network->fann->weights, weights, clt_shape_n_weights(&network->shape) * sizeof *weights);
}

void clt_network_get_weights(const clt_network *network, float *weights) {
  memcpy(weights, network->fann->weights, clt_shape_n_weights(&network->shape) * sizeof *weights);
}

float clt_network_run(clt_network *network, const float *inputs) {
  return *fann_run(network->fann, (fann_type *)inputs);
}

/* --- RPROP: iRPROP- (Igel and Huesken, "Improving the Rprop learning algorithm", 2000) --- */

#define LOOK_EVERY 10 /* epochs */

int clt_train_rprop(const clt_training *t, float *weights, clt_error *error) {
  size_t n_inputs = t->shape->n_inputs;
  clt_network *network = NULL;
  struct fann_train_data *data = fann_create_train((unsigned)t->n_rows, (unsigned)n_inputs, 1);
  int rc = data ? clt_network_new(&network, t->shape, error) : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < t->n_rows; i++) {
    memcpy(data->input[i], t->x + t->rows[i] * n_inputs, n_inputs * sizeof *t->x);
    data->output[i][0] = t->y[t->rows[i]];
  }
  if (!rc) clt_network_set_weights(network, weights);
  bool hope = true;
  for (long epoch = 1; !rc && hope && epoch <= t->iterations; epoch++) {
    fann_train_epoch(network->fann, data);
    if (t->stopping == NULL || epoch % LOOK_EVERY) continue;
    clt_network_get_weights(network, weights);
    hope = clt_stopping_look(t->stopping, weights, epoch);
  }
  if (!rc) clt_network_get_weights(network, weights);
  if (!rc && t->stopping) clt_stopping_look(t->stopping, weights, t->iterations + 1);
  if (data) fann_destroy_train(data);
  clt_network_free(network);
  return rc;
}
