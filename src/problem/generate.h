/* problem/generate.h - programs that write the source of a kernel (docs/reference/problem-file.md, "Generator"). */
#ifndef CLT_PROBLEM_GENERATE_H
#define CLT_PROBLEM_GENERATE_H

#include "base/text.h"
#include "problem/plan.h"

#define CLT_GENERATE_S 60.0 /* the limit of an answer, unless there is reason for another */

/* A generator that runs, or has run. NULL: not needed yet. The program is in its caller's process group, and ends with
 * the end of its standard input or by clt_generator_free. */
typedef struct clt_generator clt_generator;
void clt_generator_free(clt_generator *generator);

/* From now on this process starts generators by `launcher WORD...` (borrowed words, ended by a NULL), which must become
 * the program, or say CLT_CANNOT_START and why, and exit. */
#define CLT_CANNOT_START "cannot start '"
void clt_generator_launch_by(const char *const *launcher);

typedef enum clt_generated {
  CLT_GENERATED,
  CLT_NOT_GENERATED,    /* the configuration does not exist, as the generator says */
  CLT_GENERATION_FAILED /* it crashed, took too long or gave no usable answer */
} clt_generated;

/* Asks the generator of the plan's problem for the source of the plan's configuration, and puts it into the plan with
 * the options, sizes and the name that come with it. Starts the program if it does not run; *generator is the caller's,
 * also on failure. Without CLT_GENERATED, the reason is added to why. CLT_E_IO: the program cannot be started. */
int clt_generate(clt_generated *out, clt_text *why, clt_generator **generator, clt_plan *plan,
                 const clt_instance *instance, double limit_s, clt_error *error);

/* The plan of a configuration with its source, for which a generator is started and ended. CLT_E_NOT_FOUND: it makes
 * none; the message says why. */
int clt_plan_new_with_source(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error);

/* A hash of all that the generator may change: source, options, launches. */
uint64_t clt_plan_hash(const clt_plan *plan);

#endif
