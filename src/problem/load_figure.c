/* Command.Figure: what a run is judged by. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "problem/command.h"

static int check_pattern(const clt_problem *problem, const clt_node *figure, const char *pattern, clt_error *error) {
  char why[200];
  regex_t compiled;
  clt_node node = clt_node_member(figure, "Pattern");
  int mistake = regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE);
  if (mistake == 0) return regfree(&compiled), CLT_OK;
  if (mistake == REG_ESPACE) return clt_fail_memory(error);
  regerror(mistake, &compiled, why, sizeof why);
  return clt_node_fail(&problem->source, &node, error, "is no extended regular expression: %s", why);
}

/* A time's unit says what it has to be multiplied by; others are only printed. */
static int load_unit(clt_problem *problem, clt_figure *figure, const clt_node *node, clt_error *error) {
  static const struct {
    const char *name;
    double scale;
  } times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  clt_node unit = clt_node_member(node, "Unit");
  bool read = figure->source == CLT_FIGURE_FILE || figure->source == CLT_FIGURE_OUTPUT;
  const char *standard = figure->source == CLT_FIGURE_MEMORY ? "bytes" : "s";
  figure->scale = 1;
  if (unit.json && !read)
    return clt_node_fail(&problem->source, &unit, error, "is \"%s\" here; it can be chosen where the figure is read",
                         standard);
  int rc = clt_node_text(&figure->unit, &problem->source, node, "Unit", false, error);
  if (rc) return rc;
  for (size_t i = 0; figure->unit && i < sizeof times / sizeof *times; i++) {
    if (strcmp(figure->unit, times[i].name) != 0) continue;
    figure->scale = times[i].scale;
    free(figure->unit);
    figure->unit = NULL;
  }
  if (figure->unit == NULL && (figure->unit = strdup(standard)) == NULL) return clt_fail_memory(error);
  return CLT_OK;
}

static int load_place(clt_problem *problem, clt_figure *figure, const clt_node *node, clt_error *error) {
  const clt_source *source = &problem->source;
  clt_node file = clt_node_member(node, "File"), member = clt_node_member(node, "Key"),
           pattern = clt_node_member(node, "Pattern");
  bool read = figure->source == CLT_FIGURE_FILE || figure->source == CLT_FIGURE_OUTPUT;
  int rc = clt_node_text(&figure->file, source, node, "File", false, error);
  if (rc == CLT_OK) rc = clt_node_text(&figure->member, source, node, "Key", false, error);
  if (rc == CLT_OK) rc = clt_node_text(&figure->pattern, source, node, "Pattern", false, error);
  if (rc) return rc;
  if (figure->source == CLT_FIGURE_FILE && figure->file == NULL)
    return clt_node_fail(source, node, error, "needs a \"File\"");
  if (figure->source != CLT_FIGURE_FILE && figure->file)
    return clt_node_fail(source, &file, error, "makes sense with \"From\": \"file\" only");
  if (!read && (figure->member || figure->pattern))
    return clt_node_fail(source, figure->member ? &member : &pattern, error,
                         "makes sense with \"From\": \"file\" or \"output\" only");
  if (figure->member && figure->pattern)
    return clt_node_fail(source, &pattern, error, "stands beside \"Key\"; one of them has to go");
  return figure->pattern ? check_pattern(problem, node, figure->pattern, error) : CLT_OK;
}

/* In the batch protocol, the figure stands in the answers. */
static int check_batch(const clt_problem *problem, const clt_command *command, const clt_node *node, clt_error *error) {
  const clt_figure *figure = &command->figure;
  clt_node from = clt_node_member(node, "From");
  bool elsewhere = from.json || figure->file || figure->member || figure->pattern;
  if (!command->batch.used || !elsewhere) return CLT_OK;
  return clt_node_fail(&problem->source, node, error,
                       "cannot be chosen with \"Batch\", but for \"Unit\" and \"Better\"");
}

int clt_load_figure(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  static const char *const known[] = {"From", "File", "Key", "Pattern", "Unit", "Better", "Statistic"};
  static const char *const sources[] = {"wall", "user", "system", "cpu", "memory", "file", "output"};
  static const char *const better[] = {"smaller", "larger"}, *const statistics[] = {"minimum", "median", "mean"};
  const clt_source *source = &problem->source;
  clt_node node = clt_node_member(section, "Figure");
  clt_figure *figure = &command->figure;
  int from = CLT_FIGURE_WALL, larger = 0, statistic = CLT_STATISTIC_MINIMUM, rc = CLT_OK;
  if (node.json) {
    rc = clt_node_object(source, &node, error);
    if (rc == CLT_OK) rc = clt_node_known(source, &node, known, 7, true, error);
    if (rc == CLT_OK) rc = clt_node_choice(&from, source, &node, "From", sources, 7, error);
    if (rc == CLT_OK) rc = clt_node_choice(&larger, source, &node, "Better", better, 2, error);
    if (rc == CLT_OK) rc = clt_node_choice(&statistic, source, &node, "Statistic", statistics, 3, error);
  }
  figure->source = command->batch.used ? CLT_FIGURE_OUTPUT : (clt_figure_source)from;
  figure->larger_is_better = larger == 1;
  figure->statistic = (clt_statistic)statistic;
  if (rc == CLT_OK) rc = load_place(problem, figure, &node, error);
  if (rc == CLT_OK) rc = check_batch(problem, command, &node, error);
  return rc ? rc : load_unit(problem, figure, &node, error);
}
