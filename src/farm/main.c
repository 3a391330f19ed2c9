/* `clatune sweep`: its options, and the tunings that they choose: the plan's cells on each device, filtered by --only
 * and
 * --shard. */
#include "farm/agent.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"
#include "device/device.h"
#include "store/pq.h"

#define CELL_TEXT 1024
#define MOST_SECONDS 1e15

/* --- the plan, its devices and cells --- */

/* --device replaces the plan's devices; without both, the device is chosen as for `tune`. An agent of a farm has all
 * devices; each plan chooses among them. */
static void choose_devices(farm_sweep *out, const cli_arguments *arguments, bool agent) {
  const bool programs = out->plan && clt_sweep_is_of_commands(out->plan);
  const char *usual = programs ? NULL : getenv("CLATUNE_DEVICE");
  clt_device_info host, *all = NULL;
  size_t n_all = 1, n_typed = 0, n_planned = agent ? 0 : out->plan->n_devices;
  if (programs)
    clt_device_host(&host);
  else
    cli_check(cli_devices_here(&all, &n_all, &cli_error));
  bool *chosen = cli_new(n_all, sizeof *chosen);
  size_t *indices = cli_new(n_all, sizeof *indices);
  const char **typed = cli_texts(&n_typed, arguments, "device");
  const char *otherwise = agent ? "all" : "", *const *texts = usual ? &usual : &otherwise;
  size_t n_texts = 1;
  if (n_typed)
    texts = typed, n_texts = n_typed;
  else if (n_planned)
    texts = out->plan->devices, n_texts = n_planned;
  for (size_t k = 0; k < n_texts; k++) {
    const char *text = texts[k];
    clt_error error = {0};
    size_t n = 0;
    if (clt_device_select_all(indices, &n, programs ? &host : all, n_all, text, true, &error)) {
      fprintf(stderr, "clatune: warning: %s\n", error.message);
      json_array_append_new(out->missing, json_pack("{s:s, s:s}", "device", text, "reason", error.message));
    }
    for (size_t i = 0; error.code == 0 && i < n; i++) chosen[indices[i]] = true;
  }
  out->devices = cli_new(n_all + 1, sizeof *out->devices); /* + 1: run_farm may add the machine itself */
  for (size_t i = 0; i < n_all; i++)
    if (chosen[i]) out->devices[out->n_devices++] = programs ? host : all[i];
  free(all);
  if (out->n_devices == 0 && !agent)
    cli_die(CLI_NO_DEVICE, "no device to tune on; 'clatune devices' lists what this machine has");
}

static void read_time_limit(farm_sweep *out, const cli_arguments *arguments) {
  out->until_s = clt_now_s() + cli_seconds(arguments, "time-limit", INFINITY, 0, MOST_SECONDS);
}

static void sweep_release(void *user) {
  farm_sweep *s = user;
  for (size_t i = 0; s->rows && i < s->n_devices * s->n_cells; i++) {
    free(s->rows[i].reason);
    json_decref(s->rows[i].line);
    json_decref(s->rows[i].best);
  }
  json_decref(s->missing);
  if (s->results.fd >= 0) close(s->results.fd);
  json_decref(s->results.lines);
  clt_sweep_free(s->plan);
}

static farm_sweep *sweep_new(void) {
  farm_sweep *out = cli_new(1, sizeof *out);
  *out = (farm_sweep){.missing = json_array(), .results.fd = -1};
  return cli_keep(out, sweep_release);
}

