/* cli/first_problem.h - a first problem file for a kernel, with TODO where a person knows better. */
#ifndef CLT_CLI_FIRST_PROBLEM_H
#define CLT_CLI_FIRST_PROBLEM_H

#include <clatune/inspect.h>
#include <jansson.h>

#include "cli/kernel_text.h"

/* kernels: all of the file; one of them that is called naive or reference is proposed as the reference. A new reference; NULL
 * when out of memory. */
json_t *cli_first_problem(const char *name, const char *kernel_file, const clt_kernel_info *kernel,
                          const clt_kernel_info *kernels, size_t n_kernels, const cli_kernel_text *text);

#endif
