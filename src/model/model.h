/* model/model.h - what the files of this room know of a fitted model. */
#ifndef CLT_MODEL_MODEL_H
#define CLT_MODEL_MODEL_H

#include <clatune/sys/model.h>

#include "model/baseline.h"
#include "model/forest.h"

struct clt_model {
  const clt_model_type *type;
  void *state;
  const clt_space *space;
  clt_encoding *encoding; /* of the validity model; NULL without one */
  clt_forest *forest;     /* NULL: no failure was seen */
  clt_model_accuracy accuracy;
  struct json_t
      *sizes; /* owned: the problem sizes it was fitted at, an array where there were several; null: unknown */
  clt_baseline baseline;
  double level; /* of the baseline for the instance that it speaks of: what the type says is added to it */
  unsigned threads;
};

/* A model without a state: to be fitted or loaded. */
int clt_model_new(clt_model **out, const clt_model_type *type, const clt_space *space, clt_error *error);

/* Fills the error figures from the out-of-fold residuals. */
void clt_model_measure_accuracy(clt_model *model);

/* Fills log_time and spread of n predictions; screen: with the type's. */
int clt_model_times(const clt_model *model, const clt_config *configs, size_t n, bool screen, clt_prediction *out,
                    clt_error *error);

/* Fills p_valid of n predictions. */
int clt_model_validity(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                       clt_error *error);

#endif
