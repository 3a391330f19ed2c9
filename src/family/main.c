/* clatune family: which of several kernels is the fastest on an input (docs/reference/family-file.md). */
#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "eval/evaluators.h"
#include "family/family.h"
#include "family/train.h"
#include "opencl/timing.h"
#include "problem/guidance.h"

static void release(void *user) {
  family_subject *s = user;
  clt_family_table_release(&s->table);
  clt_family_across_release(&s->across);
  clt_family_devices_release(&s->devices);
}

static void free_family(void *family) { clt_family_free(family); }
static void free_model(void *model) { clt_family_model_free(model); }

static clt_family *open_family(const char *path) {
  clt_family *family;
  cli_check(clt_family_load(&family, path, &cli_error));
  return cli_keep(family, free_family);
}

static const char *file_of(const cli_arguments *arguments, const char *what) {
  if (arguments->n_positional < 2) cli_usage("'clatune family %s' needs %s", arguments->positional[0], what);
  return arguments->positional[1];
}

static family_subject *begin(const cli_arguments *arguments, cli_device_need need) {
  family_subject *s = cli_keep(cli_new(1, sizeof *s), release);
  s->family = open_family(file_of(arguments, "a family file: clatune family measure|train|report FAMILY"));
  s->subject = cli_subject_new(arguments, clt_problem_path(s->family->variants[0].problem), need);
  s->store = need == CLI_DEVICE_REQUIRED ? cli_open_store(arguments) : cli_open_store_to_read(arguments);
  if (s->store == NULL && need != CLI_DEVICE_IF_NAMED) cli_no_store(arguments);
  return s;
}

/* The devices of --sources, then (train) the device that the model is for. */
static void open_sources(family_subject *s, const cli_arguments *arguments, bool is_target) {
  const clt_family_place own = {s->store, s->subject.device};
  size_t n;
  const char **paths = cli_texts(&n, arguments, "sources");
  clt_store **stores = cli_new(n, sizeof *stores);
  for (size_t i = 0; i < n; i++) stores[i] = cli_read_store(paths[i]);
  cli_check(clt_family_devices_find(&s->devices, s->family, stores, n, is_target ? &own : NULL, &cli_error));
}

/* --- measure --- */

static void on_tell(void *user, size_t done, size_t total, const char *text) {
  const bool *quiet = user;
  if (!*quiet) fprintf(stderr, "clatune: [%zu/%zu] %s\n", done, total, text);
}

static void on_log(void *user, clt_log_level level, const char *text) {
  if (level == CLT_LOG_WARNING) cli_log(user, level, text);
}

static int run_measure(const cli_arguments *arguments) {
  /* Slow configurations are data here, and short runs are compared. The user's options take precedence. */
  static const clt_setting own[] = {{"run-timeout-factor", "0"},
                                    {"max-runs", CLT_TIMING_TEXT(CLT_MAX_RUNS)},
                                    {"steady", "0"},
                                    {"max-run-time", "0.1"}};
  const size_t n_own = sizeof own / sizeof *own;
  size_t n_settings = 0;
  const clt_setting *settings = cli_settings(&n_settings, arguments, &clt_evaluators, "opencl");
  clt_setting *all = cli_new(n_settings + n_own, sizeof *all);
  memcpy(all, own, sizeof own);
  if (n_settings) memcpy(all + n_own, settings, n_settings * sizeof *all);
  bool quiet = cli_given(arguments, "quiet");
  clt_family_measuring how = {.portfolio = (size_t)cli_integer(arguments, "portfolio", 2, 1, CLT_MAX_PORTFOLIO),
                              .tune_on = (size_t)cli_integer(arguments, "tune-on", 4, 1, 64),
                              .budget = cli_integer(arguments, "budget", 40, 1, INT64_MAX),
                              .n_inputs = (size_t)cli_integer(arguments, "inputs", 0, 1, INT64_MAX),
                              .seed = (uint64_t)cli_integer(arguments, "seed", 1, 0, INT64_MAX),
                              .train_only = cli_given(arguments, "train-only"),
                              .settings = all,
                              .n_settings = n_settings + n_own,
                              .tell = on_tell,
                              .log = on_log,
                              .user = &quiet,
                              .stop = cli_signals_flag()};
  family_subject *s = begin(arguments, CLI_DEVICE_REQUIRED);
  if (cli_given(arguments, "sources")) open_sources(s, arguments, false);
  how.store = s->store;
  how.device = s->subject.device;
  how.sources = s->devices.places;
  how.n_sources = s->devices.n;
  cli_signals_install();
  clt_family_measured measured;
  const int rc = clt_family_measure(&measured, s->family, &how, &cli_error);
  if (rc == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  cli_check(rc);
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:I, s:I, s:I, s:s}", "inputs", (json_int_t)measured.n_inputs, "variants",
                                    (json_int_t)measured.n_variants, "arms", (json_int_t)measured.n_arms, "store",
                                    clt_store_path(s->store)));
  printf("measured            %zu inputs, %zu variants in %zu configurations\nstored in           %s\n",
         measured.n_inputs, measured.n_variants, measured.n_arms, clt_store_path(s->store));
  return CLI_FOUND;
}

