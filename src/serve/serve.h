/* serve/serve.h - a search for a program that measures by itself: answers to requests, both JSON on a line
 * (docs/reference/serve.md). */
#pragma once

#include "base/hash.h"
#include "base/json.h"
#include "session/session.h"

#define CLT_SERVE_MOST_BYTES ((size_t)4 << 20) /* of a request */

/* Zeroed before use. */
typedef struct clt_serving {
  clt_store *store;                                                             /* nullable, borrowed */
  int (*find_device)(clt_device_info *out, const char *name, clt_error *error); /* the device that a request names */
  clt_log_fn log;
  void *log_user;
  bool stopped;              /* out: a request has ended the search */
  struct clt_served *served; /* the current search; NULL: none has started */
} clt_serving;

/* The answer to a request, without a line end. line may be longer than CLT_SERVE_MOST_BYTES, then the answer is an
 * error. New reference; NULL: out of memory. */
json_t *clt_serve_request(clt_serving *serving, const clt_text *line);
void clt_serving_release(clt_serving *serving);

/* --- inside --- */

/* One search and its results so far. */
typedef struct clt_served {
  clt_source request; /* the "space" request: settings and objective borrow its texts */
  clt_problem *problem;
  clt_instance *instance;   /* NULL: the space is a recording's */
  clt_recording *recording; /* NULL: it is an instance's */
  clt_device_info device;
  bool has_options;  /* answers contain build options: clt_instance_options */
  clt_metric figure; /* the figure that is told instead of a time; name NULL: none */
  clt_store *own;    /* in memory, if the server has no store */
  clt_search_loop loop;
  clt_search_setup setup;
  bool started;              /* there was an "ask" */
  clt_config default_config; /* evaluated first; CLT_CONFIG_NONE: none */
  clt_config *earlier;       /* n_earlier: told before the first "ask" */
  size_t n_earlier, earlier_capacity;
  clt_map told; /* canonical configurations that have a result */
  size_t n_failed;
  clt_config best; /* CLT_CONFIG_NONE: nothing correct yet */
  double best_cost, best_time_s, best_value;
} clt_served;

void clt_served_free(clt_served *served); /* NULL does nothing */

/* Counts a result unless the configuration already has one; updates the best. */
int clt_served_count(clt_served *served, const clt_measurement *measurement, clt_error *error);

/* {"space": ...}: starts a search, which replaces the current one and takes over the request's source. Adds to out, the
 * answer. */
int clt_serve_space(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error);
