/* What passes between stores, and what is taken out of one. */
#include <clatune/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/subject.h"
#include "cli/store.h"
#include "store/store.h"

#define SECONDS_A_DAY 86400

bool cli_is_problem_file(const char *typed) {
  size_t n = strlen(typed);
  return strchr(typed, '/') || (n > 5 && strcmp(typed + n - 5, ".json") == 0);
}

/* What --problem names: a problem by its name, or by its file. *out is malloc'ed, NULL where nothing was typed. */
static int problem_name(char **out, const char *typed) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  *out = NULL;
  if (typed == NULL) return 0;
  bool is_file = cli_is_problem_file(typed);
  if (is_file && clt_problem_load(&problem, typed, &error)) return cli_report(&error);
  *out = strdup(is_file ? clt_problem_name(problem) : typed);
  clt_problem_free(problem);
  return *out ? 0 : cli_failure("out of memory");
}

/* Released with free((char *)out->problem_name), also after a failure. */
static int selection_of(clt_store_selection *out, const cli_arguments *arguments) {
  int64_t days;
  char *name;
  *out = (clt_store_selection){.device = cli_text(arguments, "device")};
  int rc = cli_integer(&days, arguments, "older-than", 0, 1, 100000);
  if (rc == 0) rc = problem_name(&name, cli_text(arguments, "problem"));
  if (rc) return rc;
  out->problem_name = name;
  if (cli_given(arguments, "older-than")) out->before_s = (int64_t)time(NULL) - days * SECONDS_A_DAY;
  return 0;
}

static int print_count(const cli_arguments *arguments, const char *key, const char *text, uint64_t n,
                       const char *path) {
  if (cli_given(arguments, "json")) return cli_print_json(json_pack("{s:I, s:s}", key, (json_int_t)n, "store", path));
  printf("%llu measurements %s %s\n", (unsigned long long)n, text, path);
  return 0;
}

static int merge(const char *into_path, const char *from_path, const clt_store_selection *selection, uint64_t *n) {
  clt_store *into = NULL, *from = NULL;
  clt_error error = {0};
  int rc = clt_store_open_to_read(&from, NULL, from_path, &error);
  if (rc == 0) rc = clt_store_open(&into, NULL, into_path, &error);
  if (rc == 0) rc = clt_store_merge(into, from, selection, n, &error);
  clt_store_close(into);
  clt_store_close(from);
  return rc ? cli_report(&error) : 0;
}

int cli_store_export(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  clt_store_selection selection;
  uint64_t n = 0;
  if (path == NULL) return cli_usage("'clatune store export' needs -o FILE: the store to write");
  if (access(path, F_OK) == 0) return cli_usage("'%s' exists already; 'clatune store import' adds to a store", path);
  if (!cli_has_store(arguments)) return cli_no_store(arguments);
  int rc = selection_of(&selection, arguments);
  if (rc == 0) rc = merge(path, cli_text(arguments, "store"), &selection, &n);
  free((char *)selection.problem_name);
  if (rc == 0 && n == 0) {
    remove(path);
    return cli_failure("nothing in the store fits; 'clatune store list' shows names and devices");
  }
  return rc ? rc : print_count(arguments, "exported", "are in", n, path);
}

static int import_one(const cli_arguments *arguments, const char *path, cli_import_count *sum) {
  clt_store_selection selection;
  uint64_t n = 0;
  if (cli_is_recording(path)) return cli_store_import_recording(arguments, path, sum);
  int rc = selection_of(&selection, arguments);
  if (rc == 0) rc = merge(cli_text(arguments, "store"), path, &selection, &n);
  free((char *)selection.problem_name);
  sum->added += n;
  return rc;
}

static int print_import(const cli_arguments *arguments, const cli_import_count *sum) {
  char *place = NULL;
  clt_error error = {0};
  if (clt_store_place(&place, cli_text(arguments, "store"), &error)) return cli_report(&error);
  if (sum->foreign)
    fprintf(stderr, "clatune: left out: %llu configurations that the problem does not have on this device\n",
            (unsigned long long)sum->foreign);
  int rc = print_count(arguments, "added", "were added to", sum->added, place);
  free(place);
  return rc;
}

int cli_store_import(const cli_arguments *arguments) {
  cli_import_count sum = {0};
  int rc = 0;
  if (arguments->n_positional < 2)
    return cli_usage("'clatune store %s' needs the files to add", arguments->positional[0]);
  for (size_t i = 1; rc == 0 && i < arguments->n_positional; i++)
    rc = import_one(arguments, arguments->positional[i], &sum);
  return rc ? rc : print_import(arguments, &sum);
}

int cli_store_prune(const cli_arguments *arguments) {
  bool dry_run = cli_given(arguments, "dry-run");
  clt_store_selection selection;
  clt_store *store = NULL;
  clt_error error = {0};
  uint64_t n = 0;
  if (!cli_given(arguments, "problem") && !cli_given(arguments, "device") && !cli_given(arguments, "older-than"))
    return cli_usage("'clatune store prune' removes for good: say what, by --problem, --device or --older-than");
  if (!cli_has_store(arguments)) return cli_no_store(arguments);
  int rc = selection_of(&selection, arguments);
  if (rc) return rc;
  if (clt_store_open(&store, NULL, cli_text(arguments, "store"), &error) ||
      clt_store_prune(store, &selection, dry_run, &n, &error))
    rc = cli_report(&error);
  else
    rc = print_count(arguments, dry_run ? "would_remove" : "removed", dry_run ? "would be removed from" : "removed from",
                     n, clt_store_path(store));
  free((char *)selection.problem_name);
  clt_store_close(store);
  return rc;
}
