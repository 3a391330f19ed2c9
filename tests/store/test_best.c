/* Which configuration is the best known: the rule that docs/explanation/best-known.md states, on every type of store.
 */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <clatune/rng.h>
#include "best_oracle.h"
#include "measurement/measurement.h"
#include "store/best.h"
#include "store/store.h"
#include "store/words.h"
#include "store_support.h"

typedef struct fixture {
  char *folder;
  clt_space *space;
  clt_store *store;
  clt_store_key key;
  clt_objective *time, *energy;
} fixture;

static int set_up(void **state) {
  const char *type = *state; /* the initial state of each test */
  fixture *f = calloc(1, sizeof *f);
  char path[PLACE_BYTES];
  clt_error error = {0};
  assert_non_null(f);
  *f = (fixture){.folder = make_folder(), .space = make_space("a", "[0, 1, 2, 3]", NULL), .key = make_key("p")};
  if (clt_store_new(&f->store, type, make_place(path, type, f->folder, 0), &error) ||
      clt_objective_new_for(&f->time, f->space, NULL, 0, NULL, "time", &error) ||
      clt_objective_new_for(&f->energy, f->space, NULL, 0, NULL, "energy", &error))
    fail_msg("%s", error.message);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  clt_store_free(f->store);
  clt_objective_free(f->time);
  clt_objective_free(f->energy);
  clt_space_free(f->space);
  remove_folder(f->folder);
  free(f);
  return 0;
}

/* time_s NaN: it failed. */
static void add(const fixture *f, clt_record_kind kind, clt_config config, double time_s) {
  clt_measurement m = make_measurement(config, time_s);
  clt_error error = {0};
  m.energy_J = 10 / time_s;
  if (isnan(time_s)) {
    clt_measurement_init(&m, config);
    m.reason = CLT_REASON_WRONG_OUTPUT;
  }
  if (clt_store_add(f->store, &f->key, f->space, kind, &m, &error)) fail_msg("%s", error.message);
}

/* Times of the configurations 0, 1, 2 and 3 in a comparison; 0: not included. */
static void compare(const fixture *f, double a, double b, double c, double d) {
  const double times_s[] = {a, b, c, d};
  clt_store_begin_comparison(f->store);
  for (clt_config i = 0; i < 4; i++)
    if (times_s[i] != 0) add(f, CLT_RECORD_FINALIST, i, times_s[i]);
}

static bool is_not_0(void *user, clt_config config) { return (void)user, config != 0; }

static clt_best_known ask(const fixture *f, const clt_best_query *query) {
  clt_best_known best;
  clt_error error = {0};
  if (clt_store_best(&best, f->store, &f->key, f->space, query, &error)) fail_msg("%s", error.message);
  return best;
}

static void expect(const fixture *f, clt_config config, double time_s, bool compared) {
  const clt_best_known best = ask(f, &(clt_best_query){.objective = f->time, .beside = CLT_CONFIG_NONE});
  assert_int_equal(best.measurement.config, config);
  assert_true(isnan(time_s) ? isnan(best.measurement.time_s) : best.measurement.time_s == time_s);
  assert_int_equal(best.compared, compared);
}

static void the_last_comparison_that_included_both_decides(void **state) {
  const fixture *f = *state;
  expect(f, CLT_CONFIG_NONE, NAN, false);
  compare(f, 1, 2, 0, 0);
  expect(f, 0, 1, true);
  compare(f, 6, 5, 7, 0); /* on a busy machine */
  expect(f, 1, 5, true);
  compare(f, 0, 3, 2, 0); /* 0 was slower than 1, and 2 is faster than 1 */
  expect(f, 2, 2, true);
  compare(f, 9, 0, 0, 8); /* the best known did not take part: the times decide */
  expect(f, 2, 2, true);
  compare(f, 0.5, 0, 0, 0.6);
  expect(f, 0, 0.5, true);
  compare(f, 4, 0, 3, 0);
  expect(f, 2, 3, true);
}

