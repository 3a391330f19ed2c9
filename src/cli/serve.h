/* cli/serve.h - what the files of `clatune serve` share. */
#ifndef CLT_CLI_SERVE_H
#define CLT_CLI_SERVE_H

#include "base/map.h"
#include "base/reader.h"
#include "cli/cli.h"
#include "session/session.h"

/* One search and its results so far. */
typedef struct cli_served {
  clt_source request; /* the "space" request: settings and objective borrow its texts */
  clt_problem *problem;
  clt_instance *instance;   /* NULL: the space is a recording's */
  clt_recording *recording; /* NULL: it is an instance's */
  clt_device_info device;
  bool has_options;  /* answers contain build options: clt_instance_options */
  clt_metric figure; /* the figure that is told instead of a time; name NULL: none */
  clt_store *own;    /* in memory, if there is no --store */
  clt_search_loop loop;
  clt_search_setup setup;
  bool started;        /* there was an "ask" */
  clt_config standard; /* the default configuration, evaluated first; CLT_CONFIG_NONE: none */
  clt_config *earlier; /* n_earlier: told before the first "ask" */
  size_t n_earlier, earlier_capacity;
  clt_map told; /* canonical configurations that have a result */
  size_t n_failed;
  clt_measurement best; /* config CLT_CONFIG_NONE: nothing correct yet */
  double best_cost;
} cli_served;

typedef struct cli_serving {
  const cli_arguments *arguments;
  clt_store *store; /* of --store; NULL: none */
  bool quiet, stopped;
  cli_served *search; /* NULL: none has started */
} cli_serving;

void cli_served_free(cli_served *served); /* NULL does nothing */

/* Counts a result unless the configuration already has one; updates the best. */
int cli_served_count(cli_served *served, const clt_measurement *measurement, clt_error *error);

/* {"space": ...}: starts a search, which replaces the current one and takes over the request's source. Adds to out, the
 * answer. */
int cli_serve_space(cli_serving *serving, const clt_node *root, json_t *out, clt_error *error);

#endif
