/* `clatune apply`: runs an application with the best known configurations of its captured kernels. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "layer/apply.h"
#include "layer/programs/programs.h"
#include "lookup/lookup.h"
#include "measurement/measurement.h"
#include "problem/command.h"
#include "problem/instance.h"
#include "store/best.h"
#include "store/store.h"

#define MOST_PROBLEM_BYTES (64 << 20)

/* A tuned launch: a captured problem on a device. */
typedef struct applied {
  const char *path, *kernel, *configuration, *device;
  double time_s; /* of the best configuration, in the store */
  clt_interval interval;
} applied;

typedef struct collection {
  const cli_arguments *arguments;
  clt_catalog *catalog;
  clt_store *store; /* for the intervals; NULL: none */
  json_t *entries;
  applied *all;
  size_t n, capacity;
  clt_words untuned;         /* captured kernels without a tuned configuration */
  clt_words damaged;         /* kernels whose problem files cannot be used */
  size_t n_problems, n_here; /* captured problems; entries of the current one */
  const char *path;          /* of the current problem */
  const json_t *capture;     /* its "Capture" */
} collection;

/* --- the layer's instructions --- */

static json_t *sizes_json(const size_t *sizes, unsigned n) {
  json_t *list = json_array();
  for (unsigned d = 0; d < n; d++) json_array_append_new(list, json_integer((json_int_t)sizes[d]));
  return list;
}

static bool varies(const collection *c, const char *name) {
  const json_t *list = json_object_get(c->capture, "Varying"), *item;
  size_t i;
  json_array_foreach(list, i, item) if (json_is_string(item) && strcmp(json_string_value(item), name) == 0) return true;
  return false;
}

static json_t *argument_json(const collection *c, const clt_problem *problem, const clt_plan_arg *a) {
  char hex[2 * sizeof a->scalar + 1], type[16];
  const json_t *asked = json_object_get(json_object_get(c->capture, "LocalMemory"), a->name);
  if (a->kind == CLT_ARG_LOCAL)
    return json_pack("{s:I, s:I}", "local", (json_int_t)a->bytes, "asked", json_integer_value(asked));
  const size_t components = a->element.components == 3 ? 4 : (size_t)a->element.components;
  const bool is_whole =
      a->element.base < CLT_ELEMENT_HALF && a->bytes == components * clt_element_base_bytes(a->element.base);
  if (a->kind == CLT_ARG_SCALAR && is_whole && !varies(c, a->name)) {
    for (size_t i = 0; i < a->bytes; i++) snprintf(hex + 2 * i, 3, "%02x", a->scalar[i]);
    return json_pack("{s:s}", "number", hex);
  }
  if (a->kind == CLT_ARG_SCALAR || a->kind == CLT_ARG_SAMPLER || a->access == CLT_READ_ONLY) return json_object();
  json_t *json = json_pack("{s:b}", "written", true);
  for (size_t i = 0; a->verified && i < problem->n_arguments; i++) {
    const clt_argument *stated = &problem->arguments[i];
    if (strcmp(stated->name, a->name) != 0) continue;
    clt_element_print(type, a->element);
    json_object_update_new(json, json_pack("{s:s, s:I, s:f, s:f, s:b}", "type", type, "bytes", (json_int_t)a->bytes,
                                           "absolute", stated->absolute_tolerance, "relative",
                                           stated->relative_tolerance, "scaled", !stated->absolute_is_stated));
    break;
  }
  return json;
}

/* Size and hash of each included file of the application: if one has changed, the captured copies are another
 * program. */
static json_t *included_json(const collection *c) {
  json_t *list = json_array(), *path;
  const char *file, *folder = cli_keep_memory(clt_path_folder(c->path));
  json_object_foreach(json_object_get(c->capture, "Included"), file, path) {
    char *text;
    size_t n;
    cli_check(clt_file_read(&text, &n, cli_keep_memory(clt_path_join(folder, file)), MOST_PROBLEM_BYTES, &cli_error));
    json_array_append_new(list, json_pack("{s:O, s:I, s:I}", "path", path, "bytes", (json_int_t)n, "hash",
                                          (json_int_t)clt_hash64(text, n)));
    free(text);
  }
  return list;
}

