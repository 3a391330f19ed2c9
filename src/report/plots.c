#include "report/plots.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/markup.h"
#include "report/report.h"

#define MOST_POINTS 1200    /* drawn of a cloud */
#define MOST_EVEN_ROWS 2000 /* more evaluations than that go on a logarithmic axis */
#define LOG_RATIO 3         /* times that are further apart go on one */
#define LABEL_CHARACTERS 14
#define SHORT_LABEL 4
#define LONG_LABELS 34 /* characters of all labels that stand side by side, before they are turned */
#define WIDTH 430
#define HEIGHT 290
#define SMALL_WIDTH 320
#define SMALL_HEIGHT 220

/* --- axes --- */

/* Labels side by side: how many characters in all, and of the longest. */
typedef struct label_room {
  size_t all, longest;
} label_room;

static void take_room(label_room *r, const char *text) {
  size_t n = strlen(text);
  r->all += n + 1;
  r->longest = n > r->longest ? n : r->longest;
}

static const char *turned(const label_room *r) {
  return r->all <= LONG_LABELS ? "" : r->longest <= SHORT_LABEL ? " rotate by 90 right" : " rotate by -40";
}

typedef struct range {
  double low, high;
} range;

/* What is further out than that no clock has measured; it is not drawn. */
static bool drawable(double x) { return x > 1e-30 && x < 1e30; }

static void include(range *r, double x) {
  if (!drawable(x)) return;
  r->low = fmin(r->low, x);
  r->high = fmax(r->high, x);
}

/* As many of each decade as there is room for. */
static void put_log_tics(FILE *script, const char *axis, range r) {
  static const double few[] = {1}, some[] = {1, 2, 5}, many[] = {1, 1.5, 2, 3, 5, 7};
  double decades = log10(r.high / r.low);
  const double *mantissas = decades > 2.5 ? few : decades > 1.1 ? some : many;
  int n_mantissas = decades > 2.5 ? 1 : decades > 1.1 ? 3 : 6;
  int first = (int)floor(log10(r.low)), last = (int)ceil(log10(r.high)), n = 0;
  fprintf(script, "set logscale %s\nset %stics (", axis, axis);
  for (int power = first; power <= last; power++)
    for (int m = 0; m < n_mantissas; m++) {
      double x = mantissas[m] * pow(10, power);
      if (x < r.low / 1.0001 || x > r.high * 1.0001) continue;
      fprintf(script, "%s'%.6g' %.17g", n++ ? ", " : "", x, x);
    }
  fputs(")\n", script);
}

/* An axis of values with some room at both ends. */
static void put_axis(FILE *script, const char *axis, range r) {
  if (r.low > r.high) r = (range){1, 1};
  if (r.high / r.low >= LOG_RATIO) {
    range wider = {r.low / pow(r.high / r.low, 0.1), r.high * pow(r.high / r.low, 0.1)};
    fprintf(script, "set %srange [%.17g:%.17g]\n", axis, wider.low, wider.high);
    put_log_tics(script, axis, wider);
  } else {
    double room = r.high > r.low ? 0.08 * (r.high - r.low) : 0.1 * r.low;
    fprintf(script, "set %srange [%.17g:%.17g]\nset %stics autofreq\n", axis, fmax(0, r.low - room), r.high + room,
            axis);
  }
}

/* Nothing that gnuplot would take for the end of a text, or for more than one. */
static const char *label(clt_value value, char text[LABEL_CHARACTERS + 1]) {
  clt_report_view_value(value, text, LABEL_CHARACTERS + 1);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && !strchr("_.+-", *c))) *c = '?';
  return text;
}

/* A parameter's name stands in the script: nothing but what an identifier has. */
static void put_name(FILE *script, const char *axis, const char *name) {
  fprintf(script, "set %slabel '", axis);
  for (size_t i = 0; name[i] && i < 40; i++) fputc(isalnum((unsigned char)name[i]) ? name[i] : '_', script);
  fputs("'\n", script);
}

/* --- progress --- */

static double x_of(const clt_report_view *v, size_t row, double *spent_s, bool by_time) {
  *spent_s += v->report->rows.items[row].spent_s;
  return by_time ? *spent_s : (double)(row + 1);
}

/* What a plot shows of costs: values in a unit; relative: costs over the best one. */
typedef struct scale {
  const clt_report *report;
  double unit;
  bool relative;
} scale;

static double shown(const scale *s, double cost) {
  return (s->relative ? cost : clt_report_value(s->report, cost)) / s->unit;
}