static void what_failed_since_is_not_the_best(void **state) {
  const fixture *f = *state;
  compare(f, 1, 2, 0, 0);
  compare(f, NAN, 4, 5, 0);
  expect(f, 1, 4, true);
  compare(f, 3, 4, 0, 0); /* it has been repaired, perhaps by another driver */
  expect(f, 0, 3, true);
}

static void only_later_and_clearly_faster_measurements_replace_it(void **state) {
  const fixture *f = *state;
  add(f, CLT_RECORD_SEARCH, 0, 1);
  add(f, CLT_RECORD_SEARCH, 1, 2);
  add(f, CLT_RECORD_SEARCH, 2, 3);
  expect(f, 0, 1, false);
  compare(f, 0, 2.5, 4, 0); /* 0 was not chosen, though its single runs were short */
  expect(f, 1, 2.5, true);
  add(f, CLT_RECORD_SEARCH, 3, 1.9);
  expect(f, 1, 2.5, true);
  add(f, CLT_RECORD_SEARCH, 3, 1.5);
  expect(f, 3, 1.5, false);
  compare(f, 0, 2, 0, 1.8);
  expect(f, 3, 1.8, true);
}

static void a_comparison_whose_winner_does_not_count_decides_little(void **state) {
  const fixture *f = *state;
  const clt_best_query without_0 = {.objective = f->time, .accepts = is_not_0, .beside = CLT_CONFIG_NONE};
  for (clt_config i = 0; i < 4; i++) add(f, CLT_RECORD_SEARCH, i, 1 + (double)i);
  compare(f, 1, 0, 0, 4);
  expect(f, 0, 1, true);
  assert_int_equal(ask(f, &without_0).measurement.config, 1); /* 3 was the only other finalist */
  compare(f, 1, 3, 4, 2);
  assert_int_equal(ask(f, &without_0).measurement.config, 3);
}

static void what_was_beside_it_is_of_the_same_comparison(void **state) {
  const fixture *f = *state;
  const clt_best_query query = {.objective = f->time, .beside = 0};
  compare(f, 0, 1, 2, 0);
  assert_int_equal(ask(f, &query).beside.config, CLT_CONFIG_NONE);
  compare(f, 6, 3, 0, 0);
  compare(f, 0, 2, 3, 0);
  const clt_best_known best = ask(f, &query);
  assert_true(best.measurement.config == 1 && best.measurement.time_s == 3 && best.beside.time_s == 6);
}

static void another_objective_reads_all(void **state) {
  const fixture *f = *state;
  const clt_best_query query = {.objective = f->energy, .beside = CLT_CONFIG_NONE};
  for (clt_config i = 0; i < 4; i++) add(f, CLT_RECORD_SEARCH, i, 1 + (double)i);
  assert_int_equal(ask(f, &query).measurement.config, 3);
  compare(f, 1, 2, 0, 0); /* by time */
  assert_int_equal(ask(f, &query).measurement.config, 3);
  clt_store_begin_comparison(f->store);
  add(f, CLT_RECORD_COMPARED, 2, 5);
  add(f, CLT_RECORD_COMPARED, 3, 4);
  assert_int_equal(ask(f, &query).measurement.config, 2);
  expect(f, 0, 1, true);
}

/* Finalists that are added without a word are one comparison until something else is added. */
static void neighbours_are_a_comparison(void **state) {
  const fixture *f = *state;
  add(f, CLT_RECORD_FINALIST, 0, 2);
  add(f, CLT_RECORD_FINALIST, 1, 1);
  add(f, CLT_RECORD_SEARCH, 2, 9);
  add(f, CLT_RECORD_FINALIST, 0, 0.5);
  add(f, CLT_RECORD_FINALIST, 2, 0.6);
  expect(f, 1, 1, true); /* it met 0 in the first only */
}

static int64_t n_added;

