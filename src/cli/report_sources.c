#include "cli/report_sources.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/output.h"

static const char store_mark[] = "SQLite format 3"; /* with its terminator */

static bool is_store(const char *path) {
  char begin[sizeof store_mark];
  FILE *file = fopen(path, "rb");
  bool yes = file && fread(begin, sizeof begin, 1, file) == 1 && memcmp(begin, store_mark, sizeof begin) == 0;
  if (file) fclose(file);
  return yes;
}

/* Whether a file is a problem's; recordings, compressed or not, are left to their own reader. Of a kernel the problem's
 * says what it is. */
static bool is_problem(const char *path) {
  size_t n = strlen(path);
  if (n > 3 && strcmp(path + n - 3, ".cl") == 0) return true;
  return clt_problem_is_file(path);
}

static int add(cli_report_sources *s, clt_report *report) {
  if (clt_report_n_rows(report) == 0) {
    int rc = cli_failure("nothing is known of '%s'", clt_report_title(report));
    clt_report_free(report);
    return rc;
  }
  s->reports[s->n++] = report;
  return 0;
}

static int too_many(void) {
  return cli_usage("more than %d tunings are too many for one report; choose by --problem, --device or --size",
                   CLI_MAX_REPORTS);
}

/* --- problems and recordings --- */

static int add_problem(cli_report_sources *s, const cli_arguments *arguments, const char *path) {
  clt_store *store = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  if (s->n == CLI_MAX_REPORTS) return too_many();
  cli_subject *subject = &s->subjects[s->n_subjects];
  int rc = cli_subject_init(subject, arguments, path, CLI_DEVICE_KNOWN);
  if (rc) return rc;
  s->n_subjects++;
  rc = cli_open_store_to_read(&store, arguments);
  if (rc == 0 && store == NULL) rc = cli_no_store(arguments);
  if (rc == 0 && clt_report_from_store(&report, store, subject->instance, &error)) rc = cli_report(&error);
  clt_store_close(store);
  return rc ? rc : add(s, report);
}

static int add_recording(cli_report_sources *s, const char *path) {
  clt_report *report = NULL;
  clt_error error = {0};
  if (s->n == CLI_MAX_REPORTS) return too_many();
  clt_recording **recording = &s->recordings[s->n_recordings];
  if (clt_recording_load(recording, path, &error)) return cli_report(&error);
  s->n_recordings++;
  if (clt_report_from_recording(&report, *recording, &error)) return cli_report(&error);
  return add(s, report);
}

/* --- stores --- */

typedef struct key_list {
  const cli_arguments *arguments;
  clt_store_description items[CLI_MAX_REPORTS]; /* texts owned */
  size_t n;
  bool more;
} key_list;

static bool has_part(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; *text; text++)
    if (strncasecmp(text, part, n) == 0) return true;
  return n == 0;
}

static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    if ((at == text || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' ')) return true;
  return false;
}

static bool is_chosen(const cli_arguments *arguments, const clt_store_description *d) {
  const char *problem = cli_text(arguments, "problem"), *device = cli_text(arguments, "device");
  if (problem && strcmp(problem, d->problem_name) != 0) return false;
  if (device && !has_part(d->key.device, device)) return false;
  for (size_t i = 0; i < arguments->n_typed; i++)
    if (strcmp(arguments->typed[i].name, "size") == 0 && !has_word(d->sizes, arguments->typed[i].value)) return false;
  return true;
}

static int collect_key(void *user, const clt_store_description *d) {
  key_list *list = user;
  if (!is_chosen(list->arguments, d)) return 0;
  if (list->n == CLI_MAX_REPORTS) return list->more = true, 1;
  clt_store_description copy = *d;
  copy.problem_name = strdup(d->problem_name);
  copy.problem_path = strdup(d->problem_path);
  copy.sizes = strdup(d->sizes);
  copy.device_json = strdup(d->device_json);
  list->items[list->n++] = copy;
  return copy.problem_name && copy.problem_path && copy.sizes && copy.device_json ? 0 : CLT_E_MEMORY;
}

static void release_keys(key_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    free((char *)list->items[i].problem_name);
    free((char *)list->items[i].problem_path);
    free((char *)list->items[i].sizes);
    free((char *)list->items[i].device_json);
  }
}

static int add_key(cli_report_sources *s, clt_store *store, const clt_store_description *d) {
  clt_report *report = NULL;
  clt_error error = {0};
  if (s->n == CLI_MAX_REPORTS) return too_many();
  int rc = clt_report_from_key(&report, store, d, &error);
  if (rc == CLT_E_NOT_FOUND) return 0; /* nothing but attempts */
  if (rc) return cli_report(&error);
  if (clt_report_n_rows(report)) return add(s, report);
  clt_report_free(report);
  return 0;
}

static int add_store(cli_report_sources *s, const cli_arguments *arguments, const char *path) {
  clt_store *store = NULL;
  clt_error error = {0};
  key_list list = {.arguments = arguments};
  size_t before = s->n;
  int rc = 0;
  if (clt_store_open_to_read(&store, NULL, path, &error) || clt_store_each_key(store, true, collect_key, &list, &error))
    rc = cli_report(&error);
  if (rc == 0 && list.more) rc = too_many();
  for (size_t i = 0; rc == 0 && i < list.n; i++) rc = add_key(s, store, &list.items[i]);
  if (rc == 0 && s->n == before)
    rc = cli_failure("nothing in the store '%s' fits; 'clatune store list --store FILE' shows names and devices", path);
  release_keys(&list);
  clt_store_close(store);
  return rc;
}

/* --- all --- */

int cli_report_sources_init(cli_report_sources *out, const cli_arguments *arguments) {
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < arguments->n_positional; i++) {
    const char *path = arguments->positional[i];
    rc = is_store(path)     ? add_store(out, arguments, path)
         : is_problem(path) ? add_problem(out, arguments, path)
                            : add_recording(out, path);
  }
  return rc;
}

void cli_report_sources_release(cli_report_sources *sources) {
  for (size_t i = 0; i < sources->n; i++) clt_report_free(sources->reports[i]);
  for (size_t i = 0; i < sources->n_recordings; i++) clt_recording_free(sources->recordings[i]);
  for (size_t i = 0; i < sources->n_subjects; i++) cli_subject_release(&sources->subjects[i]);
  *sources = (cli_report_sources){0};
}
