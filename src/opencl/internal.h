/* opencl/internal.h - executors and prepared configurations, for the files of this component and for
 * session/tune_kernel.c, which runs a program on an application's arguments.
 *
 * A step returns 0, CLT_REJECTED (the configuration failed, and its measurement says why), or a negative CLT_E_... (the
 * tuner cannot go on). Functions that return cl_int return OpenCL's status, and do not wait unless they say so.
 *
 * Files: device.c (queries), executor.c (context, queue, the steps in order), check.c (other inputs,
 * references), program.c (limits, build),
 * declarations.c (PoCL's builtin functions), types.c (types of arguments), memory.c (buffers, images, guards,
 * comparing), arguments.c (inputs on the device, arguments), timing.c (clocks, runs), cold.c (emptying caches). */
#ifndef CLT_OPENCL_INTERNAL_H
#define CLT_OPENCL_INTERNAL_H

#include <clatune/rng.h>

#include "opencl/executor.h"

enum { CLT_REJECTED = 1 };

/* --- executor.c: status codes --- */

const char *clt_cl_status_name(cl_int status); /* "CL_OUT_OF_RESOURCES"; "unknown status" */
bool clt_cl_out_of_memory(cl_int status);

/* "cannot <what>: <status>", CLT_E_OPENCL. */
int clt_fail_cl(clt_error *error, cl_int status, const char *what);
/* Marks the measurement (NULL: no configuration is blamed) as failed, with a log in printf's form. Returns
 * CLT_REJECTED. */
int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a call that the driver refused: if memory is short the reason is out-of-memory, else `reason`. */
int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what);

/* --- device.c --- */

/* The device at a place ("P:D" of clt_opencl_devices). CLT_E_DEVICE. */
int clt_cl_find(cl_device_id *out, int platform_index, int device_index, clt_error *error);
/* Whether the driver is NVIDIA's, whose build log can report what the kernels use. */
bool clt_cl_is_nvidia(const clt_device_info *device);
/* An argument of a kernel that clt_program_build_described built; false: the driver does not describe it. */
bool clt_cl_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint index);
/* types.c: replaces the names of typedefs by their types and sets the bytes of structs. It finds them by building the
 * text with probes appended. Types that cannot be resolved stay as they are. */
void clt_types_resolve(clt_kernel_argument *const *arguments, size_t n, const clt_executor *executor, const char *text,
                       const char *options);
/* Whether a type, or the type that it points to, is not one of OpenCL's own; out: its name. */
bool clt_type_is_own(char out[128], const char *type);
/* Describes a device. Properties that the driver does not know stay empty; the indices are -1 for a sub-device. */
int clt_cl_describe(clt_device_info *out, cl_device_id device, clt_error *error);

/* --- executor.c: a device with its context, queue, clock, and cache of uploaded inputs --- */

/* A plan's program. */
typedef struct clt_program {
  cl_program program;
  cl_kernel *kernels; /* one per launch: each has arguments of its own */
  size_t n_kernels;
} clt_program;

struct clt_executor {
  clt_device_info info;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool out_of_order; /* an application's queue: launches are then ordered by events */
  bool broken;       /* the device no longer answers after a fault */
  bool exact_end;    /* the end of a run must be noticed at once, because the host's clock times it */
  bool watchdog;     /* the system ends long runs */
  bool undescribed;  /* the driver cannot describe kernels' arguments: clt_program_build_described does not ask again */
  clt_clock clock;   /* which clock timing begins with; a measurement may fall back to the host's */
  double tick_s;     /* resolution of the device's clock, as stated or observed */
  clt_phase_fn phase;
  void *phase_user;
  clt_fault_fn fault; /* nullable */
  void *fault_user;
  struct {
    double begun_s;
    double *phase_s;   /* the member of a measurement's phases that it adds to; NULL: nothing runs */
    const char *check; /* the name of the check that it belongs to; NULL: none */
  } run;               /* the current run */
  cl_kernel probe;     /* the empty kernel; NULL: not needed yet */
  struct {
    struct clt_input *first; /* newest first */
    size_t bytes;            /* of all */
    size_t limit_bytes;      /* beyond it unused ones are dropped, the oldest first */
  } inputs;                  /* uploaded inputs */
  struct {
    cl_kernel kernel; /* reads all of `memory`; NULL: not needed yet */
    cl_mem memory;
    size_t n_items;
  } other; /* pushes a run's data out of the caches */
  struct {
    cl_kernel kernel; /* leaves garbage in local memory; NULL: not needed yet */
    cl_mem sink;
    bool failed; /* the device does not run it */
  } garbage;
  struct {
    clt_plan *plan; /* NULL: not needed yet */
    clt_program program;
  } references[2];            /* programs that make references: the stated kernel; the default configuration */
  struct clt_object *objects; /* all existing objects: a run may have damaged any of them */
  uint64_t next_salt;         /* of guard bands */
  struct clt_declarations *declarations; /* declarations.c; NULL: programs are built in the driver's own way */
  bool declarations_sought;
  uint64_t types_of;              /* hash of the source whose types were last compared with arguments; 0: none */
  uint64_t source_hash;           /* of the kernel's text when it was first read; 0: not read yet */
  struct clt_energy_meter *meter; /* NULL: not needed yet */
};

