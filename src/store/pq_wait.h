/* store/pq_wait.h - waits for a database's answers. */
#pragma once

#include <stdbool.h>

#include "store/libpq.h"

/* Waits for these events of the connection's socket (poll). False: the deadline, by clt_now_s, has passed. */
bool clt_pq_wait(PGconn *conn, short events, double deadline_s);

/* Sends what is left of a request, reads all of its results and keeps the last. False: the connection broke, or the
 * server was silent for too long, which an unlimited request permits; *out is then as it was. */
bool clt_pq_receive(PGconn *conn, bool unlimited, PGresult **out);
