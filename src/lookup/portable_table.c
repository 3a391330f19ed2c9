/* Reading what was measured at several places into one table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/portable.h"

static void release_place(clt_place *p) {
  clt_objective_free(p->objective);
  clt_instance_free(p->instance);
  free(p->sizes);
  *p = (clt_place){.best = NAN};
}

void clt_portable_table_release(clt_portable_table *t) {
  clt_portable_row *row, *next;
  HASH_ITER(hh, t->rows, row, next) {
    HASH_DEL(t->rows, row);
    free(row->text);
    free(row->costs);
    free(row);
  }
  for (size_t i = 0; i < t->n_places; i++) release_place(&t->places[i]);
  free(t->places);
  *t = (clt_portable_table){0};
}

/* --- rows --- */

static bool reserve(clt_portable_row *row, size_t n) {
  size_t before = row->capacity;
  if (clt_grow(&row->costs, &row->capacity, n, sizeof *row->costs)) return false;
  for (size_t i = before; i < row->capacity; i++) row->costs[i] = NAN;
  return true;
}

static clt_portable_row *find(const clt_portable_table *t, const char *text) {
  clt_portable_row *row;
  HASH_FIND_STR(t->rows, text, row);
  return row;
}

/* Takes text over. */
static clt_portable_row *find_or_add(clt_portable_table *t, char *text) {
  clt_portable_row *row = text ? find(t, text) : NULL;
  if (row || text == NULL) return free(text), row;
  row = calloc(1, sizeof *row);
  if (row == NULL) return free(text), NULL;
  row->text = text;
  HASH_ADD_KEYPTR(hh, t->rows, row->text, strlen(row->text), row);
  if (row->hh.tbl) return row;
  free(row->text);
  free(row);
  return NULL;
}

/* --- reading a place --- */

typedef struct reading {
  clt_portable_table *table;
  size_t place;
  bool adds; /* only to what is not known */
} reading;

/* Out of memory beside other finalists is nobody's fault, and an attempt is no result. */
static bool counts(clt_record_kind kind, const clt_measurement *m) {
  if (kind == CLT_RECORD_SEARCH) return true;
  return kind == CLT_RECORD_FINALIST && !clt_measurement_correct(m) && m->reason != CLT_REASON_OUT_OF_MEMORY;
}

static int note(void *user, clt_record_kind kind, const clt_measurement *m) {
  reading *r = user;
  const clt_place *p = &r->table->places[r->place];
  double cost = clt_measurement_correct(m) ? clt_objective_cost(p->objective, m) : INFINITY;
  if (!counts(kind, m) || isnan(cost)) return 0;
  clt_portable_row *row = find_or_add(r->table, clt_config_string(clt_instance_space(p->instance), m->config));
  if (row == NULL || !reserve(row, r->place + 1)) return CLT_E_MEMORY;
  if (!r->adds || isnan(row->costs[r->place])) row->costs[r->place] = cost;
  return 0;
}

static int read_place(clt_portable_table *t, size_t place, clt_store *store, bool adds, clt_error *error) {
  reading r = {t, place, adds};
  const clt_place *p = &t->places[place];
  return clt_store_each(store, &p->key, clt_instance_space(p->instance), note, &r, NULL, error);
}

static void forget_column(clt_portable_table *t, size_t place) {
  for (clt_portable_row *row = t->rows; row; row = row->hh.next)
    if (place < row->capacity) row->costs[place] = NAN;
}

static size_t find_place(const clt_portable_table *t, const clt_store_key *key, const char *sizes) {
  size_t i = 0;
  while (i < t->n_places && (strcmp(t->places[i].key.device, key->device) || strcmp(t->places[i].sizes, sizes))) i++;
  return i;
}

static int fill(clt_portable_table *t, size_t place, clt_store *store, const clt_store_key *key, clt_instance *instance,
                const char *sizes, const char *objective, clt_error *error) {
  clt_place *p = &t->places[place];
  release_place(p);
  p->key = *key;
  p->store = store;
  p->instance = instance;
  p->sizes = strdup(sizes);
  if (p->sizes == NULL) return clt_fail_memory(error);
  int rc = clt_objective_new(&p->objective, instance, objective, error);
  return rc ? rc : read_place(t, place, store, false, error);
}

/* Keys come oldest first, the user's store before the system's. A later driver of the same store goes before an earlier
 * one, one of another store does not. */
int clt_portable_table_add(clt_portable_table *t, clt_store *store, const clt_store_key *key, clt_instance *instance,
                           const char *sizes, const char *objective, clt_error *error) {
  size_t place = find_place(t, key, sizes);
  if (place == t->n_places) {
    if (clt_grow(&t->places, &t->capacity, place + 1, sizeof *t->places))
      return clt_instance_free(instance), clt_fail_memory(error);
    t->places[t->n_places++] = (clt_place){.best = NAN};
    return fill(t, place, store, key, instance, sizes, objective, error);
  }
  bool same_driver = strcmp(t->places[place].key.driver, key->driver) == 0;
  if (!same_driver && t->places[place].store == store) {
    forget_column(t, place);
    return fill(t, place, store, key, instance, sizes, objective, error);
  }
  clt_instance_free(instance);
  return same_driver ? read_place(t, place, store, true, error) : CLT_OK;
}

/* --- completing --- */

/* What a configuration that was not measured at a place costs there, as far as that is known. */
static int infer(double *out, const clt_portable_table *t, const clt_portable_row *row, size_t place,
                 clt_error *error) {
  const clt_space *space = clt_instance_space(t->places[place].instance);
  clt_config config, canonical;
  *out = INFINITY;
  if (clt_config_parse(&config, space, row->text, NULL) || !clt_space_contains(space, config)) return CLT_OK;
  *out = NAN;
  canonical = clt_space_canonical(space, config);
  if (canonical == config) return CLT_OK;
  char *text = clt_config_string(space, canonical);
  if (text == NULL) return clt_fail_memory(error);
  const clt_portable_row *other = find(t, text);
  if (other && place < other->capacity) *out = other->costs[place];
  free(text);
  return CLT_OK;
}

int clt_portable_table_complete(clt_portable_table *t, clt_error *error) {
  int rc = CLT_OK;
  for (clt_portable_row *row = t->rows; row; row = row->hh.next)
    if (!reserve(row, t->n_places)) return clt_fail_memory(error);
  for (clt_portable_row *row = t->rows; row; row = row->hh.next) {
    for (size_t i = 0; rc == CLT_OK && i < t->n_places; i++) {
      double *cost = &row->costs[i];
      if (isnan(*cost)) rc = infer(cost, t, row, i, error);
      if (isfinite(*cost)) t->places[i].best = fmin(t->places[i].best, *cost);
    }
  }
  return rc;
}
