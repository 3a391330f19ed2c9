/* Known answers: from the store and from this session. */
#include "session/known.h"

#include <math.h>
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
  bool is_alone, is_repeated; /* no other voice gave the answer; it is not taken, but measured here */
  uint8_t voice;              /* its index; 0: this machine */
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

static void drop_stored(struct clt_known_entry *entry) {
  clt_measurement_release(entry->stored);
  free(entry->stored);
  entry->stored = NULL;
}

static void move_stored(struct clt_known_entry *entry, clt_measurement *out) {
  *out = *entry->stored;
  free(entry->stored);
  entry->stored = NULL;
}

/* --- the word of others --- */

static uint8_t find_voice(clt_known *known, int64_t id) {
  size_t i = 0;
  if (known->n_voices == 0) known->voices[known->n_voices++] = (clt_known_voice){.fastest_s = INFINITY};
  while (i < known->n_voices && known->voices[i].id != id) i++;
  if (i == CLT_KNOWN_VOICES) return CLT_KNOWN_VOICES - 1;
  if (i == known->n_voices) known->voices[known->n_voices++] = (clt_known_voice){.id = id, .fastest_s = INFINITY};
  return (uint8_t)i;
}

/* Half: what differs by less cannot mislead the final comparison, which measures it here. */
static bool is_incredible(const clt_known *known, const struct clt_known_entry *entry) {
  double fastest_s = INFINITY;
  for (size_t i = 0; i < known->n_voices; i++)
    if (i != entry->voice) fastest_s = fmin(fastest_s, known->voices[i].fastest_s);
  return isfinite(fastest_s) && entry->time_s < 0.5 * fastest_s;
}

/* Whether an answer does not count before it was measured here. Reason and time stay, for judge_voice. */
static bool must_repeat(clt_known *known, struct clt_known_entry *entry) {
  if (entry->voice == 0 || !entry->is_alone) return false;
  const clt_known_voice *voice = &known->voices[entry->voice];
  if (entry->reason == CLT_REASON_NONE)
    entry->is_repeated = is_incredible(known, entry);
  else
    entry->is_repeated = voice->is_wrong || !voice->is_confirmed || 100 * known->n_repeated <= known->n_taken ||
                         (known->insists && known->insisted == entry->config);
  if (!entry->is_repeated) return false;
  known->n_repeated++;
  drop_stored(entry);
  entry->answered = false;
  return true;
}

/* What was measured here, too. */
static void judge_voice(clt_known *known, const struct clt_known_entry *entry, const clt_measurement *m) {
  clt_measurement theirs = {.reason = entry->reason, .time_s = entry->time_s};
  clt_known_voice *voice = &known->voices[entry->voice];
  if (!entry->is_repeated) return;
  const bool agrees = clt_answers_agree(&theirs, m);
  voice->is_confirmed = voice->is_confirmed || (agrees && entry->reason != CLT_REASON_NONE);
  voice->is_wrong = voice->is_wrong || !agrees;
}

void clt_known_insist(clt_known *known, clt_config config) {
  known->insists = true;
  known->insisted = config;
}

static void set_answer(struct clt_known_entry *entry, const clt_measurement *m) {
  entry->answered = true;
  entry->voice = 0;
  entry->is_alone = entry->is_repeated = false;
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
    clt_known_voice *voice = &known->voices[find_voice(known, answer->voice)];
    if (answer->newest == NULL || entry->answered) continue;
    if (clt_measurement_correct(answer->newest)) voice->fastest_s = fmin(voice->fastest_s, answer->newest->time_s);
    voice->is_confirmed = voice->is_confirmed || (answer->confirmed && !clt_measurement_correct(answer->newest));
    if (answer->doubted) continue;
    drop_stored(entry); /* in doubt, and another tuner was faster */
    set_answer(entry, answer->newest);
    entry->voice = (uint8_t)(voice - known->voices);
    entry->is_alone = !answer->confirmed;
    entry->stored = answer->newest;
    answer->newest = NULL;
  }
  clt_store_answers_release(&answers);
  if (rc == CLT_OK) known->newest = newest;
  return rc;
}

clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find_entry(known, config);
  if (entry == NULL || !entry->answered || must_repeat(known, entry)) return CLT_NOT_KNOWN;
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
  judge_voice(known, entry, m);
  set_answer(entry, m);
  if (clt_measurement_correct(m)) {
    clt_known_voice *here = &known->voices[find_voice(known, 0)];
    here->fastest_s = fmin(here->fastest_s, m->time_s);
  }
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
  /* A correct first result was no attempt that failed. */
  return entry && (entry->answered || entry->stored == NULL) ? entry->attempts : 0;
}
