/* Reads the rows of a tuning from a store: of each configuration the word that counts (store/words.h). */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "report/rows.h"
#include "store/store.h"
#include "store/words.h"

int clt_report_add_row(clt_report_rows *rows, const clt_objective *objective, const clt_measurement *m) {
  /* A measuring time from a file; 0 if it is implausible. */
  double spent_s = m->phases.build_s + m->phases.first_launch_s + m->phases.runs_s + m->phases.verify_s;
  if (!isfinite(spent_s) || spent_s < 0) spent_s = 0;
  const double time_s = clt_measurement_correct(m) ? m->time_s : NAN;
  if (clt_grow(&rows->items, &rows->capacity, rows->n + 1, sizeof *rows->items)) return CLT_E_MEMORY;
  rows->items[rows->n++] = (clt_report_row){.config = m->config,
                                            .reason = m->reason,
                                            .time_s = time_s,
                                            .cost = clt_objective_cost(objective, m),
                                            .spread = m->n_runs < 2 ? NAN : clt_spread(m),
                                            .interval = clt_measurement_interval(m),
                                            .spent_s = spent_s,
                                            .final_s = NAN,
                                            .final_cost = NAN,
                                            .use = m->use,
                                            .state = m->state,
                                            .energy_J = m->energy_J,
                                            .figure = m->figure,
                                            .final_energy_J = NAN,
                                            .final_figure = NAN};
  return CLT_OK;
}

typedef struct voiced_row {
  int64_t voice;
  size_t other; /* the next older row of the configuration, by another voice: its index + 1; 0: none */
} voiced_row;

/* Rows of searches, or of finalists. */
typedef struct voiced_rows {
  clt_report_rows *rows;
  voiced_row *of; /* for each row */
  size_t capacity;
  clt_map newest; /* by configuration: an index */
} voiced_rows;

typedef struct store_rows {
  const clt_objective *objective;
  voiced_rows searched, compared;
} store_rows;

/* Newest first: however often a voice measured a configuration, it has one row. */
static int add_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  store_rows *w = user;
  voiced_rows *v = record->kind == CLT_RECORD_SEARCH ? &w->searched : &w->compared;
  bool is_new = false;
  const bool counts = record->kind == CLT_RECORD_SEARCH || record->kind == CLT_RECORD_FINALIST;
  if (m->config == CLT_CONFIG_NONE || !counts) return 0;
  uint64_t *newest = clt_map_add(&v->newest, m->config, &is_new);
  if (newest == NULL || clt_grow(&v->of, &v->capacity, v->rows->n + 1, sizeof *v->of)) return CLT_E_MEMORY;
  size_t last = v->rows->n, n_voices = 0;
  if (is_new) *newest = last;
  for (size_t next = is_new ? 0 : *newest + 1; next > 0; next = v->of[last].other) {
    last = next - 1;
    if (v->of[last].voice == record->voice || ++n_voices == CLT_MOST_VOICES) return 0;
  }
  v->of[v->rows->n] = (voiced_row){.voice = record->voice};
  if (!is_new) v->of[last].other = v->rows->n + 1;
  return clt_report_add_row(v->rows, w->objective, m);
}

/* The index of the row that counts, of those of the configuration of a row, its newest. */
static size_t judge(const voiced_rows *v, size_t newest, int64_t first) {
  clt_word words[CLT_MOST_VOICES];
  size_t indices[CLT_MOST_VOICES], n = 0;
  clt_belief ignored;
  for (size_t next = newest + 1; next > 0; next = v->of[indices[n++]].other) {
    const clt_report_row *row = &v->rows->items[indices[n] = next - 1];
    words[n] = (clt_word){.voice = v->of[next - 1].voice, .correct = !isnan(row->cost), .cost = row->cost};
  }
  return indices[clt_words_judge(&ignored, words, n, first)];
}

/* Keeps the rows that count, the oldest first. */
static int keep_judged(voiced_rows *v, int64_t first) {
  clt_report_row *kept = clt_new_array(v->newest.n, sizeof *kept);
  size_t n = 0;
  if (kept == NULL) return CLT_E_MEMORY;
  for (size_t i = v->rows->n; i-- > 0;)
    if (*clt_map_find(&v->newest, v->rows->items[i].config) == i) kept[n++] = v->rows->items[judge(v, i, first)];
  free(v->rows->items);
  v->rows->items = kept;
  v->rows->n = v->rows->capacity = n;
  return CLT_OK;
}

typedef struct first_record {
  int64_t created_s, voice;
} first_record;

static int note_first(void *user, const clt_store_description *none, const clt_store_record *record) {
  (void)none;
  *(first_record *)user = (first_record){record->created_s, record->voice};
  return 1;
}

int clt_tuning_read_rows(clt_tuning *t, clt_store *store, const clt_store_key *key, clt_error *error) {
  store_rows w = {.objective = t->objective, .searched.rows = &t->rows, .compared.rows = &t->finalists};
  first_record oldest = {0}, newest = {0};
  int rc = clt_store_walk(store, CLT_STORE_NEWEST_FIRST, key, t->space, add_record, &w, error);
  if (rc == CLT_OK)
    rc = store->type->walk(store->state, CLT_STORE_OLDEST_FIRST, key, NULL, 0, note_first, &oldest, error);
  if (rc >= 0) rc = store->type->walk(store->state, CLT_STORE_NEWEST_FIRST, key, NULL, 0, note_first, &newest, error);
  t->first_s = oldest.created_s;
  t->last_s = newest.created_s;
  for (size_t i = 0; i < t->finalists.n; i++) /* then the first voice is one of many, as to store/best.c */
    if (w.compared.of[i].voice == 0) oldest.voice = CLT_NO_VOICE;
  if (rc >= 0 && (keep_judged(&w.searched, oldest.voice) || keep_judged(&w.compared, oldest.voice)))
    rc = clt_fail_memory(error);
  clt_map_release(&w.searched.newest);
  clt_map_release(&w.compared.newest);
  free(w.searched.of);
  free(w.compared.of);
  return rc;
}
