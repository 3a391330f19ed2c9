#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "cli/cli.h"
#include "device/device.h"
#include "format/format.h"
#include "lookup/lookup.h"
#include "space/space.h"
#include "store/agents.h"
#include "store/pq.h"
#include "store/schema.h"

#define SECONDS_A_DAY 86400

/* --- contents --- */

/* The path or URL of the store of --store, or of the standard one. */
static const char *store_place(const cli_arguments *arguments) {
  char *path;
  cli_check(clt_store_place(&path, cli_text(arguments, "store"), &cli_error));
  return cli_keep_memory(path);
}

static int run_where(const cli_arguments *arguments) {
  const char *path = store_place(arguments);
  if (!cli_given(arguments, "json")) cli_exact_output();
  return cli_answer_line(
      arguments,
      json_pack("{s:o, s:o}", "store", clt_json_text(path), "system", clt_json_text(clt_catalog_system_path())),
      "{store}");
}

/* Prints an answer (reference stolen) that is a list: a line for each item. */
static int answer_list(const cli_arguments *arguments, json_t *list, const clt_line *line) {
  return cli_answer(arguments, list, &(clt_text_layout){.width = 17, .n = 1, .lines = line});
}

static int run_list(const cli_arguments *arguments) {
  clt_store_description *keys = NULL;
  size_t n = 0;
  clt_store *store = cli_open_store_to_read(arguments);
  json_t *list = json_array();
  if (store == NULL) cli_note_no_store(arguments);
  if (store) cli_check(clt_store_keys(&keys, &n, store, true, &cli_error));
  for (const clt_store_description *d = keys; d < keys + n; d++)
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "problem", clt_json_text(d->problem_name), "file",
                        clt_json_text(d->problem_path), "sizes", clt_json_text(d->sizes), "device",
                        clt_json_text(d->key.device), "driver", clt_json_text(d->key.driver), "key",
                        clt_json_text(d->key.problem), "records", (json_int_t)d->n_records));
  clt_store_keys_free(keys, n);
  return answer_list(arguments, list,
                     &(clt_line){"[{problem}|{key}]", "{records:7}  [{sizes} on ][{device}], driver [{driver}]", "."});
}

static int add_result(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "sizes", clt_json_sizes(instance), "sizes_text",
                           clt_json_text(found->sizes), "device", clt_json_text(found->device), "driver",
                           clt_json_text(clt_instance_device(instance)->driver_version), "configuration",
                           cli_json_configuration_text(instance, found->configuration), "text",
                           clt_json_text(found->configuration), "options", found->options, "time_s",
                           clt_json_real(found->expected_time_s));
  return json_array_append_new(user, json) ? CLT_E_MEMORY : 0;
}

/* Whether an argument is a problem file; otherwise it is a problem's name. */
static bool is_problem_file(const char *typed) { return strchr(typed, '/') || clt_ends_with(typed, ".json"); }

/* The URL of --store, which must be a database's. */
static const char *database_url(const cli_arguments *arguments, const char *what) {
  const char *url = cli_text(arguments, "store");
  if (!clt_pq_is_url(url))
    cli_usage("%s needs --store postgresql://HOST/DATABASE: files do not say who delivered what", what);
  return url;
}

static int show_agents(const cli_arguments *arguments) {
  json_t *agents = NULL;
  if (strcmp(cli_text(arguments, "by"), "agent") != 0 || arguments->n_positional > 1)
    cli_usage("'clatune store show' needs a problem, or --by agent");
  cli_check(clt_store_agents(&agents, database_url(arguments, "--by agent"), &cli_error));
  return answer_list(arguments, agents,
                     &(clt_line){"{measurements:7}",
                                 "  [{login}|unknown] [{agent}]: {tunings:n} tuning{tunings:s}"
                                 "[{?revoked}, {revoked} revoked]",
                                 "."});
}

