/* Whether a kernel is given its arguments in its own order: what is wrong there builds and runs, and gives wrong
 * results. */
#include <clatune/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/evaluators.h"
#include "problem/plan.h"

static const char *given(const clt_plan *plan, const clt_plan_launch *launch, size_t i) {
  return plan->args[launch->args[i]].name;
}

/* The first argument that stands where the kernel has another one of those that it is given; its number, or -1. */
static int misplaced(const clt_plan *plan, const clt_plan_launch *launch, const clt_kernel_info *kernel) {
  size_t n = launch->n_args < kernel->n_arguments ? launch->n_args : kernel->n_arguments;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(kernel->arguments[i].name, given(plan, launch, i)) == 0) continue;
    for (size_t k = 0; k < launch->n_args; k++)
      if (k != i && strcmp(kernel->arguments[i].name, given(plan, launch, k)) == 0) return (int)i;
  }
  return -1;
}

static bool check_launch(const clt_plan *plan, const clt_plan_launch *launch, const clt_kernel_info *kernels, size_t n,
                         clt_log_fn log, void *log_user) {
  for (size_t k = 0; k < n; k++) {
    int at = strcmp(kernels[k].name, launch->kernel) == 0 ? misplaced(plan, launch, &kernels[k]) : -1;
    if (at < 0) continue;
    char text[512];
    snprintf(
        text, sizeof text,
        "argument %d of the kernel '%s' is '%s', and it is given '%s': arguments are given in the order in which they "
        "stand in the problem file, whatever they are called",
        at + 1, launch->kernel, kernels[k].arguments[at].name, given(plan, launch, (size_t)at));
    log(log_user, CLT_LOG_WARNING, text);
    return false;
  }
  return true;
}

void clt_check_arguments(const clt_instance *instance, clt_config config, clt_log_fn log, void *log_user) {
  clt_plan *plan = NULL;
  clt_kernel_info *kernels = NULL;
  size_t n = 0;
  if (clt_plan_new(&plan, instance, config, NULL)) return;
  int rc = clt_inspect(&kernels, &n, clt_instance_device(instance), plan->source, plan->options, NULL);
  for (size_t i = 0; rc == CLT_OK && i < plan->n_launches; i++)
    if (!check_launch(plan, &plan->launches[i], kernels, n, log, log_user)) break;
  free(kernels);
  clt_plan_free(plan);
}
