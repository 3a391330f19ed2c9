/* problem/data.h - input and reference data of an instance, as logical arrays (without borders). Generators and
 * reference functions of modules run in the caller's process, so only workers call these functions. */
#pragma once

#include <clatune/log.h>
#include <clatune/module.h>

#include "problem/plan.h"

/* --- the content of a data set --- */

/* Other inputs are for the checks of a winner (problem/checks.h, docs/explanation/trust.md). */
typedef enum clt_inputs {
  CLT_INPUTS_OWN,     /* as the file says */
  CLT_INPUTS_OTHER,   /* all redrawn, also constants, formulas, data files and scalars */
  CLT_INPUTS_NUDGED,  /* the file's, with a few elements changed by much */
  CLT_INPUTS_SPIKES,  /* a tiny background, and a few elements at the bound, of which variant / 2 says which dominates
                         all sums and maxima. Odd variants: the background is at the bound, and the spikes are near 0 */
  CLT_INPUTS_RANGE,   /* both signs, ends of ranges, extremes: see clt_range */
  CLT_INPUTS_SPECIAL, /* see clt_special */
  CLT_INPUTS_OMITTED  /* one element of one argument is 0: its last, or (variant 1) one in the middle */
} clt_inputs;

/* Variants of CLT_INPUTS_RANGE. */
typedef enum clt_range {
  CLT_RANGE_ENDS,  /* reals between -bound and bound, 0, denormals; integers from 0 to their bound */
  CLT_RANGE_TYPE,  /* integers over the whole of their type; reals of magnitudes up to 1000 bounds */
  CLT_RANGE_SIGNED /* signed integers from -bound to bound */
} clt_range;

/* Variants of CLT_INPUTS_SPECIAL. */
typedef enum clt_special {
  CLT_SPECIAL_NAN,
  CLT_SPECIAL_INFINITY,
  CLT_SPECIAL_TIES /* many equal numbers, zeros of both signs */
} clt_special;

/* The parts that stay as the file states them, apart from random numbers. */
typedef enum clt_stays { CLT_STAYS_NOTHING, CLT_STAYS_INTEGERS, CLT_STAYS_STATED } clt_stays;

typedef struct clt_recipe {
  clt_inputs inputs;
  unsigned variant;
  clt_stays stays;
  const char *only; /* the name of the only argument that differs from the file; NULL: all */
  bool judged;      /* the result of the configuration `judge` is the reference, even if the file states another */
  clt_config judge;
  bool shaken; /* real inputs differ by rounding errors, which shows how far these move the result */
} clt_recipe;
extern const clt_recipe clt_own_inputs;

#define CLT_OWN_SEED 1 /* of generators and reference functions; other recipes have other numbers */
/* Whether an argument may differ from the file. */
bool clt_recipe_varies(const clt_recipe *recipe, const char *name);
/* "other inputs", "spikes 3"; static memory of the thread. */
const char *clt_recipe_name(const clt_recipe *recipe);
/* Whether some argument of the problem differs from the file, and is not as with CLT_INPUTS_OTHER. */
bool clt_recipe_applies(const clt_problem *problem, const clt_recipe *recipe);

/* One check of a prepared configuration: it runs on these inputs (clt_executor_verify). */
typedef struct clt_check {
  clt_recipe recipe;
  bool garbage; /* local memory and stacks are filled with garbage before each run */
} clt_check;
#define CLT_MAX_CHECKS 32 /* of one size */

typedef enum clt_widening { CLT_WIDEN_NOT, CLT_WIDEN_TO_TYPICAL, CLT_WIDEN_TO_LARGEST } clt_widening;

/* A scalar argument with another value than the file's. */
typedef struct clt_data_scalar {
  const char *name; /* borrowed from the problem */
  double value;
} clt_data_scalar;

/* One logical array. data is NULL until it is generated or mapped. */
typedef struct clt_array {
  char *name;
  clt_element element;
  char type[16]; /* the element's name */
  size_t extent[3];
  size_t bytes;
  bool input;      /* the kernel gets its content */
  bool verified;   /* has a reference */
  void *data;      /* input content; owned unless mapped */
  void *reference; /* correct result; owned unless mapped */
  bool mapped;
  double absolute_tolerance,
      relative_tolerance; /* correct: |r - ref| <= absolute + relative * |ref|, or both are NaN */
  bool scales_tolerance;  /* the absolute tolerance is the default, and not yet scaled to the reference */
  bool any_not_finite;    /* NaN and infinities count as equal */
  clt_widening widening;  /* how the tolerance is yet to allow for cancellation */
  double rounding;        /* the absolute tolerance that rounding errors of the inputs need; 0: not known */
} clt_array;

typedef struct clt_data {
  clt_array *arrays;
  size_t n_arrays;
  clt_data_scalar *scalars;
  size_t n_scalars;
  clt_recipe recipe; /* `only` borrowed */
  uint64_t seed;
  const clt_instance *instance; /* borrowed */
  clt_module_function verify;   /* checks results instead of a comparison; NULL: none */
} clt_data;