/* --- train and report --- */

/* The index of a name; n if it is not among the names. */
static size_t find_name(const char *name, const char *const *names, size_t n) {
  size_t i = 0;
  while (i < n && strcmp(names[i], name) != 0) i++;
  return i;
}

/* The names in a list such as "a,b", as places in `names`; each may be there once. */
static void read_names(size_t *out, size_t *n, size_t most, const cli_arguments *arguments, const char *flag,
                       const char *const *names, size_t n_names) {
  const char *typed = cli_text(arguments, flag);
  char guess[CLI_GUESS_BYTES], *known, *rest = NULL;
  clt_text all = {0};
  if (typed == NULL) return;
  for (size_t k = 0; k < n_names; k++) clt_text_printf(&all, "%s%s", k ? ", " : "", names[k]);
  cli_check(clt_text_take(&known, &all, &cli_error));
  cli_keep_memory(known);
  char *list = cli_keep_memory(strdup(typed));
  for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    const size_t k = find_name(name, names, n_names);
    if (k == n_names)
      cli_usage("--%s: there is no '%s'%s; choose from %s", flag, name, cli_guess(guess, "", name, names, n_names),
                known);
    for (size_t i = 0; i < *n; i++)
      if (out[i] == k) cli_usage("--%s names '%s' twice", flag, name);
    if (*n == most) cli_usage("--%s takes at most %zu names", flag, most);
    out[(*n)++] = k;
  }
  if (*n == 0) cli_usage("--%s names nothing", flag);
}

static void note_left_out(const clt_family_table *table) {
  for (size_t v = 0; v < table->family->n_variants; v++) {
    size_t a = 0;
    while (a < table->n_arms && table->arms[a].variant != v) a++;
    if (a < table->n_arms) continue;
    cli_message(0,
                "left out the variant '%s': none of its configurations was measured on nearly all inputs and was "
                "correct on all of them",
                table->family->variants[v].name);
  }
}

