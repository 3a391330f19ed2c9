/* Known answers: from the store and from this session. */
#include "session/known.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "measurement/statistics.h"

struct clt_known_entry {
  clt_config config;
  bool answered;
  unsigned attempts;
  clt_reason reason;
  bool confirmed_alone;
  double time_s, figure, energy_J;
  clt_kernel_use use;
  clt_measurement *stored; /* the answer until it is taken; before an answer, the first of two results */
};

void clt_known_release(clt_known *known) {
  for (size_t i = 0; i < known->n; i++) {
    clt_measurement_release(known->entries[i].stored);
    free(known->entries[i].stored);
  }
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

static void move_stored(struct clt_known_entry *entry, clt_measurement *out) {
  *out = *entry->stored;
  free(entry->stored);
  entry->stored = NULL;
}

static void set_answer(struct clt_known_entry *entry, const clt_measurement *m) {
  entry->answered = true;
  entry->reason = m->reason;
  entry->confirmed_alone = m->confirmed_alone;
  entry->time_s = m->time_s;
  entry->figure = m->figure;
  entry->energy_J = m->energy_J;
  entry->use = m->use;
}

int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error) {
  clt_store_answers answers = {0};
  int64_t newest = known->newest;
  int rc = clt_store_newest(&answers, store, key, space, needs_energy, &newest, error);
  for (size_t i = 0; rc == CLT_OK && i < answers.n; i++) {
    clt_store_answer *answer = &answers.all[i];
    struct clt_known_entry *entry = find_or_add(known, answer->config);
    if (entry == NULL) {
      rc = clt_fail_memory(error);
      break;
    }
    if (known->newest == 0) entry->attempts = answer->n_attempts; /* later ones may be this session's own */
    if (answer->newest == NULL || entry->answered) continue;
    clt_measurement_release(entry->stored); /* in doubt, and another tuner was faster */
    free(entry->stored);
    set_answer(entry, answer->newest);
    entry->stored = answer->newest;
    answer->newest = NULL;
  }
  clt_store_answers_release(&answers);
  if (rc == CLT_OK) known->newest = newest;
  return rc;
}

clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find_entry(known, config);
  if (entry == NULL || !entry->answered) return CLT_NOT_KNOWN;
  if (entry->stored) {
    move_stored(entry, out);
    return CLT_FROM_STORE;
  }
  clt_measurement_init(out, config);
  if (entry->reason == CLT_REASON_NONE) {
    out->time_s = entry->time_s;
    out->figure = entry->figure;
    out->energy_J = entry->energy_J;
    out->use = entry->use;
  } else {
    clt_measurement_fail(out, entry->reason, NULL);
    out->confirmed_alone = entry->confirmed_alone;
  }
  return CLT_FROM_SESSION;
}

int clt_known_add(clt_known *known, const clt_measurement *m, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, m->config);
  if (entry == NULL) return clt_fail_memory(error);
  set_answer(entry, m);
  return CLT_OK;
}

bool clt_known_has(const clt_known *known, clt_config config) {
  const struct clt_known_entry *entry = find_entry(known, config);
  return entry && entry->answered;
}

int clt_known_keep_first(clt_known *known, clt_measurement *m, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, m->config);
  clt_measurement *first = entry ? malloc(sizeof *first) : NULL;
  if (first == NULL) return clt_fail_memory(error);
  *first = *m;
  entry->stored = first;
  clt_measurement_init(m, m->config);
  return CLT_OK;
}

bool clt_known_take_first(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find_entry(known, config);
  if (entry == NULL || entry->answered || entry->stored == NULL) return false;
  move_stored(entry, out);
  return true;
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
