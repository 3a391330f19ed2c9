#include "cli/known_device.h"

#include <clatune/lookup.h>
#include <clatune/store.h>
#include <clatune/sys/evaluator.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

#define MOST_DEVICES 1000

typedef struct device_list {
  clt_device_info *all;
  size_t n;
} device_list;

static bool same(const clt_device_info *a, const clt_device_info *b) {
  char x[512], y[512];
  clt_device_key(a, x, sizeof x);
  clt_device_key(b, y, sizeof y);
  return strcmp(x, y) == 0;
}

/* Its place among the devices of the machine that it was measured on says nothing here. */
static int note(void *user, const clt_store_description *d) {
  device_list *list = user;
  clt_device_info device;
  size_t i = 0;
  if (clt_device_from_json(&device, d->device_json, NULL)) return 0; /* nobody described it */
  device.platform_index = device.device_index = -1;
  while (i < list->n && !same(&list->all[i], &device)) i++;
  if (i == MOST_DEVICES) return 0;
  clt_device_info *longer = i < list->n ? list->all : realloc(list->all, (i + 1) * sizeof *longer);
  if (longer == NULL) return CLT_E_MEMORY;
  list->all = longer;
  list->all[i] = device;
  if (i == list->n) list->n++;
  return 0;
}

static int add_devices(device_list *list, const char *path, clt_error *error) {
  clt_store *store = NULL;
  clt_error why = {0};
  int rc = clt_store_open_to_read(&store, NULL, path, &why);
  if (rc == CLT_E_NOT_FOUND) return CLT_OK;
  if (rc) return *error = why, rc;
  rc = clt_store_each_key_uncounted(store, note, list, error);
  clt_store_close(store);
  return rc;
}

/* The user's store last: where both know a device, what it says counts. */
static int stored_devices(device_list *list, const cli_arguments *arguments, clt_error *error) {
  const char *path = cli_text(arguments, "store");
  int rc = path ? CLT_OK : add_devices(list, clt_catalog_system_path(), error);
  return rc ? rc : add_devices(list, path, error);
}

static int choose_stored(clt_device_info *out, const cli_arguments *arguments, const char *text,
                         const clt_error *not_here) {
  clt_error error = {0};
  device_list list = {0};
  size_t index = 0;
  int rc = stored_devices(&list, arguments, &error);
  if (rc == 0 && list.n == 0) {
    rc = cli_report(not_here);
  } else if (rc || (rc = clt_device_select(&index, list.all, list.n, text, &error))) {
    if (error.code == CLT_E_DEVICE) cli_report(not_here);
    if (error.code == CLT_E_DEVICE || error.code == CLT_E_AMBIGUOUS) cli_failure("what the store knows:");
    rc = cli_report(&error);
  } else {
    *out = list.all[index];
  }
  free(list.all);
  return rc;
}

int cli_select_device(clt_device_info *out, const char *text, clt_error *error) {
  clt_device_info *devices = NULL;
  size_t n = 0, index = 0;
  int rc = clt_devices(&devices, &n, error);
  if (rc == 0) rc = clt_device_select(&index, devices, n, text, error);
  if (rc == 0) *out = devices[index];
  free(devices);
  return rc;
}

int cli_choose_known_device(clt_device_info *out, const cli_arguments *arguments, const char *text) {
  clt_error error = {0};
  int rc = cli_select_device(out, text, &error);
  if (rc == 0 || rc == CLT_E_MEMORY) return rc ? cli_report(&error) : 0;
  return rc == CLT_E_AMBIGUOUS ? cli_report(&error) : choose_stored(out, arguments, text, &error);
}