static json_t *entry_json(const collection *c, const clt_instance *instance, const clt_plan *plan) {
  const clt_device_info *device = clt_instance_device(instance);
  const clt_plan_launch *launch = &plan->launches[0];
  const char *program = clt_json_string(c->capture, "Program");
  json_t *arguments = json_array(), *global = json_object_get(c->capture, "Global");
  json_t *local = json_object_get(c->capture, "Local"), *tuned_local = json_null();
  if (launch->has_local) tuned_local = sizes_json(launch->local, launch->n_dimensions);
  for (size_t i = 0; i < launch->n_args; i++)
    json_array_append_new(arguments, argument_json(c, clt_instance_problem(instance), &plan->args[launch->args[i]]));
  return json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:I, s:s, s:O, s:O?, s:s, s:s, s:o, s:o, s:o}", "problem", c->path,
                   "included", included_json(c), "program", program, "kernel", launch->kernel, "platform",
                   device->platform_name, "device", device->name, "compute_units", (json_int_t)device->compute_units,
                   "driver", device->driver_version, "global", global, "local", local, "source", plan->source,
                   "options", plan->options, "tuned_global", sizes_json(launch->global, launch->n_dimensions),
                   "tuned_local", tuned_local, "arguments", arguments);
}

/* --- collecting the tuned launches --- */

/* The interval of the median in the comparison that established the configuration. */
static clt_interval interval_of(const collection *c, const clt_instance *instance, clt_config config) {
  const clt_interval none = {NAN, NAN, 0};
  clt_objective *objective;
  clt_store_key key;
  clt_best_known best;
  if (c->store == NULL) return none;
  cli_check(clt_store_key_init(&key, instance, &cli_error));
  cli_check(clt_objective_new(&objective, instance, NULL, &cli_error));
  const clt_best_query query = {.objective = objective, .beside = CLT_CONFIG_NONE};
  cli_check(clt_store_best(&best, c->store, &key, clt_instance_space(instance), &query, &cli_error));
  clt_objective_free(objective);
  return best.compared && best.measurement.config == config ? clt_measurement_interval(&best.measurement) : none;
}

static bool has_usual_sizes(const clt_instance *instance) {
  const clt_problem *problem = clt_instance_problem(instance);
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    int64_t usual;
    cli_check(clt_default_size(&usual, problem, &problem->sizes[i], clt_instance_device(instance), &cli_error));
    if (clt_instance_size(instance, i).value != usual) return false;
  }
  return true;
}

static int add_entry(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  collection *c = user;
  clt_config config;
  clt_plan *plan;
  if (found->tier != CLT_TIER_EXACT || found->stale || !has_usual_sizes(instance)) return 0;
  cli_check(clt_config_parse(&config, clt_instance_space(instance), found->configuration, &cli_error));
  cli_check(clt_plan_new_with_source(&plan, instance, config, &cli_error));
  if (plan->n_launches != 1 || plan->launches[0].repeat != 1)
    cli_failure("'%s' has several launches, but captured problems have one; capture it again", c->path);
  if (clt_grow(&c->all, &c->capacity, c->n + 1, sizeof *c->all)) cli_failure("out of memory");
  c->all[c->n++] = (applied){c->path,
                             cli_keep_memory(strdup(plan->launches[0].kernel)),
                             cli_keep_memory(strdup(found->configuration)),
                             cli_keep_memory(strdup(clt_instance_device(instance)->name)),
                             found->expected_time_s,
                             interval_of(c, instance, config)};
  json_array_append_new(c->entries, entry_json(c, instance, plan));
  clt_plan_free(plan);
  c->n_here++;
  return 0;
}

/* --- which problems --- */

static void free_problem(void *problem) { clt_problem_free(problem); }

/* The file's name without folder and ending; kept until the command ends. */
static const char *stem_of(const char *path) {
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  return cli_keep_memory(strndup(name, strcspn(name, ".")));
}

