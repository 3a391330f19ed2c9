#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/distance.h"
#include "lookup/lookup.h"

typedef struct visitor {
  clt_relatives *relatives;
  clt_store *store;
  const clt_instance *instance;
  const clt_store_key *own;
  const char *sizes;
} visitor;

static bool same_architecture(const clt_device_info *device, const char *json) {
  clt_device_info other;
  if (clt_device_from_json(&other, json, NULL)) return false;
  return strcmp(other.platform_name, device->platform_name) == 0 && strcmp(other.vendor, device->vendor) == 0 &&
         other.type == device->type;
}

/* CLT_TIER_DEFAULT: it is no relative. */
static clt_tier tier_of(const visitor *v, const clt_store_description *d, double distance) {
  bool same_text = strcmp(d->key.problem, v->own->problem) == 0;
  const char *name = clt_problem_name(clt_instance_problem(v->instance));
  if (!same_text && (strcmp(d->problem_name, name) != 0 || !isfinite(distance))) return CLT_TIER_DEFAULT;
  if (strcmp(d->key.device, v->own->device) == 0) {
    if (!same_text) return CLT_TIER_NEAREST_SIZE;
    return strcmp(d->key.driver, v->own->driver) ? CLT_TIER_OTHER_DRIVER : CLT_TIER_EXACT;
  }
  bool fits = same_architecture(clt_instance_device(v->instance), d->device_json);
  return fits ? CLT_TIER_SAME_ARCHITECTURE : CLT_TIER_DEFAULT;
}

static int note(void *user, const clt_store_description *d) {
  visitor *v = user;
  clt_relatives *r = v->relatives;
  double distance = clt_sizes_distance(v->sizes, d->sizes);
  clt_tier tier = tier_of(v, d, distance);
  if (tier == CLT_TIER_DEFAULT || tier == CLT_TIER_EXACT) return 0; /* the exact one had nothing that is valid here */
  if (clt_grow(&r->all, &r->capacity, r->n + 1, sizeof *r->all)) return CLT_E_MEMORY;
  char *sizes = strdup(d->sizes);
  if (sizes == NULL) return CLT_E_MEMORY;
  bool same_text = strcmp(d->key.problem, v->own->problem) == 0;
  bool stale = strcmp(d->key.driver, v->own->driver) != 0 || (!same_text && distance == 0);
  r->all[r->n++] = (clt_relative){v->store, d->key, tier, stale, same_text ? 0 : distance, sizes};
  return 0;
}

int clt_relatives_add(clt_relatives *relatives, clt_store *store, const clt_instance *instance,
                      const clt_store_key *own, clt_error *error) {
  char *sizes = clt_instance_sizes_text(instance);
  if (sizes == NULL) return clt_fail_memory(error);
  visitor v = {relatives, store, instance, own, sizes};
  int rc = clt_store_each_key(store, false, note, &v, error);
  free(sizes);
  return rc;
}

static int by_nearness(const void *a, const void *b) {
  const clt_relative *x = a, *y = b;
  if (x->tier != y->tier) return x->tier < y->tier ? -1 : 1;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->stale != y->stale) return x->stale - y->stale;
  int order = strcmp(x->key.problem, y->key.problem);
  if (order == 0) order = strcmp(x->key.device, y->key.device);
  return order ? order : strcmp(x->key.driver, y->key.driver);
}

void clt_relatives_sort(clt_relatives *relatives) {
  if (relatives->n) qsort(relatives->all, relatives->n, sizeof *relatives->all, by_nearness);
}

void clt_relatives_release(clt_relatives *relatives) {
  for (size_t i = 0; i < relatives->n; i++) free(relatives->all[i].sizes);
  free(relatives->all);
  *relatives = (clt_relatives){0};
}
