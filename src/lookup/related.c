#include "lookup/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/store.h"

/* By ratios, not differences; INFINITY where the others lack a size, or one of the two is not positive and they differ.
 */
static double sizes_distance(const char *sizes, const char *others) {
  double distance = 0;
  for (const char *at = sizes, *equals; (equals = strchr(at, '=')); at = equals + strcspn(equals, " ")) {
    at += *at == ' ';
    const size_t n = (size_t)(equals + 1 - at); /* of "name=" */
    int64_t own = strtoll(equals + 1, NULL, 10), other = 0;
    for (const char *with = others; with; with = strchr(with, ' ')) {
      with += *with == ' ';
      if (strncmp(with, at, n) != 0) continue;
      other = strtoll(with + n, NULL, 10);
      break;
    }
    if (own == other) continue;
    if (own <= 0 || other <= 0) return INFINITY;
    distance += fabs(log((double)other / (double)own));
  }
  return distance;
}

typedef struct related_walk {
  clt_related_list *list;
  clt_store *store;
  const clt_related_query *query;
} related_walk;

static int collect_related(void *user, const clt_store_description *d) {
  const related_walk *w = user;
  const clt_related_query *q = w->query;
  bool same_text = q->own && strcmp(d->key.problem, q->own->problem) == 0;
  bool same_name = q->problem_name[0] && strcmp(d->problem_name, q->problem_name) == 0;
  if ((!same_text && !same_name) || (q->own && clt_store_same_key(&d->key, q->own))) return 0;
  if (clt_grow(&w->list->all, &w->list->capacity, w->list->n + 1, sizeof *w->list->all)) return CLT_E_MEMORY;
  clt_related *r = &w->list->all[w->list->n++];
  *r = (clt_related){.store = w->store,
                     .key = d->key,
                     .sizes = strdup(d->sizes),
                     .device_json = strdup(d->device_json),
                     .n_records = d->n_records,
                     .same_text = same_text,
                     .same_device = q->own && strcmp(d->key.device, q->own->device) == 0,
                     .same_driver = q->own && strcmp(d->key.driver, q->own->driver) == 0,
                     .distance = sizes_distance(q->sizes, d->sizes)};
  return r->sizes && r->device_json ? 0 : CLT_E_MEMORY;
}

int clt_related_add(clt_related_list *list, clt_store *store, const clt_related_query *query, clt_error *error) {
  related_walk w = {list, store, query};
  return clt_store_each_key(store, query->counted, collect_related, &w, error);
}

void clt_related_release(clt_related_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    free(list->all[i].sizes);
    free(list->all[i].device_json);
  }
  free(list->all);
  *list = (clt_related_list){0};
}

int clt_related_instance(clt_instance **out, const clt_related *related, const clt_problem *problem,
                         const clt_device_info *device, clt_error *error) {
  size_t capacity = clt_problem_n_sizes(problem) + 1, n = 0;
  clt_size *sizes = clt_new_array(capacity, sizeof *sizes);
  char *text = strdup(related->sizes), *rest = NULL, today[33];
  clt_error why = {0};
  *out = NULL;
  if (sizes && text) {
    for (char *part = strtok_r(text, " ", &rest); part && n < capacity; part = strtok_r(NULL, " ", &rest)) {
      char *equals = strchr(part, '=');
      if (equals == NULL) continue;
      *equals = '\0';
      sizes[n++] = (clt_size){part, strtoll(equals + 1, NULL, 10)};
    }
    if (clt_instance_new(out, problem, sizes, n, device, &why)) *out = NULL;
    if (*out && (clt_instance_key(today, *out, &why) || strcmp(today, related->key.problem) != 0)) {
      clt_instance_free(*out);
      *out = NULL;
    }
  }
  bool no_memory = !sizes || !text || why.code == CLT_E_MEMORY;
  free(sizes);
  free(text);
  return no_memory ? clt_fail_memory(error) : CLT_OK;
}