/* Whether a file is called like its folder and has a kernel next to it, as 'clatune capture' writes them. */
static bool is_like_captured(const char *path) {
  const char *folder = cli_keep_memory(clt_path_folder(path));
  const char *kernel = cli_keep_memory(clt_path_join(folder, "kernel.cl"));
  return access(kernel, F_OK) == 0 && clt_starts_with(stem_of(folder), stem_of(path));
}

/* Ignores a problem file that 'clatune capture' did not write. */
static void add_file(collection *c, const char *path) {
  char *text, why[2048] = "";
  clt_problem *problem;
  json_error_t fault;
  clt_error error = {0};
  if (clt_file_read(&text, NULL, path, MOST_PROBLEM_BYTES, &error)) {
    cli_message(CLI_FOUND, "warning: left out: %s", error.message);
    return;
  }
  const bool is_captured = is_like_captured(path), is_problem = is_captured || strstr(text, "\"ConfigurationSpace\"");
  json_t *json = is_problem ? json_loads(text, 0, &fault) : NULL;
  free(text);
  if (json) cli_keep_json(json);
  c->capture = json_object_get(json, "Capture");
  if (is_problem && json == NULL)
    snprintf(why, sizeof why, "%s:%d: %s", path, fault.line, fault.text);
  else if (is_captured && !json_is_object(c->capture))
    snprintf(why, sizeof why, "%s: \"Capture\" is missing", path);
  else if (json_is_object(c->capture) && clt_problem_new(&problem, path, &error))
    clt_error_format(why, sizeof why, &error);
  if (why[0]) {
    cli_message(CLI_FOUND, "warning: left out %s; capture it again", why);
    cli_check(clt_words_add(&c->damaged, strdup(stem_of(path)), &cli_error));
  }
  if (why[0] || !json_is_object(c->capture)) return;
  cli_keep(problem, free_problem);
  c->path = cli_keep_memory(strdup(path));
  c->n_here = 0;
  c->n_problems++;
  cli_check(clt_catalog_each(c->catalog, problem, false, add_entry, c, &cli_error));
  if (c->n_here == 0) cli_check(clt_words_add(&c->untuned, strdup(problem->kernel_name), &cli_error));
  if (c->n_here > 0 || cli_given(c->arguments, "quiet")) return;
  fprintf(stderr, "clatune: note: no tuned configuration of '%s' in the store", path);
  if (c->store) fprintf(stderr, " %s", clt_store_path(c->store));
  fprintf(stderr, "; run 'clatune tune %s'\n", path);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Adds the problem files of a folder and of its subfolders, `levels` deep. */
static void add_folder(collection *c, const char *folder, int levels) {
  clt_words names = {0};
  DIR *open = opendir(folder);
  if (open == NULL) cli_failure("cannot read the folder '%s'", folder);
  for (struct dirent *entry; (entry = readdir(open)) != NULL;)
    if (entry->d_name[0] != '.') cli_check(clt_words_add(&names, clt_path_join(folder, entry->d_name), &cli_error));
  closedir(open);
  if (names.n) qsort(names.all, names.n, sizeof *names.all, by_text);
  for (size_t i = 0; i < names.n; i++) {
    DIR *below = levels > 0 ? opendir(names.all[i]) : NULL;
    if (below) closedir(below);
    if (below) add_folder(c, names.all[i], levels - 1);
    if (below == NULL && clt_ends_with(names.all[i], ".json")) add_file(c, names.all[i]);
  }
  clt_words_free(names.all);
}

static void free_catalog(void *catalog) { clt_catalog_free(catalog); }

static void collect(collection *c, const cli_arguments *arguments) {
  const char *store = cli_text(arguments, "store");
  *c = (collection){.arguments = arguments, .entries = json_array()};
  cli_check(clt_catalog_new(&c->catalog, store ? &store : NULL, store != NULL, &cli_error));
  cli_keep(c->catalog, free_catalog);
  c->store = cli_open_store_to_read(arguments);
  for (size_t i = 0; i < arguments->n_positional; i++) {
    if (clt_ends_with(arguments->positional[i], ".json"))
      add_file(c, arguments->positional[i]);
    else
      add_folder(c, arguments->positional[i], 1);
  }
  if (arguments->n_positional == 0) add_folder(c, ".", 2); /* captured/KERNEL/KERNEL.json */
  if (c->n_problems == 0)
    cli_failure("there is no captured problem in '%s'; write one with 'clatune capture -o FOLDER -- APPLICATION'",
                arguments->n_positional ? arguments->positional[0] : ".");
}

/* --- the report --- */

static const char *const reasons[REPORT_REASONS] = {
    [REPORT_NO_KERNEL] = "no captured kernel has this name; 'clatune capture --kernel NAME' captures it",
    [REPORT_NO_SOURCE] = "its program was not built from source",
    [REPORT_BINARY] = LAYER_FROM_BINARY,
    [REPORT_OTHER_PROGRAM] = "its program's source, options or included files differ from the captured ones",
    [REPORT_OTHER_DEVICE] = "not tuned on this device with this driver",
    [REPORT_OTHER_SIZES] = "not tuned for these sizes",
    [REPORT_OTHER_NUMBERS] =
        "an integer argument or the size of a local-memory argument differs from the captured launch",
    [REPORT_OFFSET] = "it has a global offset",
    [REPORT_SHARED_MEMORY] = "it uses shared virtual memory (SVM)",
    [REPORT_UNSET] = "one of its arguments was set in a way that the layer does not see",
    [REPORT_UNCHECKED] = "not checked yet",
    [REPORT_OFF] = "switched off, see above",
};
static const char *const checks[] = {"not checked", "right", "wrong"};

static const char *reason_text(const collection *c, const report_passed *p) {
  for (size_t i = 0; p->reason == REPORT_NO_KERNEL && i < c->untuned.n; i++)
    if (strcmp(c->untuned.all[i], p->kernel) == 0) return "captured, but not tuned yet";
  for (size_t i = 0; p->reason == REPORT_NO_KERNEL && i < c->damaged.n; i++)
    if (strcmp(c->damaged.all[i], p->kernel) == 0) return "its problem file is damaged, see above";
  return reasons[p->reason];
}

/* Lists the kinds of unchanged launches, the most frequent first; returns how many there are. */
static int by_launches(const void *a, const void *b) {
  const unsigned long long x = atomic_load(&(*(report_passed *const *)a)->launches),
                           y = atomic_load(&(*(report_passed *const *)b)->launches);
  return (x < y) - (x > y);
}
static size_t passed_of(report_passed *out[REPORT_PASSED], report *told) {
  size_t n = 0;
  for (size_t i = 0; i < REPORT_PASSED; i++)
    if (atomic_load(&told->passed[i].is_set)) out[n++] = &told->passed[i];
  qsort(out, n, sizeof *out, by_launches);
  return n;
}

typedef struct applied_times {
  size_t n;
  double median_s;
  clt_interval interval;
} applied_times;

static applied_times times_of(report_applied *r) {
  double times[REPORT_TIMES];
  const unsigned long long n_times = atomic_load(&r->n_times);
  applied_times out = {n_times < REPORT_TIMES ? (size_t)n_times : REPORT_TIMES, NAN, {NAN, NAN, 0}};
  for (size_t i = 0; i < out.n; i++) times[i] = 1e-9 * (double)atomic_load(&r->times_ns[i]);
  out.median_s = clt_median(times, out.n);
  out.interval = clt_median_interval(times, out.n);
  return out;
}

static json_t *passed_sizes(const report_passed *p, const size_t *sizes) {
  return sizes[0] ? sizes_json(sizes, p->n_dimensions) : json_null();
}

static json_t *report_json(const collection *c, report *told, int exit_code) {
  json_t *launches = json_array(), *passed = json_array();
  report_passed *all[REPORT_PASSED];
  const size_t n_passed = passed_of(all, told);
  for (size_t i = 0; i < c->n; i++) {
    const applied *a = &c->all[i];
    report_applied *r = &told->applied[i];
    const applied_times times = times_of(r);
    const json_t *entry = json_array_get(c->entries, i);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:O, s:O, s:O, s:O, s:O, s:I}", "problem", a->path, "kernel", a->kernel,
                  "device", a->device, "configuration", a->configuration, "options", json_object_get(entry, "options"),
                  "global", json_object_get(entry, "global"), "local", json_object_get(entry, "local"), "tuned_global",
                  json_object_get(entry, "tuned_global"), "tuned_local", json_object_get(entry, "tuned_local"),
                  "launches", (json_int_t)atomic_load(&r->launches));
    json_object_update_new(
        json,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s?}", "time_s", clt_json_real(times.median_s),
                  "interval_low", clt_json_real(times.interval.low), "interval_high",
                  clt_json_real(times.interval.high), "tuning_time_s", clt_json_real(a->time_s), "tuning_interval_low",
                  clt_json_real(a->interval.low), "tuning_interval_high", clt_json_real(a->interval.high), "check",
                  checks[atomic_load(&r->check)], "check_untuned_s",
                  clt_json_real(r->untuned_s > 0 ? r->untuned_s : NAN), "check_tuned_s",
                  clt_json_real(r->tuned_s > 0 ? r->tuned_s : NAN), "message", r->message[0] ? r->message : NULL));
    json_array_append_new(launches, json);
  }
  for (size_t i = 0; i < n_passed; i++) {
    report_passed *p = all[i];
    json_array_append_new(
        passed, json_pack("{s:s, s:s, s:o, s:o, s:I, s:s}", "kernel", p->kernel, "program", p->program, "global",
                          passed_sizes(p, p->global), "local", passed_sizes(p, p->local), "launches",
                          (json_int_t)atomic_load(&p->launches), "reason", reason_text(c, p)));
  }
  return json_pack("{s:i, s:i, s:o, s:o, s:I}", "exit_code", exit_code, "processes", (int)atomic_load(&told->processes),
                   "launches", launches, "passed", passed, "passed_others", (json_int_t)atomic_load(&told->others));
}