/* Loads the plan, chooses devices and cells, reads the results so far. */
static void sweep_load(farm_sweep *out, const cli_arguments *arguments, bool agent) {
  const char *plan = arguments->positional[0], *typed = cli_text(arguments, "output");
  size_t n_only = 0;
  int64_t shard, n_shards;
  farm_sweep_shard(&shard, &n_shards, arguments);
  read_time_limit(out, arguments);
  out->store_path = cli_text(arguments, "store");
  out->no_store = cli_given(arguments, "no-store");
  cli_check(clt_sweep_load(&out->plan, plan, &cli_error));
  const char **only = cli_texts(&n_only, arguments, "only");
  out->cells = out->plan->cells;
  for (size_t i = 0; i < out->plan->n_cells; i++) {
    char text[CELL_TEXT];
    clt_sweep_cell_print(&out->cells[i], text, sizeof text);
    bool chosen = n_only == 0;
    for (size_t k = 0; k < n_only && !chosen; k++) chosen = cli_has_words(text, only[k]);
    if (chosen) out->cells[out->n_cells++] = out->cells[i];
  }
  if (out->n_cells == 0) cli_usage("no tuning of the plan matches --only; 'clatune sweep PLAN --dry-run' lists them");
  /* "plans/x.json" -> "plans/x.results.jsonl" */
  const int length = (int)strlen(plan) - (clt_ends_with(plan, ".json") ? 5 : 0);
  out->results.path = cli_keep_memory(typed ? strdup(typed) : clt_format("%.*s.results.jsonl", length, plan));
  farm_results_read(&out->results);
  choose_devices(out, arguments, agent);
  if (agent) return;
  const size_t n_rows = out->n_devices * out->n_cells;
  out->rows = cli_new(n_rows, sizeof *out->rows);
  for (size_t k = 0; k < n_rows; k++) out->rows[k].elsewhere = k % (size_t)n_shards != (size_t)shard - 1;
}

/* --- the command --- */

static int list_tunings(const farm_sweep *s, bool as_json) {
  json_t *list = json_array();
  char text[CELL_TEXT];
  for (size_t d = 0; d < s->n_devices; d++) {
    if (!as_json) printf("%s\n", s->devices[d].name);
    for (size_t i = 0; i < s->n_cells; i++) {
      const farm_row *row = farm_sweep_row(s, d, i);
      if (row->elsewhere) continue;
      bool failed = row->code && row->line == NULL;
      const char *state = failed ? "fails" : "to do";
      if (row->line) state = "finished";
      clt_sweep_cell_print(&s->cells[i], text, sizeof text);
      if (!as_json) printf("  %s: %s", text, state);
      if (!as_json && failed) printf(": %s", farm_row_reason(row));
      if (!as_json) putchar('\n');
      json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "device", s->devices[d].name, "tuning", text,
                                            "state", state, "reason", row->reason));
    }
  }
  if (as_json)
    return cli_print_json(
        json_pack("{s:s, s:O, s:o}", "plan", clt_sweep_name(s->plan), "missing_devices", s->missing, "tunings", list));
  json_decref(list);
  farm_sweep_counts c = farm_sweep_count(s);
  printf("%zu tunings, %zu of them finished; nothing was measured\n", c.total, c.found);
  return 0;
}

/* 0; what all failures share; or CLI_FAILURE. Then whether a device was missing. */
static int exit_code_of_rows(const farm_sweep *s) {
  int code = 0;
  for (size_t i = 0; i < s->n_devices * s->n_cells; i++) {
    int other = s->rows[i].code;
    if (other && code && other != code) return CLI_FAILURE;
    if (other) code = other;
  }
  return code == 0 && json_array_size(s->missing) ? CLI_NO_DEVICE : code;
}

/* Refuses options that need a shared database (farm) without one, and those that do not work with one. alone: the
 * option that replaces the PLAN; NULL: none. */
static void check_flags(const cli_arguments *arguments, bool farm, const char *alone) {
  static const char *const of_farm[] = {"submit", "lease", "outbox", "problems", "allow-programs"},
                           *const of_plan[] = {"only", "no-store"}, *const of_own[] = {"submit", "summary", "lease"};
  for (size_t i = 0; !farm && i < sizeof of_farm / sizeof *of_farm; i++)
    if (cli_given(arguments, of_farm[i]))
      cli_usage("--%s needs a shared database: --store postgresql://HOST/DATABASE", of_farm[i]);
  for (size_t i = 0; farm && i < sizeof of_plan / sizeof *of_plan; i++)
    if (cli_given(arguments, of_plan[i])) cli_usage("--%s cannot be combined with a shared database", of_plan[i]);
  for (size_t i = 0; alone && i < sizeof of_own / sizeof *of_own; i++)
    if (cli_given(arguments, of_own[i]))
      cli_usage("--%s needs a PLAN and cannot be combined with --%s", of_own[i], alone);
}

/* The last event, so that a reader knows the end. */
static int end_events(const farm_sweep *sweep, int rc) {
  const cli_events events = {.out = sweep->events};
  cli_event(&events, "finished", json_pack("{s:i, s:n, s:n}", "exit_code", rc, "error", "result"));
  return cli_events_close(sweep->events);
}

