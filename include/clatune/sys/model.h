/* clatune/sys/model.h - for people who add a model of cost.
 *
 * A model is one const struct: in the tree one file in src/model/ and a line in model.c, elsewhere a call of
 * clt_model_register. It learns log cost from correct measurements; which configurations fail is learned beside it, for
 * all models alike. */
#ifndef CLATUNE_SYS_MODEL_H
#define CLATUNE_SYS_MODEL_H

#include <clatune/model.h>

CLT_BEGIN_C

#define CLT_MODEL_ABI 1 /* grows with every change of this header that types have to follow */

/* What a model file keeps of a model: lists of numbers with names. */
typedef struct clt_model_record clt_model_record;

/* Adds a list of finite numbers. */
int clt_model_record_put(clt_model_record *record, const char *name, const double *values, size_t n, clt_error *error);
/* Reads one back; *values is malloc'ed. CLT_E_FORMAT where there is none, or it is not one of finite numbers. */
int clt_model_record_get(double **values, size_t *n, const clt_model_record *record, const char *name,
                         clt_error *error);

typedef struct clt_model_type {
  uint32_t abi; /* CLT_MODEL_ABI */
  const char *name, *summary;
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before fit or load; fini follows either, also after a failure */
  bool has_fast; /* whether predicting fast saves time: a sweep for the m best then predicts all fast, and only the best
                    of those exactly */

  /* Fits on rows, all of them correct, at least 5. Of several sizes (n_instances > 1) log_cost is what the sizes alone
   * do not explain. residuals[n]: predicted - measured by a fit that had no part of that row. rows are borrowed for the
   * call, but their space and instances live as long as the model. threads never change the result. */
  int (*fit)(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads, float *residuals,
             clt_error *error);
  /* Fills log_cost and spread of out[n]; fast: less exactly, where that saves time. Any number of threads at once. */
  int (*predict)(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                 clt_error *error);
  /* Into an empty record, and back. load refuses what save cannot have written for this space (CLT_E_FORMAT); instance
   * is NULL where none is known. */
  int (*save)(const void *state, clt_model_record *out, clt_error *error);
  int (*load)(void *state, const clt_space *space, const clt_instance *instance, const clt_model_record *record,
              clt_error *error);
  /* From now on it predicts for this instance of the problem; see clt_model_bind. */
  void (*bind)(void *state, const clt_instance *instance);
  void (*fini)(void *state);
} clt_model_type;

/* Adds a type, which must stay, to those that clt_model_new and clt_model_new_saved find by name. Not while another
 * thread uses models. CLT_E_ARGUMENT where its ABI is not CLT_MODEL_ABI, something is missing, or the name is taken;
 * CLT_E_RANGE where there are too many. */
int clt_model_register(const clt_model_type *type, clt_error *error);

const clt_model_type *clt_model_type_find(const char *name); /* NULL: none */

CLT_END_C
#endif
