#include "store/key.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

int clt_store_key_device(clt_store_key *key, const clt_instance *instance, clt_error *error) {
  const clt_device_info *device = clt_instance_device(instance);
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "a key in the store needs a device");
  clt_store_key made;
  memset(&made, 0, sizeof made);
  int length = clt_device_key(device, made.device, sizeof made.device);
  if (length < 0 || (size_t)length >= sizeof made.device)
    return clt_fail(error, CLT_E_RANGE, "the name of the device '%.64s' is too long", device->name);
  snprintf(made.driver, sizeof made.driver, "%s", device->driver_version);
  *key = made;
  return CLT_OK;
}

int clt_store_key_init(clt_store_key *key, const clt_instance *instance, clt_error *error) {
  clt_store_key made;
  int rc = clt_store_key_device(&made, instance, error);
  if (rc == CLT_OK) rc = clt_instance_key(instance, made.problem, error);
  if (rc == CLT_OK) *key = made;
  return rc;
}