/* With a shared database: --submit, --serve, --status, --withdraw, or the agent of a plan. */
static int run_farm(const cli_arguments *arguments, const char *url, const char *format, int64_t jobs) {
  static const char *const here[] = {"."};
  const bool serves = cli_given(arguments, "serve"), lists = cli_given(arguments, "summary");
  const int64_t withdrawn = cli_integer(arguments, "withdraw", 0, 1, INT64_MAX);
  if (withdrawn || cli_given(arguments, "status")) return farm_status(url, withdrawn, strcmp(format, "json") == 0);
  farm_agent_options options = {.url = url,
                                .outbox = cli_text(arguments, "outbox"),
                                .lease_s = cli_seconds(arguments, "lease", 120, 1, 86400),
                                .jobs = jobs,
                                .quiet = cli_given(arguments, "quiet"),
                                .submits_only = cli_given(arguments, "submit"),
                                .trust.programs = cli_given(arguments, "allow-programs")};
  options.trust.folders = cli_texts(&options.trust.n_folders, arguments, "problems");
  if (options.trust.n_folders == 0) options.trust.folders = here, options.trust.n_folders = 1;
  for (size_t i = 0; i < options.trust.n_folders; i++) {
    struct stat info;
    const char *folder = options.trust.folders[i];
    const bool is_file = stat(folder, &info) == 0 && !S_ISDIR(info.st_mode);
    if (is_file || access(folder, X_OK))
      cli_failure("cannot open the folder '%s' of --problems: %s", folder, strerror(is_file ? ENOTDIR : errno));
  }
  farm_sweep *sweep = sweep_new();
  if (serves) {
    read_time_limit(sweep, arguments);
    choose_devices(sweep, arguments, true);
    if (options.trust.programs) clt_device_host(&sweep->devices[sweep->n_devices++]);
  } else {
    sweep_load(sweep, arguments, true);
  }
  if (!lists && !options.submits_only) sweep->events = cli_events_open(arguments);
  int rc = 0;
  if (lists)
    farm_collect(sweep, url, NULL, NULL, false);
  else
    rc = farm_run(sweep, &options);
  if (rc == 0 && !serves && !options.submits_only) {
    if (sweep->events != stdout) rc = farm_sweep_print(sweep, format, false, lists);
    if (rc == 0) rc = exit_code_of_rows(sweep);
  }
  int closed = end_events(sweep, rc);
  return rc ? rc : closed;
}

static int run_sweep(const cli_arguments *arguments) {
  static const char *const formats[] = {"text", "json", "csv", "markdown"};
  static const char *const without_plan[] = {"withdraw", "status", "serve"};
  const char *alone = NULL, *plan = arguments->n_positional ? arguments->positional[0] : NULL;
  const char *url = clt_pq_is_url(plan) ? plan : cli_text(arguments, "store");
  const bool lists = cli_given(arguments, "dry-run"), farm = clt_pq_is_url(url) && !lists;
  if (cli_given(arguments, "slurm")) return farm_sweep_slurm(arguments);
  const char *format = cli_format(arguments, formats, 4);
  const int64_t jobs = cli_integer(arguments, "jobs", 0, 1, 1000);
  for (size_t i = 0; i < sizeof without_plan / sizeof *without_plan; i++)
    if (cli_given(arguments, without_plan[i])) alone = without_plan[i];
  if (alone && plan && plan != url)
    cli_usage("--%s takes no PLAN; leave out '%s'%s", alone, plan,
              farm ? "" : " and name the database: --store postgresql://HOST/DATABASE");
  if (alone && !farm) cli_usage("--%s needs a shared database: --store postgresql://HOST/DATABASE", alone);
  if (alone == NULL && (plan == NULL || plan == url)) cli_usage("needs a plan file: clatune sweep PLAN [OPTION...]");
  check_flags(arguments, farm, alone);
  if (farm) return run_farm(arguments, url, format, jobs);
  farm_sweep *sweep = sweep_new();
  int rc;
  sweep_load(sweep, arguments, false);
  if (lists || cli_given(arguments, "summary")) {
    farm_sweep_tuning t = {0};
    for (size_t d = 0; d < sweep->n_devices; d++)
      for (size_t i = 0; i < sweep->n_cells; i++) {
        farm_row *row = farm_sweep_row(sweep, d, i);
        if (!row->elsewhere) farm_sweep_prepare(&t, sweep, d, i, row);
      }
    farm_sweep_tuning_release(&t);
    if (!lists && json_object_size(sweep->results.lines) == 0)
      fprintf(stderr, "clatune: note: no results in '%s'; for a farm's results add --store URL\n", sweep->results.path);
    rc = lists ? list_tunings(sweep, strcmp(format, "json") == 0) : farm_sweep_print(sweep, format, false, true);
  } else {
    sweep->events = cli_events_open(arguments);
    rc = farm_sweep_run(sweep, NULL, jobs, cli_given(arguments, "quiet"));
    int printed = sweep->events == stdout ? 0 : farm_sweep_print(sweep, format, rc > 128, false);
    int closed = end_events(sweep, rc);
    if (rc == 0) rc = printed ? printed : closed;
  }
  return rc ? rc : exit_code_of_rows(sweep);
}

