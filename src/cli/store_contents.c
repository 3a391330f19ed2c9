/* Where the store is, and what is in it. */
#include <clatune/lookup.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/export.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "cli/store.h"
#include "store/store.h"

int cli_store_where(const cli_arguments *arguments) {
  clt_error error = {0};
  char *path = NULL;
  if (clt_store_place(&path, cli_text(arguments, "store"), &error)) return cli_report(&error);
  const char *system = clt_catalog_system_path();
  int rc = 0;
  if (cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:s}", "store", path, "system", system));
  } else {
    printf("%s\n", path);
  }
  free(path);
  return rc;
}

/* --- list --- */

static json_t *description_json(const clt_store_description *d) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "problem", d->problem_name, "file", d->problem_path, "sizes",
                   d->sizes, "device", d->key.device, "driver", d->key.driver, "key", d->key.problem, "records",
                   (json_int_t)d->n_records);
}

static int list_one(void *user, const clt_store_description *d) {
  json_t *list = user;
  if (list) return json_array_append_new(list, description_json(d)) ? CLT_E_MEMORY : 0;
  printf("%-16s %7llu  %s%s%s, driver %s\n", d->problem_name[0] ? d->problem_name : d->key.problem,
         (unsigned long long)d->n_records, d->sizes, d->sizes[0] ? " on " : "", d->key.device, d->key.driver);
  return 0;
}

int cli_store_list(const cli_arguments *arguments) {
  bool as_json = cli_given(arguments, "json");
  clt_error error = {0};
  clt_store *store = NULL;
  int code = cli_open_store_to_read(&store, arguments);
  json_t *list = as_json ? json_array() : NULL;
  if (code == 0 && store == NULL) cli_note_no_store(arguments);
  if (code == 0 && store && clt_store_each_key(store, true, list_one, list, &error)) code = cli_report(&error);
  clt_store_close(store);
  if (code == 0 && as_json) return cli_print_json(list);
  json_decref(list);
  return code;
}

/* --- show --- */

static json_t *found_json(const clt_instance *instance, const clt_lookup_result *found) {
  return json_pack("{s:o, s:s, s:s, s:o, s:s, s:o}", "sizes", cli_json_sizes(instance), "device", found->device,
                   "driver", clt_instance_device(instance)->driver_version, "configuration", cli_json_found(instance, found), "options",
                   found->options, "time_s", clt_json_real(found->expected_time_s));
}

static int show_one(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  json_t *list = user;
  char time[32];
  if (list) return json_array_append_new(list, found_json(instance, found)) ? CLT_E_MEMORY : 0;
  printf("%s%s%s, driver %s\n  %s  %s\n", found->sizes, found->sizes[0] ? " on " : "", found->device,
         clt_instance_device(instance)->driver_version, cli_time(time, found->expected_time_s), found->configuration);
  return 0;
}

typedef struct named_file {
  const char *name;
  char *path; /* NULL: not found */
} named_file;

static int note_file(void *user, const clt_store_description *d) {
  named_file *file = user;
  if (strcmp(d->problem_name, file->name) != 0 || access(d->problem_path, R_OK) != 0) return 0;
  free(file->path);
  return (file->path = strdup(d->problem_path)) ? 0 : CLT_E_MEMORY;
}

/* The problem that was typed: a file, or a name that the store knows with the file that it was measured from. */
static int load_named(clt_problem **out, const cli_arguments *arguments, const char *typed, clt_error *error) {
  named_file file = {.name = typed};
  clt_store *store = NULL;
  if (!cli_is_problem_file(typed) && clt_store_open_to_read(&store, NULL, cli_text(arguments, "store"), NULL) == 0)
    clt_store_each_key(store, false, note_file, &file, NULL);
  int rc = clt_problem_load(out, file.path ? file.path : typed, error);
  clt_store_close(store);
  free(file.path);
  return rc;
}

int cli_store_show(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "store");
  bool as_json = cli_given(arguments, "json");
  clt_catalog *catalog = NULL;
  clt_problem *problem = NULL;
  clt_error error = {0};
  if (arguments->n_positional < 2)
    return cli_usage("'clatune store show' needs a problem: its file, or a name of 'clatune store list'");
  if (!cli_has_store(arguments)) cli_note_no_store(arguments);
  json_t *list = as_json ? json_array() : NULL;
  int rc = load_named(&problem, arguments, arguments->positional[1], &error);
  if (rc == 0) rc = clt_catalog_open(&catalog, path ? &path : NULL, path != NULL, &error);
  if (rc == 0) rc = clt_catalog_each(catalog, problem, show_one, list, &error);
  clt_catalog_close(catalog);
  clt_problem_free(problem);
  if (rc == 0 && as_json) return cli_print_json(list);
  json_decref(list);
  return rc ? cli_report(&error) : 0;
}