/* A record of another voice. */
static void add_of(const fixture *f, int64_t voice, clt_record_kind kind, int64_t comparison, clt_config config, double time_s) {
  clt_measurement m = make_measurement(config, time_s);
  clt_error error = {0};
  char *text = NULL;
  m.energy_J = 10 / time_s;
  if (isnan(time_s)) {
    clt_measurement_init(&m, config);
    m.reason = CLT_REASON_WRONG_OUTPUT;
  }
  if (clt_config_text(&text, f->space, config, &error)) fail_msg("%s", error.message);
  const clt_store_record record = {.kind = kind, .configuration = text, .created_s = time(NULL), .measurement = &m, .origin = "0123456789abcdef",
                                   .sequence = ++n_added, .comparison = comparison, .voice = voice};
  if (f->store->type->add(f->store->state, &(clt_store_description){.key = f->key}, &record, NULL, &error)) fail_msg("%s", error.message);
  free(text);
}

static void search_of(const fixture *f, int64_t voice, clt_config config, double time_s) {
  add_of(f, voice, CLT_RECORD_SEARCH, 0, config, time_s);
}

/* As `compare`, by another voice. */
static void compare_of(const fixture *f, int64_t voice, double a, double b, double c, double d) {
  const double times_s[] = {a, b, c, d};
  const int64_t comparison = n_added + 1;
  for (clt_config i = 0; i < 4; i++)
    if (times_s[i] != 0) add_of(f, voice, CLT_RECORD_FINALIST, comparison, i, times_s[i]);
}

/* Honest voices differ by up to a fifth. */
static void expect_of(const fixture *f, clt_config config, double time_s, bool alone) {
  const clt_best_known best = ask(f, &(clt_best_query){.objective = f->time, .beside = 3});
  assert_int_equal(best.measurement.config, config);
  assert_true(fabs(best.measurement.time_s / time_s - 1) < 0.21);
  assert_int_equal(best.alone, alone);
}

enum { AGENT = 5, OTHER = 8, LIAR = 7 };

/* The voices of a database are those of its logins. */
static bool has_voices(const fixture *f) { return f->store->type != &clt_store_postgresql; }

static void one_s_own_word_counts_more_than_others(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, LIAR, 3, 0.1);
  expect_of(f, 3, 0.1, true); /* there is nothing else */
  compare(f, 5, 1, 0, 0);
  expect_of(f, 1, 1, false);
  compare_of(f, LIAR, 0, NAN, 0, 0.1); /* calls the best one wrong */
  expect_of(f, 1, 1, false);
  const clt_best_query believing = {.objective = f->time, .believes = true, .beside = CLT_CONFIG_NONE};
  assert_int_equal(ask(f, &believing).measurement.config, 3);
  compare_of(f, OTHER, 0, 0, 0, 0.11);
  expect_of(f, 3, 0.11, false);     /* another one confirms it */
  add(f, CLT_RECORD_FINALIST, 3, NAN); /* it fails here, whatever others say */
  expect_of(f, 1, 1, false);
  compare_of(f, LIAR, 0, 0, 0, 0.1);
  compare_of(f, AGENT, 0, NAN, 0, 0);
  expect_of(f, 1, 1, false);
}

static void one_voice_does_not_undo_what_two_agree_on(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  compare_of(f, OTHER, 1, 2, NAN, 0);
  compare_of(f, AGENT, 1.1, 2.1, NAN, 0);
  expect_of(f, 0, 1.1, false);
  compare_of(f, LIAR, 1.2, 2.2, NAN, 0);
  compare_of(f, LIAR, NAN, 2.2, 0.9, 0); /* calls the best one wrong, and a wrong one the best */
  expect_of(f, 0, 1.1, false);
  compare_of(f, LIAR, 9, 0.9, 0.8, 0); /* or slow */
  expect_of(f, 0, 1.1, false);
  compare_of(f, LIAR, 1.9, 1.8, 0, 0); /* or just slower than another */
  expect_of(f, 0, 1.1, false);
  compare_of(f, LIAR, 0.01, 0, 0, 1); /* nor does it say how fast it is */
  expect_of(f, 0, 1.1, false);
}

static void two_voices_confirm_each_other_if_their_times_agree(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  compare_of(f, AGENT, 1, 0, 0, 0);
  expect_of(f, 0, 1, true);
  compare_of(f, LIAR, 0.1, 0, 0, 0);
  expect_of(f, 0, 1, true);
  compare_of(f, OTHER, 1.5, 0, 0, 0);
  expect_of(f, 0, 1, false);
}

