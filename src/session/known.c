/* What is known of configurations: from the store, and from this session. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"
#include "store/store.h"

struct clt_known_entry {
  clt_config config;
  bool answered;
  unsigned attempts;
  clt_reason reason;
  double time_s, figure, energy_J;
  clt_measurement *stored; /* until it is taken */
};

void clt_known_release(clt_known *known) {
  for (size_t i = 0; i < known->n; i++) free(known->entries[i].stored);
  free(known->entries);
  clt_map_release(&known->index);
}

static struct clt_known_entry *find_entry(const clt_known *known, clt_config config) {
  const uint64_t *at = clt_map_find(&known->index, config);
  return at ? &known->entries[*at] : NULL;
}

/* NULL: out of memory. */
static struct clt_known_entry *find_or_add(clt_known *known, clt_config config) {
  bool is_new;
  if (clt_grow(&known->entries, &known->capacity, known->n + 1, sizeof *known->entries)) return NULL;
  uint64_t *at = clt_map_add(&known->index, config, &is_new);
  if (at == NULL) return NULL;
  if (is_new) known->entries[ *at = known->n++] = (struct clt_known_entry){.config = config};
  return &known->entries[*at];
}

static void set_answer(struct clt_known_entry *entry, const clt_measurement *m) {
  free(entry->stored);
  entry->stored = NULL;
  entry->answered = true;
  entry->reason = m->reason;
  entry->time_s = m->time_s;
  entry->figure = m->figure;
  entry->energy_J = m->energy_J;
}

int clt_known_add(clt_known *known, const clt_measurement *m, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, m->config);
  if (entry == NULL) return clt_fail_memory(error);
  set_answer(entry, m);
  return CLT_OK;
}

int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, config);
  if (entry == NULL) return clt_fail_memory(error);
  entry->attempts++;
  return CLT_OK;
}

unsigned clt_known_attempts(const clt_known *known, clt_config config) {
  const struct clt_known_entry *entry = find_entry(known, config);
  return entry ? entry->attempts : 0;
}

static int keep_answer(void *user, const clt_store_answer *answer) {
  clt_known *known = user;
  struct clt_known_entry *entry = find_or_add(known, answer->config);
  if (entry == NULL) return CLT_E_MEMORY;
  entry->attempts = answer->n_attempts;
  if (answer->newest == NULL) return 0;
  set_answer(entry, answer->newest);
  entry->stored = malloc(sizeof *entry->stored);
  if (entry->stored == NULL) return CLT_E_MEMORY;
  *entry->stored = *answer->newest;
  entry->stored->log = NULL; /* up to 16 KiB each, and nobody asks for it again */
  return 0;
}

int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error) {
  int rc = clt_store_newest(store, key, space, needs_energy, keep_answer, known, NULL, error);
  return rc == CLT_E_MEMORY ? clt_fail_memory(error) : rc;
}

clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find_entry(known, config);
  if (entry == NULL || !entry->answered) return CLT_NOT_KNOWN;
  if (entry->stored) {
    *out = *entry->stored;
    free(entry->stored);
    entry->stored = NULL;
    return CLT_FROM_STORE;
  }
  clt_measurement_init(out, config);
  if (entry->reason == CLT_REASON_NONE) {
    out->time_s = entry->time_s;
    out->figure = entry->figure;
    out->energy_J = entry->energy_J;
  } else {
    clt_measurement_fail(out, entry->reason, NULL);
  }
  return CLT_FROM_SESSION;
}
