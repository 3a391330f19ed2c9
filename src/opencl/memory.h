/* opencl/memory.h - buffers and images for a kernel (memory.c), inputs that stay on the device and the arguments of a
 * plan for one set of data (arguments.c), and their checks after a run (verify.c). */
#pragma once

#include "opencl/program.h"

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
  cl_mem_flags flags;
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
/* Releases it, too, but keeps a guarded buffer for the next clt_object_new of the same kind: allocating takes a driver
 * milliseconds, in which it may stop the device. */
void clt_object_retire(clt_object *object, clt_executor *executor);
void clt_objects_drop(clt_executor *executor);   /* those that were retired */
bool clt_arg_is_memory(const clt_plan_arg *arg); /* whether an argument has an object */
cl_mem_flags clt_arg_flags(const clt_plan_arg *arg);
/* Finds a byte of the guard bands that was written to, and repairs the bands; waits. *where is NULL: there is none,
 * else "past the end of" or "before the start of" the content, so many bytes away from it (0: next to it). */
cl_int clt_object_check_guards(const char **where, size_t *distance, clt_executor *executor, const clt_object *object);
/* Whether the device supports the element format of an image argument. */
bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg);

cl_int clt_object_write(clt_executor *executor, const clt_object *object, const void *bytes); /* waits */
cl_int clt_object_copy(clt_executor *executor, const clt_object *to, const clt_object *from);
/* Fills the content with a pattern of 1, 2, 4 ... bytes. */
cl_int clt_object_fill(clt_executor *executor, const clt_object *object, const void *pattern, size_t pattern_bytes);

/* Opens the content for reading; waits. */
cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object);
void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view);

/* --- arguments --- */

typedef struct clt_input {
  struct clt_input *prev, *next;
  const clt_data *data;
  const clt_array *array;
  bool
      wrong; /* contains not the array's data but its reference with every number made incorrect: poison for integers */
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
  bool verified; /* is compared with a reference */
  uint64_t hash; /* of the latest result */
  clt_view view; /* of it, while it is compared */
} clt_binding;

typedef struct clt_bindings {
  clt_binding *items; /* as plan->args */
  size_t n;
  unsigned turn; /* which poison comes next */
  clt_config config;
  const clt_data *data;   /* nullable */
  bool driver_chooses;    /* the size of the work-groups of a launch */
  bool checked;           /* the present results were verified */
  bool was_accepted;      /* by the problem's function to verify */
  uint64_t accepted_hash; /* the result that it judged last */
} clt_bindings;

/* The number of elements of an output that still contain the poison of this turn (of the bindings). */
size_t clt_binding_untouched(const clt_binding *binding, unsigned turn, const void *content);

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
/* Writes the correct or an incorrect result into the outputs, both in the same way; waits. */
int clt_bindings_preset(const clt_bindings *bindings, clt_executor *executor, bool right, clt_measurement *m,
                        clt_error *error);

/* --- after a run --- */

/* verify.c: checks the guards of every object and the content of every read-only input, of all prepared
 * configurations. Damage is blamed on the configuration that ran, and repaired. m NULL: none is blamed. */
int clt_check_memory(const clt_bindings *bindings, clt_executor *executor, clt_measurement *m);
/* Compares the verified outputs with their references (sets max_abs_error). If `memory` is set, or if an output is
 * incorrect, clt_check_memory comes first. With `memory`, the phase becomes CLT_PHASE_COMPARE as soon as all that is
 * left is the host's work. */
int clt_bindings_verify(clt_bindings *bindings, clt_executor *executor, bool memory, clt_measurement *m);

/* --- hashes of the contents of buffers and images, by the device or the host ---
 * Hashes are compared within one executor and one size only. */

typedef struct clt_sum {
  bool tried;
  cl_kernel kernel; /* NULL: the host makes all hashes */
  cl_mem parts;
  cl_ulong turn; /* sums so far */
} clt_sum;

/* Builds the device's kernel if contents of so many bytes are worth it and the device is no CPU. The functions below do
 * that, too; earlier, it does not delay a launch. */
void clt_sum_prepare(clt_executor *executor, size_t bytes);
void clt_sum_free(clt_executor *executor);
/* The hash of a content that the host has and the object will get. */
uint64_t clt_object_hash_of(clt_executor *executor, const clt_object *object, const void *content);
/* The hash of an object's content; waits. *view is the open content if the host had to read it, else closed. */
cl_int clt_object_hash(uint64_t *out, clt_view *view, clt_executor *executor, const clt_object *object);
