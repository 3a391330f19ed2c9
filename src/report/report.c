/* A report is its document; tunings are added to it one by one. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/rows.h"

struct clt_report {
  const clt_report_options *options;
  json_t *document, *tunings;
};

int clt_report_new(clt_report **out, const clt_report_options *options, clt_error *error) {
  clt_report *report = clt_new_array(1, sizeof *report);
  if (report == NULL) return clt_fail_memory(error);
  report->options = options;
  report->tunings = json_array();
  report->document = json_pack("{s:s, s:o, s:I, s:O}", "version", CLATUNE_VERSION, "command",
                               options->command ? clt_report_string(options->command) : json_null(), "seed",
                               (json_int_t)options->seed, "tunings", report->tunings);
  if (report->document) {
    *out = report;
    return CLT_OK;
  }
  clt_report_free(report);
  return clt_fail_memory(error);
}

void clt_report_free(clt_report *report) {
  if (report == NULL) return;
  json_decref(report->tunings);
  json_decref(report->document);
  free(report);
}

/* Makes the document of a tuning that was read, or was not (rc); releases it. */
static int add_tuning(clt_report *report, clt_tuning *tuning, int rc, clt_error *error) {
  json_t *json = NULL;
  if (rc == CLT_OK) rc = clt_tuning_document(&json, tuning, report->options, error);
  if (rc == CLT_OK && json_array_append_new(report->tunings, json)) rc = clt_fail_memory(error);
  clt_tuning_release(tuning);
  return rc;
}

int clt_report_add_instance(clt_report *report, clt_store *store, const clt_instance *instance, clt_error *error) {
  clt_tuning t;
  return add_tuning(report, &t, clt_tuning_of_instance(&t, report->options->objective, store, instance, error), error);
}

int clt_report_add_key(clt_report *report, clt_store *store, const clt_store_description *description,
                       clt_error *error) {
  clt_tuning tuning;
  int rc = clt_tuning_of_key(&tuning, report->options->objective, store, description, error);
  return add_tuning(report, &tuning, rc, error);
}

int clt_report_add_recording(clt_report *report, const clt_recording *recording, clt_error *error) {
  clt_tuning tuning;
  int rc = clt_tuning_of_recording(&tuning, report->options->objective, recording, error);
  return add_tuning(report, &tuning, rc, error);
}

size_t clt_report_n_tunings(const clt_report *report) { return json_array_size(report->tunings); }

const json_t *clt_report_document(const clt_report *report) { return report->document; }

int clt_report_text(char **out, const clt_report *report, int width, clt_error *error) {
  return clt_document_text(out, report->document, width, error);
}

/* --- the page: the template (page.html, page.css, page.js, joined by embed.py) with the document in it as data --- */

/* In the page a text can neither begin a tag nor end an attribute. */
static void put_escaped(clt_text *out, const char *text) {
  for (size_t n; *text; text += n) {
    n = strcspn(text, "&<>\"'");
    clt_text_add_bytes(out, text, n);
    if (text[n] == '\0') return;
    clt_text_printf(out, "&#%d;", text[n]);
    n++;
  }
}

/* What stands for a tag's beginning is written as JSON's own escape: within a script's data nothing else can end it. */
static void put_data(clt_text *out, const char *json) {
  for (size_t n; *json; json += n) {
    n = strcspn(json, "<");
    clt_text_add_bytes(out, json, n);
    if (json[n] == '\0') return;
    clt_text_add(out, "\\u003c");
    n++;
  }
}

int clt_report_page(char **out, const clt_report *report, clt_error *error) {
  static const char text_mark[] = "@TEXT@", data_mark[] = "@DOCUMENT@";
  const char *at = strstr(clt_page_template, text_mark), *behind = at + strlen(text_mark);
  const char *data_at = strstr(behind, data_mark);
  clt_text page = {0};
  char *text = NULL;
  if (clt_report_n_tunings(report) == 0) return clt_fail(error, CLT_E_ARGUMENT, "there is nothing to report");
  int rc = clt_document_text(&text, report->document, 100, error);
  if (rc) return rc;
  char *json = json_dumps(report->document, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(8));
  if (json) {
    clt_text_add_bytes(&page, clt_page_template, (size_t)(at - clt_page_template));
    put_escaped(&page, text);
    clt_text_add_bytes(&page, behind, (size_t)(data_at - behind));
    put_data(&page, json);
    clt_text_add(&page, data_at + strlen(data_mark));
    rc = clt_text_take(out, &page, error);
  } else {
    rc = clt_fail_memory(error);
  }
  free(json);
  free(text);
  return rc;
}
