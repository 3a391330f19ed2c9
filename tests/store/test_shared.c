/* A store in PostgreSQL: cases that files do not have. Tests that need a server are in tests/farm/test_store.py, which
 * has one. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "store/pq_records.h"
#include "store/store.h"
#include "store_support.h"

static char url[PLACE_BYTES];
static clt_store *store;
static clt_pq *pq; /* in addition to the store's own connection */

static void run(const char *sql) {
  clt_error error = {0};
  if (clt_pq_run_text(pq, sql, &error)) fail_msg("%s: %s", sql, error.message);
}

static int begin(void **state) {
  clt_error error = {0};
  (void)state;
  make_place(url, "postgresql", "", 0);
  if (clt_pq_new(&pq, url, CLT_PQ_SCHEMA, 30, &error)) fail_msg("%s", error.message);
  if (clt_store_new(&store, NULL, url, &error)) fail_msg("%s", error.message);
  return 0;
}

static int end(void **state) {
  (void)state;
  clt_store_free(store);
  clt_pq_free(pq);
  return 0;
}

static void add(const clt_store_key *key, const clt_space *space, clt_config config, double time_s) {
  clt_error error = {0};
  clt_measurement m = make_measurement(config, time_s);
  if (clt_store_add(store, key, space, CLT_RECORD_SEARCH, &m, &error)) fail_msg("%s", error.message);
}

static void values_of_any_bytes_come_back(void **state) {
  (void)state;
  static const char *const texts[] = {"", "plain", "\xff\xc3", "\xc3\xa9\xe2\x82\xac", "a\xf4\x8f\xba\x80z\xf4\x8f\xbb\xbf",
                                      "\xed\xa0\x80\xc0\x80", "\\x00'\"$1;\n\t", "\xf4\x8f"};
  const double numbers[] = {0.1, NAN, INFINITY, -0.0, 5e-324, 1e308};
  const int64_t whole[] = {INT64_MIN, -1, 0, INT64_MAX};
  const size_t n = sizeof texts / sizeof *texts;
  clt_pq_rows *rows = NULL;
  clt_error error = {0};
  json_t *list = json_pack("{s:[], s:[I, I, I, I], s:[]}", "texts", "whole", (json_int_t)whole[0], (json_int_t)whole[1],
                           (json_int_t)whole[2], (json_int_t)whole[3], "numbers");
  for (size_t i = 0; i < n; i++) json_array_append_new(json_object_get(list, "texts"), clt_pq_json_text(texts[i]));
  for (size_t i = 0; i < 6; i++) json_array_append_new(json_object_get(list, "numbers"), clt_pq_json_number(numbers[i]));
  static const char echo[] = "SELECT $1, $2, $3, $4, texts[3], whole[2], numbers"
                             " FROM json_to_record($5) AS r(texts text[], whole bigint[], numbers float8[])";
  for (size_t i = 0; i < n; i++) {
    const double x = numbers[i % 6];
    if (clt_pq_run(pq, &rows, echo, &error, "ttwnj", texts[i], NULL, whole[i % 4], x, list))
      fail_msg("%s", error.message);
    assert_int_equal(clt_pq_n_rows(rows), 1);
    assert_string_equal(clt_pq_text(rows, 0, 0), texts[i]);
    assert_true(clt_pq_is_null(rows, 0, 1) && !clt_pq_is_null(rows, 0, 0));
    assert_true(clt_pq_whole(rows, 0, 2) == whole[i % 4]);
    assert_true(clt_pq_number(rows, 0, 3) == x || (isnan(x) && clt_pq_is_null(rows, 0, 3)));
    assert_string_equal(clt_pq_text(rows, 0, 4), texts[2]);
    assert_int_equal(clt_pq_whole(rows, 0, 5), -1);
    double back[6];
    assert_int_equal(clt_pq_numbers(rows, 0, 6, back, 6), 6);
    assert_true(back[0] == 0.1 && isnan(back[1]) && back[2] == INFINITY && back[4] == 5e-324 && back[5] == 1e308);
    assert_int_equal(clt_pq_numbers(rows, 0, 6, back, 5), 6); /* more than there is space for */
    clt_pq_rows_free(rows);
  }
  json_decref(list);
}

