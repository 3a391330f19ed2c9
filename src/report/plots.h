/* report/plots.h - the plots of a page: each adds itself to gnuplot's script and returns its number, CLT_NO_PLOT where
 * there is nothing to draw. */
#ifndef CLT_REPORT_PLOTS_H
#define CLT_REPORT_PLOTS_H

#include "report/gnuplot.h"
#include "report/view.h"

/* The best so far of one report with everything that was measured, or of several without. by_time: over the seconds
 * spent instead of the evaluations. relative: in multiples of each report's own best. At most CLT_COLOUR_CURVES are
 * drawn. */
size_t clt_plot_progress(clt_gnuplot *g, const clt_report_view *views, size_t n, bool by_time, bool relative);

/* Predicted against measured, of rows that the model has not seen. */
size_t clt_plot_fit(clt_gnuplot *g, const clt_report_view *view);

/* Median, quartiles and least time of each value of a parameter. */
size_t clt_plot_effect(clt_gnuplot *g, const clt_report_view *view, const clt_report_view_parameter *parameter);

/* The two most important parameters: the median, or the least time, of each pair of their values. */
size_t clt_plot_pairs(clt_gnuplot *g, const clt_report_view *view, bool median);

#endif