/* Reads --chooser, --features and --seed, and loads the table. A report with --sources loads its tables later. */
static family_subject *begin_training(const cli_arguments *arguments) {
  const bool across = cli_given(arguments, "sources"), report = strcmp(arguments->positional[0], "report") == 0;
  const char *chooser = cli_text(arguments, "chooser");
  clt_family_training t = {.chooser = clt_family_choosers[0],
                           .seed = (uint64_t)cli_integer(arguments, "seed", 1, 0, INT64_MAX)};
  const size_t portfolio = (size_t)cli_integer(arguments, "portfolio", 2, 1, CLT_MAX_PORTFOLIO);
  const double uses = (double)cli_integer(arguments, "uses", 0, 1, INT64_MAX);
  if (across && report && cli_given(arguments, "device"))
    cli_usage("'clatune family report --sources' leaves out each device in turn; leave out --device");
  if (cli_given(arguments, "device-features") && !across)
    cli_usage("--device-features is for models of other devices; add --sources STORE");
  if (chooser) t.chooser = clt_family_chooser_find(chooser);
  if (chooser && t.chooser == NULL && strcmp(chooser, "auto") != 0)
    cli_usage("there is no chooser '%s'; choose time, svm, pairwise or auto", chooser);
  if (t.chooser && t.chooser->n_settings == 0)
    cli_failure("chooser '%s' needs libsvm, which this clatune was built without; choose time", chooser);
  family_subject *s = begin(arguments, across && report ? CLI_DEVICE_IF_NAMED : CLI_DEVICE_KNOWN);
  read_names(t.features, &t.n_features, CLT_MAX_FEATURES, arguments, "features", s->family->features,
             s->family->n_features);
  s->training = t;
  s->portfolio = portfolio;
  s->uses = uses;
  if (across) open_sources(s, arguments, !report);
  if (across) {
    clt_family_devices *d = &s->devices;
    const char *names[CLT_MOST_FEATURES];
    cli_check(clt_family_devices_read(d, &cli_error));
    for (size_t k = 0; k < d->n_figures; k++) names[k] = d->names[k];
    read_names(d->given, &d->n_given, CLT_MOST_CHOSEN, arguments, "device-features", names, d->n_figures);
  }
  if (across && report) return s;
  const clt_family_place own = {s->store, s->subject.device};
  cli_check(
      across ? clt_family_across_load(&s->across, s->family, &s->devices, s->devices.n - 1, portfolio, uses, &cli_error)
             : clt_family_table_load(&s->table, s->family, &own, 1, 1, portfolio, uses, &cli_error));
  if (!cli_given(arguments, "quiet")) note_left_out(across ? &s->across.table : &s->table);
  return s;
}

/* The default path of a family's model: spmv.model.json next to spmv.family.json. malloc'ed. */
static char *model_path(const char *family) {
  static const char *const ends[] = {".family.json", ".json"};
  for (size_t i = 0; i < 2; i++)
    if (clt_ends_with(family, ends[i]))
      return clt_format("%.*s.model.json", (int)(strlen(family) - strlen(ends[i])), family);
  return clt_format("%s.model.json", family);
}

static int run_train(const cli_arguments *arguments) {
  family_subject *s = begin_training(arguments);
  const bool across = cli_given(arguments, "sources");
  const char *typed = cli_text(arguments, "output");
  const char *path = typed ? typed : cli_keep_memory(model_path(arguments->positional[1]));
  const clt_family_table *table = across ? &s->across.table : &s->table;
  clt_family_model *model;
  cli_check(across ? clt_family_across_train(&model, &s->across, &s->training, &cli_error)
                   : clt_family_train(&model, table, &s->training, &cli_error));
  cli_keep(model, free_model);
  cli_check(clt_family_model_save(model, path, &cli_error));
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:s, s:I, s:I}", "model", path, "chooser", model->scorer->name, "inputs",
                                    (json_int_t)table->n_train, "arms", (json_int_t)table->n_arms));
  printf("trained on          %zu inputs, %zu configurations\nchooser             %s\nmodel file          %s\n",
         table->n_train, table->n_arms, model->scorer->name, path);
  if (across) family_print_across(s, s->devices.n - 1);
  return CLI_FOUND;
}

static int run_report(const cli_arguments *arguments) {
  family_subject *s = begin_training(arguments);
  return cli_given(arguments, "sources") ? family_report_across(s, arguments) : family_report(s, arguments);
}

/* --- select and export --- */

static clt_family_model *open_model(const cli_arguments *arguments) {
  clt_family_model *model;
  const char *path = file_of(arguments, "a model file of 'clatune family train'");
  cli_check(clt_family_model_new(&model, NULL, path, &cli_error));
  return cli_keep(model, free_model);
}

/* Reads all n numbers of --feature or --input; each must be given exactly once as NAME=NUMBER. whole (nullable): for
 * whole numbers. */
