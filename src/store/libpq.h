/* store/libpq.h - libpq, loaded when a database is first asked for: with what it needs in turn (TLS, Kerberos, LDAP) it
 * would double the time that every program and worker takes to start. In place of libpq-fe.h. */
#ifndef CLT_STORE_LIBPQ_H
#define CLT_STORE_LIBPQ_H

#include <clatune/error.h>
#include <libpq-fe.h>

/* clang-format off */
#define CLT_LIBPQ_FUNCTIONS(X)                                                                            \
  X(PQclear) X(PQcmdTuples) X(PQconnectPoll) X(PQconnectStartParams) X(PQconnectionNeedsPassword)         \
  X(PQconninfoFree) X(PQconninfoParse) X(PQconsumeInput) X(PQdb) X(PQerrorMessage) X(PQfinish)            \
  X(PQflush) X(PQftype) X(PQgetResult) X(PQgetisnull) X(PQgetvalue) X(PQisBusy) X(PQnfields)              \
  X(PQntuples) X(PQparameterStatus) X(PQresultErrorField) X(PQresultErrorMessage) X(PQresultStatus)       \
  X(PQsendPrepare) X(PQsendQuery) X(PQsendQueryParams) X(PQsendQueryPrepared) X(PQsetErrorVerbosity)      \
  X(PQsetNoticeReceiver) X(PQsetnonblocking) X(PQsocket) X(PQstatus) X(PQuser)
/* clang-format on */

#define CLT_LIBPQ_MEMBER(name) __typeof__(name) *name##_;
typedef struct clt_libpq {
  CLT_LIBPQ_FUNCTIONS(CLT_LIBPQ_MEMBER)
} clt_libpq;

extern clt_libpq clt_pq_library;

/* To be called before any of them. CLT_E_UNSUPPORTED where the library is not there. */
int clt_libpq_load(clt_error *error);

#ifndef CLT_LIBPQ_LOADS
#define PQclear clt_pq_library.PQclear_
#define PQcmdTuples clt_pq_library.PQcmdTuples_
#define PQconnectPoll clt_pq_library.PQconnectPoll_
#define PQconnectStartParams clt_pq_library.PQconnectStartParams_
#define PQconnectionNeedsPassword clt_pq_library.PQconnectionNeedsPassword_
#define PQconninfoFree clt_pq_library.PQconninfoFree_
#define PQconninfoParse clt_pq_library.PQconninfoParse_
#define PQconsumeInput clt_pq_library.PQconsumeInput_
#define PQdb clt_pq_library.PQdb_
#define PQerrorMessage clt_pq_library.PQerrorMessage_
#define PQfinish clt_pq_library.PQfinish_
#define PQflush clt_pq_library.PQflush_
#define PQftype clt_pq_library.PQftype_
#define PQgetResult clt_pq_library.PQgetResult_
#define PQgetisnull clt_pq_library.PQgetisnull_
#define PQgetvalue clt_pq_library.PQgetvalue_
#define PQisBusy clt_pq_library.PQisBusy_
#define PQnfields clt_pq_library.PQnfields_
#define PQntuples clt_pq_library.PQntuples_
#define PQparameterStatus clt_pq_library.PQparameterStatus_
#define PQresultErrorField clt_pq_library.PQresultErrorField_
#define PQresultErrorMessage clt_pq_library.PQresultErrorMessage_
#define PQresultStatus clt_pq_library.PQresultStatus_
#define PQsendPrepare clt_pq_library.PQsendPrepare_
#define PQsendQuery clt_pq_library.PQsendQuery_
#define PQsendQueryParams clt_pq_library.PQsendQueryParams_
#define PQsendQueryPrepared clt_pq_library.PQsendQueryPrepared_
#define PQsetErrorVerbosity clt_pq_library.PQsetErrorVerbosity_
#define PQsetNoticeReceiver clt_pq_library.PQsetNoticeReceiver_
#define PQsetnonblocking clt_pq_library.PQsetnonblocking_
#define PQsocket clt_pq_library.PQsocket_
#define PQstatus clt_pq_library.PQstatus_
#define PQuser clt_pq_library.PQuser_
#endif

#endif
