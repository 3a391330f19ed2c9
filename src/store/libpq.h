/* store/libpq.h - replaces libpq-fe.h: libpq is loaded when a database is first used, because with its dependencies
 * (TLS, Kerberos, LDAP) it would double the start-up time of every program and worker. */
#pragma once

#include <clatune/error.h>
#include <libpq-fe.h>

/* clang-format off */
#define CLT_LIBPQ_FUNCTIONS(X)                                                                            \
  X(PQclear) X(PQconnectPoll) X(PQconnectStartParams) X(PQconnectionNeedsPassword)         \
  X(PQconninfoFree) X(PQconninfoParse) X(PQconsumeInput) X(PQdb) X(PQerrorMessage) X(PQfinish)            \
  X(PQflush) X(PQftype) X(PQgetResult) X(PQgetisnull) X(PQgetvalue) X(PQisBusy) X(PQnfields)              \
  X(PQntuples) X(PQparameterStatus) X(PQresultErrorField) X(PQresultErrorMessage) X(PQresultStatus)       \
  X(PQsendPrepare) X(PQsendQuery) X(PQsendQueryParams) X(PQsendQueryPrepared) X(PQsetErrorVerbosity)      \
  X(PQsetNoticeReceiver) X(PQsetnonblocking) X(PQsocket) X(PQstatus) X(PQuser)
/* clang-format on */

#define CLT_LIBPQ_MEMBER(name) __typeof__(name) *name;
typedef struct clt_libpq {
  CLT_LIBPQ_FUNCTIONS(CLT_LIBPQ_MEMBER)
} clt_libpq;

extern clt_libpq clt_pq_library;
#define libpq clt_pq_library /* libpq.PQclear(...) */

/* Must be called before any of its functions. CLT_E_UNSUPPORTED: the library is not installed. */
int clt_libpq_load(clt_error *error);