void clt_executor_announce(const clt_executor *executor, clt_phase phase);
/* CLT_E_OPENCL if the device has not survived a fault. */
int clt_executor_usable(const clt_executor *executor, clt_error *error);

/* --- memory.c: buffers and images for a kernel --- */

/* A buffer between guard bands, or an image. Contents are packed: rows without gaps. Must not be moved in memory. */
typedef struct clt_object {
  struct clt_object *prev, *next; /* of all of the executor's */
  const char *name;               /* the argument's */
  cl_mem memory;     /* the kernel's argument: an image, a sub-buffer of `whole`, or, if guards do not fit, a buffer */
  cl_mem view;       /* of CLT_ARG_IMAGE1D_BUFFER: `memory` as an image, which is the argument instead */
  cl_mem whole;      /* the content and both bands; NULL: no guards */
  size_t bytes;      /* content */
  size_t band_bytes; /* of the band before the content, and of the band behind it */
  size_t region[3];  /* of an image, in elements */
  bool is_image;
  uint64_t salt; /* makes its bands differ from those of other objects */
} clt_object;

/* The content of an object as the host sees it. */
typedef struct clt_view {
  const void *bytes;
  void *mapped, *packed; /* packed: a copy, if the driver keeps gaps between rows */
} clt_view;

/* Allocates the stored array of a buffer or image argument and writes the guards. Releases unused inputs if the device
 * has no memory left. */
cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags);
void clt_object_release(clt_object *object, clt_executor *executor);
bool clt_arg_is_memory(const clt_plan_arg *arg); /* whether an argument has an object */
cl_mem_flags clt_arg_flags(const clt_plan_arg *arg);
/* Whether the device supports the element format of an image argument. */
bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg);

cl_int clt_object_write(clt_executor *executor, const clt_object *object, const void *bytes); /* waits */
cl_int clt_object_copy(clt_executor *executor, const clt_object *to, const clt_object *from);
/* Fills the content with a pattern of 1, 2, 4 ... bytes. */
cl_int clt_object_fill(clt_executor *executor, const clt_object *object, const void *pattern, size_t pattern_bytes);

/* Opens the content for reading; waits. */
cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object);
void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view);

/* --- arguments.c: inputs that stay on the device; the arguments of a plan for one set of data --- */

typedef struct clt_input {
  struct clt_input *prev, *next;
  const clt_data *data;
  const clt_array *array;
  bool wrong; /* contains not the array's data but its reference with every number made wrong: poison for integers */
  clt_plan_arg arg; /* its storage: border, buffer or image */
  clt_object object;
  uint64_t hash; /* of the stored content */
  unsigned users;
  bool stale; /* forgotten: not used again */
} clt_input;

/* Writes the content, at first and after damage. */
cl_int clt_input_write(clt_input *input, clt_executor *executor);

/* Drops unused inputs, the oldest first, until the cache holds no more than limit_bytes. */
void clt_inputs_shrink(clt_executor *executor, size_t limit_bytes);

/* One argument. An input that is only read is shared from the cache. All others have an object of their own, with the
 * content of `input` if there is one, else poison. */
typedef struct clt_binding {
  const clt_plan_arg *arg;
  const clt_array *array; /* NULL: the data has no array of this name, or there is no data */
  clt_object object;
  const clt_object *lent; /* scratch memory of other bindings, used instead of `object`; NULL: none */
  clt_input *input;
  cl_sampler sampler;
  bool verified;  /* is compared with a reference */
  bool was_right; /* a result with this hash was correct: an equal one needs no comparison */
  uint64_t right_hash;
} clt_binding;

