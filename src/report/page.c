/* A report as a page. */
#include "report/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "report/plots.h"
#include "report/report.h"

/* --- what parts are made of --- */

void clt_page_heading(const clt_page *page, size_t report, const char *id, const char *text) {
  int level = page->n > 1 ? 3 : 2;
  fprintf(page->out, "<h%d id=\"r%zu-%s\">%s</h%d>\n", level, report + 1, id, text, level);
}

void clt_page_table(const clt_page *page, const char *name) {
  fprintf(page->out, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\"><table>\n", name);
}

void clt_page_table_end(const clt_page *page) { fputs("</tbody></table></div>\n", page->out); }

bool clt_page_figure_begin(const clt_page *page, size_t plot, const char *title, const char *name) {
  const char *svg = plot == CLT_NO_PLOT ? NULL : clt_gnuplot_svg(page->gnuplot, plot);
  FILE *out = page->out;
  if (svg == NULL) return false;
  fputs("<figure>", out);
  if (title[0]) {
    fputs("<p class=\"title\">", out);
    clt_put_text(out, title);
    fputs("</p>", out);
  }
  fputs("<svg role=\"img\" aria-label=\"", out);
  clt_put_text(out, name);
  fprintf(out, "\" %s", svg);
  return true;
}

void clt_page_figure(const clt_page *page, size_t plot, const char *title, const char *name, const char *caption) {
  if (!clt_page_figure_begin(page, plot, title, name)) return;
  if (caption[0]) fprintf(page->out, "<figcaption>%s</figcaption>", caption);
  clt_page_figure_end(page);
}

void clt_page_figure_end(const clt_page *page) { fputs("</figure>\n", page->out); }

void clt_page_value_name(const clt_page *page, const clt_report_view *view) {
  clt_put_text(page->out, clt_report_figure_of(view->report).name);
  clt_put_unit(page->out, &page->form);
}

/* --- plots --- */

static int add_plots(clt_page_plots *plots, clt_gnuplot *g, const clt_report_view *view, clt_error *error) {
  plots->effects = clt_new_array(view->n_parameters, sizeof *plots->effects);
  if (plots->effects == NULL) return clt_fail_memory(error);
  plots->evaluations = clt_plot_progress(g, view, 1, false, false);
  plots->time = clt_plot_progress(g, view, 1, true, false);
  plots->fit = clt_plot_fit(g, view);
  plots->least = clt_plot_pairs(g, view, false);
  plots->median = clt_plot_pairs(g, view, true);
  for (size_t i = 0; i < view->n_parameters; i++) plots->effects[i] = clt_plot_effect(g, view, &view->parameters[i]);
  return CLT_OK;
}

static bool same_subject(const clt_report *a, const clt_report *b) {
  return strcmp(a->title, b->title) == 0 && strcmp(a->sizes, b->sizes) == 0;
}

/* A page without plots is still a page: why there are none is no error but *note. */
static int make_plots(clt_page *page, clt_gnuplot *g, char **note, clt_error *error) {
  int rc = CLT_OK;
  clt_error own = {0};
  for (size_t i = 0; rc == CLT_OK && i < page->n; i++) rc = add_plots(&page->plots[i], g, &page->views[i], error);
  for (size_t i = 1; i < page->n; i++) page->relative |= !same_subject(page->views[0].report, page->views[i].report);
  page->together_evaluations = page->together_time = CLT_NO_PLOT;
  if (rc == CLT_OK && page->n > 1) {
    page->together_evaluations = clt_plot_progress(g, page->views, page->n, false, page->relative);
    page->together_time = clt_plot_progress(g, page->views, page->n, true, page->relative);
  }
  if (rc || clt_gnuplot_run(g, &own) == CLT_OK) return rc;
  if (own.code == CLT_E_MEMORY) return clt_fail_memory(error);
  *note = strdup(own.message);
  page->no_plots = *note;
  return *note ? CLT_OK : clt_fail_memory(error);
}

/* --- the page --- */

static void put_title(const clt_page *page) {
  if (page->n > 1) {
    fprintf(page->out, "%zu tunings compared", page->n);
  } else {
    clt_put_text(page->out, page->views[0].report->title);
  }
}

static void put_head(const clt_page *page) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      page->out);
  put_title(page);
  fputs(" \u2013 clatune</title>\n<style>\n", page->out);
  clt_put_style(page->out);
  fputs("</style>\n</head>\n<body>\n", page->out);
  fputs("<a class=\"skip\" href=\"#content\">To the content</a>\n<header>\n<h1>", page->out);
  put_title(page);
  fputs("</h1>\n", page->out);
}

static void put_subject(const clt_page *page, size_t report) {
  const clt_report *r = page->views[report].report;
  if (r->sizes[0] == '\0' && r->device[0] == '\0' && r->device_info == NULL) return;
  fputs("<p class=\"sub\">", page->out);
  clt_put_text(page->out, r->sizes);
  if (r->sizes[0] && (r->device_info || r->device[0])) fputs(" \u00b7 ", page->out);
  clt_put_text(page->out, r->device_info ? r->device_info->name : r->device);
  fputs("</p>\n", page->out);
}

typedef struct part {
  const char *id, *title;
} part;

static bool has_part(const clt_report_view *view, const char *id) {
  if (strcmp(id, "parameters") == 0) return view->n_parameters > 0;
  if (strcmp(id, "pairs") == 0) return view->pairs != NULL && view->n_steps > 0;
  if (strcmp(id, "failures") == 0) return view->report->n_correct < view->report->rows.n;
  if (strcmp(id, "device") == 0) return view->report->device_info || view->report->device[0];
  return view->n_steps > 0;
}