static bool put_cloud(clt_gnuplot *g, const clt_report_view *v, const scale *s, bool by_time, range *y,
                      size_t *number) {
  FILE *file = clt_gnuplot_data(g, number);
  const clt_report_rows *rows = &v->report->rows;
  size_t stride = rows->n / MOST_POINTS + 1;
  double spent_s = 0;
  if (file == NULL) return false;
  for (size_t i = 0; i < rows->n; i++) {
    double x = x_of(v, i, &spent_s, by_time);
    double value = shown(s, rows->items[i].cost);
    if (i % stride || !drawable(value)) continue;
    fprintf(file, "%.9g %.9g\n", x, value);
    include(y, value);
  }
  return fclose(file) == 0;
}

static bool put_steps(clt_gnuplot *g, const clt_report_view *v, const scale *s, bool by_time, range *y,
                      size_t *number) {
  FILE *file = clt_gnuplot_data(g, number);
  if (file == NULL) return false;
  for (size_t i = 0; i < v->n_steps; i++) {
    const clt_report_view_step *step = &v->steps[i];
    fprintf(file, "%.9g %.9g\n", by_time ? step->spent_s : (double)step->number, shown(s, step->best_s));
    include(y, shown(s, step->best_s));
  }
  fprintf(file, "%.9g %.9g\n", by_time ? v->spent_s : (double)v->report->rows.n,
          shown(s, v->steps[v->n_steps - 1].best_s));
  return fclose(file) == 0;
}

/* Of several: the form in which the best reads well. */
static clt_value_form form_of(const clt_report_view *views, size_t n) {
  double least = INFINITY;
  for (size_t i = 0; i < n; i++)
    if (views[i].n_steps) least = fmin(least, views[i].steps[views[i].n_steps - 1].best_s);
  return clt_value_form_of(views[0].report, least);
}

/* Part of a text in the script: nothing that could end it. */
static void put_plain(FILE *script, const char *text) {
  static const char micro[] = "\u00b5";
  for (size_t i = 0; text[i] && i < 40; i++) {
    unsigned char c = (unsigned char)text[i];
    bool plain = c < 128 && (isalnum(c) || strchr(" _.+-/()", c));
    if (i == 0 && strncmp(text, micro, sizeof micro - 1) == 0) {
      fputs(micro, script);
      i += sizeof micro - 2;
    } else {
      fputc(plain ? c : '?', script);
    }
  }
}

/* set ylabel 'time in ms' */
static void put_value_label(FILE *script, const char *axis, const clt_value_form *form) {
  clt_report_figure figure = clt_report_figure_of(form->report);
  fprintf(script, "set %slabel '", axis);
  put_plain(script, figure.name);
  if (form->name[0] && strcmp(form->name, figure.name) != 0) {
    fputs(" in ", script);
    put_plain(script, form->name);
  }
  fputs("'\n", script);
}

static void put_x_axis(FILE *script, const clt_report_view *views, size_t n, bool by_time) {
  range x = {1, 1};
  for (size_t i = 0; i < n; i++) include(&x, by_time ? views[i].spent_s : (double)views[i].report->rows.n);
  fprintf(script, "set xlabel '%s'\n", by_time ? "seconds of measuring" : "evaluations");
  if (!by_time && x.high > MOST_EVEN_ROWS) {
    fprintf(script, "set xrange [1:%.17g]\n", x.high);
    put_log_tics(script, "x", x);
  } else {
    fputs("set xrange [0:*]\nset xtics autofreq\n", script);
  }
}

size_t clt_plot_progress(clt_gnuplot *g, const clt_report_view *views, size_t n, bool by_time, bool relative) {
  size_t files[CLT_COLOUR_CURVES + 1], n_curves = 0, cloud = CLT_NO_PLOT, curves[CLT_COLOUR_CURVES];
  clt_value_form form = form_of(views, n);
  range y = {INFINITY, 0};
  for (size_t i = 0; i < n && i < CLT_COLOUR_CURVES; i++) {
    const clt_report_view *v = &views[i];
    if (v->n_steps == 0 || (by_time && !(v->spent_s > 0))) continue;
    scale s = {v->report, relative ? v->steps[v->n_steps - 1].best_s : form.unit.seconds, relative};
    curves[n_curves] = i;
    if (!put_steps(g, v, &s, by_time, &y, &files[n_curves++])) return CLT_NO_PLOT;
    if (n == 1 && !put_cloud(g, v, &s, by_time, &y, &cloud)) return CLT_NO_PLOT;
  }
  if (n_curves == 0) return CLT_NO_PLOT;
  size_t plot = clt_gnuplot_plot(g, WIDTH, HEIGHT);
  if (relative)
    fputs("set ylabel 'times worse than own best'\n", g->script);
  else
    put_value_label(g->script, "y", &form);
  put_x_axis(g->script, views, n < CLT_COLOUR_CURVES ? n : CLT_COLOUR_CURVES, by_time);
  put_axis(g->script, "y", y);
  fputs("plot ", g->script);
  if (cloud != CLT_NO_PLOT)
    fprintf(g->script, "'%zu.dat' with points pt 7 ps 0.35 lc rgb " CLT_COLOUR " notitle, ", cloud, CLT_COLOUR_FAINT);
  for (size_t c = 0; c < n_curves; c++)
    fprintf(g->script, "%s'%zu.dat' with steps lw 2.5 lc rgb " CLT_COLOUR " notitle", c ? ", " : "", files[c],
            (unsigned)curves[c] + 1);
  fputc('\n', g->script);
  return plot;
}

