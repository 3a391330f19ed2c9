/* store/schema.h - the tables of a shared store: the measurements, and the queue of a farm's tunings. */
#pragma once

#define CLT_SCHEMA_VERSION 7

#define CLT_ROLE_READER "clatune_reader" /* looks */
#define CLT_ROLE_WORKER "clatune_worker" /* adds measurements and works on plans, by functions only */
#define CLT_ROLE_OWNER "clatune_owner"   /* removes and revokes, too */

#include <clatune/error.h>

/* Makes the database a store, or completes it: doing it again changes nothing. Who does it must own the database, and
 * may make roles. */
int clt_schema_init(const char *url, clt_error *error);
