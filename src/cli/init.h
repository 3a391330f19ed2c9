/* cli/init.h - what `clatune init` makes a first problem file from. */
#ifndef CLT_CLI_INIT_H
#define CLT_CLI_INIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/inspect.h"

#define CLI_MAX_MACROS 64

/* #ifndef NAME / #define NAME 16 */
typedef struct cli_macro {
  char name[64];
  int64_t value;
} cli_macro;

/* What can be seen in the text of a kernel file without a compiler. */
typedef struct cli_kernel_text {
  cli_macro macros[CLI_MAX_MACROS]; /* with a default */
  size_t n_macros;
  int n_dimensions;     /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64]; /* reqd_work_group_size, as written; "": none */
  bool uses_groups;     /* get_group_id or get_local_id: the global size is likely not one work-item an element */
} cli_kernel_text;

/* A first problem file for a kernel, with TODO where a person knows better. kernels: all of the file; one of them that
 * is called naive or reference is proposed as the reference. A new reference; NULL when out of memory. */
json_t *cli_first_problem(const char *kernel_file, const clt_kernel_info *kernel, const clt_kernel_info *kernels,
                          size_t n_kernels, const cli_kernel_text *text);

#endif
