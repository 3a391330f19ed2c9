#include "cli/dry_run.h"

#include <clatune/report.h>
#include <clatune/tune.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/subject.h"

/* How many configurations the store knows; 0 where there is no store. */
static int count_known(size_t *out, const cli_arguments *arguments, const cli_subject *subject) {
  clt_store *store = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  *out = 0;
  if (cli_given(arguments, "no-store")) return 0;
  int rc = clt_store_open_to_read(&store, NULL, cli_text(arguments, "store"), &error);
  if (rc == CLT_E_NOT_FOUND) return 0;
  if (rc == 0) rc = clt_report_from_store(&report, store, subject->instance, &error);
  if (rc == 0) *out = clt_report_n_rows(report);
  clt_report_free(report);
  clt_store_close(store);
  return rc ? cli_report(&error) : 0;
}

static int print_json(const cli_subject *subject, const clt_objective *objective, const char *searcher, size_t known) {
  const clt_space *space = clt_instance_space(subject->instance);
  clt_config standard = clt_instance_default(subject->instance);
  return cli_print_json(json_pack(
      "{s:s, s:o, s:o, s:s, s:o, s:{s:I, s:I}, s:I, s:o, s:o, s:b}", "problem", clt_problem_name(subject->problem),
      "sizes", cli_json_sizes(subject->instance), "device", cli_json_device(subject->device), "searcher", searcher,
      "objective", cli_json_objective(objective), "space", "cartesian", (json_int_t)clt_space_cartesian(space), "valid",
      (json_int_t)clt_space_valid(space), "known", (json_int_t)known, "default",
      cli_json_configuration(space, standard), "options", cli_json_best_options(subject->instance, standard),
      "default_is_valid", clt_space_contains(space, standard)));
}

static int print_text(const cli_subject *subject, const clt_objective *objective, const char *searcher,
                      bool default_first, size_t known) {
  const clt_space *space = clt_instance_space(subject->instance);
  clt_config standard = clt_instance_default(subject->instance);
  char *text = clt_config_string(space, standard), *options = NULL;
  clt_error error = {0};
  int rc = clt_instance_options(subject->instance, standard, &options, &error) ? cli_report(&error) : 0;
  if (rc == 0 && text == NULL) rc = cli_failure("out of memory");
  if (rc == 0) {
    char goal[160];
    printf("%s on %s, by %s\n", clt_problem_name(subject->problem), subject->device->name, searcher);
    printf("space               %llu configurations, %llu valid on this device, %zu known already\n",
           (unsigned long long)clt_space_cartesian(space), (unsigned long long)clt_space_valid(space), known);
    printf("%-19s %s%s\n", default_first ? "begins with" : "default", text,
           clt_space_contains(space, standard) ? "" : " (not valid: left out)");
    printf("options             %s\n", options);
    printf("objective           %s\n", cli_objective_text(goal, objective));
    puts("nothing was measured");
  }
  free(text);
  free(options);
  return rc;
}

int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first) {
  cli_subject subject;
  clt_objective *objective = NULL;
  size_t known;
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  if (rc) return rc;
  searcher = clt_tune_searcher(searcher, subject.problem);
  rc = cli_objective(&objective, arguments, subject.instance);
  if (rc == 0) rc = count_known(&known, arguments, &subject);
  if (rc == 0 && cli_given(arguments, "json"))
    rc = print_json(&subject, objective, searcher, known);
  else if (rc == 0)
    rc = print_text(&subject, objective, searcher, default_first, known);
  clt_objective_free(objective);
  cli_subject_release(&subject);
  return rc;
}
