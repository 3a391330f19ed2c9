/* lookup/related.h - the same kernel under other keys: what stores hold of it for other devices, drivers, sizes and
 * texts. */
#ifndef CLT_LOOKUP_RELATED_H
#define CLT_LOOKUP_RELATED_H

#include <clatune/store.h>

#include "problem/guidance.h"

/* A key that is, or may be, of the same kernel. Texts are owned by the list. */
typedef struct clt_related {
  clt_store *store;
  clt_store_key key;
  char *sizes, *device_json;
  uint64_t n_records; /* where they were counted */
  bool same_text; /* the same problem key: text, sizes, input and reference. Else only the problem's name is the same */
  bool same_device, same_driver;
  double distance; /* of the sizes: the sum over ours of |log of their ratio|; INFINITY: they cannot be compared */
} clt_related;

typedef struct clt_related_list {
  clt_related *all;
  size_t n, capacity;
} clt_related_list; /* zeroed: empty */

/* Whose kernel. */
typedef struct clt_related_query {
  const clt_store_key *own; /* is left out. NULL: only the name is known */
  const char *problem_name; /* "": related are those of the same text alone */
  const char *sizes;        /* as clt_instance_sizes_text writes them */
  bool counted;
} clt_related_query;

/* Adds the related keys of a store, the one that was measured first first; which of them serve, and in which order, is
 * for the caller to say. Release the list also after a failure. */
int clt_related_add(clt_related_list *list, clt_store *store, const clt_related_query *query, clt_error *error);
void clt_related_release(clt_related_list *list);

/* The problem at the sizes that a key was measured at. NULL in *out where the problem no longer has these sizes, or
 * where its kernel's text, input or reference has changed since. */
int clt_related_instance(clt_instance **out, const clt_related *related, const clt_problem *problem,
                         const clt_device_info *device, clt_error *error);

#endif