static void what_is_not_what_was_expected_is_nothing(void **state) {
  (void)state;
  clt_pq_rows *rows = NULL;
  double number;
  static const char odd[] = "SELECT 1::float8, 'x'::text, NULL::bigint, '{{1,2},{3,4}}'::float8[], '{}'::float8[], true";
  assert_int_equal(clt_pq_run(pq, &rows, odd, NULL, ""), 0);
  assert_int_equal(clt_pq_whole(rows, 0, 0), 0);
  assert_true(isnan(clt_pq_number(rows, 0, 1)));
  assert_int_equal(clt_pq_whole(rows, 0, 2), 0);
  assert_int_equal(clt_pq_numbers(rows, 0, 3, &number, 1), 2);
  assert_int_equal(clt_pq_numbers(rows, 0, 4, &number, 1), 0);
  assert_int_equal(clt_pq_numbers(rows, 0, 1, &number, 1), 2);
  assert_int_equal(clt_pq_whole(rows, 0, 5), 1);
  assert_string_equal(clt_pq_text(rows, 0, 0), "");
  assert_string_equal(clt_pq_text(rows, 7, 9), "");
  clt_pq_rows_free(rows);
}

#define CUT \
  "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name='clatune' AND pid<>pg_backend_pid()"

/* More records than a page has. */
#define N_MANY 1500

typedef struct cut_walk {
  size_t n, cut_at;
  clt_config last;
} cut_walk;

static int visit_and_cut(void *user, clt_record_kind kind, const clt_measurement *m) {
  cut_walk *w = user;
  (void)kind;
  assert_int_equal(m->config, w->n);
  if (w->n++ == w->cut_at) run(CUT);
  return 0;
}

