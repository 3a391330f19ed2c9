/* Parts of a page: what was found. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "report/page.h"
#include "report/report.h"

#define NEAR 1.05 /* of the best: near enough to say when it was reached */

/* --- facts --- */

static void put_fact(const clt_page *page, const char *kind, const char *term) {
  fprintf(page->out, "<div%s><dt>%s</dt><dd>", kind, term);
}

static void end_fact(const clt_page *page) { fputs("</dd></div>\n", page->out); }

static void put_best(const clt_page *page, const clt_report_view *v) {
  const clt_report_row *row = &v->report->rows.items[v->best];
  const clt_objective *objective = v->report->objective;
  bool by_time = clt_report_figure_of(v->report).is_time;
  double ratio = v->median_s / row->cost;
  put_fact(page, " class=\"best\"", by_time ? "Best time" : "Best");
  clt_put_cost_unit(page->out, &page->form, clt_report_view_best_s(v));
  fprintf(page->out, "<small>%s</small>",
          isfinite(row->final_s) && clt_objective_ranks_by_time(objective)
              ? "median of its runs against the other finalists"
              : "in the search");
  end_fact(page);
  put_fact(page, "", by_time ? "Faster than the median" : "Better than the median");
  fprintf(page->out, "%.*f\u00d7<small>in the search; half of the correct ones %s ", ratio < 10 ? 2 : 1, ratio,
          by_time ? "took longer than" : "are worse than");
  clt_put_cost_unit(page->out, &page->form, v->median_s);
  fputs("</small>", page->out);
  end_fact(page);
}

static void put_counts(const clt_page *page, const clt_report_view *v) {
  const clt_report *r = v->report;
  size_t n_failed = r->rows.n - r->n_correct;
  put_fact(page, "", "Configurations");
  clt_put_count(page->out, r->rows.n);
  if (r->own_space) {
    fputs("<small>that the store has</small>", page->out);
  } else {
    fputs("<small>of ", page->out);
    clt_put_count(page->out, clt_space_valid(r->space));
    fputs(" valid ones</small>", page->out);
  }
  end_fact(page);
  put_fact(page, "", "Failed");
  clt_put_count(page->out, n_failed);
  if (r->rows.n)
    fprintf(page->out, "<small>%.1f\u00a0%% of them</small>", 100.0 * (double)n_failed / (double)r->rows.n);
  end_fact(page);
}

static void put_model(const clt_page *page, const clt_report_view *v) {
  if (v->fit.n == 0) return;
  put_fact(page, "", "Model errs by");
  fprintf(page->out, "%.1f\u00a0%%<small>in the mean, on rows not trained on</small>",
          100 * v->fit.accuracy.mean_relative_error);
  end_fact(page);
}

/* "Maximise GFLOP/s." */
static void put_objective(const clt_page *page, const clt_report *report) {
  clt_report_figure figure = clt_report_figure_of(report);
  if (figure.is_time) return;
  fputs(figure.maximised ? "<p>To be maximised: " : "<p>To be minimised: ", page->out);
  clt_put_text(page->out, figure.name);
  clt_put_unit(page->out, &page->form);
  fputs(".</p>\n", page->out);
}

void clt_page_facts(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  put_objective(page, v->report);
  fputs("<dl class=\"facts\">\n", page->out);
  if (v->best != SIZE_MAX) put_best(page, v);
  put_counts(page, v);
  put_model(page, v);
  fputs("</dl>\n", page->out);
  if (v->best == SIZE_MAX) {
    fputs("<p>No configuration was correct.</p>\n", page->out);
    return;
  }
  char *text = clt_config_string(v->report->space, v->report->rows.items[v->best].config);
  fputs("<p class=\"block\"><span class=\"soft\">Best configuration </span>", page->out);
  clt_put_code(page->out, text ? text : "");
  fputs("</p>\n", page->out);
  free(text);
}

/* --- progress --- */

/* The first step that is near to the last. */
static const clt_report_view_step *step_near(const clt_report_view *v) {
  const clt_report_view_step *step = v->steps;
  while (step->best_s > NEAR * v->steps[v->n_steps - 1].best_s) step++;
  return step;
}

