/* report/gnuplot.h - plots as SVG for a page, by the program gnuplot. It runs without a shell in a folder of its own,
 * with a script and files of data. Of what was measured the script has numbers, and names and values cut down to
 * letters, digits and
 * "_.+-?". */
#ifndef CLT_REPORT_GNUPLOT_H
#define CLT_REPORT_GNUPLOT_H

#include <clatune/error.h>
#include <stdio.h>

#include "base/file.h"

/* Colours that the page defines: --p1 to --p8 for curves, and these. */
enum {
  CLT_COLOUR_CURVES = 8,
  CLT_COLOUR_GRID = 16,
  CLT_COLOUR_AXIS = 17,
  CLT_COLOUR_FAINT = 18,
  CLT_COLOUR_BEST = 19,
  CLT_COLOUR_MARK = 20 /* on a cell of a heat map, whatever the page's ground */
};
#define CLT_COLOUR "'#0100%02x'" /* for printf: a colour's number in a script */

#define CLT_NO_PLOT SIZE_MAX

typedef struct clt_gnuplot {
  clt_run_folder folder;
  FILE *script;
  size_t n_plots, n_files;
  char **svgs;      /* n_plots, once it ran */
  char version[32]; /* of gnuplot, "5.4 patchlevel 4"; "": not known */
} clt_gnuplot;

int clt_gnuplot_begin(clt_gnuplot *out, clt_error *error);
void clt_gnuplot_release(clt_gnuplot *g);

/* A new file of data: its number for the script, which names it "N.dat". Closed by the caller. NULL: it cannot be made.
 */
FILE *clt_gnuplot_data(clt_gnuplot *g, size_t *number);

/* Begins a plot in the script, everything as it is from the start; returns its number. */
size_t clt_gnuplot_plot(clt_gnuplot *g, int width, int height);

/* Runs the script. CLT_E_NOT_FOUND: there is no gnuplot; CLT_E_IO: it failed, with its words. */
int clt_gnuplot_run(clt_gnuplot *g, clt_error *error);

/* The figure to put into the page, or NULL; titles are the page's. */
const char *clt_gnuplot_svg(const clt_gnuplot *g, size_t plot);

/* svg.c: makes a figure of what gnuplot wrote: no declaration, no title, no link out, colours from the page's style,
 * ids that begin with "p<number>". What it gives begins with viewBox="...">: behind "<svg " and what else the page says
 * in the tag. *out is malloc'ed; CLT_E_FORMAT where it is no SVG. */
int clt_svg_clean(char **out, const char *svg, size_t number, clt_error *error);

#endif
