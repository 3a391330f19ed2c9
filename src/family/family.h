/* family/family.h - families of variants: several kernels that do the same, and which of them is the fastest on an
 * input (docs/families.md).
 *
 * An *input* is an assignment of problem parameters. A variant on an input is an ordinary instance of the variant's
 * problem, measured and stored as any other. An *arm* is a variant in one configuration; a chooser is fitted on a table
 * of inputs x arms. */
#ifndef CLT_FAMILY_FAMILY_H
#define CLT_FAMILY_FAMILY_H

#include <clatune/family.h>
#include <clatune/tune.h>

#include "problem/parts.h"
#include "store/store.h"

#define CLT_MAX_FEATURES 32
#define CLT_MAX_ARMS 64
#define CLT_MAX_PORTFOLIO 8

/* --- the file (load.c) --- */

/* A function of the module, and what it gives. n 0: there is none. */
typedef struct clt_family_function {
  const char *function;
  const char **names;
  size_t n;
} clt_family_function;

typedef struct clt_family_variant {
  const char *name;
  clt_problem *problem;
  clt_instance *standard; /* at the problem's own sizes, for its parameters; NULL: it has none there */
  clt_expr *where;        /* over the features; NULL: always */
  const char *conversion; /* a function of the module; NULL: none */
} clt_family_variant;

/* What is borrowed belongs to the source. Immutable once loaded. */
typedef struct clt_family {
  clt_source source;
  const char *folder, *name, *module;
  const char **parameters; /* of an input; NULL behind them */
  size_t n_parameters;
  clt_family_function derived; /* numbers that follow from an input */
  clt_problem *from;           /* whose arrays the functions look at, without its reference; NULL: at none */
  size_t *numbers, n_numbers;  /* features that are parameters, or behind these derived numbers */
  clt_family_function *functions;
  size_t n_functions;
  const char **features; /* all names: numbers, then what each function gives */
  size_t n_features;
  int64_t *inputs; /* n_parameters each: n_train to learn from, then those to judge by */
  size_t n_inputs, n_train, inputs_capacity;
  clt_family_variant *variants;
  size_t n_variants;
} clt_family;

/* Mistakes are reported with file, line and key. The module is not compiled. */
int clt_family_load(clt_family **out, const char *path, clt_error *error);
void clt_family_free(clt_family *family); /* nullable */
bool clt_family_is_name(const char *text);

/* --- inputs (input.c) --- */

/* An input, and what the module says of it. Release also after a failure. */
typedef struct clt_family_input {
  size_t n;
  clt_size *sizes;      /* parameters, then derived numbers */
  double *features;     /* of the family, in its order */
  double *function_s;   /* how long each function takes */
  double *conversion_s; /* of each variant; 0: none */
} clt_family_input;
void clt_family_input_release(clt_family_input *input);

/* Where a store keeps what the module says of inputs, on a device. Borrows the store. Release also after a failure. */
typedef struct clt_family_records {
  clt_store *store;
  clt_store_key key;           /* its problem is that of the input read last */
  struct clt_hasher *up_to_it; /* of that problem: what all inputs have in common */
  clt_space *space;
} clt_family_records;
int clt_family_records_init(clt_family_records *out, const clt_family *family, clt_store *store,
                            const clt_device_info *device, clt_error *error);
void clt_family_records_release(clt_family_records *records);

/* Of the values of the parameters: from the records, or calculated now, and stored. records NULL: calculated.
 * only_stored: CLT_E_NOT_FOUND where there is none. */
int clt_family_input_get(clt_family_input *out, const clt_family *family, const int64_t *values,
                         clt_family_records *records, const clt_device_info *device, bool only_stored,
                         clt_error *error);
char *clt_family_input_text(const clt_family *family, const int64_t *values); /* "kind=0 n=1000"; malloc'ed */

/* Whether a variant may run on it; a condition without a value does not hold. */
bool clt_family_holds(const clt_expr *where, const double *features, size_t n_features);

/* The variant's problem at the input's sizes. */
int clt_family_instance(clt_instance **out, const clt_family *family, size_t variant, const clt_family_input *input,
                        const clt_device_info *device, clt_error *error);

/* --- the table (table.c) --- */

typedef struct clt_family_arm {
  size_t variant;
  clt_config config;
  char *configuration; /* "a=1 b=2"; owned */
} clt_family_arm;