/* Whoever measured here first is believed until two others say otherwise. */
static void one_voice_does_not_choose_among_what_another_measured(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1);
  search_of(f, AGENT, 1, 1.5);
  search_of(f, AGENT, 2, 4);
  search_of(f, LIAR, 2, 4); /* true, but does not make the others doubtful */
  expect_of(f, 0, 1, true);
  compare_of(f, LIAR, 0, 0, 3, 5); /* nor is it better for being compared */
  expect_of(f, 0, 1, true);
  compare_of(f, AGENT, 1, 1.5, 0, 0);
  expect_of(f, 0, 1, true);
  compare_of(f, LIAR, 0, 0, 0, 0.9); /* plausible, but nobody else has measured it */
  expect_of(f, 0, 1, true);
  compare_of(f, LIAR, 1.6, 1.5, 0, 0);
  expect_of(f, 0, 1, false);
  search_of(f, LIAR, 0, 1e-6); /* the best one's own records end the search */
  search_of(f, AGENT, 3, 0.5);
  expect_of(f, 3, 0.5, false); /* LIAR's time is within a factor of two */
  compare_of(f, OTHER, 1, 0, 0, 0.6);
  expect_of(f, 3, 0.9, false);
}

/* A search's records are read fastest first, and words about the same configuration that are slower come later. */
static void slower_words_about_the_same_configuration_are_heard(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1);
  search_of(f, OTHER, 0, 1.02);
  search_of(f, AGENT, 3, 1.8);
  search_of(f, OTHER, 3, 1.81);
  expect_of(f, 0, 1, false);
  search_of(f, LIAR, 3, 0.81); /* not so fast that it is in doubt by itself */
  expect_of(f, 0, 1, false);
  search_of(f, LIAR, 3, 0.95); /* within a factor of two of the others, who tell how fast it is */
  expect_of(f, 0, 1, false);
  search_of(f, LIAR, 2, 0.7); /* it no longer counts */
  expect_of(f, 0, 1, false);
  search_of(f, AGENT, 1, 1.1);
  search_of(f, OTHER, 1, 1.1);
  search_of(f, LIAR, 1, 1e-6);
  expect_of(f, 0, 1, false);
}

static void one_s_own_comparison_and_that_of_the_same_voice_settle_a_search(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1.5);
  search_of(f, AGENT, 1, 1.6);
  compare_of(f, AGENT, 1.6, 1.7, 0, 0);
  compare_of(f, OTHER, 1.66, 1.7, 0, 0);
  expect_of(f, 0, 1.66, false);
  search_of(f, 9, 3, 1);
  search_of(f, 11, 3, 1);
  expect_of(f, 3, 1, false);
  search_of(f, LIAR, 0, 1.01); /* nor that the best is as fast in a search */
  expect_of(f, 3, 1, false);
  compare_of(f, LIAR, 1.63, 3.2, 0, 0); /* the median of three, and in a later comparison */
  expect_of(f, 3, 1, false);
  compare(f, 1.6, 1.7, 0, 0);
  expect_of(f, 0, 1.6, false);
}

static void a_word_about_the_best_hides_nothing_faster(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1);
  compare_of(f, AGENT, 1, 2, 0, 0);
  compare_of(f, OTHER, 1, 2, 0, 0);
  search_of(f, 9, 3, 0.7);
  search_of(f, 11, 3, 0.7);
  expect_of(f, 3, 0.7, false);
  search_of(f, LIAR, 0, 0.8);
  expect_of(f, 3, 0.7, false);
  search_of(f, AGENT, 0, 0.86); /* the first voice may say so */
  expect_of(f, 0, 1, false);
}

