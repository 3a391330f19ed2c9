/* Parts of a page: parameters, the model, failures, and where it all comes from. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "report/page.h"
#include "report/report.h"

#define STRINGIFY(x) #x
#define TEXT_OF(x) STRINGIFY(x)
#define NAME_BYTES 320

/* --- parameters --- */

/* A cell with a value; kind: " mark" or "". */
static void put_value(FILE *out, const clt_report_view_parameter *p, size_t value, const char *tag, const char *kind) {
  char text[320];
  clt_report_view_value(p->parameter->values[value], text, sizeof text);
  fprintf(out, "<%s class=\"n%s%s\">", tag, kind, clt_cell_class(text));
  clt_put_text(out, text);
  fprintf(out, "</%.2s>", tag);
}

static double importance(const clt_report_view_parameter *p) {
  return isnan(p->effect.importance) ? 0 : p->effect.importance;
}

static void put_importance(const clt_page *page, const clt_report_view *v) {
  FILE *out = page->out;
  clt_page_table(page, "Importance of the parameters");
  fputs(
      "<thead><tr><th scope=\"col\">parameter</th><th scope=\"col\" class=\"n\">importance</th>"
      "<th scope=\"col\" aria-label=\"as a bar\"></th><th scope=\"col\" class=\"n\">best "
      "value</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < v->n_parameters; i++) {
    const clt_report_view_parameter *p = &v->parameters[i];
    fputs("<tr><th scope=\"row\">", out);
    clt_put_text(out, p->parameter->name);
    fprintf(out, "</th><td class=\"n\">%.0f\u00a0%%</td><td>", 100 * importance(p));
    clt_put_bar(out, importance(p));
    fputs("</td>", out);
    if (p->best != SIZE_MAX)
      put_value(out, p, p->best, "td", " mark");
    else
      fputs("<td></td>", out);
    fputs("</tr>\n", out);
  }
  clt_page_table_end(page);
}

