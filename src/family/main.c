/* clatune family: which of several kernels is the fastest on an input (docs/reference/family-file.md). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "eval/evaluators.h"
#include "family/report.h"
#include "opencl/timing.h"
#include "problem/guidance.h"

static void release(family_subject *s) {
  clt_family_table_release(&s->table);
  clt_family_across_release(&s->across);
  clt_family_devices_release(&s->devices);
  clt_family_free(s->family);
}

static int open_family(clt_family **out, const char *path) {
  clt_error error = {0};
  return clt_family_load(out, path, &error) ? cli_report(&error) : 0;
}

static int require_file(const cli_arguments *arguments, const char *what) {
  return arguments->n_positional > 1 ? 0 : cli_usage("'clatune family %s' needs %s", arguments->positional[0], what);
}

static int begin(family_subject *s, const cli_arguments *arguments, cli_device_need need) {
  int rc = require_file(arguments, "a family file: clatune family measure|train|report FAMILY");
  if (rc == 0) rc = open_family(&s->family, arguments->positional[1]);
  s->subject = cli_subject_new(arguments, clt_problem_path(s->family->variants[0].problem), need);
  s->store = need == CLI_DEVICE_REQUIRED ? cli_open_store(arguments) : cli_open_store_to_read(arguments);
  if (s->store == NULL && need != CLI_DEVICE_IF_NAMED) cli_no_store(arguments);
  return rc;
}

/* The devices of --sources, then (train) the device that the model is for. */
static int open_sources(family_subject *s, const cli_arguments *arguments, bool is_target) {
  const clt_family_place own = {s->store, s->subject.device};
  const char **paths = cli_texts(&s->n_sources, arguments, "sources");
  int rc = 0;
  s->sources = cli_new(s->n_sources, sizeof *s->sources);
  for (size_t i = 0; i < s->n_sources; i++) s->sources[i] = cli_read_store(paths[i]);
  cli_check(
      clt_family_devices_find(&s->devices, s->family, s->sources, s->n_sources, is_target ? &own : NULL, &cli_error));
  return rc;
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
  family_subject s = {0};
  clt_family_measured measured;
  clt_error error = {0};
  bool quiet = cli_given(arguments, "quiet");
  const int64_t portfolio = cli_integer(arguments, "portfolio", 2, 1, CLT_MAX_PORTFOLIO);
  const int64_t tune_on = cli_integer(arguments, "tune-on", 4, 1, 64);
  const int64_t budget = cli_integer(arguments, "budget", 40, 1, INT64_MAX);
  const int64_t inputs = cli_integer(arguments, "inputs", 0, 1, INT64_MAX);
  const int64_t seed = cli_integer(arguments, "seed", 1, 0, INT64_MAX);
  size_t n_settings = 0;
  const clt_setting *settings = cli_settings(&n_settings, arguments, &clt_evaluators, "opencl");
  /* Slow configurations are data here, and short runs are compared. The user's options take precedence. */
  static const clt_setting own[] = {{"run-timeout-factor", "0"},
                                    {"max-runs", CLT_TIMING_TEXT(CLT_MAX_RUNS)},
                                    {"steady", "0"},
                                    {"max-run-time", "0.1"}};
  const size_t n_own = sizeof own / sizeof *own;
  clt_setting *all = cli_new(n_settings + n_own, sizeof *all);
  memcpy(all, own, sizeof own);
  if (n_settings) memcpy(all + n_own, settings, n_settings * sizeof *all);
  int rc = begin(&s, arguments, CLI_DEVICE_REQUIRED);
  if (rc == 0 && cli_given(arguments, "sources")) rc = open_sources(&s, arguments, false);
  if (rc == 0) {
    cli_signals_install();
    const clt_family_measuring how = {.store = s.store,
                                      .device = s.subject.device,
                                      .portfolio = (size_t)portfolio,
                                      .tune_on = (size_t)tune_on,
                                      .budget = budget,
                                      .sources = s.devices.places,
                                      .n_sources = s.devices.n,
                                      .n_inputs = (size_t)inputs,
                                      .train_only = cli_given(arguments, "train-only"),
                                      .settings = all,
                                      .n_settings = n_settings + n_own,
                                      .seed = (uint64_t)seed,
                                      .tell = on_tell,
                                      .log = on_log,
                                      .user = &quiet,
                                      .stop = cli_signals_flag()};
    if (clt_family_measure(&measured, s.family, &how, &error))
      rc = error.code == CLT_E_STOPPED ? 128 + *cli_signals_flag() : cli_report(&error);
    if (rc == 0 && cli_given(arguments, "json"))
      rc = cli_print_json(json_pack("{s:I, s:I, s:I, s:s}", "inputs", (json_int_t)measured.n_inputs, "variants",
                                    (json_int_t)measured.n_variants, "arms", (json_int_t)measured.n_arms, "store",
                                    clt_store_path(s.store)));
    else if (rc == 0)
      printf("measured            %zu inputs, %zu variants in %zu configurations\nstored in           %s\n",
             measured.n_inputs, measured.n_variants, measured.n_arms, clt_store_path(s.store));
  }
  release(&s);
  return rc;
}

