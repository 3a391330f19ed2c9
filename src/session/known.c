/* Known answers: from the store and from this session. */
#include "base/base.h"
#include "session/loop.h"
#include "space/space.h"

struct clt_known_entry {
  clt_config config;
  bool answered;
  unsigned attempts;
  clt_reason reason;
  bool confirmed_alone;
  bool is_claim;   /* one other voice alone gave the answer */
  bool is_refuted; /* it was taken, but the voice's word no longer counts */
  uint8_t voice;   /* its index; 0: this machine */
  double time_s, figure, energy_J, cost;
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

static double cost_of(const clt_known *known, const clt_measurement *m) {
  const double cost = known->objective ? clt_objective_cost(known->objective, m) : m->time_s;
  return clt_measurement_correct(m) ? cost : NAN;
}

static uint8_t find_voice(clt_known *known, int64_t id) {
  size_t i = 0;
  if (known->n_voices == 0) {
    known->best_cost[0] = known->best_cost[1] = INFINITY;
    known->voices[known->n_voices++] = (clt_known_voice){.least_cost = INFINITY};
  }
  while (i < known->n_voices && known->voices[i].id != id) i++;
  if (i == CLT_MOST_VOICES) return CLT_MOST_VOICES - 1;
  if (i == known->n_voices) known->voices[known->n_voices++] = (clt_known_voice){.id = id, .least_cost = INFINITY};
  return (uint8_t)i;
}

/* A voice that said something else than what is known here has lost its credit: what it alone said does not count, and
 * what of that was taken is measured here after all. */
static void note_word(clt_known *known, uint8_t voice, bool agrees) {
  clt_known_voice *v = &known->voices[voice];
  v->is_confirmed = v->is_confirmed || agrees;
  if (agrees || v->is_wrong || voice == 0) return;
  v->is_wrong = true;
  for (size_t i = 0; i < known->n; i++) {
    struct clt_known_entry *entry = &known->entries[i];
    const bool was_taken = entry->answered && entry->stored == NULL;
    if (!was_taken || !entry->is_claim || entry->voice != voice) continue;
    entry->is_refuted = true;
    known->n_refuted++;
  }
}

static void note_best(clt_known *known, const struct clt_known_entry *entry) {
  if (!(entry->cost < known->best_cost[entry->is_claim])) return;
  known->best_cost[entry->is_claim] = entry->cost;
  known->best[entry->is_claim] = entry->config;
}

/* Whether it keeps the search away from a configuration that differs in a single value from the best known one, or from
 * the best that was claimed. */
static bool is_bar(const clt_known *known, const struct clt_known_entry *entry) {
  for (int i = 0; i < 2; i++) {
    const bool is_bad = entry->reason != CLT_REASON_NONE || entry->cost > 1.5 * known->best_cost[i];
    if (is_bad && isfinite(known->best_cost[i]) &&
        clt_space_difference(known->space, entry->config, known->best[i]) <= 1)
      return true;
  }
  return false;
}

/* Whether a single voice's answer counts without being measured here. */
static bool believes(clt_known *known, const struct clt_known_entry *entry) {
  const clt_known_voice *voice = &known->voices[entry->voice];
  double least = INFINITY;
  for (size_t i = 0; i < known->n_voices; i++)
    if (i != entry->voice) least = fmin(least, known->voices[i].least_cost);
  const bool is_incredible = isfinite(least) && entry->cost < CLT_CLEARLY_BETTER * least;
  const bool is_default = entry->reason != CLT_REASON_NONE && known->insists && known->insisted == entry->config;
  if (voice->is_wrong || is_incredible || is_default) return false;
  if (!voice->is_confirmed && known->n_samples == 0) return known->n_samples++, false;
  if (100 * known->n_bars + 10 < known->n_taken && is_bar(known, entry)) return known->n_bars++, false;
  return true;
}

bool clt_known_is_claim(const clt_known *known, clt_config config) {
  const struct clt_known_entry *entry = find_entry(known, config);
  return entry && entry->answered && entry->is_claim;
}

clt_config clt_known_next_refuted(clt_known *known) {
  for (; known->n_refuted > known->n_returned; known->next_refuted = (known->next_refuted + 1) % known->n) {
    struct clt_known_entry *entry = &known->entries[known->next_refuted];
    if (!entry->is_refuted) continue;
    entry->is_refuted = entry->answered = false;
    known->n_returned++;
    return entry->config;
  }
  return CLT_CONFIG_NONE;
}

void clt_known_insist(clt_known *known, clt_config config) {
  known->insists = true;
  known->insisted = config;
}

static void set_answer(clt_known *known, struct clt_known_entry *entry, const clt_measurement *m, uint8_t voice,
                       bool is_claim) {
  known->n_returned += entry->is_refuted; /* measured meanwhile */
  entry->answered = true;
  entry->voice = voice;
  entry->is_claim = is_claim;
  entry->is_refuted = false;
  entry->reason = m->reason;
  entry->confirmed_alone = m->confirmed_alone;
  entry->time_s = m->time_s;
  entry->figure = m->figure;
  entry->energy_J = m->energy_J;
  entry->cost = cost_of(known, m);
  entry->use = m->use;
  if (!is_claim) note_best(known, entry);
}

static clt_word word_of(const clt_known *known, const struct clt_known_entry *entry) {
  return (clt_word){known->voices[entry->voice].id, entry->reason == CLT_REASON_NONE, entry->time_s, NULL};
}

/* Adds what others say about a configuration; an answer that was taken stays. What is measured here anyway, if in
 * doubt, needs no first voice. */
static int add_answer(clt_known *known, struct clt_known_entry *entry, const clt_store_answer *answer) {
  clt_belief belief;
  const clt_word *chosen = &answer->words[clt_words_judge(&belief, answer->words, answer->n_words, CLT_NO_VOICE)];
  for (size_t i = 0; i < answer->n_words; i++) {
    const clt_word *word = &answer->words[i];
    const uint8_t voice = find_voice(known, word->voice);
    if (word->m) known->voices[voice].least_cost = fmin(known->voices[voice].least_cost, cost_of(known, word->m));
    if (belief == CLT_KNOWN && answer->n_words > 1) note_word(known, voice, clt_words_agree(word, chosen));
  }
  const bool is_news = !entry->answered || (entry->is_claim && entry->stored);
  if (!is_news || chosen->m == NULL) return CLT_OK;
  const uint8_t voice = find_voice(known, chosen->voice);
  bool is_claim = belief < CLT_KNOWN, is_disputed = belief == CLT_DISPUTED;
  if (entry->answered && is_claim && !is_disputed) {
    const clt_word before = word_of(known, entry);
    if (voice == entry->voice) return CLT_OK;
    is_disputed = !clt_words_agree(&before, chosen);
    is_claim = is_disputed;
  }
  drop_stored(entry);
  set_answer(known, entry, chosen->m, voice, is_claim);
  entry->answered = !is_disputed;
  if (is_disputed) return CLT_OK;
  entry->stored = malloc(sizeof *entry->stored);
  if (entry->stored == NULL) return CLT_E_MEMORY;
  *entry->stored = *chosen->m;
  return CLT_OK;
}

int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error) {
  clt_store_answers answers = {0};
  int64_t newest = known->newest;
  known->space = space;
  int rc = clt_store_newest(&answers, store, key, space, needs_energy, &newest, error);
  for (size_t i = 0; rc == CLT_OK && i < answers.n; i++) {
    struct clt_known_entry *entry = find_or_add(known, answers.all[i].config);
    if (entry == NULL) {
      rc = clt_fail_memory(error);
      break;
    }
    if (known->newest == 0) entry->attempts = answers.all[i].n_attempts; /* later ones may be this session's own */
    if (answers.all[i].n_words && add_answer(known, entry, &answers.all[i])) rc = clt_fail_memory(error);
  }
  clt_store_answers_release(&answers);
  if (rc == CLT_OK) known->newest = newest;
  return rc;
}

clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out) {
  struct clt_known_entry *entry = find_entry(known, config);
  if (entry == NULL || !entry->answered) return CLT_NOT_KNOWN;
  if (entry->is_claim && entry->stored && !believes(known, entry)) {
    drop_stored(entry);
    entry->answered = false;
    return CLT_NOT_KNOWN;
  }
  if (entry->stored) {
    note_best(known, entry);
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
  clt_known_voice *here = &known->voices[find_voice(known, 0)];
  const clt_word said = word_of(known, entry), found = {0, clt_measurement_correct(m), m->time_s, NULL};
  const bool was_claim = entry->is_claim;
  const uint8_t voice = entry->voice;
  set_answer(known, entry, m, 0, false);
  if (was_claim) note_word(known, voice, clt_words_agree(&said, &found));
  here->least_cost = fmin(here->least_cost, cost_of(known, m));
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