static void put_effect_row(const clt_page *page, const clt_report_view_parameter *p, size_t value) {
  const clt_effect_value *e = &p->effect.values[value];
  const double times_s[] = {e->least_s, e->lower_quartile_s, e->median_s, e->upper_quartile_s};
  FILE *out = page->out;
  fprintf(out, "<tr%s>", value == p->best ? " class=\"best\"" : "");
  put_value(out, p, value, "th scope=\"row\"", "");
  fprintf(out, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td>", e->n, e->n_failed);
  for (size_t i = 0; i < 4; i++) {
    fputs("<td class=\"n\">", out);
    clt_put_cost(out, &page->form, times_s[i]);
    fputs("</td>", out);
  }
  fputs("</tr>\n", out);
}

static void put_effect(const clt_page *page, const clt_report_view_parameter *p) {
  FILE *out = page->out;
  size_t n_occurring = 0;
  for (size_t v = 0; v < p->effect.n_values; v++) n_occurring += p->effect.values[v].n > 0;
  fputs("<details><summary>", out);
  clt_put_text(out, p->parameter->name);
  fputs(" in numbers</summary>\n", out);
  clt_page_table(page, "A parameter's values");
  if (n_occurring > p->n_shown)
    fprintf(out, "<caption>The %zu best of %zu values</caption>\n", p->n_shown, n_occurring);
  fputs(
      "<thead><tr><th scope=\"col\" class=\"n\">value</th><th scope=\"col\" class=\"n\">rows</th>"
      "<th scope=\"col\" class=\"n\">failed</th><th scope=\"col\" class=\"n\">best",
      out);
  clt_put_unit(out, &page->form);
  fputs(
      "</th><th scope=\"col\" class=\"n\">quarter</th><th scope=\"col\" class=\"n\">median</th>"
      "<th scope=\"col\" class=\"n\">three quarters</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < p->n_shown; i++) put_effect_row(page, p, p->shown[i]);
  clt_page_table_end(page);
  fputs("</details>\n", out);
}

void clt_page_parameters(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  FILE *out = page->out;
  fputs(
      "<p>Importance is the share of the spread on a logarithmic scale that a parameter explains alone. What two of "
      "them "
      "do only together is in neither's share. The rows are those that were measured: a search looks where it is good, "
      "so that only random samples and whole recordings speak for all configurations.</p>\n",
      out);
  put_importance(page, v);
  fputs(
      "<p><span class=\"key k1\"></span>median <span class=\"key stripe k18\"></span>from a quarter to three quarters "
      "<span class=\"key triangle\"></span>best <span class=\"key ring\"></span>the best configuration</p>\n"
      "<div class=\"small figures\">\n",
      out);
  for (size_t i = 0; i < v->n_parameters; i++) {
    const clt_report_view_parameter *p = &v->parameters[i];
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "What comes of each value of %s", p->parameter->name);
    bool framed = clt_page_figure_begin(page, page->plots[report].effects[i], p->parameter->name, name);
    put_effect(page, p);
    if (framed) clt_page_figure_end(page);
  }
  fputs("</div>\n", out);
}

void clt_page_pairs(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  const clt_page_plots *plots = &page->plots[report];
  const char *names[] = {v->parameters[0].parameter->name, v->parameters[1].parameter->name};
  char name[2 * NAME_BYTES];
  FILE *out = page->out;
  fputs("<p>The two most important parameters, ", out);
  clt_put_code(out, names[0]);
  fputs(" and ", out);
  clt_put_code(out, names[1]);
  fputs(
      ". The ring is on the best configuration; pairs without a correct measurement are empty.</p>\n"
      "<div class=\"figures\">\n",
      out);
  bool by_time = clt_report_figure_of(v->report).is_time;
  snprintf(name, sizeof name, "The best for each pair of values of %s and %s", names[0], names[1]);
  clt_page_figure(page, plots->least, by_time ? "Least time" : "Best", name, "");
  snprintf(name, sizeof name, "The median for each pair of values of %s and %s", names[0], names[1]);
  clt_page_figure(page, plots->median, by_time ? "Median time" : "Median", name, "");
  fputs("</div>\n", out);
}

/* --- the model --- */

void clt_page_fit(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  const clt_model_accuracy *a = &v->fit.accuracy;
  FILE *out = page->out;
  if (v->fit.n == 0) {
    fprintf(out, "<p>There is no model: it takes %s correct configurations that differ.</p>\n",
            TEXT_OF(CLT_REPORT_LEAST_ROWS));
    return;
  }
  fputs(
      "<p>An ensemble of networks was trained on the rows, and each row predicted by those networks that had not seen "
      "it. Out of "
      "fold it errs by <strong>",
      out);
  fprintf(out, "%.1f\u00a0%%</strong> in the mean; one standard deviation is a factor of %.3g. It had ",
          100 * a->mean_relative_error, exp(a->log_error_sd));
  clt_put_count(out, a->n_rows);
  fputs(" rows, ", out);
  clt_put_count(out, a->n_failed);
  fprintf(out, " of them failed; seed %llu.</p>\n<div class=\"figures\">\n", (unsigned long long)page->options->seed);
  clt_page_figure(page, page->plots[report].fit, "",
                  "Predicted over measured values of configurations that the model had not seen",
                  "On the line, prediction and measurement agree.");
  fputs("</div>\n", out);
}

/* --- failures --- */

static void put_share(FILE *out, size_t n, size_t of) {
  double share = (double)n / (double)of;
  fprintf(out, "<td class=\"n\">%zu</td><td class=\"n\">%.1f\u00a0%%</td><td>", n, 100 * share);
  clt_put_bar(out, share);
  fputs("</td>", out);
}

static void put_reasons(const clt_page *page, const clt_report *r) {
  size_t counts[CLT_N_REASONS] = {0};
  FILE *out = page->out;
  for (size_t i = 0; i < r->rows.n; i++) counts[r->rows.items[i].reason]++;
  clt_page_table(page, "Failures by reason");
  fputs(
      "<thead><tr><th scope=\"col\">reason</th><th scope=\"col\" class=\"n\">rows</th><th scope=\"col\" "
      "class=\"n\">share</th>"
      "<th scope=\"col\" aria-label=\"as a bar\"></th><th scope=\"col\">what it means</th></tr></thead><tbody>\n",
      out);
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    if (counts[i] == 0) continue;
    fprintf(out, "<tr><th scope=\"row\">%s</th>", clt_reason_name((clt_reason)i));
    put_share(out, counts[i], r->rows.n);
    fprintf(out, "<td class=\"flow\">%s</td></tr>\n", clt_reason_text((clt_reason)i));
  }
  clt_page_table_end(page);
}

