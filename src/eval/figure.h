/* eval/figure.h - the figure of merit of a run, from its measured seconds or bytes, a file, or what it printed. */
#ifndef CLT_EVAL_FIGURE_H
#define CLT_EVAL_FIGURE_H

#include <clatune/measurement.h>

#include "worker/program.h"
#include "problem/command.h"

/* Fills *out with what the configuration is ranked by: positive, the less the better. Where there is none, returns the
 * reason, and why has a line about it. */
clt_reason clt_figure_take(double *out, const clt_figure *figure, const clt_program *program,
                           const clt_program_end *end, const char *scratch, char *why, size_t capacity);

/* The number in a text: the whole of it, a member of its JSON, or the last match of a pattern (figure says which). */
clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity);

/* Scaled and turned round as the figure says; false where the number is not positive. */
bool clt_figure_rank(double *out, const clt_figure *figure, double number);

/* Minimum, median or mean of the runs. */
double clt_figure_summary(const clt_figure *figure, const double *runs, size_t n);

#endif