static void print_sizes(const size_t *sizes, unsigned n) {
  for (unsigned d = 0; d < n; d++) fprintf(stderr, "%s%zu", d ? " x " : "", sizes[d]);
}

static void print_time(const char *before, double time_s, const clt_interval *interval) {
  char median[32], low[32], high[32];
  fprintf(stderr, "%s%s", before, clt_time_text(median, time_s));
  if (isfinite(interval->low))
    fprintf(stderr, " (%s to %s)", clt_time_text(low, interval->low), clt_time_text(high, interval->high));
}

static void print_applied(const applied *a, report_applied *r) {
  const applied_times times = times_of(r);
  char untuned[32], tuned[32];
  fprintf(stderr, "clatune: %s: %llu launches tuned (%s)\n", a->kernel, atomic_load(&r->launches), a->path);
  if (times.n) {
    print_time("  time      ", times.median_s, &times.interval);
    print_time("; in the store ", a->time_s, &a->interval);
    fputc('\n', stderr);
  }
  if (atomic_load(&r->check) != REPORT_NOT_CHECKED) fprintf(stderr, "  checked   %s\n", checks[atomic_load(&r->check)]);
  if (r->tuned_s > 0)
    fprintf(stderr, "  in turns  untuned %s, tuned %s\n", clt_time_text(untuned, r->untuned_s),
            clt_time_text(tuned, r->tuned_s));
  if (r->message[0]) fprintf(stderr, "  off       %s\n", r->message);
}