static int run_revoke(const cli_arguments *arguments) {
  static const clt_line lines[] = {{"revoked", "{revoked} measurement{revoked:s}"},
                                   {"rested on them", "{plan}: {device}: {tuning}", .each = "tunings"}};
  const char *who = cli_text(arguments, "agent"), *since = cli_text(arguments, "since"), *end;
  struct tm when = {0};
  json_t *answer = NULL;
  if (who == NULL) cli_usage("'clatune store revoke' needs --agent NAME: an agent, host or login that delivered");
  end = since ? strptime(since, "%Y-%m-%d", &when) : "";
  if (end && *end == 'T') end = strptime(end, "T%H:%M", &when);
  if (end == NULL || *end) cli_usage("option '--since' needs a time in UTC such as 2026-01-31T18:00, not '%s'", since);
  cli_check(clt_store_revoke(&answer, database_url(arguments, "revoke"), who, since ? (double)timegm(&when) : NAN,
                             &cli_error));
  return cli_answer(arguments, answer, &(clt_text_layout){.width = 18, .n = 2, .lines = lines});
}

static int run_show(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "store");
  clt_catalog *catalog = NULL;
  clt_store *store = NULL;
  if (cli_given(arguments, "by")) return show_agents(arguments);
  if (arguments->n_positional < 2)
    cli_usage("'clatune store show' needs a problem: its file, or a name that 'clatune store list' shows");
  if (!cli_has_store(arguments)) cli_note_no_store(arguments);
  json_t *list = json_array();
  /* The store keeps the path of the file that each problem was measured from; of several with this name, the newest.
   * Others' paths are not of this machine. */
  const char *typed = arguments->positional[1], *file = typed;
  bool others = false;
  clt_store_description *keys = NULL;
  size_t n = 0;
  if (!is_problem_file(typed) && clt_store_open_to_read(&store, NULL, path, NULL) == 0)
    clt_store_keys(&keys, &n, store, false, NULL);
  clt_store_free(store);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(keys[i].problem_name, typed) != 0) continue;
    others |= keys[i].voice != 0;
    if (keys[i].voice == 0 && access(keys[i].problem_path, R_OK) == 0) file = keys[i].problem_path;
  }
  if (others && file == typed)
    cli_usage("'clatune store show' needs the file of '%s', which only others have named so", typed);
  const clt_problem *problem = cli_subject_load(arguments, file).problem;
  clt_store_keys_free(keys, n);
  cli_check(clt_catalog_new(&catalog, path ? &path : NULL, path != NULL, &cli_error));
  cli_check(clt_catalog_each(catalog, problem, false, add_result, list, &cli_error));
  clt_catalog_free(catalog);
  return answer_list(
      arguments, list,
      &(clt_line){.form = "[{sizes_text} on ][{device}], driver [{driver}]\n  [{time_s:time}|-]  [{text}]",
                  .each = "."});
}

/* --- export, import, merge, prune --- */

static clt_store_selection read_selection(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "problem");
  const int64_t days = cli_integer(arguments, "older-than", 0, 1, 100000);
  clt_store_selection out = {
      .device = cli_text(arguments, "device"), .problem_name = typed, .is_public = cli_given(arguments, "public")};
  if (days > 0) out.before_s = (int64_t)time(NULL) - days * SECONDS_A_DAY;
  if (typed && is_problem_file(typed)) out.problem_name = clt_problem_name(cli_subject_load(arguments, typed).problem);
  return out;
}

static int answer_count(const cli_arguments *arguments, const char *key, uint64_t n, const char *path,
                        const char *form) {
  return cli_answer_line(arguments, json_pack("{s:I, s:o}", key, (json_int_t)n, "store", clt_json_text(path)), form);
}

/* Copies the selected records of one store to another; returns how many were new there. n_left_out: nullable. */
static uint64_t merge_stores(const cli_arguments *arguments, const char *into_path, const char *from_path,
                             uint64_t *n_left_out) {
  clt_store_selection selection = read_selection(arguments);
  clt_store *into = NULL, *from = NULL;
  uint64_t n = 0;
  selection.n_left_out = n_left_out;
  cli_check(clt_store_open_to_read(&from, NULL, from_path, &cli_error));
  cli_check(clt_store_new(&into, NULL, into_path, &cli_error));
  cli_check(clt_store_merge(into, from, &selection, &n, &cli_error));
  clt_store_free(into);
  clt_store_free(from);
  return n;
}

