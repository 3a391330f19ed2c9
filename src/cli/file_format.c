#include "cli/file_format.h"

#include <clatune/kernel_tuner.h>
#include <string.h>

#include "cli/output.h"

int cli_file_format_of(cli_file_format *out, const cli_arguments *arguments) {
  static const char *const names[] = {"t4", "kernel-tuner"};
  const char *name;
  int rc = cli_format(&name, arguments, names, 2);
  if (rc == 0) *out = strcmp(name, "t4") == 0 ? CLI_FORMAT_T4 : CLI_FORMAT_KERNEL_TUNER;
  return rc;
}

int cli_file_write(cli_file_format format, const char *path, const clt_instance *instance, const clt_t4_result *results,
                   size_t n, clt_error *error) {
  return format == CLI_FORMAT_T4 ? clt_t4_write_recording(path, instance, results, n, error)
                                 : clt_kernel_tuner_write(path, instance, results, n, error);
}

int cli_file_copy(cli_file_format format, const char *path, const clt_recording *recording, clt_error *error) {
  return format == CLI_FORMAT_T4 ? clt_t4_copy_recording(path, recording, error)
                                 : clt_kernel_tuner_copy_recording(path, recording, error);
}
