/* opencl/internal.h - the inside of an executor and of what it prepares, for the files of this room (and for
 * session/tune_kernel.c, which runs a program on arguments of the application's). A step ends in one of three ways: 0,
 * CLT_REJECTED (the configuration failed and its measurement says why), or a negative CLT_E... (the tuner cannot go
 * on). Functions that return cl_int give OpenCL's status, and do not wait unless they say so. */
#ifndef CLT_OPENCL_INTERNAL_H
#define CLT_OPENCL_INTERNAL_H

#include <clatune/rng.h>

#include "opencl/executor.h"

enum { CLT_REJECTED = 1 };

/* --- executor.c: status codes --- */

const char *clt_cl_status_name(cl_int status); /* "CL_OUT_OF_RESOURCES"; "an unknown status" */
bool clt_cl_out_of_memory(cl_int status);

/* "cannot <what>: <status>", CLT_E_OPENCL. */
int clt_fail_cl(clt_error *error, cl_int status, const char *what);
/* Marks the measurement (NULL: nobody is blamed) as failed, with a log in printf's form. Returns CLT_REJECTED. */
int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For what the driver refuses: lack of memory is out-of-memory, anything else is `reason`. */
int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what);

/* --- device.c --- */

/* The device at a place ("P:D" of clt_opencl_devices). CLT_E_DEVICE. */
int clt_cl_find(cl_device_id *out, int platform_index, int device_index, clt_error *error);
/* An argument of a kernel that was built with CLT_ARGUMENT_OPTION; false: the driver does not say. */
#define CLT_ARGUMENT_OPTION " -cl-kernel-arg-info"
bool clt_cl_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint index);
/* types.c: replaces names of typedefs in types by what they stand for, and sets the bytes of structs, by building what
 * says so behind the text. What cannot be known stays. */
void clt_types_resolve(clt_kernel_argument *const *arguments, size_t n, const clt_executor *executor, const char *text,
                       const char *options);
/* Whether a type, or what it points to, is none of OpenCL's; out: its name. */
bool clt_type_is_own(char out[128], const char *type);
/* What a device is. What the driver does not know is left empty; the indices are -1 for a sub-device. */
int clt_cl_describe(clt_device_info *out, cl_device_id device, clt_error *error);

/* --- executor.c: a device with its context, queue, clock, and cache of uploaded inputs --- */

struct clt_executor {
  clt_device_info info;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool out_of_order; /* an application's queue: launches are then chained by events */
  bool broken;       /* the device no longer answers after a fault */
  bool exact_end;    /* the end of what runs is to be noticed at once: nobody but the host times it */
  bool watchdog;     /* what runs for long is ended by the system */
  clt_clock clock;   /* what timing starts from; a measurement may fall back to the host's */
  double tick_s;     /* of the device's clock, as it says or shows */
  clt_phase_fn phase;
  void *phase_user;
  clt_fault_fn fault; /* nullable */
  void *fault_user;
  struct {
    double begun_s;
    double *phase_s;       /* of a measurement, what it adds to; NULL: nothing is under way */
    const clt_data *other; /* the data of a further verification, else NULL */
  } run;                   /* the one under way */
  cl_kernel probe;         /* does nothing; NULL: not needed yet */
  struct {
    struct clt_input *first; /* newest first */
    size_t bytes;            /* of all */
    size_t limit_bytes;      /* above it, those that nobody uses are dropped, the oldest first */
  } inputs;                  /* on the device */
  struct {
    cl_kernel kernel; /* reads all of the memory; NULL: not needed yet */
    cl_mem memory;
    size_t n_items;
  } other;                               /* what pushes a run's data out of the caches */
  struct clt_object *objects;            /* all that live: whatever ran last may have damaged any of them */
  uint64_t next_salt;                    /* of guard bands */
  struct clt_declarations *declarations; /* declarations.c; NULL: programs are built in the driver's own way */
  bool declarations_sought;
  uint64_t types_of;              /* the source whose types were last held against arguments; 0: none */
  uint64_t source_hash;           /* of the kernel's text as it was first read; 0: not read yet */
  struct clt_energy_meter *meter; /* NULL: not needed yet */
};

void clt_executor_announce(const clt_executor *executor, clt_phase phase);
/* CLT_E_OPENCL after a fault that the device did not survive. */
int clt_executor_usable(const clt_executor *executor, clt_error *error);

/* --- memory.c: what a kernel is given memory in --- */

/* A buffer between guard bands, or an image. Contents are packed: rows without gaps. Stays where it was made. */
typedef struct clt_object {
  struct clt_object *prev, *next; /* of all of the executor's */
  const char *name;               /* the argument's */
  cl_mem memory; /* what a kernel is given: an image, a sub-buffer of `whole`, or a buffer where guards do not fit */
  cl_mem view;   /* of CLT_ARG_IMAGE1D_BUFFER, what a kernel is given instead: `memory` as an image */
  cl_mem whole;  /* content and both bands; NULL: no guards */
  size_t bytes;  /* content */
  size_t band_bytes; /* before the content; the band behind it is as long */
  size_t region[3];  /* of an image, in elements */
  bool is_image;
  uint64_t salt; /* makes the bands differ from those of other objects */
} clt_object;

