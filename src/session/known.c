/* What is known of configurations: from the store, and from this session. */
#include <stdlib.h>

#include "base/fail.h"
#include "session/session.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct clt_known_entry {
  clt_config config;
  bool answered;
  unsigned attempts;
  clt_reason reason;
  double time_s, energy_J;
  clt_measurement *stored; /* until it is taken */
  UT_hash_handle hh;
};

static void forget_stored(struct clt_known_entry *entry) {
  if (entry->stored) clt_measurement_release(entry->stored);
  free(entry->stored);
  entry->stored = NULL;
}

void clt_known_release(clt_known *known) {
  struct clt_known_entry *entry, *next;
  HASH_ITER(hh, known->entries, entry, next) {
    HASH_DEL(known->entries, entry);
    forget_stored(entry);
    free(entry);
  }
}

static struct clt_known_entry *find(const clt_known *known, clt_config config) {
  struct clt_known_entry *entry;
  HASH_FIND(hh, known->entries, &config, sizeof config, entry);
  return entry;
}

static struct clt_known_entry *find_or_add(clt_known *known, clt_config config) {
  struct clt_known_entry *entry = find(known, config);
  if (entry) return entry;
  entry = calloc(1, sizeof *entry);
  if (entry == NULL) return NULL;
  entry->config = config;
  HASH_ADD(hh, known->entries, config, sizeof entry->config, entry);
  if (entry->hh.tbl) return entry;
  free(entry);
  return NULL;
}

int clt_known_add(clt_known *known, const clt_measurement *measurement, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, measurement->config);
  if (entry == NULL) return clt_fail_memory(error);
  forget_stored(entry);
  entry->answered = true;
  entry->reason = measurement->reason;
  entry->time_s = measurement->time_s;
  entry->energy_J = measurement->energy_J;
  return CLT_OK;
}

int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error) {
  struct clt_known_entry *entry = find_or_add(known, config);
  if (entry == NULL) return clt_fail_memory(error);
  entry->attempts++;
  return CLT_OK;
}

unsigned clt_known_attempts(const clt_known *known, clt_config config) {
  const struct clt_known_entry *entry = find(known, config);
  return entry ? entry->attempts : 0;
}

struct load {
  clt_known *known;
  const clt_space *space;
  clt_error *error;
  int rc;
};

static int keep_stored(struct load *load, const clt_measurement *measurement) {
  int rc = clt_known_add(load->known, measurement, load->error);
  if (rc) return rc;
  struct clt_known_entry *entry = find(load->known, measurement->config);
  clt_measurement without_log = *measurement;
  without_log.log = NULL; /* up to 16 KiB each, and nobody asks for it again */
  entry->stored = malloc(sizeof *entry->stored);
  if (entry->stored == NULL) return clt_fail_memory(load->error);
  *entry->stored = without_log;
  return CLT_OK;
}

/* Finalists' times were interleaved with others', but a failure is one; unless the others took the memory. */
static bool counts(clt_record_kind kind, clt_reason reason) {
  return kind == CLT_RECORD_SEARCH || (reason != CLT_REASON_NONE && reason != CLT_REASON_OUT_OF_MEMORY);
}

static void forget_answer(clt_known *known, clt_config config) {
  struct clt_known_entry *entry = find(known, config);
  if (entry == NULL) return;
  forget_stored(entry);
  entry->answered = false;
}

static bool suffices(const clt_known *known, const clt_measurement *m) {
  return !known->needs_energy || !clt_measurement_correct(m) || m->energy_J > 0;
}

static int visit(void *user, clt_record_kind kind, const clt_measurement *measurement) {
  struct load *load = user;
  if (clt_space_canonical(load->space, measurement->config) != measurement->config) return 0;
  if (kind == CLT_RECORD_ATTEMPT)
    load->rc = clt_known_add_attempt(load->known, measurement->config, load->error);
  else if (counts(kind, measurement->reason) && suffices(load->known, measurement))
    load->rc = keep_stored(load, measurement);
  else if (kind == CLT_RECORD_SEARCH)
    forget_answer(load->known, measurement->config); /* older ones no longer hold */
  return load->rc;
}

int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   clt_error *error) {
  struct load load = {known, space, error, CLT_OK};
  int rc = clt_store_each(store, key, space, visit, &load, NULL, error);
  return load.rc ? load.rc : rc;
}

clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find(known, config);
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
    out->energy_J = entry->energy_J;
  } else {
    clt_measurement_fail(out, entry->reason, NULL);
  }
  return CLT_FROM_SESSION;
}
