/* problem/data.h - input and reference data of an instance, as logical arrays (no borders), independent of the
 * configuration. Calls generators and reference functions from modules, in the caller's process: only workers do. */
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
  bool input;      /* its content is given to the kernel */
  bool verified;   /* has a reference */
  void *data;      /* input content; owned unless mapped */
  void *reference; /* right result; owned unless mapped */
  bool mapped;
  double absolute_tolerance, relative_tolerance; /* |r - ref| <= absolute + relative * |ref|; NaN only where ref is */
  bool scales_tolerance; /* the absolute one is the default, and not scaled to the reference yet */
  bool hostile;          /* of hostile data, and the tolerance does not allow for cancellation yet */
} clt_array;

typedef struct clt_data {
  clt_array *arrays;
  size_t n_arrays;
  uint64_t seed;
  const clt_instance *instance; /* whose it is; borrowed */
  clt_module_function verify;   /* judges results in place of a comparison; NULL: none does */
} clt_data;

/* Where the reference comes from. */
typedef enum clt_reference_kind {
  CLT_REFERENCE_NONE,
  CLT_REFERENCE_KERNEL,
  CLT_REFERENCE_MODULE,
  CLT_REFERENCE_FILE,
  CLT_REFERENCE_DEFAULT /* none given: the default configuration's own result is the reference, and that is said */
} clt_reference_kind;
clt_reference_kind clt_instance_reference_kind(const clt_instance *instance);

/* Nothing is compared from now on, and there is no figure of quality. */
void clt_problem_drop_reference(clt_problem *problem);

/* Whether the file says what is right; without a reference the default configuration's result is taken for it. */
bool clt_problem_has_reference(const clt_problem *problem);

/* With CLT_REFERENCE_DEFAULT, the configuration whose result is taken for right: the default one, or the first valid
 * one where the default violates a constraint. */
clt_config clt_instance_reference_configuration(const clt_instance *instance);

/* Generates the inputs (seed 1: the usual ones; CLT_HOSTILE_SEED: "Random" ones are hostile, docs/problem-format.md;
 * other seeds: further data for the finalists' second verification; inputs from files are the same for all seeds).
 * References are filled for kinds MODULE and FILE; for KERNEL and DEFAULT the caller runs the reference plan and fills
 * clt_array.reference (malloc'ed) itself. A file reference holds for seed 1 only: for others `verified` is cleared. */
#define CLT_HOSTILE_SEED 3
#define CLT_FINALIST_SEED(hostile) ((hostile) ? CLT_HOSTILE_SEED : 2)
int clt_data_new(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error);
void clt_data_free(clt_data *data);
clt_array *clt_data_find(const clt_data *data, const char *name); /* NULL: none */

/* An array as a module's function sees it, with this content (NULL: none, of 0 bytes). */
clt_module_array clt_module_array_of(const clt_array *array, void *content);

/* Judges the results of a configuration by data->verify: 0, 1 where they are wrong, or CLT_E_MEMORY. results: logical
 * arrays, by index in data->arrays; NULL: no output. message: why they are wrong, in the function's words. */
int clt_data_verify(char message[CLT_MODULE_MESSAGE_BYTES], const clt_data *data, clt_config config,
                    void *const *results);

/* The problem's figure of quality, from its module's function, of the references in data, which have to be there. NaN
 * where the problem has none, and where the function says that there is none at these sizes. CLT_E_... where the module
 * cannot be compiled or loaded, or lacks the function. */
int clt_data_quality(double *out, const clt_instance *instance, const clt_data *data, clt_error *error);

/* What the problem's figure of quality is called ("disparity error"; NULL: it has none) and its unit ("px"; "" where
 * there is none). The figure belongs to the right result, so it is the same for all correct configurations. */
const char *clt_problem_quality_name(const clt_problem *problem);
const char *clt_problem_quality_unit(const clt_problem *problem);

/* Writes all arrays into folder (one file an array and kind, 0600), and maps them read-only in another process, so that
 * workers share one copy. */
int clt_data_save(const clt_data *data, const char *folder, clt_error *error);
int clt_data_map(clt_data **out, const clt_instance *instance, uint64_t seed, const char *folder, clt_error *error);

/* The stored image of an argument: the logical array with its border, plan_arg->bytes long. Copies out of `logical`
 * (clt_array.data), and back into a logical array for comparison. */
void clt_array_store(void *stored, const clt_plan_arg *arg, const void *logical);
void clt_array_unstore(void *logical, const clt_plan_arg *arg, const void *stored);

/* A wrong element: a number of it differs by `error` (NaN from a number: infinite) from what has this magnitude. */
typedef struct clt_wrong_element {
  size_t index;
  double error, magnitude;
} clt_wrong_element;

typedef struct clt_comparison {
  double max_abs_error; /* of all numbers, right ones included */
  size_t n_wrong;       /* elements */
  clt_wrong_element first, worst;
} clt_comparison;

/* Compares a logical result with the reference. Returns true if every element is within tolerance. */
bool clt_array_matches(clt_comparison *out, const clt_array *array, const void *result);

/* Makes a default absolute tolerance that of results around 1: it is multiplied by the root mean square of the
 * reference's finite numbers other than 0, where that is below 1. With hostile data, where numbers of both signs
 * cancel, it is at least the relative one of that root mean square. Does nothing without a reference, and the second
 * time. */
void clt_array_scale_tolerance(clt_array *array);

/* Tells `log` where comparing with the reference says little: it is NaN, or 0 everywhere, or most of what is not 0 is
 * so small that the tolerances let 0 pass. */
void clt_array_warn(const clt_array *array, clt_log_fn log, void *log_user);

#endif
