/* clatune/sys/model.h - for people who add a model of run time.
 *
 * A model is one file in src/model/ with one const struct, listed in src/model/models.c. It learns log run time from
 * correct measurements; which configurations fail is learnt beside it, for all models alike (src/model/forest.h). */
#ifndef CLATUNE_SYS_MODEL_H
#define CLATUNE_SYS_MODEL_H

#include <clatune/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_t; /* jansson */

/* What a model is fitted on; borrowed for the call, but space and instance live as long as the model. */
typedef struct clt_model_setup {
  const clt_space *space;
  const clt_instance *instance; /* NULL: none; its resources may be inputs */
  const clt_config *configs;    /* n_rows correct ones, at least 5 */
  const double *log_time;       /* natural logarithm of seconds */
  size_t n_rows;
  uint64_t seed;
  unsigned threads; /* 0: as many as there are processors; never changes the result */
  /* Rows of several sizes: row i was measured at instances[instance_of[i]], all with the same tuning parameters, and
   * log_time is what the sizes alone do not explain. n_instances 0: all rows are of `instance`. */
  const clt_instance *const *instances;
  const uint32_t *instance_of;
  size_t n_instances;
} clt_model_setup;

typedef struct clt_model_type {
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before fit or load; fini follows either, also after a failure */

  int (*fit)(void *state, const clt_model_setup *setup, const void *options, clt_error *error);
  /* Fills log_time and spread of out[n]; any number of threads at once. */
  int (*predict)(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error);
  /* Whether screen saves time: the sweep for the m best then predicts all with screen, and only the best of those with
   * predict. screen fills the same as predict, less exactly. Both nullable. */
  bool (*screens)(const void *state);
  int (*screen)(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error);
  /* For every row of the setup: predicted - measured log time, by a fit that had no part of that row. Borrowed. */
  const float *(*residuals)(const void *state, size_t *n);
  /* The model as JSON, a new reference, and back. load refuses what save cannot have written for this space. */
  int (*save)(const void *state, struct json_t **out, clt_error *error);
  int (*load)(void *state, const clt_space *space, const clt_instance *instance, const struct json_t *json,
              clt_error *error);
  /* From now on it predicts for this instance of the problem; see clt_model_bind. */
  void (*bind)(void *state, const clt_instance *instance);
  void (*fini)(void *state);
} clt_model_type;

size_t clt_n_models(void);
const clt_model_type *clt_model_type_at(size_t index);
const clt_model_type *clt_model_type_find(const char *name); /* NULL: none */

#ifdef __cplusplus
}
#endif
#endif
