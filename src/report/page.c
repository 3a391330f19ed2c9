/* A report as a page: the template (page.html, page.css, page.js, joined by embed.py) with the document in it as data.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "report/rows.h"

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

int clt_document_page(char **out, const json_t *document, clt_error *error) {
  static const char text_mark[] = "@TEXT@", data_mark[] = "@DOCUMENT@";
  const char *at = strstr(clt_page_template, text_mark), *behind = at + strlen(text_mark);
  const char *data_at = strstr(behind, data_mark);
  clt_text page = {0};
  char *text = NULL;
  int rc = clt_document_text(&text, document, 100, error);
  if (rc) return rc;
  char *json = json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(8));
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
