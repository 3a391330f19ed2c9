/* opencl/executor.h - builds, runs, times and verifies plans with OpenCL, on a device or on a context that it is given.
 * Runs in the calling process, without isolation: a bad kernel takes the process with it. Workers isolate. */
#ifndef CLT_OPENCL_EXECUTOR_H
#define CLT_OPENCL_EXECUTOR_H

/* OpenCL 1.2 calls (clCreateCommandQueue, clCreateSampler) reach every driver; their successors do not. */
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <clatune/measurement.h>

#include "device/device.h"
#include "opencl/timing.h"
#include "problem/data.h"
#include "problem/plan.h"

/* All devices of all platforms. *out is malloc'ed and owned by the caller; 0 devices is no error. A platform that fails
 * is left out. */
int clt_opencl_devices(clt_device_info **out, size_t *n, clt_error *error);

typedef struct clt_executor clt_executor;

/* The kernels of a program and their arguments; see clt_inspect. In the calling process. */
int clt_opencl_inspect(clt_kernel_info **out, size_t *n, clt_executor *executor, const char *text, const char *options,
                       clt_error *error);
typedef struct clt_prepared clt_prepared;

/* Phases, told to the caller as they begin: the parent's deadlines hang on them. A phase callback is called in the
 * caller's thread. In clt_executor_prepare LAUNCH and RUNNING come once for each launch of the plan (drivers compile
 * each kernel when it is launched first), in clt_executor_time RUNNING comes before every run. */
typedef void (*clt_phase_fn)(void *user, clt_phase phase);

/* Opens a device by its place ("P:D" of clt_opencl_devices), with a context and a queue with profiling of its own.
 * Judges the timer: where event timestamps are 0, equal, or disagree with the host clock, the host clock is used. */
int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error);
/* The same on the application's own context and queue (retained). */
int clt_executor_new_on(clt_executor **out, cl_context context, cl_device_id device, cl_command_queue queue,
                        clt_error *error);
void clt_executor_free(clt_executor *executor);
void clt_executor_reset(clt_executor *executor); /* for another problem: only context and queue stay */
const clt_device_info *clt_executor_device(const clt_executor *executor);
void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user);

/* Told of an error of a launch or a run as soon as it is in *m, before anything more is asked of the device: calls may
 * hang from then on. dead: the device runs nothing any more. Need not return. */
typedef void (*clt_fault_fn)(void *user, const clt_measurement *m, bool dead);
void clt_executor_on_fault(clt_executor *executor, clt_fault_fn fn, void *user);
/* Whether the device runs a kernel that does nothing, within some seconds. */
bool clt_executor_answers(clt_executor *executor);

/* Inputs are uploaded once and kept on the device for the next configuration that stores them alike: `data` given to an
 * executor must stay unchanged while the executor lives, or be forgotten before it is changed or freed. NULL: all data.
 */
void clt_executor_forget(clt_executor *executor, const clt_data *data);

/* Makes the plan of a configuration. One whose sizes or arguments cannot be evaluated (a division by zero, a negative
 * size) is a failed configuration like any other: *measurement says so, *out is NULL, and 0 is returned. */
int clt_executor_plan(clt_plan **out, const clt_instance *instance, clt_config config, clt_measurement *measurement,
                      clt_error *error);

/* Step one: build, check the built kernel's limits (CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE), allocate
 * buffers with guard bands and poison, set arguments, first launch to completion, check guards, verify against `data`
 * (nullable: no verification). Fills *measurement (reason, phases, log, error) whatever happens to the configuration;
 * on a correct one *out is what clt_executor_time needs (NULL otherwise); it borrows plan and data until it is freed,
 * which has to happen before the executor is. Returns an error only where the tuner itself cannot go on. */
int clt_executor_prepare(clt_executor *executor, clt_prepared **out, const clt_plan *plan, const clt_data *data,
                         clt_measurement *measurement, clt_error *error);

/* Both for a configuration; *measurement is initialised here. `anew`: built from a text that no driver has in its
 * cache, since that may be what a damaged process made. CLT_E_FORMAT where the kernel's text is not what it was at the
 * first call: it would be measured under the old one's name. */
int clt_executor_prepare_config(clt_executor *executor, clt_prepared **out, const clt_instance *instance,
                                clt_config config, bool anew, const clt_data *data, clt_measurement *measurement,
                                clt_error *error);

/* Step two, to be called while the device is held: one warm-up, then runs until the estimate is steady. Appends runs to
 * measurement->runs_s, sets time_s, clock and phases (and energy_J; CLT_E_UNSUPPORTED where the device's energy is not
 * counted, clt_energy_open); verifies the output once more after the last run. Read-write arguments are restored before
 * each run. */
int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error);

/* Runs a prepared plan once on other data (restored, poisoned, verified); measurement says how it went. */
int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data,
                        clt_measurement *measurement, clt_error *error);
void clt_prepared_free(clt_prepared *prepared);

/* Fills the references of `data` that are still NULL by running a plan (the reference kernel, or the default
 * configuration). */
int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error);

/* clt_data_new, and for references by a kernel or by the default configuration the run that makes them. */
int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, uint64_t seed,
                       clt_error *error);

#endif