/* What is given to users without being measured, all configurations of a key. */
static void one_voice_does_not_choose_among_answers(void **state) {
  const fixture *f = *state;
  clt_store_answers a = {0};
  if (!has_voices(f)) skip();
  search_of(f, LIAR, 1, 0.01);
  search_of(f, AGENT, 1, 2);
  for (int n_voices = 1; n_voices <= 3; n_voices++) {
    if (n_voices == 1) search_of(f, AGENT, 0, 1);
    if (n_voices == 2) search_of(f, OTHER, 0, 1.1);
    if (n_voices == 3) add(f, CLT_RECORD_FINALIST, 2, 1), search_of(f, LIAR, 0, NAN);
    assert_int_equal(clt_store_newest(&a, f->store, &f->key, f->space, false, NULL, NULL), 0);
    assert_int_equal(a.has_known, n_voices > 1);
    assert_true(a.n == 2 && a.all[0].config == 0 && a.all[1].config == 1);
    if (n_voices == 1) assert_null(a.all[0].newest); /* LIAR was the first */
    if (n_voices > 1) assert_true(a.all[0].newest->time_s >= 1);
    if (n_voices < 3) assert_true(a.all[1].newest->time_s == 0.01);
    if (n_voices == 3) assert_null(a.all[1].newest); /* one of many, now that there are finalists of one's own */
    assert_true(n_voices < 3 || !a.all[1].claimed);
    clt_store_answers_release(&a);
  }
}

typedef struct heap_use {
  size_t first, most;
} heap_use;

static bool note_heap(void *user, clt_config config) {
  heap_use *use = user;
  const struct mallinfo2 now = mallinfo2();
  const size_t bytes = now.uordblks + now.hblkhd;
  if (use->first == 0) use->first = bytes;
  if (bytes > use->most) use->most = bytes;
  return config < 4;
}

/* Another voice may deliver any number of finalists: older words about a configuration take little memory. */
static void many_words_of_a_voice_take_little_memory(void **state) {
  const fixture *f = *state;
  enum { N = 2000 };
  heap_use use = {0};
  if (!has_voices(f)) skip();
  for (int i = 0; i < N / 2; i++) compare_of(f, LIAR, 2, 3, 0, 0);
  const clt_best_known best = ask(f, &(clt_best_query){.objective = f->time, .accepts = note_heap, .user = &use, .beside = 1});
  assert_int_equal(best.measurement.config, 0);
  assert_true(best.beside.time_s == 3);
  assert_in_range(use.most - use.first, 0, N * 400);
}

/* Nor do many voices. */
static void what_is_not_kept_is_read_again(void **state) {
  const fixture *f = *state;
  heap_use use = {0};
  if (!has_voices(f)) skip();
  for (int i = 0; i < 1000; i++) compare_of(f, 100 + i, 1 + 1e-6 * i, 2 + 1e-6 * i, 0, 0);
  const clt_best_known best = ask(f, &(clt_best_query){.objective = f->time, .accepts = note_heap, .user = &use, .beside = 1});
  assert_true(best.measurement.config == 0 && best.voice >= 1100 - CLT_MOST_VOICES);
  assert_true(best.measurement.time_s == 1 + 1e-6 * (double)(best.voice - 100));
  assert_true(best.beside.time_s == 2 + 1e-6 * (double)(best.voice - 100));
  assert_in_range(use.most - use.first, 0, 1500000);
}

/* --- against a plain search through all records --- */

/* Own comparisons come first, since the records of others are from the future. */
static void add_at_random(const fixture *f, oracle *o, clt_rng *rng, size_t n) {
  static const int64_t voices[] = {AGENT, OTHER, LIAR};
  const bool has_own = clt_rng_next(rng) % 4 == 0;
  o->n = 0;
  for (size_t i = 0; i < n; i++) {
    const int64_t voice = has_own && i < n / 4 ? 0 : voices[clt_rng_next(rng) % 3];
    const clt_config config = clt_rng_next(rng) % 4;
    const double time_s = clt_rng_next(rng) % 8 ? (double)(4 + clt_rng_next(rng) % 8) : NAN;
    const int64_t comparison = voice ? 1 + (int64_t)(clt_rng_next(rng) % 4) : 0;
    o->all[o->n++] = (said){voice, comparison, config, time_s};
    if (voice)
      add_of(f, voice, CLT_RECORD_FINALIST, comparison, config, time_s);
    else
      add(f, CLT_RECORD_FINALIST, config, time_s);
  }
  o->first = o->all[0].voice ? o->all[0].voice : CLT_NO_VOICE;
}

