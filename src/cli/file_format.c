#include "cli/file_format.h"

#include <clatune/kernel_tuner.h>
#include <string.h>

#include "cli/guess.h"
#include "cli/output.h"

int cli_file_format_of(cli_file_format *out, const cli_arguments *arguments) {
  static const char *const names[] = {"t4", "kernel-tuner"};
  const char *text = cli_text(arguments, "format");
  char guess[CLI_GUESS_BYTES];
  *out = CLI_FORMAT_T4;
  if (text == NULL || strcmp(text, "t4") == 0) return 0;
  *out = CLI_FORMAT_KERNEL_TUNER;
  if (strcmp(text, "kernel-tuner") == 0) return 0;
  return cli_usage("--format is t4 or kernel-tuner, not '%s'%s", text, cli_guess(guess, "", text, names, 2));
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
