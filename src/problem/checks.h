/* problem/checks.h - the check plan: the inputs, sizes and launches with which a prospective winner is checked
 * (docs/explanation/trust.md). session/checks.c runs it. */
#pragma once

#include "problem/data.h"

#define CLT_SMALL_SIZE 8 /* sizes up to this are radii or counts rather than extents: they change by one */

typedef enum clt_sizes_kind {
  CLT_SIZES_OWN,    /* the instance's own sizes; used with all checks if no other sizes are possible */
  CLT_SIZES_RAGGED, /* smaller, odd, unequal, and no multiples of the values of tuning parameters */
  CLT_SIZES_EVEN,   /* unequal multiples of a power of two, for problems that are not defined at others */
  CLT_SIZES_LARGE   /* one size far above the instance's, and 2^24 elements or more, as memory and time allow */
} clt_sizes_kind;

/* One instance with its checks. */
typedef struct clt_check_stage {
  clt_sizes_kind kind;
  clt_instance *instance; /* owned; NULL: no such sizes are possible, or the instance's own */
  clt_config config;      /* there */
  clt_recipe inputs;      /* on which the configuration is prepared */
  clt_check checks[CLT_MAX_CHECKS];
  size_t n_checks;
  char *note; /* sizes that were replaced because a condition excludes them, or why there is no such stage; nullable */
} clt_check_stage;

/* Whether a structure that is passed by value comes from a file, and so is the same at all sizes. */
bool clt_problem_has_fixed_structure(const clt_problem *problem);

/* All checks that differ for this problem. finite: without NaN and infinities. Returns their number. */
size_t clt_checks_list(clt_check out[CLT_MAX_CHECKS], const clt_problem *problem, bool finite);
/* Why the checks of a configuration leave out NaN and infinities: static text. NULL: their results are defined. */
const char *clt_instance_stays_finite(const clt_instance *instance, clt_config config);

/* Makes the stage with ragged sizes, of at most about most_items work-items, but not of only a few groups. */
int clt_stage_new_ragged(clt_check_stage *out, const clt_instance *instance, clt_config config, double most_items,
                         clt_error *error);
int clt_stage_new_even(clt_check_stage *out, const clt_instance *instance, clt_config config, clt_error *error);
/* How sizes grow in a large stage. */
typedef enum clt_size_growth {
  CLT_GROWS_FULLY, /* one size above 2^17, such that the product of all is about limits.elements */
  CLT_GROWS_4,     /* one size to four times the instance's, the others to half */
  CLT_GROWS_HALF,  /* one size by half, the others to half */
  CLT_GROWS_OTHERS /* all but one size to twice, that one to a quarter */
} clt_size_growth;

/* About the most that a large stage may have. */
typedef struct clt_stage_limits {
  double elements;    /* only with CLT_GROWS_FULLY */
  double bytes;       /* that fit into memory */
  double quick_bytes; /* that time allows; only with CLT_GROWS_FULLY */
} clt_stage_limits;

/* Makes the stage with large sizes. turn: which of the sizes is the long one; even: multiples of a power of two, else
 * twice a prime. */
int clt_stage_new_large(clt_check_stage *out, const clt_instance *instance, clt_config config, clt_stage_limits limits,
                        clt_size_growth growth, size_t turn, bool even, clt_error *error);
/* The product of all sizes that are no small numbers, such as a radius. */
double clt_instance_elements(const clt_instance *instance);
/* The names of the arrays that a kernel reads, at most `most`; returns their number. */
size_t clt_instance_inputs(const char **out, size_t most, const clt_instance *instance);
/* The names of the arguments that CLT_INPUTS_OTHER changes besides random numbers. */
size_t clt_instance_varying(const char **out, size_t most, const clt_instance *instance);
/* The largest "RelativeTolerance" of the outputs. */
double clt_instance_relative_tolerance(const clt_instance *instance);
void clt_stage_release(clt_check_stage *stage);

/* The mistakes that a check finds: static text. */
const char *clt_check_purpose(const clt_check *check);