/* --- train and report --- */

/* The names in a list such as "a,b", as places in `names`; each may be there once. */
static int read_names(size_t *out, size_t *n, size_t most, const cli_arguments *arguments, const char *flag,
                      const char *const *names, size_t n_names) {
  const char *typed = cli_text(arguments, flag);
  char guess[CLI_GUESS_BYTES], *known = NULL;
  clt_text all = {0};
  if (typed == NULL) return 0;
  char *list = strdup(typed);
  int rc = list ? 0 : cli_failure("out of memory");
  for (size_t k = 0; k < n_names; k++) clt_text_printf(&all, "%s%s", k ? ", " : "", names[k]);
  cli_check(clt_text_take(&known, &all, &cli_error));
  for (char *rest = NULL, *name = list ? strtok_r(list, ",", &rest) : NULL; rc == 0 && name;
       name = strtok_r(NULL, ",", &rest)) {
    size_t k = 0;
    while (k < n_names && strcmp(names[k], name) != 0) k++;
    for (size_t i = 0; i < *n; i++)
      if (out[i] == k) rc = cli_usage("--%s names '%s' twice", flag, name);
    if (k == n_names)
      rc = cli_usage("--%s: there is no '%s'%s; choose from %s", flag, name, cli_guess(guess, "", name, names, n_names),
                     known);
    else if (rc == 0 && *n == most)
      rc = cli_usage("--%s takes at most %zu names", flag, most);
    else if (rc == 0)
      out[(*n)++] = k;
  }
  if (rc == 0 && *n == 0) rc = cli_usage("--%s names nothing", flag);
  free(known);
  free(list);
  return rc;
}

/* Reads the devices' features, and which of them --device-features says to compare. */
static int read_devices(family_subject *s, const cli_arguments *arguments) {
  clt_family_devices *d = &s->devices;
  const char *names[CLT_MOST_FEATURES];
  clt_error error = {0};
  if (clt_family_devices_read(d, &error)) return cli_report(&error);
  for (size_t k = 0; k < d->n_figures; k++) names[k] = d->names[k];
  return read_names(d->given, &d->n_given, CLT_MOST_CHOSEN, arguments, "device-features", names, d->n_figures);
}

