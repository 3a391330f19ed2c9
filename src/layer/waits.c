#include "layer/layer.h"

#include <stdatomic.h>
#include <stdlib.h>

static cl_icd_dispatch before;
static atomic_int user_events; /* that the application has not set yet */
static _Thread_local bool in_callback;

static cl_event create_user_event(cl_context context, cl_int *status) {
  cl_event event = before.clCreateUserEvent(context, status);
  if (event) atomic_fetch_add(&user_events, 1);
  return event;
}

static cl_int set_user_event_status(cl_event event, cl_int status) {
  const cl_int done = before.clSetUserEventStatus(event, status);
  if (done == CL_SUCCESS) atomic_fetch_sub(&user_events, 1);
  return done;
}

typedef struct callback {
  void(CL_CALLBACK *call)(cl_event, cl_int, void *);
  void *user;
} callback;

static void CL_CALLBACK call_back(cl_event event, cl_int status, void *user) {
  const callback c = *(callback *)user;
  free(user);
  in_callback = true;
  c.call(event, status, c.user);
  in_callback = false;
}

static cl_int set_event_callback(cl_event event, cl_int when, void(CL_CALLBACK *call)(cl_event, cl_int, void *),
                                 void *user) {
  if (call == NULL) return before.clSetEventCallback(event, when, call, user);
  callback *c = layer_new(1, sizeof *c);
  *c = (callback){call, user};
  const cl_int status = before.clSetEventCallback(event, when, call_back, c);
  if (status) free(c);
  return status;
}

void waits_start(cl_icd_dispatch *own) {
  before = *own;
  own->clCreateUserEvent = create_user_event;
  own->clSetUserEventStatus = set_user_event_status;
  own->clSetEventCallback = set_event_callback;
}

bool waits_end(void) { return !in_callback && atomic_load(&user_events) == 0; }
