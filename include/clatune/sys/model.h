/* clatune/sys/model.h - the interface of a model of cost, for new models.
 *
 * A model is one const struct: in the tree a file in src/model/ and a line in model.c, elsewhere a call of
 * clt_model_register. It learns log costs from correct measurements. clatune itself learns which configurations fail,
 * in the same way for all models. */
#ifndef CLATUNE_SYS_MODEL_H
#define CLATUNE_SYS_MODEL_H

#include <clatune/model.h>

CLT_BEGIN_C

#define CLT_MODEL_ABI 1 /* increases with each incompatible change of this header */

/* The content of a model file: named lists of numbers. */
typedef struct clt_model_record clt_model_record;

/* Adds a list of finite numbers; copies them. */
int clt_model_record_put(clt_model_record *record, const char *name, const double *values, size_t n, clt_error *error);
/* Reads a list; free *values with free(). CLT_E_FORMAT: there is none, or a number is not finite. */
int clt_model_record_get(double **values, size_t *n, const clt_model_record *record, const char *name,
                         clt_error *error);

typedef struct clt_model_type {
  uint32_t abi; /* CLT_MODEL_ABI */
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* set to zeros before fit or load; fini follows, also after a failure */
  bool has_fast; /* whether a fast prediction saves time: then a search for the m best predicts all fast, and only the
                    best of them exactly */

  /* Fits to at least 5 rows, all correct. With several sizes (n_instances > 1), log_cost is the part that the sizes
   * alone do not explain. residuals[n] receives predicted - measured, each from a fit without that row. rows are
   * borrowed during the call; their space and instances live as long as the model. threads must not change the result.
   */
  int (*fit)(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads, float *residuals,
             clt_error *error);
  /* Fills log_cost and spread of out[n]; fast allows less exact values. Several threads may call it at once. */
  int (*predict)(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                 clt_error *error);
  /* Write to an empty record, and read. load refuses records that save cannot have written for this space
   * (CLT_E_FORMAT). instance may be NULL. */
  int (*save)(const void *state, clt_model_record *out, clt_error *error);
  int (*load)(void *state, const clt_space *space, const clt_instance *instance, const clt_model_record *record,
              clt_error *error);
  /* Makes it predict for this instance; see clt_model_bind. */
  void (*bind)(void *state, const clt_instance *instance);
  void (*fini)(void *state);
} clt_model_type;

/* Adds a type of model, which clt_model_new and clt_model_new_saved then find by its name. It must exist as long as the
 * program uses models. Call it before other threads use models. CLT_E_ARGUMENT: its ABI is not CLT_MODEL_ABI, a member
 * is missing, or the name is taken. CLT_E_RANGE: there are too many. */
int clt_model_register(const clt_model_type *type, clt_error *error);

const clt_model_type *clt_model_type_find(const char *name); /* NULL: none */

CLT_END_C
#endif
