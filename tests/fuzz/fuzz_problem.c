/* Problem files, and their content for the default sizes. */
#include <clatune/problem.h>

#include "fuzz.h"

static void use(const clt_problem *problem) {
  clt_instance *instance = NULL;
  char *options = NULL;
  if (clt_instance_new(&instance, problem, NULL, 0, NULL, NULL)) return;
  const clt_space *space = clt_instance_space(instance);
  if (clt_space_valid(space) > 0) clt_instance_options(&options, instance, clt_space_at(space, 0), NULL);
  free(options);
  clt_instance_free(instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  clt_problem *problem = NULL;
  if (clt_problem_new(&problem, fuzz_file(&fd, data, size), NULL) == 0) use(problem);
  clt_problem_free(problem);
  close(fd);
  return 0;
}