/* A device, and the store that has what was measured on it. Borrowed. */
typedef struct clt_family_place {
  clt_store *store;
  const clt_device_info *device;
} clt_family_place;

typedef struct clt_family_table {
  const clt_family *family;
  size_t n, n_train;              /* inputs that were measured: those to learn from come first */
  clt_family_input *inputs;       /* n */
  size_t *number;                 /* each one's number in the family */
  const clt_family_place **place; /* of each: where it was measured; borrowed */
  size_t n_device;                /* the last features are so many figures of the place (across.c) */
  clt_family_arm *arms;
  size_t n_arms;
  double *cost; /* [input][arm], seconds; INFINITY: it fails, NaN: it may not run, or was not measured */
} clt_family_table;

/* What stores know: to learn from, the inputs for that on the first n_sources places; to judge by, the others on the
 * last place (all of them where it is no source and has no others). The arms are, for each variant, at most `most` of
 * its configurations that were measured on (nearly) all inputs, chosen greedily by the times on those to learn from.
 * uses: above 0, conversions count, as a share of so many runs. CLT_E_NOT_FOUND where nothing was measured,
 * CLT_E_NO_VALID where nothing is right. Release also after a failure. */
int clt_family_table_load(clt_family_table *out, const clt_family *family, const clt_family_place *places,
                          size_t n_places, size_t n_sources, size_t most, double uses, clt_error *error);
void clt_family_table_release(clt_family_table *table);

#define CLT_FAMILY_TIE 0.02 /* relative: what counts as equally good */

/* The logs of a row's costs: a failure costs ten times the longest time of its row; NaN as there. Returns that time; 0:
 * all fail, and these say nothing. */
double clt_family_log_costs(double *out, const clt_family_table *table, size_t row);

/* What the store says of a variant in a configuration on an input. Of several right measurements the least time counts,
 * as of the runs of one. */
typedef struct clt_family_answer {
  size_t input, variant;
  clt_config config;
  double time_s; /* INFINITY: it failed, the last time that it was measured */
  bool wrong;
  unsigned n_right; /* measurements */
  double second_s;  /* the second least time; INFINITY: there is none */
} clt_family_answer;

typedef struct clt_family_answers {
  clt_family_answer *all;
  size_t n, capacity;
} clt_family_answers; /* zeroed: none; all is malloc'ed */
int clt_family_answers_add(clt_family_answers *answers, clt_store *store, const clt_instance *instance, size_t input,
                           size_t variant, clt_error *error);
/* What a place knows of an input and of all variants on it, whose answers are those on input `as`. CLT_E_NOT_FOUND
 * where its features are not known there. *out is released after a failure. */
int clt_family_answers_read(clt_family_answers *answers, clt_family_input *out, const clt_family *family, size_t number,
                            size_t as, clt_family_records *records, const clt_family_place *place, clt_error *error);

/* At most `most` configurations of a variant, greedily, so that the mean of the log of the least time over the inputs
 * below n_train is least; one more has to gain 1 %. Those alone that have answers on nine tenths of the inputs that any
 * has, and are wrong on none. Returns how many. Sorts the answers. */
size_t clt_family_portfolio(clt_config *out, size_t most, clt_family_answers *answers, size_t variant, size_t n_train);

/* --- measuring (measure.c) --- */

typedef struct clt_family_measuring {
  clt_store *store;
  const clt_device_info *device;
  size_t portfolio, tune_on;       /* configurations of a variant; inputs that each variant is tuned on */
  const clt_family_place *sources; /* n_sources: nothing is tuned; the portfolios of these devices are measured */
  size_t n_sources;
  int64_t budget;  /* evaluations of each of these tunings */
  size_t n_inputs; /* at most so many to learn from, and to judge by; 0: all */
  bool train_only;
  const clt_setting *settings; /* of the evaluator */
  size_t n_settings;
  uint64_t seed;
  /* What was done: text is a sentence. Nullable. */
  void (*tell)(void *user, size_t done, size_t total, const char *text);
  clt_log_fn log;
  void *user;
  const volatile int *stop;
} clt_family_measuring;

/* Tunes each variant where the store has too little, then measures every input. What the store has is not measured
 * again, so that it goes on where it was stopped. */
int clt_family_measure(const clt_family *family, const clt_family_measuring *how, clt_error *error);

/* --- choosers (choosers.c): scores of arms, the least is chosen --- */