/* Reads --chooser, --features and --seed, and loads the table. A report with --sources loads its tables later. */
static int begin_training(family_subject *s, const cli_arguments *arguments) {
  const bool across = cli_given(arguments, "sources"), report = strcmp(arguments->positional[0], "report") == 0;
  clt_error error = {0};
  clt_family_training *t = &s->training;
  const char *chooser = cli_text(arguments, "chooser");
  int rc = 0;
  t->seed = (uint64_t)cli_integer(arguments, "seed", 1, 0, INT64_MAX);
  s->portfolio = (size_t)cli_integer(arguments, "portfolio", 2, 1, CLT_MAX_PORTFOLIO);
  s->uses = (double)cli_integer(arguments, "uses", 0, 1, INT64_MAX);
  if (across && report && cli_given(arguments, "device"))
    cli_usage("'clatune family report --sources' leaves out each device in turn; leave out --device");
  if (cli_given(arguments, "device-features") && !across)
    cli_usage("--device-features is for models of other devices; add --sources STORE");
  if (chooser && strcmp(chooser, "auto") != 0 && !(t->chooser = clt_family_chooser_find(chooser)))
    rc = cli_usage("there is no chooser '%s'; choose time, svm, pairwise or auto", chooser);
  if (chooser == NULL) t->chooser = clt_family_choosers[0];
  if (rc == 0 && t->chooser && t->chooser->n_settings == 0)
    rc = cli_failure("chooser '%s' needs libsvm, which this clatune was built without; choose time", chooser);
  if (rc == 0) rc = begin(s, arguments, across && report ? CLI_DEVICE_IF_NAMED : CLI_DEVICE_KNOWN);
  if (rc == 0)
    rc = read_names(t->features, &t->n_features, CLT_MAX_FEATURES, arguments, "features", s->family->features,
                    s->family->n_features);
  const clt_family_place own = {s->store, s->subject.device};
  if (rc == 0 && across) rc = open_sources(s, arguments, !report);
  if (rc == 0 && across) rc = read_devices(s, arguments);
  if (rc == 0 && (across ? !report && clt_family_across_load(&s->across, s->family, &s->devices, s->devices.n - 1,
                                                             s->portfolio, s->uses, &error)
                         : clt_family_table_load(&s->table, s->family, &own, 1, 1, s->portfolio, s->uses, &error)))
    rc = cli_report(&error);
  const clt_family_table *table = across ? &s->across.table : &s->table; /* without arms: not loaded yet */
  for (size_t v = 0; rc == 0 && table->n_arms > 0 && v < s->family->n_variants; v++) {
    size_t a = 0;
    while (a < table->n_arms && table->arms[a].variant != v) a++;
    if (a == table->n_arms && !cli_given(arguments, "quiet"))
      cli_message(0,
                  "left out the variant '%s': none of its configurations was measured on nearly all inputs and was "
                  "correct on all of them",
                  s->family->variants[v].name);
  }
  return rc;
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
  family_subject s = {0};
  clt_family_model *model = NULL;
  clt_error error = {0};
  int rc = begin_training(&s, arguments);
  const char *typed = cli_text(arguments, "output");
  char *path = rc ? NULL : typed ? strdup(typed) : model_path(arguments->positional[1]);
  const bool across = cli_given(arguments, "sources");
  const clt_family_table *table = across ? &s.across.table : &s.table;
  if (rc == 0 && (path == NULL ||
                  (across ? clt_family_across_train(&model, &s.across, &s.training, &error)
                          : clt_family_train(&model, table, &s.training, &error)) ||
                  clt_family_model_save(model, path, &error)))
    rc = path ? cli_report(&error) : cli_failure("out of memory");
  if (rc == 0 && cli_given(arguments, "json"))
    rc = cli_print_json(json_pack("{s:s, s:s, s:I, s:I}", "model", path, "chooser", model->scorer->name, "inputs",
                                  (json_int_t)table->n_train, "arms", (json_int_t)table->n_arms));
  else if (rc == 0)
    printf(
        "trained on          %zu inputs, %zu configurations\nchooser             %s\n"
        "model file          %s\n",
        table->n_train, table->n_arms, model->scorer->name, path);
  if (rc == 0 && across && !cli_given(arguments, "json")) cli_family_print_across(&s, s.devices.n - 1);
  clt_family_model_free(model);
  free(path);
  release(&s);
  return rc;
}

static int run_report(const cli_arguments *arguments) {
  family_subject s = {0};
  int rc = begin_training(&s, arguments);
  if (rc == 0)
    rc = cli_given(arguments, "sources") ? cli_family_report_across(&s, arguments) : cli_family_report(&s, arguments);
  release(&s);
  return rc;
}

/* --- select and export --- */

static int open_model(clt_family_model **out, const cli_arguments *arguments) {
  clt_error error = {0};
  int rc = require_file(arguments, "a model file of 'clatune family train'");
  return rc ? rc : clt_family_model_new(out, NULL, arguments->positional[1], &error) ? cli_report(&error) : 0;
}

/* Reads all n numbers of --feature or --input; each must be given exactly once as NAME=NUMBER. whole (nullable): for
 * whole numbers. */
static int read_assignments(double *out, int64_t *whole, const cli_arguments *arguments, const char *flag,
                            const char *const *names, size_t n) {
  char guess[CLI_GUESS_BYTES], *end = NULL;
  bool given[64] = {false};
  size_t n_typed = 0;
  const char **typed = cli_texts(&n_typed, arguments, flag);
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < n_typed; i++) {
    char *name = strndup(typed[i], strcspn(typed[i], "="));
    const char *number = typed[i] + strcspn(typed[i], "=") + 1;
    size_t k = 0;
    while (name && k < n && strcmp(names[k], name) != 0) k++;
    if (name == NULL)
      rc = cli_failure("out of memory");
    else if (strchr(typed[i], '=') == NULL)
      rc = cli_usage("option '--%s' needs NAME=NUMBER, not '%s'", flag, typed[i]);
    else if (k == n)
      rc = cli_usage("there is no %s '%s'%s", flag, name, cli_guess(guess, "", name, names, n));
    else if (given[k])
      rc = cli_usage("'--%s %s=' is given twice", flag, name);
    else if (whole && (errno = 0, whole[k] = strtoll(number, &end, 10), errno || end == number || *end))
      rc = cli_usage("'--%s %s=' needs a whole number, not '%s'", flag, name, number);
    else if (!whole && ((out[k] = clt_strtod(number, &end)), end == number || *end))
      rc = cli_usage("'--%s %s=' needs a number, not '%s'", flag, name, number);
    else
      given[k] = true;
    free(name);
  }
  clt_text missing = {0};
  char *text = NULL;
  for (size_t i = 0; rc == 0 && i < n; i++)
    if (!given[i]) clt_text_printf(&missing, "%s--%s %s=NUMBER", missing.n ? " " : "", flag, names[i]);
  cli_check(clt_text_take(&text, &missing, &cli_error));
  if (*text) rc = cli_usage("give all numbers; add %s", text);
  free(text);
  return rc;
}

