/* cli/figures.h - figures of merit on the command line: the typed objective, and metrics as they are printed. */
#ifndef CLT_CLI_FIGURES_H
#define CLT_CLI_FIGURES_H

#include <clatune/objective.h>
#include <jansson.h>

#include "cli/arguments.h"

/* --objective, else the problem's, else time. Returns 0, or an exit code after a message. */
int cli_objective(clt_objective **out, const cli_arguments *arguments, const clt_instance *instance);

/* {"name", "expression", "unit", "goal"}: a new reference. */
json_t *cli_json_objective(const clt_objective *objective);

/* What is computed of a measurement, energy included: [{"name", "value", "unit"}], those that have a value. As text: a
 * line each, whose label is padded to `width`. Time is not among them,
 * nor as text the objective. */
json_t *cli_json_metrics(const clt_objective *objective, const clt_measurement *measurement);
void cli_print_metrics(const clt_objective *objective, const clt_measurement *measurement, int width);

/* "1.234 ms", "345 GFLOP/s" into out; "-" for NaN. Returns out. */
const char *cli_value(char out[96], const clt_objective *objective, double value);

/* "maximise GFLOP/s", "minimise energy_J * time_s" */
const char *cli_objective_text(char out[160], const clt_objective *objective);

#endif
