/* device/inspect.h - what a kernel file holds: its kernels and their arguments, as the OpenCL compiler sees them. */
#ifndef CLT_DEVICE_INSPECT_H
#define CLT_DEVICE_INSPECT_H

#include <clatune/device.h>

typedef enum clt_address {
  CLT_ADDRESS_GLOBAL,
  CLT_ADDRESS_CONSTANT,
  CLT_ADDRESS_LOCAL,
  CLT_ADDRESS_PRIVATE
} clt_address;

typedef struct clt_kernel_argument {
  char name[128], type[128]; /* "in", "float*", "image2d_t" */
  clt_address address;
  bool is_const; /* what it points to is not written */
  bool reads_image, writes_image;
} clt_kernel_argument;

#define CLT_MAX_KERNEL_ARGUMENTS 64

typedef struct clt_kernel_info {
  char name[128];
  uint64_t local_size[3]; /* reqd_work_group_size; zeros: none */
  size_t n_arguments;
  clt_kernel_argument arguments[CLT_MAX_KERNEL_ARGUMENTS];
} clt_kernel_info;

/* Builds a text in a worker process on a device, with options (include paths, definitions; "" for none), and lists its
 * kernels. *out is malloc'ed and owned by the caller; no kernel is no error. CLT_E_OPENCL with the compiler's words
 * where it does not build, CLT_E_WORKER where the compiler crashes or takes longer than a minute. */
int clt_inspect(clt_kernel_info **out, size_t *n, const clt_device_info *device, const char *text, const char *options,
                clt_error *error);

/* A "#define" in a kernel's text. */
typedef struct clt_define {
  char name[64], value[64]; /* value: as written, without comments, cut where it is longer */
  int line;                 /* 1 ... */
  bool has_arguments;
  bool conditional; /* it is within some #if, #ifdef or #ifndef */
  bool guarded;     /* one of these speaks of the name, or an #undef of it stands before */
} clt_define;

#define CLT_MAX_DEFINES 4096

/* Lists the first CLT_MAX_DEFINES macros that a text defines, in their order, as it stands: includes are not read,
 * conditions not evaluated. One that is neither conditional nor guarded wins over what a build option -D says. *out is
 * malloc'ed and owned by the caller, NULL where there is none. CLT_E_MEMORY. */
int clt_defines(clt_define **out, size_t *n, const char *text, clt_error *error);

/* A copy of C text without comments and continued lines, so that every directive is one line, at the number of the line
 * where it began: further line breaks follow behind it. NULL when out of memory; caller frees. */
char *clt_plain_source(const char *text);

#endif
