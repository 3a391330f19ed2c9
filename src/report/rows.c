/* Reads the rows of a tuning from a store: of each configuration the word that counts (store/words.h). */
#include "base/base.h"
#include "base/hash.h"
#include "report/report.h"
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
  int64_t first;           /* clt_first_note */
  int64_t first_s, last_s; /* of records: the time of the oldest and of the newest; 0: none */
} store_rows;

/* Newest first: however often a voice measured a configuration, it has one row. */
static int add_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  store_rows *w = user;
  voiced_rows *v = record->kind == CLT_RECORD_SEARCH ? &w->searched : &w->compared;
  bool is_new = false;
  const bool counts = record->kind == CLT_RECORD_SEARCH || record->kind == CLT_RECORD_FINALIST;
  clt_first_note(&w->first, record);
  w->first_s = record->created_s;
  if (w->last_s == 0) w->last_s = record->created_s;
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

int clt_tuning_read_rows(clt_tuning *t, clt_store *store, const clt_store_key *key, clt_error *error) {
  store_rows w = {
      .objective = t->objective, .searched.rows = &t->rows, .compared.rows = &t->finalists, .first = CLT_NO_VOICE};
  int rc = clt_store_walk(store, CLT_STORE_NEWEST_FIRST, key, t->space, add_record, &w, error);
  t->first_s = w.first_s;
  t->last_s = w.last_s;
  if (rc == CLT_OK && (keep_judged(&w.searched, w.first) || keep_judged(&w.compared, w.first)))
    rc = clt_fail_memory(error);
  clt_map_release(&w.searched.newest);
  clt_map_release(&w.compared.newest);
  free(w.searched.of);
  free(w.compared.of);
  return rc;
}