static int run_export(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  if (path == NULL) cli_usage("'clatune store export' needs -o FILE, the store to write");
  if (clt_pq_is_url(path))
    cli_usage(
        "'clatune store export' writes a file; to add to a database, use 'clatune store import FILE --store URL'");
  if (access(path, F_OK) == 0)
    cli_usage("'%s' exists already; choose another file, or add to this one with 'clatune store import'", path);
  if (!cli_has_store(arguments)) cli_no_store(arguments);
  uint64_t n_left_out = 0;
  const uint64_t n = merge_stores(arguments, path, cli_text(arguments, "store"), &n_left_out);
  if (n_left_out > 0)
    fprintf(stderr,
            "clatune: warning: left out %llu measurements of others: with a '/', their configurations may contain a "
            "path\n",
            (unsigned long long)n_left_out);
  if (n > 0)
    return cli_answer_line(arguments,
                           json_pack("{s:I, s:I, s:o}", "exported", (json_int_t)n, "left_out", (json_int_t)n_left_out,
                                     "store", clt_json_text(path)),
                           "exported {exported} measurement{exported:s} to {store}");
  remove(path);
  cli_failure("no measurement in the store matches; 'clatune store list' shows problems and devices");
}

/* --- importing recordings --- */

/* added: records that are new to the store; foreign: configurations that are not in the problem's space. */
typedef struct import_count {
  uint64_t added, foreign;
} import_count;

/* --as-device takes precedence. Otherwise it is the device that the recording names, even if no more than its name is
 * known. --device counts if the recording names none, or to identify the recording's device with one of this machine.
 */
static void choose_import_device(clt_device_info *out, const clt_recording *recording, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "device"), *as = cli_text(arguments, "as-device");
  const char *name = clt_recording_name(recording), *own = recording->device;
  clt_device_info here;
  if (as) {
    cli_check(cli_find_device(out, as, &cli_error));
    if (own[0] && strcasecmp(own, out->name) != 0)
      fprintf(
          stderr,
          "clatune: warning: '%s' was measured on %s; because of --as-device its measurements are stored under %s\n",
          name, own, out->name);
    return;
  }
  if (own[0] == '\0') {
    if (typed == NULL) cli_usage("'%s' does not say what it was measured on; name the device with --device", name);
    cli_choose_device(out, arguments);
    return;
  }
  if (clt_device_from_json(out, recording->device_json, NULL) || !out->name[0]) {
    *out = (clt_device_info){.type = CLT_DEVICE_OTHER};
    snprintf(out->name, sizeof out->name, "%s", own);
  }
  if (typed && cli_find_device(&here, typed, NULL) == 0 && strcasecmp(own, here.name) == 0) {
    if (!out->platform_name[0]) *out = here;
  } else if (typed && strcasestr(own, typed) == NULL) {
    cli_usage("'%s' was measured on %s; leave out --device, or name another device with --as-device", name, own);
  }
  if (!out->driver_version[0]) strcpy(out->driver_version, "unknown");
}

/* At the recording's sizes, then the typed ones. */
static clt_instance *instantiate_for(const clt_problem *problem, const clt_recording *recording,
                                     const cli_arguments *arguments) {
  clt_device_info device;
  clt_instance *out;
  size_t n_typed = 0, n = 0;
  choose_import_device(&device, recording, arguments);
  const clt_size *typed = cli_sizes(&n_typed, arguments);
  clt_size *sizes = cli_new(recording->n_sizes + n_typed, sizeof *sizes);
  for (size_t i = 0; i < recording->n_sizes; i++)
    for (size_t k = 0; k < clt_problem_n_sizes(problem); k++)
      if (strcmp(clt_problem_size(problem, k).name, recording->sizes[i].name) == 0) sizes[n++] = recording->sizes[i];
  for (size_t k = 0; k < n_typed; k++) sizes[n++] = typed[k]; /* the last of two with the same name counts */
  cli_check(clt_instance_new(&out, problem, sizes, n, &device, &cli_error));
  return out;
}

/* Two results are the same if configuration, failure reason and time are. */
static uint64_t result_hash(const clt_measurement *m) {
  struct {
    uint64_t config, reason;
    double value;
  } result = {m->config, (uint64_t)m->reason, 0};
  if (clt_measurement_correct(m)) result.value = isnan(m->time_s) ? m->figure : m->time_s;
  return clt_hash64(&result, sizeof result);
}

