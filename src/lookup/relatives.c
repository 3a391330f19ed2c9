#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/lookup.h"

typedef struct visitor {
  clt_relatives *relatives;
  clt_store *store;
  const clt_instance *instance;
  const clt_store_key *own;
} visitor;

/* The number of "name=N" in "a=1 b=2"; 0: it is not there. */
static int64_t size_in(const char *sizes, const char *name) {
  size_t n = strlen(name);
  for (const char *at = sizes; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, n) == 0 && at[n] == '=') return strtoll(at + n + 1, NULL, 10);
  }
  return 0;
}

/* INFINITY where the sizes cannot be compared. */
static double distance_of(const clt_instance *instance, const char *sizes) {
  double distance = 0;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    int64_t other = size_in(sizes, size.name);
    if (other == size.value) continue;
    if (other <= 0 || size.value <= 0) return INFINITY;
    distance += fabs(log((double)other / (double)size.value));
  }
  return distance;
}

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
  double distance = distance_of(v->instance, d->sizes);
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
  visitor v = {relatives, store, instance, own};
  return clt_store_each_key_uncounted(store, note, &v, error);
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
