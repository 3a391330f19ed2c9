/* opencl/bindings.h - what the arguments of a plan are on the device, for one set of data. */
#ifndef CLT_OPENCL_BINDINGS_H
#define CLT_OPENCL_BINDINGS_H

#include "opencl/inputs.h"
#include "opencl/program.h"

/* One argument. An input that is only read is shared from the cache; all others have an object of their own, which is
 * given the content of `input` where there is one, and poison otherwise. */
typedef struct clt_binding {
  const clt_plan_arg *arg;
  const clt_array *array; /* NULL: the data has none of this name, or there is no data */
  clt_object object;
  clt_input *input;
  cl_sampler sampler;
  bool verified; /* has a reference to be compared with */
} clt_binding;

typedef struct clt_bindings {
  clt_binding *items; /* as plan->args */
  size_t n;
} clt_bindings;

/* Makes all objects. data is nullable: inputs are then zeros. verify: whether results are to be compared. 0,
 * CLT_REJECTED or an error; release in any case. */
int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, clt_measurement *m, clt_error *error);
void clt_bindings_release(clt_bindings *bindings, clt_executor *executor);

/* Sets the arguments of all launches. */
int clt_bindings_set(const clt_bindings *bindings, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* What is given its first content again; each level includes the ones before. */
typedef enum clt_restore {
  CLT_RESTORE_INPUTS,  /* inputs that the kernel changes: before every run */
  CLT_RESTORE_OUTPUTS, /* outputs that are verified: poison */
  CLT_RESTORE_ALL      /* scratch too: poison */
} clt_restore;
int clt_bindings_restore(const clt_bindings *bindings, clt_executor *executor, clt_restore level, clt_measurement *m,
                         clt_error *error); /* waits */

/* Whether CLT_RESTORE_INPUTS has anything to do. */
bool clt_bindings_change_inputs(const clt_bindings *bindings);

/* After a run: guards of every buffer, and contents of the inputs that may only be read where `inputs` is set. What was
 * damaged is not used again. */
int clt_bindings_check(const clt_bindings *bindings, clt_executor *executor, bool inputs, clt_measurement *m);

/* Compares the verified outputs with their references; sets max_abs_error. */
int clt_bindings_verify(const clt_bindings *bindings, clt_executor *executor, clt_measurement *m);

/* Shared inputs are uploaded again for the next configuration: this one may have damaged them. */
void clt_bindings_distrust(const clt_bindings *bindings);

#endif
