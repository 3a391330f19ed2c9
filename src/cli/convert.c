/* clatune convert: from any form of results that is read to one that is written. */
#include <stdio.h>

#include "cli/file_format.h"
#include "cli/output.h"

static int answer(const cli_arguments *arguments, const clt_recording *recording, const char *path) {
  size_t n = clt_recording_size(recording);
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:I, s:s, s:s}", "file", path, "configurations", (json_int_t)n, "kernel",
                                    clt_recording_kernel(recording), "device", clt_recording_device(recording)));
  printf("%zu configurations are in %s\n", n, path);
  return CLI_FOUND;
}

static int run_convert(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  cli_file_format format;
  clt_recording *recording = NULL;
  clt_error error = {0};
  if (path == NULL) return cli_usage("'clatune convert' needs -o FILE: where to write");
  int rc = cli_file_format_of(&format, arguments);
  if (rc) return rc;
  if (clt_recording_load(&recording, arguments->positional[0], &error) ||
      cli_file_copy(format, path, recording, &error))
    rc = cli_report(&error);
  if (rc == 0) rc = answer(arguments, recording, path);
  clt_recording_free(recording);
  return rc;
}

static const cli_flag flags[] = {{"output", "FILE", "where to write, compressed if the name ends in .gz; also -o FILE"},
                                 CLI_FLAG_FILE_FORMAT,
                                 CLI_FLAG_JSON,
                                 CLI_FLAG_QUIET};

const cli_command cli_convert = {
    .name = "convert",
    .summary = "writes other tuners' results as T4 or as a cache file of Kernel Tuner",
    .synopsis = "FILE -o FILE [--format t4|kernel-tuner]",
    .description =
        "Reads results in any form that is known (T4, Kernel Tuner's cache files, CLTune, CLBlast's tuners, KTT, what\n"
        "'clatune record' wrote; plain or gzip), told by their content, and writes them in another one.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_convert,
};