/* The view of a content by the host. */
typedef struct clt_view {
  const void *bytes;
  void *mapped, *packed; /* packed: a copy, where the driver keeps gaps between rows */
} clt_view;

/* Makes room for the stored array of a buffer or image argument and writes the guards. Gives back unused inputs where
 * the device has no memory left. */
cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags);
void clt_object_release(clt_object *object, clt_executor *executor);
bool clt_arg_is_memory(const clt_plan_arg *arg); /* an argument that has an object */
cl_mem_flags clt_arg_flags(const clt_plan_arg *arg);
/* Whether the device has images of an image argument's elements. */
bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg);

cl_int clt_object_write(clt_executor *executor, const clt_object *object, const void *bytes); /* waits */
cl_int clt_object_copy(clt_executor *executor, const clt_object *to, const clt_object *from);
/* Fills the content with a pattern of 1, 2, 4 ... bytes. */
cl_int clt_object_fill(clt_executor *executor, const clt_object *object, const void *pattern, size_t pattern_bytes);

/* Opens the content for reading; waits. */
cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object);
void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view);

/* --- arguments.c: inputs that stay on the device, and the arguments of a plan for one set of data --- */

typedef struct clt_input {
  struct clt_input *prev, *next;
  const clt_data *data;
  const clt_array *array;
  bool wrong;       /* not the array's data but its reference with every number wrong: poison for integers */
  clt_plan_arg arg; /* how it is stored */
  clt_object object;
  uint64_t hash; /* of the stored content */
  unsigned users;
  bool stale; /* forgotten: not given out again */
} clt_input;

/* Writes the content, at first and where it was damaged. */
cl_int clt_input_write(clt_input *input, clt_executor *executor);

/* Drops unused inputs, the oldest first, until the cache holds no more than limit_bytes. */
void clt_inputs_shrink(clt_executor *executor, size_t limit_bytes);

/* One argument. An input that is only read is shared from the cache; all others have an object of their own, which is
 * given the content of `input` where there is one, and poison otherwise. */
typedef struct clt_binding {
  const clt_plan_arg *arg;
  const clt_array *array; /* NULL: the data has none of this name, or there is no data */
  clt_object object;
  clt_input *input;
  cl_sampler sampler;
  bool verified;  /* has a reference to be compared with */
  bool was_right; /* a result was, with this hash: the same again needs no comparison */
  uint64_t right_hash;
} clt_binding;

typedef struct clt_bindings {
  clt_binding *items; /* as plan->args */
  size_t n;
  unsigned turn; /* of poison, the next one */
  clt_config config;
  const clt_data *data; /* nullable */
} clt_bindings;

/* Whether an output holds just what was written into it before the run, in the turn of bindings. hash: of the content.
 */
bool clt_binding_untouched(const clt_binding *binding, unsigned turn, const void *content, uint64_t hash);

/* What the kernel is given: the binding's own object, else its input's; NULL: it is no memory. */
const clt_object *clt_binding_object(const clt_binding *binding);

/* A plan's program. */
typedef struct clt_program {
  cl_program program;
  cl_kernel *kernels; /* one a launch: each keeps its own arguments */
  size_t n_kernels;
} clt_program;

/* Makes all objects. data is nullable: inputs are then zeros. verify: whether results are to be compared. Release in
 * any case. */
int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, clt_measurement *m, clt_error *error);
void clt_bindings_release(clt_bindings *bindings, clt_executor *executor);

/* Sets the arguments of all launches. */
int clt_bindings_set(const clt_bindings *bindings, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* Whether there is an input that the kernel changes: it is restored before each run. */
bool clt_bindings_change_inputs(const clt_bindings *bindings);

/* What is given its first content again; each level includes the ones before. */
typedef enum clt_restore {
  CLT_RESTORE_INPUTS,  /* inputs that the kernel changes: before every run */
  CLT_RESTORE_OUTPUTS, /* outputs that are verified: poison, another one each time */
  CLT_RESTORE_ALL      /* scratch too: poison and zeros in turn */
} clt_restore;
int clt_bindings_restore(clt_bindings *bindings, clt_executor *executor, clt_restore level, clt_measurement *m,
                         clt_error *error); /* waits */
/* Writes into the outputs what they hold after a right run, or what is wrong, both in the same way; waits. */
int clt_bindings_preset(const clt_bindings *bindings, clt_executor *executor, bool right, clt_measurement *m,
                        clt_error *error);

/* memory.c, after a run. The guards of every object and the contents of all inputs that may only be read, of whichever
 * configuration: damage is blamed on the one that ran, and is mended. m: NULL: nobody is blamed. */
int clt_check_memory(const clt_bindings *bindings, clt_executor *executor, clt_measurement *m);
/* The verified outputs against their references (sets max_abs_error); before them, where `memory` is set, or where they
 * are wrong, the above. */
int clt_bindings_verify(clt_bindings *bindings, clt_executor *executor, bool memory, clt_measurement *m);

/* --- program.c --- */

/* Checks the plan against the device's limits, builds, with the log kept where that fails, and checks the built
 * kernels' limits. On PoCL builds with the declarations that the source mentions (see below); where that fails, in the
 * driver's own way, and from then on only so if that succeeds. */
int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error);
void clt_program_release(clt_program *program);
/* Makes a program of a text and builds it; *status is the build's. An error is one of making it. */
int clt_program_build_text(cl_program *out, cl_int *status, const clt_executor *executor, const char *text,
                           const char *options, clt_error *error);
