#include "worker/ask.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/file.h"
#include "worker/link.h"

#define PATIENCE_S 60

int clt_ask_worker(json_t **reply, json_t *request, clt_worker_phase phase, clt_error *error) {
  clt_deadlines limits = {PATIENCE_S, PATIENCE_S, PATIENCE_S};
  clt_run_folder folder = {NULL, -1};
  clt_link link = {.alive = false};
  char *path = NULL, *why = NULL;
  json_t *greeting = NULL;
  int rc = clt_worker_path(&path, error);
  if (rc == 0) rc = clt_run_folder_new(&folder, error);
  if (rc == 0) rc = clt_link_start(&link, path, folder.path, 0, &limits, error);
  if (rc == 0) rc = clt_link_await(&link, &greeting, error);
  if (rc == 0) rc = clt_link_check_greeting(greeting, error);
  if (rc == 0) rc = clt_link_request(&link, json_incref(request), phase, &limits, error);
  if (rc == 0) rc = clt_link_await(&link, reply, error);
  json_decref(greeting);
  json_decref(request);
  clt_link_stop(&link, false, &why);
  clt_run_folder_remove(&folder);
  free(why);
  free(path);
  return rc;
}
