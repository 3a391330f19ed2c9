/* space/order.h - in which order the parameters of a group are set. */
#ifndef CLT_SPACE_ORDER_H
#define CLT_SPACE_ORDER_H

#include "space/program.h"

/* Sorts the domains of a group so that the constraints decide early and few parameters are on hold: those whose values
 * later constraints still ask for. supports: the parameters of each constraint. `variant` 0 is the best by estimate, 1
 * the next ...; the last variants repeat. */
void clt_order_domains(const clt_domain **domains, size_t n_domains, const clt_mask *supports, size_t n_supports,
                       size_t variant);

#endif
