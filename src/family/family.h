/* family/family.h - families of variants: several kernels that compute the same result, and models that choose the
 * fastest one for an input (docs/reference/family-file.md).
 *
 * An *input* is an assignment of problem parameters. A variant on an input is an ordinary instance of the variant's
 * problem, and is measured and stored like any other. An *arm* is a variant in one configuration. A *chooser* is fitted
 * to a table of inputs x arms and predicts the best arm for an input. */
#pragma once

#include "choice/choice.h"
#include "problem/instance.h"
#include "problem/load.h"
#include "store/store.h"

#define CLT_MAX_PORTFOLIO 8

/* Zeroed memory for n elements. If there is none, the program ends with a message. */
void *clt_family_alloc(size_t n, size_t bytes);

/* --- the file (load.c) --- */

/* A function of the module and the names of its results. n 0: no function. */
typedef struct clt_family_function {
  const char *function;
  const char **names;
  size_t n;
} clt_family_function;

typedef struct clt_family_variant {
  const char *name;
  clt_problem *problem;
  clt_instance *standard; /* at the problem's default sizes; NULL: it is not valid there */
  clt_expr *where;        /* over the features; NULL: always */
  const char *conversion; /* a function of the module; NULL: none */
} clt_family_variant;

/* A family file. Borrowed texts belong to the source. Immutable once loaded. */
typedef struct clt_family {
  clt_source source;
  const char *folder, *name, *module;
  const char **parameters; /* of an input; NULL-terminated */
  size_t n_parameters;
  clt_family_function derived; /* computes further problem parameters from an input */
  clt_problem *from;           /* the problem whose arrays the functions read, without reference; NULL: none */
  size_t *numbers, n_numbers;  /* features that are numbers of the input: indices of parameters, then derived ones */
  clt_family_function *functions;
  size_t n_functions;
  const char **features; /* all names: numbers, then the results of each function */
  size_t n_features;
  int64_t *inputs; /* [input][parameter]: n_train training inputs, then the test inputs */
  size_t n_inputs, n_train, inputs_capacity;
  clt_family_variant *variants;
  size_t n_variants;
} clt_family;

/* Errors name file, line and key. The module is not compiled. */
int clt_family_load(clt_family **out, const char *path, clt_error *error);
void clt_family_free(clt_family *family); /* nullable */

/* --- inputs (input.c) --- */

/* An input and its features. Release also after a failure. */
typedef struct clt_family_input {
  size_t n;
  clt_size *sizes;      /* parameters, then derived numbers */
  double *features;     /* in the order of the family */
  double *function_s;   /* run time of each function in seconds */
  double *conversion_s; /* run time of each variant's conversion in seconds; 0: none */
  bool by_one_other;    /* one other voice alone says so */
} clt_family_input;
void clt_family_input_release(clt_family_input *input);

/* The records of inputs in a store, for a device. Borrows the store. Release also after a failure. */
typedef struct clt_family_records {
  clt_store *store;
  clt_store_key key;           /* for the input read last */
  struct clt_hasher *up_to_it; /* the hash of the part of the key that all inputs share */
  clt_space *space;
} clt_family_records;
int clt_family_records_init(clt_family_records *out, const clt_family *family, clt_store *store,
                            const clt_device_info *device, clt_error *error);
void clt_family_records_release(clt_family_records *records);

/* The input with these values of the parameters, from the records; if it is not there, or one other voice alone says
 * it, it is calculated and stored. records NULL: always calculated. only_stored: CLT_E_NOT_FOUND instead. */
int clt_family_input_get(clt_family_input *out, const clt_family *family, const int64_t *values,
                         clt_family_records *records, const clt_device_info *device, bool only_stored,
                         clt_error *error);
char *clt_family_input_text(const clt_family *family, const int64_t *values); /* "kind=0 n=1000"; malloc'ed */

/* The variant's problem at the input's sizes. */
int clt_family_instance(clt_instance **out, const clt_family *family, size_t variant, const clt_family_input *input,
                        const clt_device_info *device, clt_error *error);

/* --- the table of inputs x arms, from the measurements of stores --- */