typedef struct stored_results {
  const clt_objective *objective;
  clt_map hashes;
} stored_results;

static int note_stored_result(void *user, clt_record_kind kind, const clt_measurement *m) {
  stored_results *stored = user;
  clt_measurement in_file;
  if (kind != CLT_RECORD_SEARCH) return 0;
  clt_objective_figure_as_time(stored->objective, m, &in_file);
  return clt_map_add(&stored->hashes, result_hash(&in_file), NULL) ? 0 : CLT_E_MEMORY;
}

/* New measurements are collected in memory and then merged, so that the store takes all of them or none. */
static int add_results(clt_store *store, const clt_instance *instance, const clt_space_match *match,
                       const clt_recording *recording, import_count *count, clt_error *error) {
  clt_store_key key;
  clt_store *memory = NULL;
  clt_objective *objective = NULL;
  uint64_t added = 0;
  int rc = clt_objective_new(&objective, instance, "", error);
  stored_results stored = {.objective = objective};
  const clt_metric *figure = &recording->figure;
  const bool has_figure = rc == 0 && clt_objective_default(objective) > 0;
  if (has_figure && figure->name) {
    const clt_metric own = clt_objective_metric(objective, clt_objective_default(objective));
    if (figure->goal != own.goal || (figure->unit[0] && own.unit[0] && strcmp(figure->unit, own.unit) != 0))
      rc = clt_fail(error, CLT_E_FORMAT,
                    "'%s' has results in '%s' (%s), which is not the problem's metric; choose its problem with --of",
                    clt_recording_name(recording), figure->name, figure->unit);
  }
  if (rc == 0) rc = clt_store_key_init(&key, instance, error);
  if (rc == 0) rc = clt_store_each(store, &key, match->to, note_stored_result, &stored, NULL, error);
  if (rc == 0) rc = clt_store_new(&memory, "memory", NULL, error);
  for (size_t i = 0; rc == 0 && i < recording->n; i++) {
    clt_measurement m = *clt_recording_at(recording, i), in_file; /* its log still belongs to the recording */
    if (!has_figure) m.figure = NAN;
    m.config = clt_space_translate(match, m.config);
    clt_objective_figure_as_time(objective, &m, &in_file);
    if (m.config == CLT_CONFIG_NONE || !clt_space_contains(match->to, m.config))
      count->foreign++;
    else if (clt_measurement_correct(&m) && isnan(m.figure) && isnan(m.time_s))
      rc = clt_fail(error, CLT_E_FORMAT,
                    "'%s' has '%s' but no times, which the problem needs; choose its problem with --of",
                    clt_recording_name(recording), figure->name ? figure->name : "energy");
    else if (clt_map_find(&stored.hashes, result_hash(&in_file)) == NULL)
      rc = clt_store_add(memory, &key, match->to, CLT_RECORD_SEARCH, &m, error);
  }
  if (rc == 0) rc = clt_store_describe_instance(memory, &key, instance, error);
  if (rc == 0) rc = clt_store_merge(store, memory, NULL, &added, error);
  count->added += added;
  clt_store_free(memory);
  clt_map_release(&stored.hashes);
  clt_objective_free(objective);
  return rc;
}

/* Adds a recording's measurements under the problem of --of. */
static void import_recording(const cli_arguments *arguments, const char *path, import_count *count) {
  const char *problem_path = cli_text(arguments, "of");
  clt_store *store;
  clt_problem *itself;
  if (clt_problem_new(&itself, path, NULL) == CLT_OK)
    cli_usage("'%s' is a problem file; add a recording or a store", path);
  if (problem_path == NULL) cli_usage("'%s' is a recording; name its problem file with --of FILE", path);
  const clt_problem *problem = cli_subject_load(arguments, problem_path).problem;
  clt_recording *recording = cli_load_recordings(&path, 1)[0];
  clt_instance *instance = instantiate_for(problem, recording, arguments);
  const char *name = clt_recording_name(recording);
  const clt_space_match match = clt_space_match_new(clt_recording_space(recording), clt_instance_space(instance));
  if (match.extra)
    cli_failure("'%s' has a parameter '%s' that the problem lacks; choose its problem with --of", name, match.extra);
  if (match.missing)
    cli_failure("'%s' lacks the problem's parameter '%s'; choose its problem with --of", name, match.missing);
  cli_check(clt_store_new(&store, NULL, cli_text(arguments, "store"), &cli_error));
  cli_check(add_results(store, instance, &match, recording, count, &cli_error));
  clt_store_free(store);
  clt_instance_free(instance);
}