static void read_assignments(double *out, int64_t *whole, const cli_arguments *arguments, const char *flag,
                             const char *const *names, size_t n) {
  char guess[CLI_GUESS_BYTES], *end = NULL, *text;
  bool given[64] = {false};
  size_t n_typed = 0;
  const char **typed = cli_texts(&n_typed, arguments, flag);
  for (size_t i = 0; i < n_typed; i++) {
    const char *equals = strchr(typed[i], '=');
    if (equals == NULL) cli_usage("option '--%s' needs NAME=NUMBER, not '%s'", flag, typed[i]);
    const char *name = cli_keep_memory(strndup(typed[i], (size_t)(equals - typed[i]))), *number = equals + 1;
    const size_t k = find_name(name, names, n);
    if (k == n) cli_usage("there is no %s '%s'%s", flag, name, cli_guess(guess, "", name, names, n));
    if (given[k]) cli_usage("'--%s %s=' is given twice", flag, name);
    given[k] = true;
    errno = 0;
    if (whole)
      whole[k] = strtoll(number, &end, 10);
    else
      out[k] = clt_strtod(number, &end);
    const bool good = end > number && *end == '\0';
    if (whole && (!good || errno)) cli_usage("'--%s %s=' needs a whole number, not '%s'", flag, name, number);
    if (!good) cli_usage("'--%s %s=' needs a number, not '%s'", flag, name, number);
  }
  clt_text missing = {0};
  for (size_t i = 0; i < n; i++)
    if (!given[i]) clt_text_printf(&missing, "%s--%s %s=NUMBER", missing.n ? " " : "", flag, names[i]);
  cli_check(clt_text_take(&text, &missing, &cli_error));
  cli_keep(text, free);
  if (*text) cli_usage("give all numbers; add %s", text);
}

/* The family file next to the model. A model is not trusted, so a family in another folder is not run. */
static const char *family_beside(const clt_family_model *model, const char *model_file) {
  const char *name = strrchr(model->path, '/');
  const char *folder = cli_keep_memory(clt_path_folder(model_file));
  const char *path = cli_keep_memory(clt_path_join(folder, name ? name + 1 : ""));
  if (name == NULL || access(path, R_OK))
    cli_usage("the family '%s' is not next to its model; name its file with --family FILE", model->family);
  return path;
}

/* Computes the features of an input with the functions of the family's module. */
static void features_of_input(double *features, const clt_family_model *model, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "family");
  const clt_family *family = open_family(typed ? typed : family_beside(model, arguments->positional[1]));
  int64_t values[64];
  clt_family_input input;
  read_assignments(NULL, values, arguments, "input", family->parameters, family->n_parameters);
  cli_check(clt_family_input_get(&input, family, values, NULL, NULL, false, &cli_error));
  for (size_t k = 0; k < model->n_features; k++) {
    const size_t i = find_name(model->names.all[k], family->features, family->n_features);
    if (i == family->n_features)
      cli_failure("the family has no feature '%s', which the model uses; train the model again", model->names.all[k]);
    features[k] = input.features[i];
  }
  clt_family_input_release(&input);
}

static int run_select(const cli_arguments *arguments) {
  const clt_family_model *model = open_model(arguments);
  clt_family_choice choice;
  double features[CLT_MAX_FEATURES] = {0};
  char time[32];
  if (cli_given(arguments, "input") && cli_given(arguments, "feature"))
    cli_usage("'--input' and '--feature' exclude each other; give one of them");
  if (cli_given(arguments, "input"))
    features_of_input(features, model, arguments);
  else
    read_assignments(features, NULL, arguments, "feature", (const char *const *)model->names.all, model->n_features);
  clt_family_select(&choice, model, features);
  if (cli_given(arguments, "json")) {
    json_t *values = json_object();
    for (size_t i = 0; i < model->n_features; i++)
      json_object_set_new(values, model->names.all[i], clt_json_real(features[i]));
    return cli_print_json(json_pack("{s:s, s:s, s:o, s:s?, s:o}", "variant", choice.variant, "configuration",
                                    choice.configuration, "predicted_s", clt_json_real(choice.predicted_s), "outside",
                                    choice.outside, "features", values));
  }
  printf("variant             %s\nconfiguration       %s\n", choice.variant, choice.configuration);
  if (!isnan(choice.predicted_s)) printf("predicted           %s\n", clt_time_text(time, choice.predicted_s));
  if (choice.outside)
    printf(
        "why                 '%s' is outside the range of the training inputs: the model falls back to the standard "
        "variant\n",
        choice.outside);
  return CLI_FOUND;
}

