/* opencl/clock.h - which clock may be trusted: the device's events or the host's. */
#ifndef CLT_OPENCL_CLOCK_H
#define CLT_OPENCL_CLOCK_H

#include "opencl/context.h"

/* END - START of a finished event in seconds, or a negative number where the driver gives none or END <= START. */
double clt_event_seconds(cl_event event);

/* Whether the device can have been busy for device_s of the host_s from enqueuing to the end: true of every run. */
bool clt_clock_possible(double device_s, double host_s);
/* Whether the two clocks agree but for the overhead of a launch: of the shortest of several runs, since the host may
 * have been kept from its core in any single one. */
bool clt_clock_agrees(double device_s, double host_s);

/* Times a few copies on the device with both clocks. Leaves nothing behind. */
clt_clock clt_clock_judge(const clt_executor *executor);

#endif