/* What a fitted chooser is: numbers that the functions of evaluate.inc read. */
typedef struct clt_family_numbers {
  float *values; /* owned */
  size_t n;
  int dim; /* of its own */
} clt_family_numbers;

/* Rows to fit on: x[n][n_inputs], scaled, and log costs[n][n_arms]: NaN where there is none. */
typedef struct clt_family_rows {
  size_t n, n_inputs, n_arms;
  const float *x;
  const double *log_cost;
  const size_t *rank; /* of each arm by its mean: of equally good ones the least counts */
} clt_family_rows;

typedef struct clt_family_chooser {
  const char *name, *summary;
  unsigned n_settings; /* of which cross-validation chooses; 0: this build lacks what fits it */
  bool predicts_time;  /* scores are logarithms of seconds */
  int (*fit)(clt_family_numbers *out, const clt_family_rows *rows, unsigned setting, uint64_t seed, clt_error *error);
  void (*score)(double *scores, const float *x, const float *values, int n_inputs, int n_arms, int dim);
  /* Whether numbers, of a file, are such that score stays within them. */
  bool (*fits)(const clt_family_numbers *numbers, size_t n_inputs, size_t n_arms);
} clt_family_chooser;
extern const clt_family_chooser *const clt_family_choosers[]; /* NULL behind the last; the first is the default */
const clt_family_chooser *clt_family_chooser_find(const char *name);

/* --- models (model.c) --- */

typedef struct clt_family_model_arm {
  char *variant, *configuration, *condition; /* owned; condition NULL: it may always run */
  clt_expr *where;                           /* the condition over the model's features */
} clt_family_model_arm;

struct clt_family_model {
  char *family, *path; /* owned: the family's name, and its file */
  const clt_family_chooser *chooser;
  size_t n_features, n_arms, standard; /* standard: the arm that always works */
  clt_words names;                     /* of the features */
  double (*scales)[5];                 /* as evaluate.h has them */
  clt_family_model_arm *arms;
  clt_family_numbers numbers;
  /* Inputs behind those of the features: figures of the device that the model is for (across.c), scaled. */
  size_t n_fixed;
  float fixed[CLT_MAX_FEATURES];
  char *fixed_names[CLT_MAX_FEATURES]; /* owned */
};

/* Scores of the arms; the index of the first feature that lies outside, then there are none, or -1. */
int clt_family_score(double scores[CLT_MAX_ARMS], const clt_family_model *model, const double *features);
int clt_family_model_save(const clt_family_model *model, const char *path, clt_error *error);

/* --- training and judging (train.c) --- */

typedef struct clt_family_training {
  const clt_family_chooser *chooser; /* NULL: the one that cross-validation finds best */
  size_t features[CLT_MAX_FEATURES]; /* n_features of the family's, by their number; 0: all */
  size_t n_features;
  uint64_t seed;
  unsigned threads;
} clt_family_training;

/* Fits on the inputs to learn from; the setting is the one of least regret in cross-validation, where times within 2 %
 * are equal. CLT_E_NO_VALID where no variant that may always run has given right results. */
int clt_family_train(clt_family_model **out, const clt_family_table *table, const clt_family_training *how,
                     clt_error *error);

/* How good choices are over inputs. */
typedef struct clt_family_figures {
  double mean;       /* of the best time / the chosen arm's */
  double slow;       /* share of inputs more than 5 % slower than the best */
  double worse;      /* more than 5 % slower than the single best arm */
  double gap_closed; /* of the gap in `mean` between the single best arm and the ideal choice; NaN: there is none */
} clt_family_figures;

/* CLT_JUDGE_TOP_TWO: as if the two arms of least score were measured. */
typedef enum clt_family_judged {
  CLT_JUDGE_CHOICE,
  CLT_JUDGE_TOP_TWO,
  CLT_JUDGE_SINGLE,
  CLT_N_JUDGED
} clt_family_judged;

/* Judges a chooser on the inputs to judge by, after training on the others; where none was measured, by
 * cross-validation around all of the training (nested). *n: how many inputs. */
int clt_family_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_table *table,
                     const clt_family_training *how, clt_error *error);

/* --- as C (export.c) --- */

/* A file of C99 that is C++, too: NAME_select(const double features[], NAME_config *out). */
int clt_family_write_c(clt_text *out, const clt_family_model *model, clt_error *error);

#endif
