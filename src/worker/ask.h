/* worker/ask.h - a single question to a worker of its own. */
#ifndef CLT_WORKER_ASK_H
#define CLT_WORKER_ASK_H

#include <jansson.h>

#include "worker/message.h"

/* Starts a worker, asks (request is taken over; NULL: out of memory), and ends it. The answer is awaited for a minute.
 * CLT_E_WORKER where the worker ends or its time is up, or the error that it reports. *reply is owned by the caller. */
int clt_ask_worker(json_t **reply, json_t *request, clt_worker_phase phase, clt_error *error);

#endif
