/* Requests to a database, with a deadline. */
#include "store/pq_wait.h"

#include "base/base.h"

#define SILENCE_S 10 /* without any byte, the request counts as lost */

bool clt_pq_wait(PGconn *conn, short events, double deadline_s) {
  struct pollfd socket = {.fd = libpq.PQsocket(conn), .events = events};
  for (;;) {
    const double left_s = deadline_s - clt_now_s();
    const int n = left_s > 0 ? poll(&socket, 1, (int)ceil(left_s * 1e3)) : 0;
    if (n > 0) return true;
    if (left_s <= 0) return false;
  }
}

bool clt_pq_receive(PGconn *conn, bool unlimited, PGresult **out) {
  PGresult *last = NULL, *next;
  double deadline_s = unlimited ? INFINITY : clt_now_s() + SILENCE_S;
  for (int unsent = 1; unsent;) {
    unsent = libpq.PQflush(conn);
    if (unsent < 0) return false;
    struct pollfd socket = {.fd = libpq.PQsocket(conn), .events = POLLIN | POLLOUT};
    if (unsent && poll(&socket, 1, SILENCE_S * 1000) == 0) return false;
    if (unsent && (socket.revents & POLLIN) && !libpq.PQconsumeInput(conn)) return false;
  }
  for (;;) {
    while (libpq.PQisBusy(conn)) {
      const bool ready = clt_pq_wait(conn, POLLIN, isinf(deadline_s) ? clt_now_s() + 3600 : deadline_s);
      if ((!ready && !unlimited) || !libpq.PQconsumeInput(conn)) return libpq.PQclear(last), false;
      if (!unlimited) deadline_s = clt_now_s() + SILENCE_S;
    }
    next = libpq.PQgetResult(conn);
    if (next == NULL) break;
    const ExecStatusType kind = libpq.PQresultStatus(next);
    const bool keep = last == NULL || libpq.PQresultStatus(last) != PGRES_FATAL_ERROR;
    libpq.PQclear(keep ? last : next);
    if (keep) last = next;
    if (kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT || kind == PGRES_COPY_BOTH) return libpq.PQclear(last), false;
  }
  *out = last;
  return last != NULL;
}