static void random_comparisons_give_what_a_plain_search_gives(void **state) {
  fixture f = *(const fixture *)*state;
  clt_rng rng;
  size_t n_known = 0, n_voted = 0;
  oracle o, rest;
  if (!has_voices(&f)) skip();
  clt_rng_init(&rng, 1);
  for (int trial = 0; trial < 500; trial++) {
    char problem[16];
    clt_belief belief;
    snprintf(problem, sizeof problem, "p%d", trial);
    f.key = make_key(problem);
    f.store->type->transaction(f.store->state, CLT_STORE_BEGIN, NULL, NULL);
    clt_store_begin_comparison(f.store);
    add_at_random(&f, &o, &rng, 1 + clt_rng_next(&rng) % MOST_SAID);
    f.store->type->transaction(f.store->state, CLT_STORE_COMMIT, NULL, NULL);
    const said *expected = answer_of(&o, &rest);
    const clt_best_known best = ask(&f, &(clt_best_query){.objective = f.time, .beside = CLT_CONFIG_NONE});
    assert_int_equal(best.measurement.config, expected ? expected->config : CLT_CONFIG_NONE);
    if (expected == NULL) continue;
    n_known++;
    n_voted += expected->config != champion_of(&o)->config;
    word_that_counts(&rest, expected->config, &belief);
    assert_true(best.measurement.time_s == expected->time_s && best.voice == expected->voice && best.compared);
    assert_int_equal(best.alone, belief < CLT_KNOWN);
  }
  assert_in_range(n_known, 250, 499);
  assert_in_range(n_voted, 10, 200);
}

/* A liar who was the first does not decide for ever. */
static void the_first_voice_is_one_of_many_then(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, LIAR, 3, 0.01);
  search_of(f, AGENT, 0, 1);
  search_of(f, OTHER, 1, 1.2);
  expect_of(f, 0, 1, true);
  compare_of(f, LIAR, 0.7, 2.1, 0, 0.1);
  expect_of(f, 3, 0.1, true); /* until then */
  compare_of(f, AGENT, 1, 2, 0, 0);
  compare_of(f, OTHER, 1.2, 2.2, 0, 0);
  expect_of(f, 3, 0.1, true); /* they have not compared this one */
  compare_of(f, AGENT, 1, 0, 0, 3);
  expect_of(f, 3, 0.1, true);
  compare_of(f, OTHER, 1.2, 0, 0, 3.1);
  expect_of(f, 0, 1.2, false);
}

/* What two others agree on says nothing about what the first voice alone compared. */
static void two_others_do_not_silence_the_first_voice(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1);
  compare_of(f, AGENT, 1, 0, 0, 0.7);
  compare_of(f, OTHER, 1.1, 1.5, 0, 0);
  compare_of(f, LIAR, 1.1, 1.5, 0, 0); /* repeats what is true */
  expect_of(f, 3, 0.7, true);
}

static void search_all_of(const fixture *f, int64_t voice, double slower) {
  for (clt_config i = 0; i < 4; i++) {
    const double time_s = slower * (1 + 0.05 * (double)i);
    if (voice)
      search_of(f, voice, i, time_s);
    else
      add(f, CLT_RECORD_SEARCH, i, time_s);
  }
}

/* One voice has compared, another, perhaps one's own, has searched, and both have found the same. */
static void one_voice_does_not_tip_what_two_found(void **state) {
  fixture f = *(const fixture *)*state;
  if (!has_voices(&f)) skip();
  for (int is_own = 0; is_own <= 1; is_own++) {
    f.key = make_key(is_own ? "own" : "of another");
    if (is_own) search_of(&f, LIAR, 0, 1.02);
    search_all_of(&f, is_own ? 0 : AGENT, 1);
    search_all_of(&f, OTHER, 1.02);
    compare_of(&f, OTHER, 1.02, 1.07, 1.12, 1.17);
    expect_of(&f, 0, 1, false);
    compare_of(&f, LIAR, 1.94, 0, 0, 1.11);
    expect_of(&f, 0, 1, false);
    compare_of(&f, AGENT, 1.03, 0, 0, 1);
    expect_of(&f, is_own ? 0 : 3, 1, false); /* now two have compared them */
  }
}