static void print_report(const collection *c, report *told) {
  report_passed *all[REPORT_PASSED];
  const size_t n_passed = passed_of(all, told);
  if (atomic_load(&told->processes) == 0)
    cli_message(CLI_FOUND,
                "warning: the application did not load the layer: it does not use OpenCL, or not with "
                "ocl-icd's loader");
  for (size_t i = 0; i < c->n; i++)
    if (atomic_load(&told->applied[i].launches) || told->applied[i].message[0])
      print_applied(&c->all[i], &told->applied[i]);
  for (size_t i = 0; i < n_passed; i++) {
    report_passed *p = all[i];
    fprintf(stderr, "clatune: %s: %llu launches unchanged (global ", p->kernel, atomic_load(&p->launches));
    print_sizes(p->global, p->n_dimensions);
    fputs(", local ", stderr);
    if (p->local[0])
      print_sizes(p->local, p->n_dimensions);
    else
      fputs("chosen by the driver", stderr);
    fprintf(stderr, "): %s\n", reason_text(c, p));
  }
  if (atomic_load(&told->others))
    fprintf(stderr, "clatune: %llu other launches unchanged\n", atomic_load(&told->others));
}

/* --- the command --- */

static clt_run_folder folder = {.lock_fd = -1};
static void remove_folder(void *which) { clt_run_folder_remove(which); }