/* The family file next to the model. A model is not trusted, so a family in another folder is not run. malloc'ed; NULL:
 * there is none. */
static char *family_beside(const clt_family_model *model, const char *model_file) {
  const char *name = strrchr(model->path, '/');
  char *folder = clt_path_folder(model_file), *path = folder ? clt_path_join(folder, name ? name + 1 : "") : NULL;
  free(folder);
  if (path && name && access(path, R_OK) == 0) return path;
  free(path);
  return NULL;
}

/* Computes the features of an input with the functions of the family's module. */
static int features_of_input(double *features, const clt_family_model *model, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "family");
  char *beside = typed ? NULL : family_beside(model, arguments->positional[1]);
  int64_t values[64];
  clt_family *family = NULL;
  clt_family_input input = {0};
  clt_error error = {0};
  int rc = typed || beside
               ? open_family(&family, typed ? typed : beside)
               : cli_usage("the family '%s' is not next to its model; name its file with --family FILE", model->family);
  if (rc == 0) rc = read_assignments(NULL, values, arguments, "input", family->parameters, family->n_parameters);
  if (rc == 0 && clt_family_input_get(&input, family, values, NULL, NULL, false, &error)) rc = cli_report(&error);
  for (size_t k = 0; rc == 0 && k < model->n_features; k++) {
    size_t i = 0;
    while (i < family->n_features && strcmp(family->features[i], model->names.all[k]) != 0) i++;
    if (i == family->n_features)
      rc = cli_failure("the family has no feature '%s', which the model uses; train the model again",
                       model->names.all[k]);
    else
      features[k] = input.features[i];
  }
  clt_family_input_release(&input);
  clt_family_free(family);
  free(beside);
  return rc;
}

static int run_select(const cli_arguments *arguments) {
  clt_family_model *model = NULL;
  clt_family_choice choice;
  double features[CLT_MAX_FEATURES] = {0};
  char time[32];
  int rc = open_model(&model, arguments);
  if (rc == 0 && cli_given(arguments, "input"))
    rc = cli_given(arguments, "feature") ? cli_usage("'--input' and '--feature' exclude each other; give one of them")
                                         : features_of_input(features, model, arguments);
  else if (rc == 0)
    rc = read_assignments(features, NULL, arguments, "feature", (const char *const *)model->names.all,
                          model->n_features);
  if (rc == 0) clt_family_select(&choice, model, features);
  if (rc == 0 && cli_given(arguments, "json")) {
    json_t *values = json_object();
    for (size_t i = 0; i < model->n_features; i++)
      json_object_set_new(values, model->names.all[i], clt_json_real(features[i]));
    rc = cli_print_json(json_pack("{s:s, s:s, s:o, s:s?, s:o}", "variant", choice.variant, "configuration",
                                  choice.configuration, "predicted_s", clt_json_real(choice.predicted_s), "outside",
                                  choice.outside, "features", values));
  } else if (rc == 0) {
    printf("variant             %s\nconfiguration       %s\n", choice.variant, choice.configuration);
    if (!isnan(choice.predicted_s)) printf("predicted           %s\n", clt_time_text(time, choice.predicted_s));
    if (choice.outside)
      printf(
          "why                 '%s' is outside the range of the training inputs: the model falls back to the standard "
          "variant\n",
          choice.outside);
  }
  clt_family_model_free(model);
  return rc;
}

static int run_export(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  clt_family_model *model = NULL;
  clt_error error = {0};
  clt_text text = {0};
  char *out = NULL;
  int rc = cli_given(arguments, "c") ? open_model(&model, arguments)
                                     : cli_usage("'clatune family export' needs --c, the format to write");
  if (rc == 0 && (clt_family_write_c(&text, model, &error) || clt_text_take(&out, &text, &error)))
    rc = cli_report(&error);
  if (rc == 0 && path && clt_file_replace(path, out, strlen(out), &error)) rc = cli_report(&error);
  cli_exact_output();
  if (rc == 0 && path == NULL) fputs(out, stdout);
  clt_text_release(&text);
  free(out);
  clt_family_model_free(model);
  return rc;
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
        "which\n"
        "variant is the fastest on an input.\n"
        "measure: tunes each variant on a few inputs, then measures the best configurations on all inputs. train: "
        "fits\n"
        "a model to these measurements. report: compares models on inputs that they were not trained on. select: "
        "prints\n"
        "the model's choice for an input. export: writes the model as a C function.",
    CLI_FLAGS(flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 2},
    .run = run_family,
};

int main(int argc, char **argv) { return cli_program_main(&command, argc, argv); }