typedef struct clt_bindings {
  clt_binding *items; /* as plan->args */
  size_t n;
  unsigned turn; /* which poison comes next */
  clt_config config;
  const clt_data *data; /* nullable */
} clt_bindings;

/* Whether an output still contains the poison of this turn (of the bindings). hash: of the content.
 */
bool clt_binding_untouched(const clt_binding *binding, unsigned turn, const void *content, uint64_t hash);

/* The kernel's argument: the binding's own object, else its input's; NULL: the argument is no memory. */
const clt_object *clt_binding_object(const clt_binding *binding);

/* Makes all objects. data is nullable: inputs are then zeros. verify: results will be compared. lender (nullable):
 * bindings of the same plan whose scratch memory is used, with what runs have left in it. Release also after a failure.
 */
int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, const clt_bindings *lender, clt_measurement *m, clt_error *error);
void clt_bindings_release(clt_bindings *bindings, clt_executor *executor);

/* Sets the arguments of all launches. */
int clt_bindings_set(const clt_bindings *bindings, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* Whether the kernel changes an input, which is then restored before each run. */
bool clt_bindings_change_inputs(const clt_bindings *bindings);

/* Which objects get their initial content again; each level includes the ones before. */
typedef enum clt_restore {
  CLT_RESTORE_INPUTS,  /* inputs that the kernel changes: before every run */
  CLT_RESTORE_OUTPUTS, /* verified outputs: poison, a different one each time */
  CLT_RESTORE_ALL      /* also scratch memory: poison and zeros in turn */
} clt_restore;
int clt_bindings_restore(clt_bindings *bindings, clt_executor *executor, clt_restore level, clt_measurement *m,
                         clt_error *error); /* waits */
/* Writes the correct or a wrong result into the outputs, both in the same way; waits. */
int clt_bindings_preset(const clt_bindings *bindings, clt_executor *executor, bool right, clt_measurement *m,
                        clt_error *error);

/* memory.c, after a run: checks the guards of every object and the content of every read-only input, of all prepared
 * configurations. Damage is blamed on the configuration that ran, and repaired. m NULL: none is blamed. */
int clt_check_memory(const clt_bindings *bindings, clt_executor *executor, clt_measurement *m);
/* Compares the verified outputs with their references (sets max_abs_error). If `memory` is set, or if an output is
 * wrong, clt_check_memory comes first. */
int clt_bindings_verify(clt_bindings *bindings, clt_executor *executor, bool memory, clt_measurement *m);

/* --- program.c --- */

/* Checks the device's limits, builds (a failure keeps the log), and checks the built kernels' limits. On PoCL it builds
 * with only the declarations that the source mentions (see below). If that fails it builds in the driver's own way, and
 * if that succeeds, it does so from then on. */
int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error);
void clt_program_release(clt_program *program);
/* Makes a program from a text and builds it; *status is the status of the build. An error means that it could not be
 * made. */
int clt_program_build_text(cl_program *out, cl_int *status, const clt_executor *executor, const char *text,
                           const char *options, clt_error *error);
/* The same, so that the driver describes the kernels' arguments. Where NVIDIA's driver (580) makes PTX that it cannot
 * read itself, as for a kernel without parameters, they stay undescribed. */
int clt_program_build_described(cl_program *out, cl_int *status, clt_executor *executor, const char *text,
                                const char *options, clt_error *error);
/* A kernel from a text of clatune's own; NULL: see *status. */
cl_kernel clt_own_kernel(const clt_executor *executor, const char *text, const char *name, cl_int *status);
/* The driver's log of a build, malloc'ed; NULL if there is none. */
char *clt_program_log(cl_program program, cl_device_id device);

/* --- declarations.c: shorter builds on PoCL ---
 *
 * PoCL puts Clang's header of all builtin functions before every program: some 14,500 declarations, which are
 * preprocessed, hashed and parsed for each configuration. If a program contains only the declarations that it mentions,
 * and keeps the header out with the header's own guard, it compiles to the same code in a fraction of that time. The
 * declarations come from the driver's own header: each one whose name occurs in the source or in the options, with all
 * preprocessor directives around it. A name that occurs in neither (made by ##, or used by an included file) is an
 * error in OpenCL C, so such a program fails to build and is built again in the driver's own way.
 */

