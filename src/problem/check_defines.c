/* Whether the kernel's own macros win over the parameters. */
#include <clatune/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "problem/parts.h"

/* As options.c passes them; NULL: the name is none of them. */
static const char *kind_of(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strcmp(problem->parameters[i].name, name) == 0) return "tuning parameter";
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++)
    if (strcmp(problem->sizes[i].name, name) == 0) return "problem parameter";
  return NULL;
}

static int check(const clt_problem *problem, const clt_define *define, clt_error *error) {
  const char *name = define->name, *kind = kind_of(problem, name);
  if (kind == NULL || define->conditional || define->guarded) return CLT_OK;
  return clt_fail(error, CLT_E_FORMAT,
                  "%s:%d: '#define %s%s%s' overrides the %s '%s'; put '#ifndef %s' before it and '#endif' after it",
                  problem->kernel_file, define->line, name, define->value[0] && !define->has_arguments ? " " : "",
                  define->value, kind, name, name);
}

int clt_problem_check_defines(const clt_problem *problem, clt_error *error) {
  clt_define *defines = NULL;
  char *text = NULL;
  size_t n = 0;
  if (problem->command) return CLT_OK;
  int rc = clt_kernel_read(problem, problem->kernel_file, &text, NULL, NULL);
  if (rc) return rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  rc = clt_defines(&defines, &n, text, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = check(problem, &defines[i], error);
  free(defines);
  free(text);
  return rc;
}