static const cli_flag flags[] = {
    {"device", "NAME",
     "tunes on this device (as for 'tune') or kind of devices (all, cpu, gpu, accelerator) instead of the plan's; may "
     "be repeated"},
    {"only", "WORDS", "only tunings whose line in --dry-run contains all these words; may be repeated"},
    {"jobs", "N", "physical devices used at the same time (default: all; the CPU always alone)"},
    {"shard", "I/N", "every Nth tuning, starting with the Ith: splits a plan over N equal machines"},
    {"time-limit", "S", "starts no tuning that would probably end after this time (default: no limit)"},
    {"slurm", NULL,
     "submits this sweep as a Slurm job; arguments after -- go to sbatch. With --dry-run: prints the job's script"},
    {"dry-run", NULL, "lists the tunings and their state; measures nothing"},
    {"summary", NULL, "prints the table of the finished tunings; measures nothing"},
    {"output", "FILE", "the file of results (default: NAME.results.jsonl next to the plan); also -o FILE"},
    {"format", "NAME", "format of the table: text, json, csv or markdown (default text)"},
    CLI_FLAG_STORE,
    {"no-store", NULL, "neither stores nor reuses measurements"},
    {"submit", NULL,
     "adds the plan to the database of --store and exits; failed tunings of an earlier submission are retried"},
    {"serve", NULL, "works on all plans in the database of --store until interrupted"},
    {"status", NULL, "lists plans, running tunings and agents in the database of --store"},
    {"withdraw", "ID",
     "withdraws the plan with this number in --status; its measurements are kept. Needs the role clatune_owner"},
    {"problems", "FOLDER",
     "with --serve: folder with the problem files of submitted plans (default: the current folder); may be repeated"},
    {"allow-programs", NULL, "with --serve: also accepts problems that run programs or have modules of C"},
    {"lease", "S",
     "an agent that does not renew its lease on a tuning for this long loses it to another (default 120; --submit "
     "again raises it for later claims)"},
    {"outbox", "FOLDER",
     "folder for measurements that are not in the database yet (default: $XDG_DATA_HOME/clatune/outbox)"},
    CLI_FLAG_EVENTS,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET,
};

static const cli_command command = {
    .name = "sweep",
    .summary = "runs all tunings of a plan file: devices, problems, sizes, searchers, budgets, seeds",
    .synopsis =
        "PLAN [--device NAME]... [--only WORDS]... [--jobs N] [OPTION...] [--slurm [-- SBATCH OPTION...]] | "
        "--serve URL | --status URL | --withdraw ID URL",
    .description =
        "Runs every tuning of a plan (man clatune-plan): device x problem x size x searcher x budget x seed. Finished\n"
        "tunings are appended to the file of results, so the same command resumes an interrupted sweep. With --store\n"
        "postgresql://... all machines that run the same plan share its tunings, until all are finished. A failed "
        "tuning\n"
        "does not stop the others; the table at the end shows the reason.\n"
        "Exit code: 0 if all tunings found a configuration; 130 interrupted; otherwise the code that all failed "
        "tunings\n"
        "share, or 1.",
    CLI_FLAGS(flags),
    .n_positional = {0, 1},
    .passes = "slurm",
    .run = run_sweep,
};

int main(int argc, char **argv) { return cli_program_main(&command, argc, argv); }