static void a_walk_goes_on_after_the_connection_is_lost(void **state) {
  (void)state;
  clt_text values = {0};
  clt_store_key key = make_key("p");
  char *list = NULL;
  for (int i = 0; i < N_MANY; i++) clt_text_printf(&values, "%s%d", i ? ", " : "[", i);
  clt_text_add(&values, "]");
  assert_int_equal(clt_text_take(&list, &values, NULL), 0);
  clt_space *space = make_space("a", list, NULL);
  assert_int_equal(store->type->transaction(store->state, CLT_STORE_BEGIN, NULL, NULL), 0);
  for (clt_config c = 0; c < N_MANY; c++) add(&key, space, c, 1);
  assert_int_equal(store->type->transaction(store->state, CLT_STORE_COMMIT, NULL, NULL), 0);
  for (size_t at = 0; at < N_MANY; at += 700) {
    cut_walk w = {.cut_at = at};
    clt_error error = {0};
    if (clt_store_each(store, &key, space, visit_and_cut, &w, NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(w.n, N_MANY);
  }
  clt_space_free(space);
  free(list);
}

static size_t n_stored(const clt_store_key *key, const clt_space *space) {
  collected *c = collect(store, key, space, NULL);
  const size_t n = c->n;
  free_collected(c);
  return n;
}

static void what_is_added_while_the_connection_is_lost_is_there_once(void **state) {
  (void)state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  for (clt_config c = 0; c < 3; c++) {
    add(&key, space, c, 1);
    run(CUT);
  }
  assert_int_equal(n_stored(&key, space), 3);
  clt_space_free(space);
}

static void a_transaction_whose_connection_is_lost_keeps_nothing(void **state) {
  (void)state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  clt_error error = {0};
  add(&key, space, 0, 1);
  assert_int_equal(store->type->transaction(store->state, CLT_STORE_BEGIN, NULL, NULL), 0);
  add(&key, space, 1, 1);
  assert_int_equal(n_stored(&key, space), 2); /* sent by now, and not committed */
  run(CUT);
  assert_int_equal(store->type->transaction(store->state, CLT_STORE_COMMIT, NULL, &error), CLT_E_STORE);
  assert_non_null(strstr(error.message, "run the command again"));
  assert_int_equal(n_stored(&key, space), 1);
  clt_space_free(space);
}

/* A transaction that began before and ends after: its records are older by their numbers, and are not passed over. */
static void nothing_is_missed_of_those_who_commit_late(void **state) {
  (void)state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  clt_store *late = NULL;
  uint64_t before = 0, after = 0;
  int64_t since = 0;
  bool seen[3] = {false};
  clt_measurement m = make_measurement(1, 1);
  add(&key, space, 0, 1);
  assert_int_equal(clt_store_new(&late, NULL, url, NULL), 0);
  assert_int_equal(late->type->transaction(late->state, CLT_STORE_BEGIN, NULL, NULL), 0);
  assert_int_equal(clt_store_add(late, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  clt_store_answers a = {0};
  assert_int_equal(clt_store_newest(&a, late, &key, space, false, NULL, NULL), 0); /* which sends it */
  clt_store_answers_release(&a);
  add(&key, space, 2, 1); /* by a transaction that began later, and ends first */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(clt_store_version(store, i == 2 ? &after : &before, NULL), 0);
    assert_int_equal(clt_store_newest(&a, store, &key, space, false, &since, NULL), 0);
    for (size_t k = 0; k < a.n; k++) seen[a.all[k].config] = true;
    clt_store_answers_release(&a);
    if (i == 0) assert_true(seen[0] && !seen[1] && seen[2]);
    if (i == 1) assert_int_equal(late->type->transaction(late->state, CLT_STORE_COMMIT, NULL, NULL), 0);
  }
  assert_true(seen[1] && after != before);
  clt_store_free(late);
  clt_space_free(space);
}

/* Rows that another user with the right to write may have written. */
static void hostile_rows_are_foreign(void **state) {
  (void)state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  size_t n_foreign = 0;
  add(&key, space, 0, 1);
#define ROW(more) \
  "INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, time_s, clock, created_s, runs)" \
  " SELECT " more " FROM clatune.key;"
  run(ROW("'0', 1, id, 'search', 'a=2', 'none', 'NaN', '', 0, NULL")
      ROW("'0', 2, id, 'search', 'a=2', 'none', '-Infinity', 'device', 0, NULL")
      ROW("'0', 3, id, 'magic', 'a=2', 'none', 1, 'device', 0, NULL")
      ROW("'0', 4, id, 'search', repeat('a=2 ', 300000), 'none', 1, 'device', 0, NULL")
      ROW("'0', 5, id, 'search', 'a=2', 'none', 1, 'device', 0, (SELECT array_agg(1::float8) FROM generate_series(1, 100000))")
      ROW("'0', 6, id, 'search', 'a=2', 'none', 1, 'device', 0, '{{1,2},{3,4}}'")
      ROW("'0', 7, id, 'search', 'a=2', 'none', 1, 'device', 0, '{-1}'")
      ROW("repeat('x', 1000), -9223372036854775808, id, 'search', 'a=3', 'none', 1, 'device', 0, NULL")
      "INSERT INTO clatune.described(key, login, name) SELECT id, 'x', repeat('n', 2000000) FROM clatune.key;"
      "INSERT INTO clatune.problem(hash) VALUES(repeat('h', 2000));"
      "INSERT INTO clatune.key(problem, device) SELECT p.id, d.id FROM clatune.problem AS p, clatune.device AS d"
      " WHERE length(p.hash)=2000;"
      "INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, clock, created_s, log)"
      " SELECT 'log', 1, k.id, 'search', 'a=4', 'odd', 'sun dial', -1, repeat('l', 1000000) FROM clatune.key AS k JOIN"
      " clatune.problem AS p ON p.id=k.problem WHERE p.hash='p'");
  collected *out = collect(store, &key, space, &n_foreign);
  assert_int_equal(out->n, 2);
  assert_int_equal(n_foreign, 8);
  assert_int_equal(out->measurements[1].reason, CLT_REASON_UNKNOWN);
  assert_int_equal(strlen(out->measurements[1].log), 16384);
  free_collected(out);
  clt_store_description *keys = NULL;
  size_t n = 0;
  assert_int_equal(clt_store_keys(&keys, &n, store, true, NULL), 0);
  assert_int_equal(n, 1);
  assert_int_equal(strlen(keys[0].problem_name), 4096);
  clt_store_keys_free(keys, n);
  clt_space_free(space);
}

/* Who does not wait learns at once that the server is away, and connects as soon as it is back. */
static void who_does_not_wait_tries_again(void **state) {
  (void)state;
  clt_pq *own = NULL;
  clt_pq_rows *rows = NULL;
  static const char one[] = "SELECT 1::bigint";
  assert_int_equal(clt_pq_new(&own, url, CLT_PQ_SCHEMA, 0, NULL), 0);
  assert_int_equal(clt_pq_run(own, NULL, one, NULL, ""), 0);
  assert_int_equal(clt_pq_connection(own), 1);
  run(CUT);
  assert_int_equal(clt_pq_run(own, NULL, one, NULL, ""), CLT_E_AGAIN);
  assert_int_equal(clt_pq_run(own, &rows, one, NULL, ""), 0);
  assert_int_equal(clt_pq_whole(rows, 0, 0), 1);
  assert_int_equal(clt_pq_connection(own), 2);
  clt_pq_rows_free(rows);
  clt_pq_free(own);
}

static void a_collision_is_told_by_its_state(void **state) {
  (void)state;
  clt_error error = {0};
  static const char twice[] = "INSERT INTO problem(hash) VALUES('twice')";
  assert_int_equal(clt_pq_run(pq, NULL, twice, NULL, ""), 0);
  assert_int_equal(clt_pq_run(pq, NULL, twice, &error, ""), CLT_E_STORE);
  assert_string_equal(clt_pq_state(pq), "23505");
  assert_null(strchr(error.message, '\n'));
  assert_int_equal(clt_pq_run(pq, NULL, "SELECT", NULL, ""), 0);
  assert_string_equal(clt_pq_state(pq), "");
}

static void many_records_go_in_one_statement_and_again(void **state) {
  (void)state;
  clt_pq_records records = {0};
  clt_measurement m = make_measurement(0, 1);
  uint64_t n_added = 99;
  for (int again = 0; again < 2; again++) {
    for (int64_t i = 1; i <= CLT_PQ_MOST_RECORDS; i++) {
      clt_store_key key = make_key(i % 2 ? "p" : "q");
      clt_store_record record = {.configuration = "a=1", .measurement = &m, .origin = "0123456789abcdef", .sequence = i};
      assert_false(clt_pq_records_full(&records));
      assert_int_equal(clt_pq_records_take(&records, &key, &record, NULL), 0);
    }
    assert_true(clt_pq_records_full(&records));
    assert_int_equal(clt_pq_records_send(&records, pq, &n_added, NULL), 0);
    assert_int_equal(n_added, again ? 0 : CLT_PQ_MOST_RECORDS);
    assert_int_equal(json_array_size(records.list), 0);
  }
}

/* --- without a server --- */

static void a_url_is_shown_without_its_password(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"postgresql://host/db", "postgresql://host/db"},
      {"postgres://me@host:5433/db?sslmode=verify-full", "postgres://me@host:5433/db?sslmode=verify-full"},
      {"postgresql://me:secret@host/db", "postgresql://me@host/db"},
      {"postgresql://me:se/cr@et?@host/db?a=b", "postgresql://me@host/db?a=b"},
      {"postgresql://:secret@host/db", "postgresql://@host/db"},
      {"postgresql:///db?host=/tmp&password=secret&port=1", "postgresql:///db?host=/tmp&port=1"},
      {"postgresql://h/db?password=secret", "postgresql://h/db"},
      {"postgresql://h/db?p%61ssword=secret&sslpassword=secret", "postgresql://h/db"},
      {"postgresql://h/db?password=secret@more", "postgresql://h@more"},
      {"postgresql://h/\033[2J", "postgresql://h/?[2J"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char *shown = NULL;
    assert_int_equal(clt_pq_shown(&shown, pairs[i][0], NULL), 0);
    assert_string_equal(shown, pairs[i][1]);
    free(shown);
  }
  assert_true(clt_pq_is_url("postgresql://") && clt_pq_is_url("postgres://h/d"));
  assert_false(clt_pq_is_url(NULL) || clt_pq_is_url("./postgresql://h") || clt_pq_is_url("store.sqlite"));
}

static void what_is_no_url_is_refused_without_it(void **state) {
  (void)state;
  static const char *const urls[] = {"postgresql://me:secret@h:port/db", "postgresql://me:secret@h/db?secret"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    clt_error error = {0};
    clt_store *none = NULL;
    assert_true(clt_store_new(&none, NULL, urls[i], &error) < 0);
    assert_null(strstr(error.message, ":secret"));
    assert_null(none);
  }
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
  const struct CMUnitTest offline[] = {cmocka_unit_test(a_url_is_shown_without_its_password),
                                       cmocka_unit_test(what_is_no_url_is_refused_without_it)};
  const struct CMUnitTest online[] = {
      ALONE(values_of_any_bytes_come_back),
      ALONE(what_is_not_what_was_expected_is_nothing),
      ALONE(a_walk_goes_on_after_the_connection_is_lost),
      ALONE(what_is_added_while_the_connection_is_lost_is_there_once),
      ALONE(a_transaction_whose_connection_is_lost_keeps_nothing),
      ALONE(nothing_is_missed_of_those_who_commit_late),
      ALONE(hostile_rows_are_foreign),
      ALONE(who_does_not_wait_tries_again),
      ALONE(a_collision_is_told_by_its_state),
      ALONE(many_records_go_in_one_statement_and_again),
  };
  int failures = cmocka_run_group_tests(offline, NULL, NULL);
  if (has_stores("postgresql")) failures += cmocka_run_group_tests(online, NULL, NULL);
  return failures;
}
