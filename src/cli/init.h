/* cli/init.h - `clatune init`: what is known of a kernel before its problem file is written. */
#ifndef CLT_CLI_INIT_H
#define CLT_CLI_INIT_H

#include "cli/cli.h"
#include "device/device.h"

#define MAX_MACROS 64
#define MAX_TEXT_BYTES (512 << 10)
#define CLT_INIT_TYPE "=float" /* the end of the option for a type that nobody defines */
#define PREFIX "size_"         /* problem parameters are macros of the kernel, and must not be its arguments' names */

/* A macro that becomes a parameter: #ifndef NAME / #define NAME 16, or one that the text uses and nobody defines. */
typedef struct tuned_macro {
  char name[64], sets[64]; /* sets: the macro that takes its value: #define BLOCK_SIZE NAME; "" */
  int64_t value;           /* the default */
  const char *list;        /* the values that are typed: --define NAME=1,2; NULL: the usual ones */
  bool is_defined;         /* it has a default in the text, so that builds need no -D */
  bool is_asked;           /* an #if reads its value */
  bool is_size;            /* it is called as sizes of the data are, and becomes a problem parameter */
} tuned_macro;

typedef struct draft {
  clt_inspector *inspector; /* builds */
  const clt_kernel_info *kernel;
  clt_words options; /* "-DNAME=value", for all builds */
  char *plain;       /* the kernel file and those that it includes, without comments, and without its other kernels */
  /* What can be seen in this text without a compiler. */
  tuned_macro macros[MAX_MACROS];
  size_t n_macros;
  int n_dimensions;        /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64];    /* reqd_work_group_size, as written; "": none */
  char times_group[3][64]; /* the factor in get_group_id(d) * X + get_local_id(d); "": none */
  bool uses_groups;        /* get_group_id or get_local_id: the global size may not be one work-item an element */
  bool varies[CLT_MAX_KERNEL_ARGUMENTS]; /* the argument's type depends on parameters */
  /* What becomes of it. */
  char sizes[CLT_MAX_KERNEL_ARGUMENTS + MAX_MACROS][160]; /* a problem parameter for each whole scalar argument */
  size_t n_sizes;
  const char *bounds[3]; /* the size that the work-item's number along a dimension is compared with; NULL: none seen */
  bool own_local_size;   /* whether the work-group is what parameters say */
  const char *local[3];  /* the parameter that is its size along a dimension: */
  bool macro_is_size[3]; /* a macro that is called so, or one of our own */
} draft;

/* --- init_text.c: what can be seen in the kernel's text without a compiler --- */

/* Macros with a default and those that #if asks for and nobody defines, dimensions, the required size of work-groups.
 * With a path, macros in the first n_lines that cannot be tuned are noted on standard error. */
void cli_init_read_text(draft *d, const char *path, int n_lines);

/* Whether a name is one of the macros, or an option has it. */
bool cli_init_has_macro(const draft *d, const char *name);

/* A macro that nobody defines: a parameter, or float where it is a type. False: it is known already, or there are too
 * many. */
bool cli_init_add_undefined(draft *d, const char *name, bool is_type);

/* Dimensions, required and usual sizes of work-groups. */
void cli_init_read_shape(draft *d);

/* Once the kernel is chosen: forgets what only other kernels say. */
void cli_init_read_kernel(draft *d, const clt_kernel_info *kernels, size_t n);

/* A new list of a macro's values, and the type of a tuning parameter with them. */
json_t *cli_init_values(const draft *d, const tuned_macro *m);
const char *cli_init_type(const json_t *values);

/* Chooses, of a macro without a default, what it is and its usual value. */
void cli_init_choose_default(draft *d, tuned_macro *m);

/* The macro whose value is the work-group's size along a dimension, as its use says, its name, or its name where the
 * group is a square; NULL: none. */
const tuned_macro *cli_init_local_size(const draft *d, int dimension);

/* A size's usual value; nth: how many there are before it. */
int cli_init_usual_size(const draft *d, const char *name, size_t nth);

/* Once the sizes are known: `int i = get_global_id(0);` and somewhere `i < n`, or `get_global_id(0) < n`: then
 * work-items are needed for n. Where there is one dimension and one size, it is that. A kernel that asks for the number
 * of work-items runs with any. */
void cli_init_find_bounds(draft *d);

/* A size's name as the kernel has it. */
const char *cli_init_bare(const char *size);

/* Whether all names in an expression are parameters, so that a problem file may have it. */
bool cli_init_names_parameters(const draft *d, const char *expression);

/* Whether an array is indexed with a product or shift somewhere: then it is larger than the one size there is. */
bool cli_init_has_rows(const draft *d, const char *array);

/* --- init_build.c: what the compiler says --- */

/* Reads the kernel's file. Returns the text, under its own name for the compiler's messages. Sets d->plain; *n_lines:
 * those of the file itself. */
const char *cli_init_read_file(draft *d, int *n_lines, const char *path);

/* Builds the text and lists its kernels. Macros that nobody defines are added until it builds, and types of the
 * kernel's own are replaced by those of OpenCL where they are any. */
clt_kernel_info *cli_init_build(size_t *n, draft *d, const clt_device_info *device, const char *text,
                                const char *folder);

/* Once the kernel is chosen: builds again with other values of what #if asks for, which may be no valid configuration,
 * and learns from it what other branches need. */
void cli_init_explore(draft *d, const clt_device_info *device, const char *text, const char *folder);

/* --- words (init_macros.c) --- */

const char *cli_skip_blanks(const char *at);
const char *cli_before_blanks(const char *text, const char *at);
bool cli_follows(const char *text, const char *at, const char *word); /* but for blanks between them */

/* Whether a macro is called as people call the work-group's size along a dimension: BLOCK_SIZE where there is only one
 * dimension, WG_X, LOCAL_SIZE_1, block_size_y. */
bool cli_is_local_size(const char *macro, int dimension, int n_dimensions);

#endif
