/* space/order.h - in which order the parameters of a group are set: so that few states have to be told apart. */
#ifndef CLT_SPACE_ORDER_H
#define CLT_SPACE_ORDER_H

#include "space/estimate.h"

/* Sorts the domains of a group. Quick: each next one is the best for the moment. */
void clt_order_quickly(const clt_domain **domains, size_t n_domains, const clt_estimate *estimate);

/* Thorough: the order that tries the fewest edges by estimate (exact for 10 parameters or fewer, else a beam search).
 * CLT_E_MEMORY only. */
int clt_order_well(const clt_domain **domains, size_t n_domains, const clt_estimate *estimate);

#endif