/* The source of the reference. */
typedef enum clt_reference_kind {
  CLT_REFERENCE_NONE,
  CLT_REFERENCE_KERNEL,
  CLT_REFERENCE_MODULE,
  CLT_REFERENCE_FILE,
  CLT_REFERENCE_DEFAULT /* none is stated: the result of the default configuration is taken as correct */
} clt_reference_kind;
clt_reference_kind clt_instance_reference_kind(const clt_instance *instance);

/* Removes the reference: results are no longer compared, and there is no figure of quality. */
void clt_problem_drop_reference(clt_problem *problem);

/* Whether the file states a reference; without one, the result of the default configuration is taken as correct. */
bool clt_problem_has_reference(const clt_problem *problem);

/* With CLT_REFERENCE_DEFAULT, whose result is taken as correct: the default's, or that of the first valid one. */
clt_config clt_instance_reference_configuration(const clt_instance *instance);

/* Generates the inputs that a recipe asks for. Fills references of the kinds MODULE and FILE. For KERNEL and DEFAULT,
 * and for a judged recipe, the caller runs a plan and sets clt_array.reference (malloc'ed). A reference from a file is
 * valid only for the file's own inputs: for others that are not judged, `verified` is cleared. */
int clt_data_new(clt_data **out, const clt_instance *instance, const clt_recipe *recipe, clt_error *error);
/* The source of the reference for a recipe. */
clt_reference_kind clt_data_reference_kind(const clt_instance *instance, const clt_recipe *recipe);
/* The value of a scalar argument in a data set; NULL: that of the plan. */
const double *clt_data_scalar_value(const clt_data *data, const char *name);
void clt_data_free(clt_data *data);
clt_array *clt_data_find(const clt_data *data, const char *name); /* NULL: none */

/* An array in the form for a module's function, with this content (NULL: no content, 0 bytes). */
clt_module_array clt_module_array_of(const clt_array *array, void *content);

/* Checks the results of a configuration with data->verify. results: logical arrays by index in data->arrays; NULL: not
 * an output. Returns 0: correct; 1: incorrect, with the function's reason in message; or CLT_E_MEMORY. */
int clt_data_verify(char message[CLT_MODULE_MESSAGE_BYTES], const clt_data *data, clt_config config,
                    void *const *results);

/* Computes the problem's figure of quality from the references in data, with a module's function. All references must
 * be filled. NaN: the problem has no such figure, or the function gives none at these sizes. Fails if the module cannot
 * be compiled or loaded, or lacks the function. */
int clt_data_quality(double *out, const clt_instance *instance, const clt_data *data, clt_error *error);

/* The name of the problem's figure of quality ("disparity error"; NULL: it has none) and its unit ("px", or ""). The
 * figure rates the correct result, so it is the same for all correct configurations. */
const char *clt_problem_quality_name(const clt_problem *problem);
const char *clt_problem_quality_unit(const clt_problem *problem);

/* Share one copy of the data between workers: clt_data_save writes all arrays into folder (one file per array and kind,
 * and one for `rounding`; mode 0600), clt_data_map maps them read-only in another process. */
int clt_data_save(const clt_data *data, const char *folder, clt_error *error);
int clt_data_map(clt_data **out, const clt_instance *instance, const clt_recipe *recipe, const char *folder,
                 clt_error *error);

/* Convert between a logical array and its stored form, which has the border of the argument and arg->bytes bytes. */
void clt_array_store(void *stored, const clt_plan_arg *arg, const void *logical);
void clt_array_unstore(void *logical, const clt_plan_arg *arg, const void *stored);

/* An incorrect element: one of its numbers differs by `error` (infinite if only one of the two is NaN) from a reference
 * of this magnitude. */
typedef struct clt_wrong_element {
  size_t index;
  double error, magnitude;
} clt_wrong_element;

typedef struct clt_comparison {
  double max_abs_error; /* of all numbers, including correct ones */
  size_t n_wrong;       /* elements */
  clt_wrong_element first, worst;
} clt_comparison;

/* Compares a logical result with the reference. Returns whether every element is within the tolerance. */
bool clt_array_matches(clt_comparison *out, const clt_array *array, const void *result);

/* Makes the tolerance of real numbers allow for how far rounding errors move the result, judging by another reference,
 * for shaken inputs. Returns false if they move all of it so far that a comparison proves nothing. */
bool clt_array_allow_rounding(clt_array *array, const void *shaken);

/* How far another reference is from this one, as a multiple of the tolerance: the largest of all numbers. */
double clt_array_margin(const clt_array *array, const void *other);

/* Scales a default absolute tolerance, which is for results of magnitude 1, to the reference: multiplies it by the root
 * mean square of the reference's finite numbers other than 0, if that is below 1. With inputs in which numbers of both
 * signs or of all magnitudes cancel, it becomes at least the relative tolerance times that root mean square, or times
 * the largest number. At last it becomes at least `rounding`. Does nothing without a reference, or if called again. */
void clt_array_scale_tolerance(clt_array *array);

/* Warns if a comparison with the reference proves little: if it is NaN or 0 everywhere, or most of its other numbers
 * are so small that a result of 0 would be within the tolerance. */
void clt_array_warn(const clt_array *array, clt_log_fn log, void *log_user);
