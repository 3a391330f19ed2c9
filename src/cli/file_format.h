/* cli/file_format.h - the forms that results can be written in (--format). */
#ifndef CLT_CLI_FILE_FORMAT_H
#define CLT_CLI_FILE_FORMAT_H

#include <clatune/recording.h>
#include <clatune/t4.h>

#include "cli/command.h"

typedef enum cli_file_format { CLI_FORMAT_T4, CLI_FORMAT_KERNEL_TUNER } cli_file_format;

#define CLI_FLAG_FILE_FORMAT \
  { "format", "NAME", "t4 (default) or kernel-tuner: a cache file that Kernel Tuner goes on from and simulates with" }

/* The typed --format. Returns 0, or CLI_USAGE after a message. */
int cli_file_format_of(cli_file_format *out, const cli_arguments *arguments);

/* Results of an instance, or a recording, as a file of that form. Return a result code. */
int cli_file_write(cli_file_format format, const char *path, const clt_instance *instance, const clt_t4_result *results,
                   size_t n, clt_error *error);
int cli_file_copy(cli_file_format format, const char *path, const clt_recording *recording, clt_error *error);

#endif
