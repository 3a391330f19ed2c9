/* 'clatune store init': a PostgreSQL database that machines share. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "store/pq.h"
#include "store/schema.h"

int cli_store_init(const cli_arguments *arguments) {
  const char *url = arguments->n_positional > 1 ? arguments->positional[1] : cli_text(arguments, "store");
  clt_error error = {0};
  char *shown = NULL;
  int rc = 0;
  if (!clt_pq_is_url(url))
    return cli_usage(
        "'clatune store init' needs the database to prepare: postgresql://HOST/DATABASE; a file needs none");
  if (clt_schema_init(url, &error) || clt_pq_shown(&shown, url, &error)) return cli_report(&error);
  if (cli_given(arguments, "json"))
    rc = cli_print_json(json_pack("{s:s, s:i, s:[s, s, s]}", "store", shown, "version", CLT_SCHEMA_VERSION, "roles",
                                  CLT_ROLE_READER, CLT_ROLE_WORKER, CLT_ROLE_OWNER));
  else
    printf(
        "%s is a store: schema clatune, version %d\n"
        "what a login may do, the database's owner says in psql:\n"
        "  GRANT " CLT_ROLE_WORKER
        " TO name;  add what it measures\n"
        "  GRANT " CLT_ROLE_READER
        " TO name;  look\n"
        "  GRANT " CLT_ROLE_OWNER " TO name;   remove, too\n",
        shown, CLT_SCHEMA_VERSION);
  free(shown);
  return rc;
}