/* A header, split into directives and statements, and the names that sources use without mentioning them. */
typedef struct clt_declarations clt_declarations;

/* An option for programs that begin with their own declarations. */
#define CLT_DECLARATIONS_OPTION " -D_OPENCL_H_"

/* Splits a header; `text` is copied. CLT_E_FORMAT if it does not begin with the guard of Clang's header. */
int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error);
/* The header of the PoCL in this process; NULL if none is known to work in this way. Reads about a megabyte. */
clt_declarations *clt_declarations_of_pocl(const char *platform_version);
void clt_declarations_free(clt_declarations *declarations);

/* From now on the names in a log are declared for every source. Returns how many of them are new; 0: another build
 * would fail in the same way. */
size_t clt_declarations_learn(clt_declarations *declarations, const char *log);

/* The declarations that the source or the options (nullable) mention, then the source, whose line numbers are kept.
 * NULL when out of memory; caller frees. */
char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options);

/* --- timing.c: running a plan's launches; the queue must be idle --- */

/* Times a few copies on the device with both clocks, decides which clock to use, and sets tick_s. */
clt_clock clt_judge_clock(clt_executor *executor);
/* Whether the device's clock can be correct for a single run: device_s is no longer than host_s, from enqueuing to the
 * end. */
bool clt_clock_possible(double device_s, double host_s);
/* Whether the two clocks agree except for the overhead of a launch. For the shortest of several runs, because the host
 * may have been kept from its core during a single one. */
bool clt_clock_agrees(double device_s, double host_s);

/* Waits until a command has reached a state (CL_RUNNING, CL_COMPLETE); the queue must be flushed. Polls, because
 * waiting in the driver may keep a processor busy. Some drivers never report that a command runs. */
cl_int clt_cl_await(cl_event event, cl_int wanted);

/* One run: all launches, including repeats. */
typedef struct clt_run {
  double host_s; /* from before the first was enqueued until all have ended */
  double
      device_s; /* sum of the launches' durations, or, of several runs, first start to last end; negative: not known */
} clt_run;

/* Makes n_runs runs, without waiting for one before the next, except now and then to free events; *out is for all of
 * them together. */
int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m);

/* The first run of a program: launches its kernels one after the other, and announces for each the launch and, once its
 * event shows it, that it runs; drivers compile in between. *least_s: a lower bound of the run's time, by both clocks,
 * since the driver said that it runs; 0: not known. */
int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* --- cold.c --- */

/* Empties the device's caches of all that earlier runs left there; waits. */
int clt_executor_cool(clt_executor *executor, clt_measurement *m, clt_error *error);
void clt_executor_free_other(clt_executor *executor);

/* --- executor.c: prepared configurations --- */

struct clt_prepared {
  clt_executor *executor;
  const clt_plan *plan;
  clt_plan *own_plan; /* freed with this; NULL: the plan is the caller's */
  clt_program program;
  clt_program mirrored; /* in which work-items and groups do the work of the opposite ones; not built: not needed yet */
  clt_bindings bindings;
  double first_run_s;  /* a lower bound; 0: not known */
  size_t n_together;   /* runs that are timed as one, so that they take enough ticks of the device's clock */
  clt_rng rng;         /* draws the runs that are not poisoned */
  unsigned n_verified; /* checks so far */
};

/* Binds the arguments, runs the program once and checks the result. first_run_s: receives the time of a program's first
 * run; NULL if it has run before. lender: see clt_bindings_init; its scratch memory keeps its content. */
int clt_run_on_data(clt_bindings *bindings, double *first_run_s, clt_executor *executor, const clt_program *program,
                    const clt_plan *plan, const clt_data *data, bool compare, const clt_bindings *lender,
                    clt_measurement *m, clt_error *error);

/* --- check.c --- */

/* Puts the name of the check before the log of a failure. */
void clt_name_check(clt_measurement *m, const char *check);
void clt_executor_free_checks(clt_executor *executor);

/* --- executor.c: faults --- */

/* Calls the fault callback (clt_executor_on_fault), with the time and the data of the current run. */
void clt_tell_fault(const clt_executor *executor, clt_measurement *m);
/* After a failed launch or run: checks whether the device still answers, and repairs damage. If it does not answer, a
 * lack of resources was the effect of a fault, and the reason becomes run-error. */
void clt_executor_fault(clt_executor *executor, const clt_bindings *bindings, clt_measurement *m);

#endif