static int run_import(const cli_arguments *arguments) {
  import_count count = {0};
  if (arguments->n_positional < 2)
    cli_usage("'clatune store %s' needs at least one file to add", arguments->positional[0]);
  for (size_t i = 1; i < arguments->n_positional; i++) {
    const char *path = arguments->positional[i];
    unsigned char start[2] = {0}; /* a recording is JSON or gzip */
    size_t n = sizeof start;
    if (!clt_pq_is_url(path)) cli_check(clt_file_read_start(start, &n, path, &cli_error));
    if (start[0] == '{' || (start[0] == 0x1f && start[1] == 0x8b))
      import_recording(arguments, path, &count);
    else
      count.added += merge_stores(arguments, cli_text(arguments, "store"), path, NULL);
  }
  const char *place = store_place(arguments);
  if (count.foreign)
    fprintf(stderr,
            "clatune: warning: skipped %llu configurations that are not in the problem's space on this device\n",
            (unsigned long long)count.foreign);
  return answer_count(arguments, "added", count.added, place,
                      count.added || count.foreign ? "added {added} measurement{added:s} to {store}"
                                                   : "nothing is new: {store} has these measurements already");
}

static int run_prune(const cli_arguments *arguments) {
  const bool dry_run = cli_given(arguments, "dry-run");
  uint64_t n = 0;
  if (!cli_given(arguments, "problem") && !cli_given(arguments, "device") && !cli_given(arguments, "older-than"))
    cli_usage(
        "'clatune store prune' deletes permanently; select what to delete with --problem, --device or --older-than");
  if (!cli_has_store(arguments)) cli_no_store(arguments);
  const clt_store_selection selection = read_selection(arguments);
  clt_store *store = cli_open_store(arguments);
  cli_check(clt_store_prune(store, &selection, dry_run, &n, &cli_error));
  return answer_count(arguments, dry_run ? "would_remove" : "removed", n, clt_store_path(store),
                      "would delete {would_remove} measurement{would_remove:s} from {store}"
                      "|deleted {removed} measurement{removed:s} from {store}");
}

/* --- check, repair, init --- */

static int run_check(const cli_arguments *arguments) {
  bool whole;
  if (!cli_has_store(arguments)) cli_no_store(arguments);
  cli_check(clt_store_check(&whole, cli_text(arguments, "store"), &cli_error));
  cli_answer_line(arguments, json_pack("{s:b}", "whole", whole),
                  "{?whole}the store is intact|the store is damaged; 'clatune store repair' saves what can be read");
  return whole ? CLI_FOUND : CLI_STORE_UNUSABLE;
}

static int run_repair(const cli_arguments *arguments) {
  clt_store_repair_report report;
  if (!cli_has_store(arguments)) cli_no_store(arguments);
  cli_check(clt_store_repair(&report, cli_text(arguments, "store"), &cli_error));
  bool damaged = report.set_aside[0] != '\0';
  return cli_answer_line(
      arguments,
      json_pack("{s:b, s:I, s:I, s:o}", "damaged", damaged, "saved", (json_int_t)report.n_saved, "lost",
                (json_int_t)report.n_lost, "set_aside", clt_json_text(damaged ? report.set_aside : NULL)),
      "saved {saved} measurement{saved:s}, lost {lost}; the damaged file was moved to {set_aside}"
      "|the store is intact; there is nothing to repair");
}