static const part parts[] = {{"progress", "The best so far"},
                             {"fastest", "The ten fastest"},
                             {"parameters", "What parameters do"},
                             {"pairs", "Two parameters together"},
                             {"model", "Predicted and measured"},
                             {"failures", "What failed"},
                             {"device", "The device"}};
#define N_PARTS (sizeof parts / sizeof *parts)

static const char *title_of(const clt_page *page, size_t report, size_t at) {
  bool by_time = clt_report_figure_of(page->views[report].report).is_time;
  return !by_time && strcmp(parts[at].id, "fastest") == 0 ? "The ten best" : parts[at].title;
}

static void put_contents(const clt_page *page) {
  fputs("<nav aria-label=\"Contents\"><ul>\n", page->out);
  for (size_t i = 0; page->n == 1 && i < N_PARTS; i++)
    if (has_part(&page->views[0], parts[i].id))
      fprintf(page->out, "<li><a href=\"#r1-%s\">%s</a></li>\n", parts[i].id, title_of(page, 0, i));
  for (size_t i = 0; page->n > 1 && i < page->n; i++) {
    fprintf(page->out, "<li><a href=\"#r%zu\">%zu ", i + 1, i + 1);
    clt_put_text(page->out, page->views[i].report->title);
    fputs("</a></li>\n", page->out);
  }
  fputs("<li><a href=\"#origin\">How this page was made</a></li>\n</ul></nav>\n", page->out);
}

static void put_part(const clt_page *page, size_t report, size_t at) {
  static void (*const writers[N_PARTS])(const clt_page *, size_t) = {
      clt_page_progress, clt_page_fastest,  clt_page_parameters, clt_page_pairs,
      clt_page_fit,      clt_page_failures, clt_page_device};
  if (!has_part(&page->views[report], parts[at].id)) return;
  fprintf(page->out, "<section aria-labelledby=\"r%zu-%s\">\n", report + 1, parts[at].id);
  clt_page_heading(page, report, parts[at].id, title_of(page, report, at));
  writers[at](page, report);
  fputs("</section>\n", page->out);
}

static void put_report(clt_page *page, size_t report) {
  page->form = clt_value_form_of(page->views[report].report, clt_report_view_best_s(&page->views[report]));
  if (page->n > 1) {
    fprintf(page->out, "<h2 id=\"r%zu\">%zu ", report + 1, report + 1);
    clt_put_text(page->out, page->views[report].report->title);
    fputs("</h2>\n", page->out);
    put_subject(page, report);
  }
  clt_page_facts(page, report);
  for (size_t i = 0; i < N_PARTS; i++) put_part(page, report, i);
}

static void put_page(clt_page *page) {
  put_head(page);
  if (page->n == 1) put_subject(page, 0);
  put_contents(page);
  fputs("</header>\n<main id=\"content\">\n", page->out);
  if (page->no_plots) {
    fputs("<p class=\"block\">This page has no plots: ", page->out);
    clt_put_text(page->out, page->no_plots);
    fputs(".</p>\n", page->out);
  }
  if (page->n > 1) clt_page_comparison(page);
  for (size_t i = 0; i < page->n; i++) put_report(page, i);
  fputs("</main>\n<footer>\n", page->out);
  clt_page_origin(page);
  fputs("</footer>\n</body>\n</html>\n", page->out);
}

static int write_page(char **out, clt_page *page, clt_error *error) {
  char *text = NULL;
  size_t bytes;
  page->out = open_memstream(&text, &bytes);
  if (page->out == NULL) return clt_fail_memory(error);
  put_page(page);
  bool failed = ferror(page->out) != 0;
  if (fclose(page->out) || failed) {
    free(text);
    return clt_fail_memory(error);
  }
  *out = text;
  return CLT_OK;
}

static void release(clt_page *page, clt_report_view *views) {
  for (size_t i = 0; i < page->n; i++) {
    if (views) clt_report_view_release(&views[i]);
    if (page->plots) free(page->plots[i].effects);
  }
  free(views);
  free(page->plots);
}

int clt_report_page(char **out, char **note, const clt_report *const *reports, size_t n,
                    const clt_report_options *options, clt_error *error) {
  clt_report_view *views = clt_new_array(n, sizeof *views);
  clt_page page = {.n = n, .views = views, .options = options, .plots = clt_new_array(n, sizeof *page.plots)};
  clt_gnuplot gnuplot = {0};
  char *why = NULL;
  int rc = views && page.plots ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && n == 0) rc = clt_fail(error, CLT_E_ARGUMENT, "there is nothing to report");
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = clt_report_view_init(&views[i], reports[i], options, error);
  if (rc == CLT_OK) rc = clt_gnuplot_begin(&gnuplot, error);
  if (rc == CLT_OK) {
    page.gnuplot = &gnuplot;
    rc = make_plots(&page, &gnuplot, &why, error);
    if (rc == CLT_OK) rc = write_page(out, &page, error);
    clt_gnuplot_release(&gnuplot);
  }
  release(&page, views);
  if (rc) {
    free(why);
  } else {
    *note = why;
  }
  return rc;
}

int clt_report_page_write(const char *path, const char *page, clt_error *error) {
  return clt_file_replace(path, page, strlen(page), error);
}
