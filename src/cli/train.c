#include "lookup/predictor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/subject.h"

typedef struct matter {
  const char *parameter;
  double importance;
} matter;

static int by_importance(const void *a, const void *b) {
  const matter *x = a, *y = b;
  return (x->importance < y->importance) - (x->importance > y->importance);
}

/* The parameters, the one that matters most first; malloc'ed. */
static int rank_parameters(matter **out, const clt_model *model, const clt_space *space) {
  clt_error error = {0};
  size_t n = clt_space_n_parameters(space);
  double *importance = calloc(n + 1, sizeof *importance);
  *out = calloc(n + 1, sizeof **out);
  int rc = importance && *out ? 0 : cli_failure("out of memory");
  if (rc == 0 && clt_model_importance(model, importance, &error)) rc = cli_report(&error);
  for (size_t i = 0; rc == 0 && i < n; i++) (*out)[i] = (matter){clt_space_parameter(space, i)->name, importance[i]};
  if (rc == 0) qsort(*out, n, sizeof **out, by_importance);
  free(importance);
  return rc;
}

static json_t *importance_json(const matter *matters, size_t n) {
  json_t *out = json_object();
  for (size_t i = 0; i < n; i++) json_object_set_new(out, matters[i].parameter, clt_json_real(matters[i].importance));
  return out;
}

static int answer_json(const char *path, size_t n_sizes, const clt_model_accuracy *a, const matter *matters, size_t n) {
  return cli_print_json(json_pack(
      "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "model", path, "rows", (json_int_t)a->n_rows, "failed_rows",
      (json_int_t)a->n_failed, "sizes", (json_int_t)n_sizes, "mean_relative_error",
      clt_json_real(a->mean_relative_error), "calibrated_error", clt_json_real(a->calibrated_error), "log_error_sd",
      clt_json_real(a->log_error_sd), "fit_s", clt_json_real(a->fit_s), "importance", importance_json(matters, n)));
}

#define LEAST_IMPORTANCE 0.005 /* that is printed */

static void print_importance(const matter *matters, size_t n) {
  fputs("what matters       ", stdout);
  for (size_t i = 0; i < n && matters[i].importance >= LEAST_IMPORTANCE; i++)
    printf("%s %s %.0f %%", i ? "," : "", matters[i].parameter, 100 * matters[i].importance);
  putchar('\n');
}

static int answer(const char *path, size_t n_sizes, const clt_model_accuracy *a, const matter *matters, size_t n) {
  char time[32];
  printf("trained on          %zu rows of %zu size%s, %zu of them failed\n", a->n_rows, n_sizes,
         n_sizes == 1 ? "" : "s", a->n_failed);
  printf("mean relative error %.3g %% on rows not trained on", 100 * a->mean_relative_error);
  if (n_sizes > 1) printf("; %.3g %% between configurations of one size", 100 * a->calibrated_error);
  putchar('\n');
  print_importance(matters, n);
  printf("took                %s\n", cli_time(time, a->fit_s));
  printf("model file          %s\n", path);
  return 0;
}

/* The file named, or the place beside the store where it is looked for. *path is malloc'ed. */
static int save(char **path, const clt_model *model, const cli_arguments *arguments, const cli_subject *subject) {
  clt_error error = {0};
  const char *typed = cli_text(arguments, "output"), *store = cli_text(arguments, "store");
  if (typed) {
    *path = strdup(typed);
    if (*path == NULL) return cli_failure("out of memory");
    return clt_model_save(model, typed, &error) ? cli_report(&error) : 0;
  }
  int rc = clt_predictor_save(model, store, subject->instance, &error);
  if (rc == 0) rc = clt_predictor_path(path, store, subject->instance, &error);
  return rc ? cli_report(&error) : 0;
}

static int run_train(const cli_arguments *arguments) {
  cli_subject subject;
  clt_model *model = NULL;
  clt_model_accuracy accuracy;
  size_t n_sizes = 0;
  char *path = NULL;
  matter *matters = NULL;
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_KNOWN);
  if (rc) return rc;
  rc = cli_fit(&model, arguments, &subject, cli_text(arguments, "model"), cli_given(arguments, "size"), &n_sizes);
  if (rc == 0) rc = save(&path, model, arguments, &subject);
  if (rc == 0) rc = rank_parameters(&matters, model, clt_instance_space(subject.instance));
  if (rc == 0) {
    size_t n = clt_space_n_parameters(clt_instance_space(subject.instance));
    clt_model_accuracy_get(model, &accuracy);
    rc = (cli_given(arguments, "json") ? answer_json : answer)(path, n_sizes, &accuracy, matters, n);
  }
  free(matters);
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
