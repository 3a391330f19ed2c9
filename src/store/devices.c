/* The devices that a store describes, and whose description of one counts. */

#include "base/base.h"
#include "base/hash.h"
#include "device/device.h"
#include "store/store.h"

static bool is_same_text(const void *none, const void *what, const void *other) {
  (void)none;
  return strcmp(what, other) == 0;
}

/* Gives all keys of a device the description of it that counts, of each voice's newest. */
static int weigh_device(clt_store_description *const *all, size_t n, clt_error *error) {
  clt_saying said[CLT_MOST_VOICES];
  const char *json[CLT_MOST_VOICES];
  size_t n_said = 0;
  int64_t first = CLT_NO_VOICE;
  uint64_t weight;
  int rc = CLT_OK;
  for (size_t i = n; rc == CLT_OK && first != 0 && i-- > 0;) {
    clt_device_info device;
    size_t k = 0;
    while (k < n_said && said[k].voice != all[i]->voice) k++;
    if (k == n_said) {
      if (k == CLT_MOST_VOICES || !clt_store_read_device(&device, all[i]->device_json, &all[i]->key)) continue;
      device.driver_version[0] = '\0';
      json[k] = all[i]->device_json;
      said[k] = (clt_saying){all[i]->voice, clt_device_public_text(&device)};
      if (said[k].what == NULL) rc = clt_fail_memory(error);
      n_said++;
    }
    first = all[i]->voice; /* 0, one's own: it counts */
  }
  const size_t chosen = rc || n_said == 0 ? 0 : clt_sayings_judge(&weight, said, n_said, first, is_same_text, NULL);
  for (size_t i = 0; rc == CLT_OK && n_said > 0 && i < n; i++) all[i]->device_json = json[chosen];
  while (n_said > 0) free((char *)said[--n_said].what);
  return rc;
}

static int by_device(const void *left, const void *right, void *any_driver) {
  const clt_store_description *a = *(clt_store_description *const *)left, *b = *(clt_store_description *const *)right;
  int order = strcmp(a->key.device, b->key.device);
  if (order == 0 && !*(bool *)any_driver) order = strcmp(a->key.driver, b->key.driver);
  return order ? order : (a > b) - (a < b);
}

int clt_store_weigh_devices(clt_store_description *keys, size_t n, size_t bytes, bool any_driver, clt_error *error) {
  clt_store_description **order = clt_new_array(n, sizeof *order);
  if (order == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) order[i] = (void *)((char *)keys + i * bytes);
  if (n > 0) qsort_r(order, n, sizeof *order, by_device, &any_driver);
  for (size_t i = 0, end; rc == CLT_OK && i < n; i = end) {
    for (end = i + 1; end < n && strcmp(order[i]->key.device, order[end]->key.device) == 0; end++)
      if (!any_driver && strcmp(order[i]->key.driver, order[end]->key.driver) != 0) break;
    rc = weigh_device(order + i, end - i, error);
  }
  free(order);
  return rc;
}

static bool has_device(const clt_device_info *all, size_t n, const char *key) {
  clt_store_key other;
  for (size_t i = 0; i < n; i++)
    if (clt_store_key_of_device(&other, &all[i], NULL) == CLT_OK && strcmp(other.device, key) == 0) return true;
  return false;
}

static void add_device(clt_device_info *all, size_t *n, const clt_store_description *d) {
  if (has_device(all, *n, d->key.device) || clt_device_from_json(&all[*n], d->device_json, NULL) ||
      !has_device(&all[*n], 1, d->key.device))
    return;
  all[*n].platform_index = all[*n].device_index = -1; /* its place was on another machine */
  ++*n;
}

#define MOST_OF_A_VOICE 100 /* devices, so that nobody hides those of others */

int clt_store_devices(clt_device_info *all, size_t *n, size_t most, clt_store *store, clt_error *error) {
  clt_store_description *keys = NULL;
  clt_map counts = {0};
  size_t n_keys = 0;
  int rc = clt_store_keys(&keys, &n_keys, store, false, error);
  if (rc == CLT_OK) rc = clt_store_weigh_devices(keys, n_keys, sizeof *keys, true, error);
  for (size_t i = n_keys; i-- > 0 && *n < most;)
    if (keys[i].voice == 0) add_device(all, n, &keys[i]);
  for (size_t i = 0; i < n_keys && *n < most; i++) {
    const size_t n_before = *n;
    uint64_t *n_of = keys[i].voice ? clt_map_add(&counts, (uint64_t)keys[i].voice, NULL) : NULL;
    if (n_of == NULL || *n_of >= MOST_OF_A_VOICE) continue;
    add_device(all, n, &keys[i]);
    *n_of += *n - n_before;
  }
  clt_map_release(&counts);
  clt_store_keys_free(keys, n_keys);
  return rc;
}