/* A kernel of a text of clatune's own; NULL: *status says why there is none. */
cl_kernel clt_own_kernel(const clt_executor *executor, const char *text, const char *name, cl_int *status);
/* The driver's log of a build, malloc'ed; NULL where there is none. */
char *clt_program_log(cl_program program, cl_device_id device);

/* --- declarations.c: why PoCL compiles a small kernel slowly, and what is done about it ---
 *
 * PoCL hands Clang, before every program, Clang's header of all builtin functions: some 14,500 declarations, which are
 * preprocessed, hashed and parsed anew for each configuration. A program that declares for itself the ones that it
 * mentions, and keeps the header out by the header's own guard, compiles to the same code in a fraction of that time.
 * What is kept is taken from the driver's own header: every declaration of a name that occurs in the source or in the
 * options, with all preprocessor directives around it. A name that occurs in neither (made by ##, or used by an
 * included file) is an error in OpenCL C, so such a program fails to build and is built again in the driver's own way.
 */

/* A header of declarations, cut into directives and statements, and the names that sources were found to use without
 * mentioning them. */
typedef struct clt_declarations clt_declarations;

/* To be added to the options of a program that begins with its own declarations. */
#define CLT_DECLARATIONS_OPTION " -D_OPENCL_H_"

/* Cuts a header; `text` is copied. CLT_E_FORMAT where it does not begin with the guard that Clang's has. */
int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error);
/* The header of the PoCL that this process has loaded; NULL where there is none that is known to work so. Reads about a
 * megabyte. */
clt_declarations *clt_declarations_of_pocl(const char *platform_version);
void clt_declarations_free(clt_declarations *declarations);

/* From now on the names that a log mentions are declared for every source. How many of them were not so before: 0 means
 * that another build would fail in the same way. */
size_t clt_declarations_learn(clt_declarations *declarations, const char *log);

/* The source behind the declarations that it, or the options (nullable), mention; line numbers stay the source's. NULL
 * when out of memory; caller frees. */
char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options);

/* --- timing.c: running a plan's launches; the queue must be idle --- */

/* Times a few copies on the device with both clocks; sets tick_s. Leaves nothing behind. */
clt_clock clt_judge_clock(clt_executor *executor);
/* Whether the device can have been busy for device_s of the host_s from enqueuing to the end: true of every run. */
bool clt_clock_possible(double device_s, double host_s);
/* Whether the two clocks agree but for the overhead of a launch: of the shortest of several runs, since the host may
 * have been kept from its core in any single one. */
bool clt_clock_agrees(double device_s, double host_s);

/* One run: all launches, repeats included. */
typedef struct clt_run {
  double host_s;   /* from before the first was enqueued until all have ended */
  double device_s; /* the sum of the launches' own durations, of several runs from the first's start to the last's end;
                      negative where an event gave none */
} clt_run;

/* n_runs runs, none of which is waited for before the next (but every so often, for the events); *out is of all of
 * them. */
int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m);

/* The first run of a program: launches one after the other, and announces for each kernel that it is launched and, once
 * its event says so, that it runs: drivers compile in between. *least_s: what the run took at least, by both clocks
 * from when the driver said that it runs; 0 where that is not known. */
int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* --- cold.c --- */

/* Leaves nothing of what ran before in the device's caches; waits. */
int clt_executor_cool(clt_executor *executor, clt_measurement *m, clt_error *error);
void clt_executor_free_other(clt_executor *executor);

/* --- executor.c: what is prepared --- */

struct clt_prepared {
  clt_executor *executor;
  const clt_plan *plan;
  clt_plan *own_plan; /* to be freed; NULL: the plan is the caller's */
  clt_program program;
  clt_bindings bindings;
  double first_run_s; /* at least so long; 0: not known */
  size_t n_together;  /* runs that are timed as one, so that the device's clock ticks often enough meanwhile */
  clt_rng rng;        /* which runs find their output there already */
};

/* Tells whoever wants to know (clt_executor_on_fault), with the time and the data of the run under way. */
void clt_tell_fault(const clt_executor *executor, clt_measurement *m);
/* After a failure: where a launch or a run was refused, the device is asked whether it lives, and what was damaged is
 * mended. Where it does not live, lack of resources is what a fault left behind: the reason becomes run-error. */
void clt_executor_fault(clt_executor *executor, const clt_bindings *bindings, clt_measurement *m);

#endif
