/* `clatune sweep --slurm`: the same command as a Slurm job. The script execs clatune, so that clatune itself gets the
 * batch step's signals (a shell would not pass them on, and srun turns SIGTERM into SIGKILL). A job is one agent;
 * several agents are an array, whose tasks start, are requeued and end independently. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "farm/sweep.h"
#include "store/pq.h"

#define MOST_SAID 65536

static const char head[] =
    "#!/bin/sh\n"
    "#SBATCH --job-name=clatune\n"
    "#SBATCH --signal=B:TERM@60\n"
    "#SBATCH --requeue\n"
    "#SBATCH --open-mode=append\n";
/* Slurm 22.05 does not set SLURM_JOB_END_TIME, so squeue is asked. The signal comes a minute before the end. */
static const char time_limit[] =
    "end=${SLURM_JOB_END_TIME:-$(SLURM_TIME_FORMAT=%s squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%e)}\n"
    "case $end in\n"
    "'' | *[!0-9]*) ;; # not known\n"
    "*) left=$((end - $(date +%s) - 60)); set -- \"$@\" --time-limit \"$((left > 0 ? left : 0))\" ;;\n"
    "esac\n";

/* Adds a blank and a quoted word to the script. numbered: "%a" in it becomes the number of the array's task. */
static void add_word(clt_text *script, const char *word, bool numbered) {
  clt_text_add(script, " '");
  for (; *word; word++) {
    if (numbered && clt_starts_with(word, "%a")) {
      clt_text_add(script, "'\"$SLURM_ARRAY_TASK_ID\"'");
      word++;
    } else {
      clt_text_add(script, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    }
  }
  clt_text_add(script, "'");
}

/* The command line without the options for the job itself. */
static void add_command(clt_text *script, const cli_arguments *arguments, const char *program, const char *named) {
  static const char *const own[] = {"slurm", "dry-run", "json"};
  const cli_command *command = arguments->command;
  clt_text_add(script, "set --");
  add_word(script, program, false);
  clt_text_printf(script, " %s", command->name);
  if (named) add_word(script, named, false);
  for (size_t i = 0, k = 0; i < arguments->n_typed; i++, k = 0) {
    const clt_setting *typed = &arguments->typed[i];
    while (k < sizeof own / sizeof *own && strcmp(own[k], typed->name) != 0) k++;
    if (k < sizeof own / sizeof *own) continue;
    clt_text_printf(script, " --%s", typed->name);
    if (cli_find_flag(command, typed->name)->argument) add_word(script, typed->value, !clt_pq_is_url(typed->value));
  }
  clt_text_printf(script, "\n%sexec \"$@\"\n", cli_given(arguments, "time-limit") ? "" : time_limit);
}

static void check_url(const char *url) {
  char *shown = NULL;
  cli_check(clt_pq_shown(&shown, url, &cli_error));
  if (strcmp(cli_keep_memory(shown), url) != 0)
    cli_usage(
        "the URL's password would be visible in the job's script; put it into ~/.pgpass and leave it out of the URL");
}

/* Finds mistakes in the plan, shards and passwords before the job is submitted. Needs no device: login nodes often have
 * none. */
static const char *make_script(const cli_arguments *arguments) {
  const char *named = arguments->n_positional ? arguments->positional[0] : NULL; /* a plan; with --serve a server */
  bool has_server = clt_pq_is_url(named), has_plan = named && !has_server;
  clt_text script = {0};
  clt_sweep *plan = NULL;
  char *out;
  int64_t shard, n_shards;
  farm_sweep_shard(&shard, &n_shards, arguments);
  if (named == NULL && !cli_given(arguments, "serve")) cli_usage("--slurm needs a PLAN, or --serve and a database");
  if (has_server) check_url(named);
  for (size_t i = 0; i < arguments->n_typed; i++) {
    if (!clt_pq_is_url(arguments->typed[i].value)) continue;
    has_server = true;
    check_url(arguments->typed[i].value);
  }
  for (size_t i = 0; i < arguments->n_passed && !has_server && shard; i++)
    if (clt_starts_with(arguments->passed[i], "--array") || clt_starts_with(arguments->passed[i], "-a"))
      cli_usage("without a shared database each task of an array needs its own shard: add --shard %%a/N");
  if (has_plan) cli_check(clt_sweep_load(&plan, named, &cli_error));
  clt_sweep_free(plan);
  static const char *const near_program[] = {"../cli/clatune", "clatune", NULL}; /* in a build folder; as installed */
  char *near = clt_find_near_program(near_program, X_OK), *program = near ? realpath(near, NULL) : NULL;
  char *path = has_plan ? realpath(named, NULL) : NULL;
  clt_text_add(&script, head);
  if (shard == 0) clt_text_printf(&script, "#SBATCH --array=1-%lld\n", (long long)n_shards);
  if (path) named = path;
  add_command(&script, arguments, program ? program : "clatune", named);
  free(near);
  free(program);
  free(path);
  cli_check(clt_text_take(&out, &script, &cli_error));
  return cli_keep_memory(out);
}

/* *said: sbatch's output. */
static void submit(clt_text *said, const char *script, const cli_arguments *arguments) {
  int status = 0;
  FILE *file = tmpfile();
  char **words = cli_new(arguments->n_passed + 2, sizeof *words);
  words[0] = "sbatch";
  for (size_t i = 0; i < arguments->n_passed; i++) words[i + 1] = arguments->passed[i];
  if (file == NULL || fputs(script, file) < 0 || fflush(file) || fseek(file, 0, SEEK_SET))
    cli_failure("cannot write the job's script to a temporary file; check the free space in TMPDIR");
  const clt_spawn spawn = {.program = "sbatch", .arguments = words, .in = fileno(file)};
  if (clt_spawn_output(said, &status, &spawn, MOST_SAID, &cli_error))
    cli_failure("%s; submit on a machine with Slurm's commands, or submit the script that --dry-run prints",
                cli_error.message);
  while (said->n && said->bytes[said->n - 1] == '\n') said->bytes[--said->n] = '\0';
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (status) cli_failure("sbatch ended with exit code %d: %s", code, said->n ? said->bytes : "without output");
  fclose(file);
}

int farm_sweep_slurm(const cli_arguments *arguments) {
  const bool as_json = cli_given(arguments, "json");
  const char *script = make_script(arguments);
  clt_text said = {0};
  if (cli_given(arguments, "dry-run")) {
    cli_exact_output();
    if (as_json) return cli_print_json(json_pack("{s:o}", "script", clt_json_text(script)));
    fputs(script, stdout);
    return CLI_FOUND;
  }
  submit(&said, script, arguments);
  const char *text = said.n ? said.bytes : "", *job = strstr(text, "batch job ");
  int rc = 0;
  if (!as_json) puts(text);
  if (as_json)
    rc = cli_print_json(json_pack("{s:o, s:o}", "job", job ? json_integer(strtoll(job + 10, NULL, 10)) : json_null(),
                                  "sbatch", clt_json_text(text)));
  clt_text_release(&said);
  return rc;
}
