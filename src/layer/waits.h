/* layer/waits.h - whether waiting for a queue could deadlock: a command may wait for a user event that the application
 * sets later, and a callback in a driver's thread must not wait for the driver. */
#ifndef CLT_LAYER_WAITS_H
#define CLT_LAYER_WAITS_H

#include "layer/layer.h"

/* Puts the functions that track user events and callbacks into the application's table. */
void waits_start(cl_icd_dispatch *own);

/* Whether the calling thread may wait for a queue now. */
bool waits_end(void);

#endif