static void put_steps(const clt_page *page, const clt_report_view *v) {
  FILE *out = page->out;
  fprintf(out, "<details><summary>All improvements: %zu</summary>\n", v->n_steps);
  clt_page_table(page, "Improvements");
  fputs("<thead><tr><th scope=\"col\" class=\"n\">evaluation</th>", out);
  if (v->spent_s > 0) fputs("<th scope=\"col\" class=\"n\">seconds</th>", out);
  fputs("<th scope=\"col\" class=\"n\">", out);
  clt_page_value_name(page, v);
  fputs("</th></tr></thead><tbody>\n", out);
  for (size_t i = 0; i < v->n_steps; i++) {
    fprintf(out, "<tr><td class=\"n\">%zu</td>", v->steps[i].number);
    if (v->spent_s > 0) fprintf(out, "<td class=\"n\">%.2f</td>", v->steps[i].spent_s);
    fputs("<td class=\"n\">", out);
    clt_put_cost(out, &page->form, v->steps[i].best_s);
    fputs("</td></tr>\n", out);
  }
  clt_page_table_end(page);
  fputs("</details>\n", out);
}

void clt_page_progress(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  const clt_report_view_step *last = &v->steps[v->n_steps - 1], *near = step_near(v);
  FILE *out = page->out;
  fputs("<p>The best was found at evaluation ", out);
  clt_put_count(out, last->number);
  fputs(" of ", out);
  clt_put_count(out, v->report->rows.n);
  if (near != last) {
    fputs("; one within 5\u00a0% of it at evaluation ", out);
    clt_put_count(out, near->number);
  }
  if (v->in_order) fputs(". These are in the order of their numbers, not in that of a search", out);
  if (v->spent_s > 0) fprintf(out, ". Measuring took %.4g seconds, builds included", v->spent_s);
  fputs(".</p>\n<div class=\"figures\">\n", out);
  static const char caption[] =
      "<span class=\"key k1\"></span>best so far <span class=\"key k18\"></span>each configuration";
  clt_page_figure(page, page->plots[report].evaluations, "Over evaluations",
                  "The best so far over the number of evaluations, with each configuration", caption);
  clt_page_figure(page, page->plots[report].time, "Over time",
                  "The best so far over the seconds spent on measuring, with each configuration", caption);
  fputs("</div>\n", out);
  put_steps(page, v);
}

/* --- the fastest --- */

static bool any_finalist(const clt_report_view *v) {
  if (!clt_objective_is_standard(v->report->objective)) return false;
  for (size_t i = 0; i < v->n_fastest; i++)
    if (isfinite(v->report->rows.items[v->fastest[i]].final_s)) return true;
  return false;
}

/* Whether all of the fastest have the best's value of a parameter. */
static bool is_common(const clt_report_view *v, size_t parameter) {
  const clt_report *r = v->report;
  size_t index = v->parameters[parameter].index;
  clt_value best = clt_space_value(r->space, r->rows.items[v->best].config, index);
  for (size_t i = 0; i < v->n_fastest; i++)
    if (!clt_value_equal(best, clt_space_value(r->space, r->rows.items[v->fastest[i]].config, index))) return false;
  return v->n_fastest > 1;
}

static void put_common(const clt_page *page, const clt_report_view *v) {
  const clt_report *r = v->report;
  char text[320];
  size_t n = 0;
  for (size_t p = 0; p < v->n_parameters; p++) {
    if (!is_common(v, p)) continue;
    fputs(n++ ? " " : "<p>All of them have <code>", page->out);
    clt_put_text(page->out, v->parameters[p].parameter->name);
    fputc('=', page->out);
    clt_value value = clt_space_value(r->space, r->rows.items[v->best].config, v->parameters[p].index);
    clt_put_text(page->out, clt_report_view_value(value, text, sizeof text));
  }
  if (n) fputs("</code>.</p>\n", page->out);
}

static void put_columns(const clt_page *page, const clt_report_view *v, bool finalists) {
  FILE *out = page->out;
  fputs("<thead><tr><th scope=\"col\" class=\"n\">", out);
  clt_page_value_name(page, v);
  fputs("</th><th scope=\"col\" class=\"n\">spread</th>", out);
  if (finalists) fprintf(out, "<th scope=\"col\" class=\"n\">finalist, %s</th>", page->form.name);
  for (size_t p = 0; p < v->n_parameters; p++) {
    if (is_common(v, p)) continue;
    fputs("<th scope=\"col\" class=\"n\">", out);
    clt_put_text(out, v->parameters[p].parameter->name);
    fputs("</th>", out);
  }
  fputs("</tr></thead><tbody>\n", out);
}