/* Both have compared, but only one of them the configuration that the first voice prefers. */
static void the_first_voice_does_not_tip_what_two_found(void **state) {
  const fixture *f = *state;
  if (!has_voices(f)) skip();
  search_of(f, LIAR, 1, 1.05);
  search_all_of(f, AGENT, 1);
  compare_of(f, AGENT, 1, 1.05, 1.1, 0);
  search_all_of(f, OTHER, 1.02);
  compare_of(f, OTHER, 1.02, 1.07, 1.12, 1.17);
  expect_of(f, 0, 1.02, false);
  compare_of(f, LIAR, 1.9, 0, 0, 1.17);
  const clt_best_known best = ask(f, &(clt_best_query){.objective = f->time, .beside = 3});
  assert_true(best.measurement.config == 0 && best.measurement.time_s == 1.02 && best.compared && !best.alone);
}

/* The energy of a true time. */
static void with_other_objectives_too(void **state) {
  const fixture *f = *state;
  const clt_best_query query = {.objective = f->energy, .beside = CLT_CONFIG_NONE};
  if (!has_voices(f)) skip();
  search_of(f, AGENT, 0, 1);
  search_of(f, AGENT, 1, 4);
  assert_int_equal(ask(f, &query).measurement.config, 1);
  search_of(f, AGENT, 2, NAN);
  search_of(f, LIAR, 0, 100);
  search_of(f, LIAR, 1, 0.01);
  search_of(f, LIAR, 2, 4.5);
  search_of(f, LIAR, 3, 1000);
  assert_int_equal(ask(f, &query).measurement.config, 1);
}

int main(void) {
  static const struct {
    const char *name;
    CMUnitTestFunction function;
  } all[] = {{"the last comparison", the_last_comparison_that_included_both_decides},
             {"failures", what_failed_since_is_not_the_best},
             {"later measurements", only_later_and_clearly_faster_measurements_replace_it},
             {"others", a_comparison_whose_winner_does_not_count_decides_little},
             {"beside", what_was_beside_it_is_of_the_same_comparison},
             {"energy", another_objective_reads_all},
             {"neighbours", neighbours_are_a_comparison},
             {"own words", one_s_own_word_counts_more_than_others},
             {"two voices", one_voice_does_not_undo_what_two_agree_on},
             {"times", two_voices_confirm_each_other_if_their_times_agree},
             {"the first voice", one_voice_does_not_choose_among_what_another_measured},
             {"slower words", slower_words_about_the_same_configuration_are_heard},
             {"settled", one_s_own_comparison_and_that_of_the_same_voice_settle_a_search},
             {"the best one's time", a_word_about_the_best_hides_nothing_faster},
             {"answers", one_voice_does_not_choose_among_answers},
             {"many words", many_words_of_a_voice_take_little_memory},
             {"many voices", what_is_not_kept_is_read_again},
             {"at random", random_comparisons_give_what_a_plain_search_gives},
             {"one of many", the_first_voice_is_one_of_many_then},
             {"the first voice's own", two_others_do_not_silence_the_first_voice},
             {"tipped", one_voice_does_not_tip_what_two_found},
             {"tipped by the first", the_first_voice_does_not_tip_what_two_found},
             {"energies", with_other_objectives_too}};
  enum { N = sizeof all / sizeof *all };
  int failed = 0;
  for (size_t t = 0; clt_stores.types[t]; t++) {
    const char *type = clt_plugin_name(&clt_stores, t);
    struct CMUnitTest tests[N];
    if (!has_stores(type)) continue;
    for (size_t i = 0; i < N; i++)
      tests[i] = (struct CMUnitTest){all[i].name, all[i].function, set_up, tear_down, (void *)type};
    failed += cmocka_run_group_tests_name(type, tests, NULL, NULL);
  }
  return failed;
}
