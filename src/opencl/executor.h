/* opencl/executor.h - builds, runs, times and verifies plans with OpenCL, on a device or in an application's context.
 * It runs in the calling process, without isolation: a bad kernel can end that process. Workers isolate. */
#pragma once

/* Every driver has the OpenCL 1.2 calls (clCreateCommandQueue, clCreateSampler), but not their successors. */
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <clatune/measurement.h>

#include "device/device.h"
#include "opencl/timing.h"
#include "problem/data.h"
#include "problem/plan.h"

/* All devices of all platforms. *out is malloc'ed and owned by the caller; finding no device is no error. A platform
 * that fails is left out. */
int clt_opencl_devices(clt_device_info **out, size_t *n, clt_error *error);

typedef struct clt_executor clt_executor;

/* The kernels of a program and their arguments; see clt_inspect. In the calling process. */
int clt_opencl_inspect(clt_kernel_info **out, size_t *n, clt_executor *executor, const char *text, const char *options,
                       clt_error *error);
typedef struct clt_prepared clt_prepared;

/* Reports a phase as it begins; the parent's deadlines depend on it. The callback runs in the caller's thread. In
 * clt_executor_prepare LAUNCH and RUNNING come once for each launch of the plan (drivers compile a kernel at its first
 * launch), in clt_executor_time RUNNING comes before every run. */
typedef void (*clt_phase_fn)(void *user, clt_phase phase);

/* Opens a device by its place ("P:D" of clt_opencl_devices), with its own context and profiling queue. Tests the timer:
 * if event timestamps are 0, equal, or disagree with the host's clock, the host's clock is used. */
int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error);
/* The same on the application's own context and queue (retained). */
int clt_executor_new_on(clt_executor **out, cl_context context, cl_device_id device, cl_command_queue queue,
                        clt_error *error);
void clt_executor_free(clt_executor *executor);
void clt_executor_reset(clt_executor *executor); /* for another problem: only context and queue are kept */
const clt_device_info *clt_executor_device(const clt_executor *executor);
void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user);

/* Called after a failed launch or run, once the error is in *m and before any further call to the device, because later
 * calls may hang. dead: the device runs nothing any more. The callback need not return. */
typedef void (*clt_fault_fn)(void *user, const clt_measurement *m, bool dead);
void clt_executor_on_fault(clt_executor *executor, clt_fault_fn fn, void *user);
/* Whether the device runs an empty kernel within some seconds. */
bool clt_executor_answers(clt_executor *executor);

/* Inputs are uploaded once and kept on the device for the next configuration that stores them in the same way. So data
 * given to an executor must not change while the executor exists, unless it is forgotten before. NULL: all data.
 */
void clt_executor_forget(clt_executor *executor, const clt_data *data);

/* Makes the plan of a configuration, with its source if that is generated. One whose sizes or arguments cannot be
 * evaluated (a division by zero, a negative size), or that the generator does not make, is a failed configuration like
 * any other: *measurement says so, *out is NULL, and 0 is returned. */
int clt_executor_plan(clt_plan **out, clt_executor *executor, const clt_instance *instance, clt_config config,
                      clt_measurement *measurement, clt_error *error);
/* The time limit of the generator, for one source (default: CLT_GENERATE_S). */
void clt_executor_limit_generator(clt_executor *executor, double limit_s);
/* clt_plan_hash of the plan that was made last; 0: its source was not generated, or there is none. */
uint64_t clt_executor_generated(const clt_executor *executor);

/* Step one: build, check the built kernel's limits (CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE), allocate
 * buffers with guard bands and poison, set arguments, launch once and wait, check guards, compare with `data`
 * (nullable: nothing is compared). *measurement always gets reason, phases, log and max_abs_error. If the configuration
 * is correct, *out is what clt_executor_time needs, else NULL; it borrows plan and data until it is freed, which must
 * happen before the executor is freed. An error is returned only if the tuner itself cannot go on. */
int clt_executor_prepare(clt_executor *executor, clt_prepared **out, const clt_plan *plan, const clt_data *data,
                         clt_measurement *measurement, clt_error *error);

typedef enum clt_build {
  CLT_BUILD_AS_IS,
  CLT_BUILD_ANEW,    /* from a modified text that no driver has in its cache, because a damaged process may have put the
                        cached program there */
  CLT_BUILD_MIRRORED /* work-items and work-groups do the work of the opposite ones, so that what depends on their order
                        gives another result */
} clt_build;

bool clt_cl_has_extension(const clt_device_info *device, const char *name);
/* Whether the driver is NVIDIA's, whose build log can report what the kernels use. */
bool clt_cl_is_nvidia(const clt_device_info *device);

/* clt_executor_plan and clt_executor_prepare; *measurement is initialised here. CLT_E_FORMAT if the kernel's text has
 * changed since the first call: the result would be stored as that of the old text. */
int clt_executor_prepare_config(clt_executor *executor, clt_prepared **out, const clt_instance *instance,
                                clt_config config, clt_build build, const clt_data *data, clt_measurement *measurement,
                                clt_error *error);

/* Step two; the caller holds the device's lock. One warm-up, then runs until the estimate is steady. Appends runs to
 * measurement->runs_s, sets time_s, clock and phases (and energy_J; CLT_E_UNSUPPORTED if the device's energy is not
 * counted, see clt_energy_open); verifies the output once more after the last run. Read-write arguments are restored
 * before each run. */
int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error);

/* Runs a prepared plan on other data and verifies the result: with scratch memory as earlier runs have left it, with
 * poison there, or (the first time) both. garbage: before each run, local memory and stacks are filled with garbage. */
int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data, bool garbage,
                        clt_measurement *measurement, clt_error *error);
void clt_prepared_free(clt_prepared *prepared);

/* Fills the references of `data` that are still NULL by running a plan (the reference kernel, or the default
 * configuration). */
int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error);

/* clt_data_new, and the run that makes the references if they come from a kernel or the default configuration. With
 * inputs other than the file's it runs twice: CLT_E_VERIFY if the results differ, as with inputs that make it read
 * outside its buffers. With inputs that may cancel it also runs on shaken ones; CLT_E_VERIFY if most numbers jump. */
int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, const clt_recipe *recipe,
                       clt_error *error);