void clt_page_failures(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  FILE *out = page->out;
  put_reasons(page, v->report);
  if (v->n_failing == 0) return;
  fprintf(out, "<p>Values with which more fails than the %.1f\u00a0%% of all:</p>\n",
          100.0 * (double)(v->report->rows.n - v->report->n_correct) / (double)v->report->rows.n);
  clt_page_table(page, "Failures by parameter");
  fputs(
      "<thead><tr><th scope=\"col\">parameter</th><th scope=\"col\" class=\"n\">value</th><th scope=\"col\" "
      "class=\"n\">rows</th>"
      "<th scope=\"col\" class=\"n\">failed</th><th scope=\"col\" class=\"n\">share</th>"
      "<th scope=\"col\" aria-label=\"as a bar\"></th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < v->n_failing; i++) {
    const clt_report_view_failing *f = &v->failing[i];
    fputs("<tr><th scope=\"row\">", out);
    clt_put_text(out, f->parameter->parameter->name);
    fputs("</th>", out);
    put_value(out, f->parameter, f->value, "td", "");
    fprintf(out, "<td class=\"n\">%zu</td>", f->n);
    put_share(out, f->n_failed, f->n);
    fputs("</tr>\n", out);
  }
  clt_page_table_end(page);
}

/* --- where it comes from --- */

static void put_line(FILE *out, const char *name, const char *text) {
  if (text[0] == '\0') return;
  fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"flow\">", name);
  clt_put_text(out, text);
  fputs("</td></tr>\n", out);
}

static void put_number(FILE *out, const char *name, uint64_t n, const char *unit) {
  if (n == 0) return;
  fprintf(out, "<tr><th scope=\"row\">%s</th><td>", name);
  clt_put_count(out, n);
  fprintf(out, "%s</td></tr>\n", unit);
}

void clt_page_device(const clt_page *page, size_t report) {
  const clt_report *r = page->views[report].report;
  const clt_device_info *d = r->device_info;
  FILE *out = page->out;
  clt_page_table(page, "The device");
  fputs("<tbody>\n", out);
  put_line(out, "known as", r->device);
  if (d) {
    put_line(out, "name", d->name);
    put_line(out, "vendor", d->vendor);
    put_line(out, "platform", d->platform_name);
    put_line(out, "platform version", d->platform_version);
    put_line(out, "device version", d->device_version);
    put_line(out, "driver version", d->driver_version);
    put_line(out, "OpenCL C", d->opencl_c_version);
    put_number(out, "compute units", d->compute_units, "");
    put_number(out, "clock", d->clock_mhz, "\u00a0MHz");
    put_number(out, "largest work group", d->max_work_group_size, "");
    put_number(out, "local memory", d->local_memory_bytes / 1024, "\u00a0KiB");
    put_number(out, "global memory", d->global_memory_bytes >> 20, "\u00a0MiB");
  }
  clt_page_table_end(page);
}

void clt_page_origin(const clt_page *page) {
  FILE *out = page->out;
  fputs("<section aria-labelledby=\"origin\">\n<h2 id=\"origin\">How this page was made</h2>\n", out);
  fprintf(out, "<p>By clatune %s%s%s. It needs nothing beside itself: no network, no script.</p>\n", CLATUNE_VERSION,
          page->gnuplot->svgs ? ", with plots by gnuplot " : "", page->gnuplot->version);
  if (page->options->command) {
    fputs("<p class=\"block\">", out);
    clt_put_code(out, page->options->command);
    fputs("</p>\n", out);
  }
  fputs("</section>\n", out);
}