/* Maps a new file for the layer's report. */
static report *new_report(const char *path, size_t n_entries) {
  const size_t bytes = sizeof(report) + n_entries * sizeof(report_applied);
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void *memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) cli_failure("cannot write '%s'", path);
  return memory;
}

static int run_apply(const cli_arguments *arguments) {
  static collection c;
  const char *to = cli_text(arguments, "write");
  const bool json = cli_given(arguments, "json");
  if ((to == NULL) == (arguments->n_passed == 0))
    cli_usage(to ? "--write runs nothing; leave out '--' and the application"
                 : "name the application after '--': clatune apply [OPTION...] [FOLDER...] -- PROGRAM [ARGUMENT...]");
  collect(&c, arguments);
  cli_keep(c.all, free);
  json_t *instructions =
      json_pack("{s:s, s:b, s:b, s:b, s:O}", "use", "apply", "no_binaries", cli_given(arguments, "no-binaries"),
                "check", cli_given(arguments, "check"), "times", to == NULL, "entries", c.entries);
  if (to) {
    char *text = cli_keep_memory(json_dumps(instructions, JSON_INDENT(1)));
    umask(0077); /* it contains the application's kernels */
    cli_check(clt_file_replace(to, text, strlen(text), &cli_error));
    char *absolute = cli_keep_memory(realpath(to, NULL));
    printf("OPENCL_LAYERS=%s\nCLATUNE_LAYER=%s\n", layer_library(), absolute);
    return CLI_FOUND;
  }
  cli_check(clt_run_folder_new(&folder, &cli_error));
  cli_keep(&folder, remove_folder);
  const char *report_path = cli_keep_memory(clt_path_join(folder.path, "report"));
  report *told = new_report(report_path, c.n);
  json_object_set_new(instructions, "report", json_string(report_path));
  const int exit_code = layer_run_application(arguments, instructions, folder.path, json);
  if (json)
    cli_print_json(report_json(&c, told, exit_code));
  else if (!cli_given(arguments, "quiet"))
    print_report(&c, told);
  bool wrong = false;
  for (size_t i = 0; i < c.n; i++) wrong = wrong || atomic_load(&told->applied[i].check) == REPORT_WRONG;
  return exit_code == 0 && wrong ? CLI_VERIFY_FAILED : exit_code;
}

static const cli_flag flags[] = {
    {"check", NULL,
     "compares the first tuned launch of each kernel with an untuned one and times both in turns; kernels with wrong "
     "results are switched off"},
    {"write", "FILE",
     "writes the layer's instructions to a file and prints the environment variables that use it; runs nothing"},
    LAYER_FLAG_NO_BINARIES,
    CLI_FLAG_STORE,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

static const cli_command command = {
    .name = "apply",
    .summary = "runs an application with tuned kernels instead of its own",
    .synopsis = "[--check] [--no-binaries] [FOLDER...] -- APPLICATION [ARGUMENT...] | --write FILE [FOLDER...]",
    .description =
        "Runs an unmodified application. Kernels that 'clatune capture' captured and 'clatune tune' tuned are launched "
        "with their best known configuration; all other launches are unchanged. Captured problems are searched in the "
        "folders (default: the current one) and their subfolders. The report at the end, on standard error, lists the "
        "tuned launches with their times, and why others were not tuned. Exit code: the application's, or 5 if that is "
        "0 and --check found wrong results. With --json the application's standard output goes to standard error.",
    CLI_FLAGS(flags),
    .examples =
        "  clatune capture -o captured -- ./app data\n"
        "  clatune tune captured/blur/blur.json\n"
        "  clatune apply --check captured -- ./app data\n",
    .n_positional = {0, 64},
    .passes = "",
    .run = run_apply,
};

int main(int argc, char **argv) { return cli_program_main(&command, argc, argv); }
