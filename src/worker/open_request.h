/* worker/open_request.h - what a worker has to know before it can serve: the problem, its sizes, the device, and marks by
 * which it notices that the files have changed since the tuner read them. */
#ifndef CLT_WORKER_OPEN_REQUEST_H
#define CLT_WORKER_OPEN_REQUEST_H

#include <clatune/problem.h>
#include <jansson.h>

/* A new reference. The instance needs a device. */
int clt_open_request_new(json_t **out, const clt_instance *instance, clt_error *error);

/* Makes problem and instance from a request. CLT_E_FORMAT where the files are not those that the tuner read. */
int clt_open_request_take(clt_problem **problem, clt_instance **instance, const json_t *request, clt_error *error);

#endif
