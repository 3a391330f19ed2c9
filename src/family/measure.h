/* family/measure.h - 'clatune family measure': measures a family's variants on its inputs. */
#ifndef CLT_FAMILY_MEASURE_H
#define CLT_FAMILY_MEASURE_H

#include "family/table.h"

typedef struct clt_family_measuring {
  clt_store *store;
  const clt_device_info *device;
  size_t portfolio, tune_on;       /* configurations per variant; inputs that each variant is tuned on */
  const clt_family_place *sources; /* with sources nothing is tuned, and the sources' portfolios are measured */
  size_t n_sources;
  int64_t budget;              /* evaluations per tuning */
  size_t n_inputs;             /* maximum of training inputs and of test inputs; 0: all */
  bool train_only;             /* leaves test inputs out */
  const clt_setting *settings; /* of the evaluator */
  size_t n_settings;
  uint64_t seed;
  /* Reports progress; text describes the finished step. Nullable. */
  void (*tell)(void *user, size_t done, size_t total, const char *text);
  clt_log_fn log;
  void *user;
  const volatile int *stop;
} clt_family_measuring;

/* What is in the store after measuring: inputs, variants with at least one configuration to measure, and these
 * configurations. */
typedef struct clt_family_measured {
  size_t n_inputs, n_variants, n_arms;
} clt_family_measured;

/* Tunes each variant, unless the store has enough measurements, then measures every input. A second call continues
 * after an interruption. */
int clt_family_measure(clt_family_measured *out, const clt_family *family, const clt_family_measuring *how,
                       clt_error *error);

#endif