/* --- the model --- */

static void put_measured_label(FILE *script, const char *axis, const char *what, const clt_value_form *form) {
  fprintf(script, "set %slabel '%s%s", axis, what, form->name[0] ? ", in " : "");
  put_plain(script, form->name);
  fputs("'\n", script);
}

size_t clt_plot_fit(clt_gnuplot *g, const clt_report_view *view) {
  const clt_report_fit *fit = &view->fit;
  size_t number, stride = fit->n / MOST_POINTS + 1;
  range r = {INFINITY, 0};
  FILE *file = fit->n ? clt_gnuplot_data(g, &number) : NULL;
  if (file == NULL) return CLT_NO_PLOT;
  clt_value_form form = form_of(view, 1);
  scale s = {view->report, form.unit.seconds, false};
  for (size_t i = 0; i < fit->n; i += stride) {
    double measured = shown(&s, fit->measured_s[i]), predicted = shown(&s, fit->predicted_s[i]);
    if (!drawable(measured) || !drawable(predicted)) continue;
    fprintf(file, "%.9g %.9g\n", measured, predicted);
    include(&r, measured);
    include(&r, predicted);
  }
  if (fclose(file)) return CLT_NO_PLOT;
  size_t plot = clt_gnuplot_plot(g, WIDTH, HEIGHT + 60);
  put_measured_label(g->script, "x", "measured", &form);
  put_measured_label(g->script, "y", "predicted", &form);
  put_axis(g->script, "x", r);
  put_axis(g->script, "y", r);
  fprintf(g->script,
          "plot x with lines lw 1.5 lc rgb " CLT_COLOUR " notitle, '%zu.dat' with points pt 7 ps 0.4 lc rgb " CLT_COLOUR
          " notitle\n",
          CLT_COLOUR_BEST, number, 1);
  return plot;
}

/* --- one parameter --- */

static bool put_effect_data(FILE *file, const clt_report_view_parameter *p, const scale *s, range *y,
                            label_room *labels) {
  for (size_t i = 0; i < p->n_shown; i++) {
    const clt_effect_value *e = &p->effect.values[p->shown[i]];
    clt_value value = p->parameter->values[p->shown[i]];
    char text[LABEL_CHARACTERS + 1];
    fprintf(file, "%zu %.9g %.9g %.9g %.9g \"%s\"\n", i, shown(s, e->median_s), shown(s, e->lower_quartile_s),
            shown(s, e->upper_quartile_s), shown(s, e->least_s), label(value, text));
    include(y, shown(s, e->least_s));
    include(y, shown(s, e->upper_quartile_s));
    take_room(labels, text);
  }
  return fclose(file) == 0;
}

size_t clt_plot_effect(clt_gnuplot *g, const clt_report_view *view, const clt_report_view_parameter *parameter) {
  size_t number;
  label_room labels = {0};
  range y = {INFINITY, 0};
  FILE *file = view->n_steps ? clt_gnuplot_data(g, &number) : NULL;
  if (file == NULL) return CLT_NO_PLOT;
  clt_value_form form = form_of(view, 1);
  scale s = {view->report, form.unit.seconds, false};
  if (!put_effect_data(file, parameter, &s, &y, &labels)) return CLT_NO_PLOT;
  size_t plot = clt_gnuplot_plot(g, SMALL_WIDTH, SMALL_HEIGHT);
  fprintf(g->script, "unset grid\nset grid ytics lt 1 lw 1 lc rgb " CLT_COLOUR "\n", CLT_COLOUR_GRID);
  put_value_label(g->script, "y", &form);
  put_axis(g->script, "y", y);
  fprintf(g->script, "set xrange [-0.6:%zu.6]\nset xtics scale 0%s\n", parameter->n_shown - 1, turned(&labels));
  fprintf(g->script, "plot '%zu.dat' using 1:3:(0):($4-$3) with vectors nohead lw 7 lc rgb " CLT_COLOUR " notitle, ",
          number, CLT_COLOUR_FAINT);
  fprintf(g->script, "'' using 1:2:xtic(6) with linespoints lw 2 pt 7 ps 0.6 lc rgb " CLT_COLOUR " notitle, ", 1);
  fprintf(g->script, "'' using 1:5 with points pt 11 ps 0.6 lc rgb " CLT_COLOUR " notitle", 3);
  for (size_t i = 0; i < parameter->n_shown; i++)
    if (parameter->shown[i] == parameter->best)
      fprintf(g->script, ", '' every ::%zu::%zu using 1:5 with points pt 6 ps 1.5 lw 2.5 lc rgb " CLT_COLOUR " notitle",
              i, i, CLT_COLOUR_BEST);
  fputc('\n', g->script);
  return plot;
}

