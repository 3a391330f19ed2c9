/* `clatune serve --stdio`: a search for a program that measures by itself. */
#include "serve/serve.h"
#include "cli/cli.h"

/* Reads the next line without its line end, cut beyond the limit of a request. False at the end of the input. */
static bool read_line(clt_text *line) {
  int c = 0;
  line->n = 0;
  while ((c = getc_unlocked(stdin)) != EOF && c != '\n')
    if (line->n <= CLT_SERVE_MOST_BYTES) clt_text_add_bytes(line, &(char){(char)c}, 1);
  return c != EOF || line->n > 0;
}

static int run_serve(const cli_arguments *a) {
  bool quiet = cli_given(a, "quiet"), heard = true; /* standard output is open */
  clt_serving serving = {.find_device = cli_find_device, .log = cli_log, .log_user = &quiet};
  clt_text line = {0};
  if (!cli_given(a, "stdio"))
    cli_usage("add --stdio; the documentation's page 'Your own measuring loop' describes the requests");
  if (cli_given(a, "store")) serving.store = cli_open_store(a);
  cli_exact_output();
  while (heard && !serving.stopped && read_line(&line)) {
    if (line.rc == CLT_OK && (line.n == 0 || strspn(line.bytes, " \t\r") == line.n)) continue;
    json_t *answer = clt_serve_request(&serving, &line);
    heard = json_dumpf(answer, stdout, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17)) == 0;
    json_decref(answer);
    putchar('\n');
    heard = fflush(stdout) == 0 && heard;
  }
  const bool broken = ferror(stdin);
  clt_text_release(&line);
  clt_serving_release(&serving);
  if (broken) return cli_message(CLI_FAILURE, "cannot read standard input");
  return heard ? CLI_FOUND : CLI_FAILURE;
}

static const cli_flag flags[] = {
    {"stdio", NULL, "reads requests from standard input, writes answers to standard output; one JSON object per line"},
    {"store", "FILE", "keeps results in this store and starts with those of earlier runs (default: nothing is kept)"},
    CLI_FLAG_QUIET,
};

const cli_command cli_serve = {
    .name = "serve",
    .summary = "runs a search for a program with its own measuring loop",
    .synopsis = "--stdio [--store FILE]",
    .description =
        "Runs a search for a program with its own measuring loop, in any language. The program asks for configurations "
        "and tells their times. Each request and each answer is a JSON object on one line: {\"space\": ...}, {\"ask\": "
        "1}, {\"tell\": ...}, {\"best\": true}, {\"pending\": true}, {\"stop\": true}. The search ends with standard "
        "input.",
    CLI_FLAGS(flags),
    .plugins = {NULL},
    .n_positional = {0, 0},
    .run = run_serve,
};
