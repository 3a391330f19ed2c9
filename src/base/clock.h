/* base/clock.h - the host's monotonic clock. */
#ifndef CLT_BASE_CLOCK_H
#define CLT_BASE_CLOCK_H

double clt_now_s(void); /* seconds since an arbitrary fixed moment; never goes back */

#endif
