/* family/family.h - families of variants: several kernels that compute the same result, and models that choose the
 * fastest one for an input (docs/reference/family-file.md).
 *
 * An *input* is an assignment of problem parameters. A variant on an input is an ordinary instance of the variant's
 * problem, and is measured and stored like any other. An *arm* is a variant in one configuration. A *chooser* is fitted
 * to a table of inputs x arms and predicts the best arm for an input. */
#ifndef CLT_FAMILY_FAMILY_H
#define CLT_FAMILY_FAMILY_H

#include <clatune/tune.h>

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

/* The input with these values of the parameters, from the records; if it is not there, it is calculated and stored.
 * records NULL: always calculated. only_stored: CLT_E_NOT_FOUND instead of calculating. */
int clt_family_input_get(clt_family_input *out, const clt_family *family, const int64_t *values,
                         clt_family_records *records, const clt_device_info *device, bool only_stored,
                         clt_error *error);
char *clt_family_input_text(const clt_family *family, const int64_t *values); /* "kind=0 n=1000"; malloc'ed */

/* The variant's problem at the input's sizes. */
int clt_family_instance(clt_instance **out, const clt_family *family, size_t variant, const clt_family_input *input,
                        const clt_device_info *device, clt_error *error);

#endif
