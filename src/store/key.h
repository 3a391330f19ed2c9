/* store/key.h - the parts of a store's key. */
#ifndef CLT_STORE_KEY_H
#define CLT_STORE_KEY_H

#include <clatune/store.h>

/* Device and driver alone, without a look at the kernel; the problem is "". Needs a device. */
int clt_store_key_device(clt_store_key *key, const clt_instance *instance, clt_error *error);

#endif
