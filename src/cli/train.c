#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/subject.h"
#include "lookup/lookup.h"
#include "model/model.h"

#define LEAST_IMPORTANCE 0.005 /* that is printed */

typedef struct parameter_importance {
  const char *parameter;
  double importance;
} parameter_importance;

static int compare_importance(const void *a, const void *b) {
  const parameter_importance *x = a, *y = b;
  return (x->importance < y->importance) - (x->importance > y->importance);
}

/* The parameters, the one that matters most first; malloc'ed. */
static int rank_parameters(parameter_importance **out, const clt_model *model, const clt_space *space) {
  clt_error error = {0};
  size_t n = clt_space_n_parameters(space);
  double *importance = calloc(n + 1, sizeof *importance);
  *out = calloc(n + 1, sizeof **out);
  int rc = importance && *out ? 0 : cli_failure("out of memory");
  if (rc == 0 && clt_model_importance(model, importance, &error)) rc = cli_report(&error);
  for (size_t i = 0; rc == 0 && i < n; i++)
    (*out)[i] = (parameter_importance){clt_space_parameter(space, i)->name, importance[i]};
  if (rc == 0) qsort(*out, n, sizeof **out, compare_importance);
  free(importance);
  return rc;
}

static int run_train(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "output"), *store = cli_text(arguments, "store");
  cli_subject subject;
  clt_model *model = NULL;
  clt_model_accuracy a;
  clt_error error = {0};
  size_t n_sizes = 0;
  char *path = NULL;
  parameter_importance *ranked = NULL;
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_KNOWN);
  if (rc) return rc;
  rc = cli_fit(&model, arguments, &subject, cli_text(arguments, "model"), cli_given(arguments, "size"), &n_sizes);
  /* Into the file named, or to the place beside the store where it is looked for. */
  if (rc == 0 && typed && clt_model_save(model, typed, &error)) rc = cli_report(&error);
  if (rc == 0 && !typed &&
      (clt_predictor_save(model, store, subject.instance, &error) ||
       clt_predictor_path(&path, store, subject.instance, &error)))
    rc = cli_report(&error);
  if (rc == 0) rc = rank_parameters(&ranked, model, clt_instance_space(subject.instance));
  size_t n = clt_space_n_parameters(clt_instance_space(subject.instance));
  if (rc == 0) clt_model_accuracy_get(model, &a);
  if (rc == 0 && cli_given(arguments, "json")) {
    json_t *importance = json_object();
    for (size_t i = 0; i < n; i++)
      json_object_set_new(importance, ranked[i].parameter, clt_json_real(ranked[i].importance));
    rc = cli_print_json(json_pack(
        "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "model", typed ? typed : path, "rows", (json_int_t)a.n_rows,
        "failed_rows", (json_int_t)a.n_failed, "sizes", (json_int_t)n_sizes, "mean_relative_error",
        clt_json_real(a.mean_relative_error), "calibrated_error", clt_json_real(a.calibrated_error), "log_error_sd",
        clt_json_real(a.log_error_sd), "fit_s", clt_json_real(a.fit_s), "importance", importance));
  } else if (rc == 0) {
    char time[32];
    printf("trained on          %zu rows of %zu size%s, %zu of them failed\n", a.n_rows, n_sizes,
           n_sizes == 1 ? "" : "s", a.n_failed);
    printf("mean relative error %.3g %% on rows not trained on", 100 * a.mean_relative_error);
    if (n_sizes > 1) printf("; %.3g %% between configurations of one size", 100 * a.calibrated_error);
    fputs("\nwhat matters       ", stdout);
    for (size_t i = 0; i < n && ranked[i].importance >= LEAST_IMPORTANCE; i++)
      printf("%s %s %.0f %%", i ? "," : "", ranked[i].parameter, 100 * ranked[i].importance);
    printf("\ntook                %s\nmodel file          %s\n", cli_time(time, a.fit_s), typed ? typed : path);
  }
  free(ranked);
  free(path);
  clt_model_free(model);
  cli_subject_release(&subject);
  return rc;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    {"size", "NAME=N", "trains on measurements at these sizes alone (default: at all sizes)"},
    {"output", "FILE", "where to write the model (default: beside the store); also -o FILE"},
    {"model", "NAME", "what to fit: ensemble, trees, average or auto, the best of them (default auto)"},
    CLI_FLAG_STORE,
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_train = {
    .name = "train",
    .summary = "fits a model on stored measurements",
    .synopsis = "PROBLEM [--model NAME] [-o FILE] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Fits a model of run time and validity on all that the store holds of a problem's kernel on this device, at\n"
        "every size, and keeps it beside the store, where 'clatune predict', 'clatune lookup' and 'clatune tune\n"
        "--warm-start' find it; with -o, in a file for 'clatune predict --model'. Measures nothing. With\n"
        "measurements at five sizes or more, the errors that it prints are those at sizes not trained on. What\n"
        "matters is, for each parameter, the share of the spread of log time that is left when all others are known.",
    CLI_FLAGS(flags),
    .model_options = true,
    .n_positional = {1, 1},
    .run = run_train,
};