/* A PostgreSQL database that machines share. */
static int run_init(const cli_arguments *arguments) {
  const char *url = arguments->n_positional > 1 ? arguments->positional[1] : cli_text(arguments, "store");
  char *shown = NULL;
  if (!clt_pq_is_url(url))
    cli_usage(
        "'clatune store init' needs a database: postgresql://HOST/DATABASE (a store in a file needs no preparation)");
  cli_check(clt_schema_init(url, &cli_error));
  cli_check(clt_pq_shown(&shown, url, &cli_error));
  cli_keep_memory(shown);
  return cli_answer_line(arguments,
                         json_pack("{s:o, s:i, s:[s, s, s]}", "store", clt_json_text(shown), "version",
                                   CLT_SCHEMA_VERSION, "roles", CLT_ROLE_READER, CLT_ROLE_WORKER, CLT_ROLE_OWNER),
                         "{store} is ready: schema clatune, version {version}\n"
                         "grant roles in psql:\n"
                         "  GRANT " CLT_ROLE_WORKER
                         " TO name;  adds measurements\n"
                         "  GRANT " CLT_ROLE_READER
                         " TO name;  reads only\n"
                         "  ALTER ROLE name CONNECTION LIMIT 20;  leaves connections to others\n"
                         "  GRANT " CLT_ROLE_OWNER " TO name;   may also delete");
}

/* --- the command --- */

#define SELECTION " problem device older-than "

static const cli_action actions[] = {{"where", 1, " ", run_where},
                                     {"init", 2, " ", run_init},
                                     {"list", 1, " ", run_list},
                                     {"show", 2, " by ", run_show},
                                     {"export", 1, " output public" SELECTION, run_export},
                                     {"import", 64, " of size as-device" SELECTION, run_import},
                                     {"merge", 64, SELECTION, run_import},
                                     {"prune", 1, " dry-run" SELECTION, run_prune},
                                     {"revoke", 1, " agent since ", run_revoke},
                                     {"check", 1, " ", run_check},
                                     {"repair", 1, " ", run_repair}};

static int run_store(const cli_arguments *arguments) {
  return cli_run_action(arguments, actions, sizeof actions / sizeof *actions, "; name the store with --store");
}

static const cli_flag flags[] = {
    CLI_FLAG_STORE,
    {"output", "FILE", "export: the file to write; also -o FILE"},
    {"public", NULL,
     "export: only correct measurements, without what names a machine, a person or a path; for the public results"},
    {"problem", "NAME|FILE", "export, import, prune: only measurements of this problem"},
    {"device", "NAME",
     "export, import, prune: only devices whose key contains this; import --of: the device of a recording that "
     "names none"},
    {"as-device", "NAME", "import --of: stores the measurements under this device instead of the recording's"},
    {"of", "FILE", "import: the problem file of the recordings"},
    {"size", "NAME=N", "import --of: a problem parameter that the recording does not state; may be repeated"},
    {"older-than", "DAYS", "export, import, prune: only measurements older than this"},
    {"by", "agent", "show: who delivered how many measurements to a database, the latest first"},
    {"agent", "NAME", "revoke: an agent, or all of a login or host; LOGIN/NAME if several logins have such"},
    {"since", "TIME", "revoke: only what was delivered since then, in UTC: 2026-01-31T18:00"},
    {"dry-run", NULL, "prune: counts what would be deleted; deletes nothing"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_store = {
    .name = "store",
    .summary = "lists, copies, deletes and repairs stored measurements",
    .synopsis =
        "where|init URL|list|show PROBLEM|export -o FILE|import FILE...|merge FILE...|prune|revoke|check|repair "
        "[OPTION...]",
    .description =
        "where: prints the store's path. init: prepares a PostgreSQL database that several machines share. list: the "
        "problems, sizes and devices with measurements. show: the best configuration of each device and size. export: "
        "writes the selected measurements to a new store. import, merge: add the measurements of other stores; "
        "duplicates are skipped. import --of PROBLEM: adds recordings: T4 results, cache files of Kernel Tuner, "
        "results of CLTune, CLBlast's tuners and KTT, and files of 'clatune record'. prune: deletes the selected "
        "measurements permanently. revoke: sets the measurements of an agent in a database apart, fails the tunings "
        "that rested on them, and lists these. check: whether the store's file is intact (exit code 6 if not). repair: "
        "copies all readable measurements into a new file and keeps the damaged one next to it; no other program may "
        "use the store meanwhile.",
    CLI_FLAGS(flags),
    .n_positional = {1, 64},
    .run = run_store,
};