static int run_export(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  clt_text text = {0};
  char *out;
  if (!cli_given(arguments, "c")) cli_usage("'clatune family export' needs --c, the format to write");
  cli_check(clt_family_write_c(&text, open_model(arguments), &cli_error));
  cli_check(clt_text_take(&out, &text, &cli_error));
  cli_keep(out, free);
  if (path) cli_check(clt_file_replace(path, out, strlen(out), &cli_error));
  cli_exact_output();
  if (path == NULL) fputs(out, stdout);
  return CLI_FOUND;
}

/* --- the command --- */

static const cli_action actions[] = {
    {"measure", 2, " device portfolio tune-on budget inputs train-only sources seed * ", run_measure},
    {"train", 2, " device portfolio chooser features uses sources device-features seed output ", run_train},
    {"report", 2, " device portfolio chooser features uses sources device-features seed ", run_report},
    {"select", 2, " feature input family ", run_select},
    {"export", 2, " c output ", run_export}};

static int run_family(const cli_arguments *arguments) {
  return cli_run_action(arguments, actions, sizeof actions / sizeof *actions, "");
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_STORE,
    {"portfolio", "N", "configurations of each variant to keep (default 2)"},
    {"tune-on", "N", "measure: inputs to tune each variant on (default 4)"},
    {"budget", "N", "measure: evaluations per tuning (default 40)"},
    {"inputs", "N", "measure: at most N training inputs and N test inputs (default: all)"},
    {"train-only", NULL, "measure: leaves out the test inputs"},
    {"chooser", "NAME",
     "train, report: the kind of model: time (predicts each configuration's time; the default), svm (classifier), "
     "pairwise (votes of pairs), or auto (the best of them in cross-validation)"},
    {"features", "A,B", "train, report: features that the model may use (default: all)"},
    {"uses", "N", "train, report: adds 1/N of the conversion times to the run times (default: conversions are free)"},
    {"sources", "STORE",
     "a store with other, probed devices; may be repeated. measure: measures their configurations instead of tuning; "
     "train: learns from these devices instead of this one; report: leaves out each device in turn"},
    {"device-features", "A,B",
     "train, report with --sources: up to three features of devices by which they are compared (default: chosen by "
     "cross-validation)"},
    {"output", "FILE",
     "train: the model file (default: next to the family); export: the file to write (default: standard output); "
     "also -o FILE"},
    {"feature", "NAME=X", "select: the value of a feature; give each feature once"},
    {"input", "NAME=N",
     "select: a parameter of the input, from which the features are computed; give each parameter once"},
    {"family", "FILE", "select --input: the family file (default: next to the model)"},
    {"c", NULL, "export: writes C99 code, which C++ compilers also accept"},
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

static const cli_command command = {
    .name = "family",
    .summary = "learns which of several kernels is the fastest on an input",
    .synopsis = "measure|train|report FAMILY | select|export MODEL [OPTION...]",
    .description =
        "A family is a set of kernels (variants) that compute the same; each has its own problem file. A model learns "
        "which variant is the fastest on an input. measure: tunes each variant on a few inputs, then measures the best "
        "configurations on all inputs. train: fits a model to these measurements. report: compares models on inputs "
        "that they were not trained on. select: prints the model's choice for an input. export: writes the model as a "
        "C function.",
    CLI_FLAGS(flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 2},
    .run = run_family,
};

int main(int argc, char **argv) { return cli_program_main(&command, argc, argv); }
