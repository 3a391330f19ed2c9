/* problem/data.h - input and reference data of an instance, as logical arrays (without borders), independent of the
 * configuration. Generators and reference functions of modules run in the caller's process, so only workers call these
 * functions. */
#ifndef CLT_PROBLEM_DATA_H
#define CLT_PROBLEM_DATA_H

#include <clatune/log.h>
#include <clatune/module.h>

#include "problem/plan.h"

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
  bool hostile;           /* the data are hostile, and the tolerance does not yet allow for cancellation */
} clt_array;

typedef struct clt_data {
  clt_array *arrays;
  size_t n_arrays;
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
  CLT_REFERENCE_DEFAULT /* none given: the result of the default configuration is taken as correct, and reported as such
                         */
} clt_reference_kind;
clt_reference_kind clt_instance_reference_kind(const clt_instance *instance);

/* Removes the reference: results are no longer compared, and there is no figure of quality. */
void clt_problem_drop_reference(clt_problem *problem);

/* Whether the file states a reference; without one, the result of the default configuration is taken as correct. */
bool clt_problem_has_reference(const clt_problem *problem);

/* With CLT_REFERENCE_DEFAULT, the configuration whose result is taken as correct: the default one, or the first valid
 * one if the default violates a constraint. */
clt_config clt_instance_reference_configuration(const clt_instance *instance);

/* Generates the inputs. seed 1: the usual data. CLT_HOSTILE_SEED: "Random" inputs are hostile
 * (docs/reference/problem-file.md). Other seeds: other data for the second verification of finalists. Inputs from files
 * are the same for all seeds.
 *
 * Fills references of the kinds MODULE and FILE. For KERNEL and DEFAULT, the caller runs the reference plan and sets
 * clt_array.reference (malloc'ed). A reference from a file is valid only for seed 1: for other seeds, `verified` is
 * cleared. */
#define CLT_HOSTILE_SEED 3
#define CLT_FINALIST_SEED(hostile) ((hostile) ? CLT_HOSTILE_SEED : 2)
int clt_data_new(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error);
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
 * mode 0600), clt_data_map maps them read-only in another process. */
int clt_data_save(const clt_data *data, const char *folder, clt_error *error);
int clt_data_map(clt_data **out, const clt_instance *instance, uint64_t seed, const char *folder, clt_error *error);

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

/* Scales a default absolute tolerance, which is for results of magnitude 1, to the reference: multiplies it by the root
 * mean square of the reference's finite numbers other than 0, if that is below 1. With hostile data, in which numbers
 * of both signs cancel, it becomes at least the relative tolerance times that root mean square. Does nothing without a
 * reference, or if called again. */
void clt_array_scale_tolerance(clt_array *array);

/* Warns if a comparison with the reference proves little: if it is NaN or 0 everywhere, or most of its other numbers
 * are so small that a result of 0 would be within the tolerance. */
void clt_array_warn(const clt_array *array, clt_log_fn log, void *log_user);

#endif