/* --- pairs --- */

static size_t put_pair_data(FILE *file, const clt_report_view *view, bool median, const scale *s, range *values) {
  size_t n = 0;
  for (size_t a = 0; a < view->parameters[0].n_shown; a++)
    for (size_t b = 0; b < view->parameters[1].n_shown; b++) {
      const clt_effect_value *e = clt_report_view_pair(view, a, b);
      double value = shown(s, median ? e->median_s : e->least_s);
      if (!isfinite(value)) continue;
      fprintf(file, "%zu %zu %.9g\n", a, b, value);
      include(values, value);
      n++;
    }
  return fclose(file) == 0 ? n : 0;
}

static void put_value_tics(FILE *script, const char *axis, const clt_report_view_parameter *p) {
  label_room labels = {0};
  char text[LABEL_CHARACTERS + 1];
  for (size_t i = 0; i < p->n_shown; i++) take_room(&labels, label(p->parameter->values[p->shown[i]], text));
  fprintf(script, "set %srange [-0.5:%zu.5]\nset %stics scale 0%s (", axis, p->n_shown - 1, axis,
          *axis == 'x' ? turned(&labels) : "");
  for (size_t i = 0; i < p->n_shown; i++)
    fprintf(script, "%s'%s' %zu", i ? ", " : "", label(p->parameter->values[p->shown[i]], text), i);
  fputs(")\n", script);
}

static bool find_best(const clt_report_view *view, size_t at[2]) {
  for (size_t i = 0; i < 2; i++) {
    const clt_report_view_parameter *p = &view->parameters[i];
    for (at[i] = 0; at[i] < p->n_shown && p->shown[at[i]] != p->best;) at[i]++;
    if (at[i] == p->n_shown) return false;
  }
  return true;
}

size_t clt_plot_pairs(clt_gnuplot *g, const clt_report_view *view, bool median) {
  size_t number, mark, at[2];
  range values = {INFINITY, 0};
  FILE *file = view->pairs && view->n_steps ? clt_gnuplot_data(g, &number) : NULL;
  if (file == NULL) return CLT_NO_PLOT;
  clt_value_form form = form_of(view, 1);
  scale s = {view->report, form.unit.seconds, false};
  if (put_pair_data(file, view, median, &s, &values) == 0) return CLT_NO_PLOT;
  size_t plot = clt_gnuplot_plot(g, WIDTH, HEIGHT + 40);
  bool marked = find_best(view, at) && (file = clt_gnuplot_data(g, &mark)) != NULL;
  if (marked) fprintf(file, "%zu %zu\n", at[0], at[1]);
  if (marked && fclose(file)) return CLT_NO_PLOT;
  fputs("unset grid\nset rmargin at screen 0.76\n", g->script);
  put_value_label(g->script, "cb", &form);
  put_name(g->script, "x", view->parameters[0].parameter->name);
  put_name(g->script, "y", view->parameters[1].parameter->name);
  put_value_tics(g->script, "x", &view->parameters[0]);
  put_value_tics(g->script, "y", &view->parameters[1]);
  put_axis(g->script, "cb", values);
  fputs(clt_report_figure_of(view->report).maximised ? "set palette negative\n" : "set palette positive\n", g->script);
  fputs(
      "set palette defined (0 '#fde725', 1 '#8fd744', 2 '#35b779', 3 '#21908c', 4 '#31688e', 5 '#443a83', 6 "
      "'#440154')\n",
      g->script);
  fprintf(g->script,
          "set palette maxcolors 48\nplot '%zu.dat' using 1:2:(0.48):(0.48):3 with boxxyerror fs solid 1 noborder lc "
          "palette notitle",
          number);
  if (marked)
    fprintf(g->script, ", '%zu.dat' with points pt 6 ps 1.2 lw 2.5 lc rgb " CLT_COLOUR " notitle", mark,
            CLT_COLOUR_MARK);
  fputc('\n', g->script);
  return plot;
}
