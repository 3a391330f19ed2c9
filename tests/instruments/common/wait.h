/* instruments/common/wait.h - waiting in real time, whatever signals come. */
#ifndef INSTRUMENTS_WAIT_H
#define INSTRUMENTS_WAIT_H

void wait_until(double s); /* by clt_now_s */
void wait_s(double s);
void compute_s(double s); /* until the thread has had so much processor time */

#endif