static void put_row(const clt_page *page, const clt_report_view *v, size_t i, bool finalists) {
  const clt_report_row *rows = v->report->rows.items, *row = &rows[v->fastest[i]], *best = &rows[v->best];
  FILE *out = page->out;
  char text[320];
  fprintf(out, "<tr%s><th scope=\"row\" class=\"n\">", row == best ? " class=\"best\"" : "");
  clt_put_cost(out, &page->form, row->cost);
  fputs("</th><td class=\"n\">", out);
  if (isfinite(row->spread))
    fprintf(out, "%.1f\u00a0%%", 100 * row->spread);
  else
    fputs("\u2013", out);
  fputs("</td>", out);
  if (finalists) {
    fputs("<td class=\"n\">", out);
    clt_put_cost(out, &page->form, row->final_s);
    fputs("</td>", out);
  }
  for (size_t p = 0; p < v->n_parameters; p++) {
    if (is_common(v, p)) continue;
    clt_value mine = clt_space_value(v->report->space, row->config, v->parameters[p].index);
    bool same = clt_value_equal(mine, clt_space_value(v->report->space, best->config, v->parameters[p].index));
    clt_report_view_value(mine, text, sizeof text);
    fprintf(out, "<td class=\"n%s%s\">", same && row != best ? " same" : "", clt_cell_class(text));
    clt_put_text(out, text);
    fputs("</td>", out);
  }
  fputs("</tr>\n", out);
}

void clt_page_fastest(const clt_page *page, size_t report) {
  const clt_report_view *v = &page->views[report];
  bool finalists = any_finalist(v);
  fputs("<p>The spread is the median absolute deviation of a configuration's runs over their median. ", page->out);
  if (finalists) fputs("Finalists were run again at the end, in turns; their medians decide. ", page->out);
  fputs("Parameters stand in the order of their importance; values that the best has too are grey.</p>\n", page->out);
  put_common(page, v);
  clt_page_table(page, "The fastest configurations");
  put_columns(page, v, finalists);
  for (size_t i = 0; i < v->n_fastest; i++) put_row(page, v, i, finalists);
  clt_page_table_end(page);
}

/* --- several --- */

static void put_compared(const clt_page *page, size_t i) {
  const clt_report_view *v = &page->views[i];
  const clt_report *r = v->report;
  clt_value_form form = clt_value_form_of(r, clt_report_view_best_s(v));
  FILE *out = page->out;
  fputs("<tr><th scope=\"row\" class=\"flow\">", out);
  if (i < CLT_COLOUR_CURVES) fprintf(out, "<span class=\"key k%zu\"></span>", i + 1);
  fprintf(out, "<a href=\"#r%zu\">%zu ", i + 1, i + 1);
  clt_put_text(out, r->title);
  fputs("</a></th><td class=\"flow\">", out);
  clt_put_text(out, r->sizes);
  fputs("</td><td class=\"flow\">", out);
  clt_put_text(out, r->device_info ? r->device_info->name : r->device);
  fputs("</td><td class=\"n\">", out);
  clt_put_count(out, r->rows.n);
  fputs("</td><td class=\"n\">", out);
  clt_put_count(out, r->rows.n - r->n_correct);
  fputs("</td><td class=\"n\">", out);
  clt_put_cost_unit(out, &form, clt_report_view_best_s(v));
  fputs("</td><td class=\"n\">", out);
  if (v->n_steps) clt_put_count(out, step_near(v)->number);
  fputs("</td></tr>\n", out);
}

void clt_page_comparison(const clt_page *page) {
  FILE *out = page->out;
  fputs("<section aria-labelledby=\"compared\">\n<h2 id=\"compared\">Side by side</h2>\n", out);
  if (page->relative)
    fputs(
        "<p>These are different problems or sizes: the curves show how many times worse than each tuning's own "
        "best.</p>\n",
        out);
  clt_page_table(page, "The tunings");
  fputs(
      "<thead><tr><th scope=\"col\">tuning</th><th scope=\"col\">sizes</th><th scope=\"col\">device</th>"
      "<th scope=\"col\" class=\"n\">evaluations</th><th scope=\"col\" class=\"n\">failed</th>"
      "<th scope=\"col\" class=\"n\">best</th><th scope=\"col\" class=\"n\">within 5\u00a0% "
      "after</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < page->n; i++) put_compared(page, i);
  clt_page_table_end(page);
  if (page->n > CLT_COLOUR_CURVES) fprintf(out, "<p>The plots show the first %d.</p>\n", CLT_COLOUR_CURVES);
  fputs("<div class=\"figures\">\n", out);
  clt_page_figure(page, page->together_evaluations, "Over evaluations",
                  "The best so far of each tuning over its evaluations", "");
  clt_page_figure(page, page->together_time, "Over time",
                  "The best so far of each tuning over the seconds spent on measuring", "");
  fputs("</div>\n</section>\n", out);
}
