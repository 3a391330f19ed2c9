/* cli/init.h - `clatune init`: what is known of a kernel before its problem file is written. */
#ifndef CLT_CLI_INIT_H
#define CLT_CLI_INIT_H

#include "cli/cli.h"
#include "device/device.h"

#define MAX_MACROS 64
#define PREFIX "size_" /* problem parameters are macros of the kernel, and must not be its arguments' names */

/* #ifndef NAME / #define NAME 16 */
typedef struct tuned_macro {
  char name[64];
  int64_t value;
} tuned_macro;

typedef struct draft {
  const clt_kernel_info *kernel;
  const char *plain; /* the kernel file without comments */
  /* What can be seen in the text of the kernel file without a compiler. */
  tuned_macro macros[MAX_MACROS]; /* with a default */
  size_t n_macros;
  int n_dimensions;     /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64]; /* reqd_work_group_size, as written; "": none */
  bool uses_groups;     /* get_group_id or get_local_id: the global size may not be one work-item an element */
  /* What becomes of it. */
  char sizes[CLT_MAX_KERNEL_ARGUMENTS][160]; /* a problem parameter for each whole scalar argument */
  size_t n_sizes;
  const char *bounds[3]; /* the size that the work-item's number along a dimension is compared with; NULL: none seen */
  bool own_local_size;   /* whether the work-group is what parameters say */
  const char *local[3];  /* the parameter that is its size along a dimension: */
  bool macro_is_size[3]; /* a macro that is called so, or one of our own */
} draft;

/* --- init_text.c: what can be seen in the kernel's text without a compiler --- */

/* Macros, dimensions, the required size of work-groups. With a path, macros that cannot be tuned are noted on standard
 * error. */
void cli_init_read_text(draft *out, const char *text, const char *path);

/* Whether a macro is called as a switch, or is never more than asked: #if X, if (X && !Y), X ? a : b. */
bool cli_init_is_switch(const char *text, const char *name);

/* Once the sizes are known: `int i = get_global_id(0);` and somewhere `i < n`, or `get_global_id(0) < n`: then
 * work-items are needed for n. Where there is one dimension and one size, it is that. A kernel that asks for the number
 * of work-items runs with any. */
void cli_init_find_bounds(draft *d);

/* Whether all names in an expression are parameters, so that a problem file may have it. */
bool cli_init_names_parameters(const draft *d, const char *expression);

#endif