typedef struct clt_family_arm {
  size_t variant;
  clt_config config;
  char *configuration; /* "a=1 b=2"; owned */
} clt_family_arm;

/* A device and the store of its measurements. Borrowed. */
typedef struct clt_family_place {
  clt_store *store;
  const clt_device_info *device;
} clt_family_place;

typedef struct clt_family_table {
  const clt_family *family;
  size_t n, n_train;              /* measured inputs; the first n_train are training inputs */
  clt_family_input *inputs;       /* [n] */
  size_t *number;                 /* [n]: the input's number in the family */
  const clt_family_place **place; /* [n]: the device that measured it; borrowed */
  clt_family_arm *arms;
  size_t n_arms;
  double *cost; /* [input][arm], seconds; INFINITY: it failed; NaN: it may not run, or was not measured */
} clt_family_table;

/* Loads a table from stores. Its training inputs are those on the first n_sources places. Its test inputs are those on
 * the last place; all inputs of that place if it is not a source and has no test inputs. The arms are up to `most`
 * configurations per variant that were measured on nearly all inputs, chosen greedily by the times on training inputs.
 * uses above 0: the time of a conversion counts, divided by uses. CLT_E_NOT_FOUND: no measurements. CLT_E_NO_VALID: no
 * correct arm. Release also after a failure. */
int clt_family_table_load(clt_family_table *out, const clt_family *family, const clt_family_place *places,
                          size_t n_places, size_t n_sources, size_t most, double uses, clt_error *error);
void clt_family_table_release(clt_family_table *table);

/* Models do not tell log costs apart that are further than this above the minimum of an input. Chosen by nested
 * cross-validation over the training inputs of spmv, bfs and solvers (docs/notebook/families.md). */
#define CLT_FAMILY_BEHIND 1.5

/* The logarithms of a row's costs, out[n_arms]. A failure costs ten times the longest time of the row; NaN stays.
 * Returns the longest time in seconds; 0 if all arms failed: out is then not usable. */
double clt_family_log_costs(double *out, const clt_family_table *table, size_t row);
/* A log cost as models see it: at most CLT_FAMILY_BEHIND above the minimum of its input; NaN stays. */
double clt_family_cut(double log_cost, double least);

/* The stored result of a variant in a configuration on an input. The time is the mean of the faster half of its
 * measurements (docs/notebook/families.md compares it with others): other programs only slow a measurement down, but
 * the minimum alone would favour the arms that were measured most often. */
#define CLT_FAMILY_REPEATS 8
typedef struct clt_family_answer {
  size_t input, variant;
  clt_config config;
  double time_s;                      /* INFINITY: the newest measurement failed */
  bool wrong;                         /* the newest measurement had an incorrect result */
  unsigned n_right;                   /* correct measurements, at most CLT_FAMILY_REPEATS */
  double right_s[CLT_FAMILY_REPEATS]; /* their times */
  int64_t voice;                      /* whose measurements these are (clt_store_record) */
} clt_family_answer;

typedef struct clt_family_answers {
  clt_family_answer *all;
  size_t n, capacity;
} clt_family_answers; /* zeroed: none; all is malloc'ed */
int clt_family_answers_add(clt_family_answers *answers, clt_store *store, const clt_instance *instance, size_t input,
                           size_t variant, clt_error *error);
/* Adds the answers of all variants on those of the inputs [first, end) whose features the place's store has. rows
 * (nullable): gets these inputs as further rows, and the answers the rows' numbers instead of the inputs'. */
int clt_family_answers_read(clt_family_answers *answers, const clt_family *family, const clt_family_place *place,
                            size_t first, size_t end, clt_family_table *rows, clt_error *error);

/* Chooses up to `most` configurations of a variant greedily: each next one minimises the mean, over the inputs below
 * n_train, of the log of the shortest time, and must gain at least 1 %. Only configurations that were measured on at
 * least 90 % as many inputs as the most measured one, and that are nowhere incorrect. Returns their number. Sorts the
 * answers. */
size_t clt_family_portfolio(clt_config *out, size_t most, clt_family_answers *answers, size_t variant, size_t n_train);
