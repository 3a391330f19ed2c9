/* When interleaved rounds have decided between finalists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "measurement/measurement.h"
#include "session/session.h"

static void the_sign_test_is_exact(void **state) {
  (void)state;
  const double a[] = {1, 1, 1, 1, 1}, b[] = {2, 2, 2, 2, 2}, c[] = {2, 2, 2, 2, 0};
  assert_true(fabs(clt_sign_test(a, b, 5) - 1.0 / 32) < 1e-15);
  assert_true(fabs(clt_sign_test(a, c, 5) - 6.0 / 32) < 1e-15);
  assert_true(clt_sign_test(b, a, 5) == 1);
  assert_true(clt_sign_test(a, a, 5) == 1); /* ties say nothing */
  assert_true(clt_sign_test(a, b, 0) == 1);
  const double rested[] = {2, NAN, 2, NAN, 2};
  assert_true(fabs(clt_sign_test(a, rested, 5) - 1.0 / 8) < 1e-15); /* nor do rounds that one was left out of */
}

/* n_rounds of two contenders; NULL: out. */
static bool decided(const double *a, const double *b, size_t n_rounds, double tolerance) {
  clt_standing standings[2];
  return clt_rounds_judge((clt_contender[]){{a, n_rounds}, {b, n_rounds}}, 2, tolerance, 0.05, standings);
}

static void rounds_decide_by_lead_or_by_nearness(void **state) {
  (void)state;
  const double fast[] = {1.00, 1.01, 1.02, 1.00, 1.01}, near[] = {1.01, 1.02, 1.00, 1.02, 1.02};
  const double slow[] = {1.10, 1.12, 1.11, 1.13, 1.12}, wild[] = {0.90, 1.30, 0.95, 1.40, 1.35};
  assert_true(decided(fast, near, 5, 0.04));
  assert_false(decided(fast, near, 5, 0.03)); /* known to 2 %, whatever most of the runs say */
  assert_true(decided(slow, fast, 5, 0.02));
  assert_false(decided(slow, fast, 4, 0.02)); /* 1 in 16 by chance */
  assert_false(decided(fast, wild, 5, 0.02));
  assert_true(decided(fast, wild, 5, 0.6));
  assert_true(decided(NULL, wild, 5, 0.02));
  assert_true(decided(NULL, NULL, 5, 0.02));
}

static void nearness_needs_medians_that_are_known(void **state) {
  (void)state;
  double noisy[100], other[100];
  for (int i = 0; i < 100; i++) {
    noisy[i] = 1 + 0.02 * (i % 11 - 5);
    other[i] = 1 + 0.02 * ((i + 3) % 11 - 5);
  }
  assert_false(decided(noisy, other, 11, 0.04)); /* equal medians, known to 3 % */
  assert_true(decided(noisy, other, 99, 0.04));
}

static void who_is_beaten_may_come_back(void **state) {
  (void)state;
  double fast[20], slow[20];
  clt_standing standings[2];
  for (int i = 0; i < 20; i++) {
    fast[i] = 1 + 0.001 * i;
    slow[i] = 1.2 + 0.001 * i;
  }
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 5}, {slow, 5}}, 2, 0.02, 0.05, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEHIND); /* 1 in 32 by chance */
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 8}}, 2, 0.02, 0.05, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEHIND); /* 1 in 256, and others have the same chance */
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 10}}, 2, 0.02, 0.05, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEATEN);
  for (int i = 0; i < 20; i++) fast[i] += 0.15;
  clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 10}}, 2, 0.1, 0.05, standings);
  assert_int_equal(standings[1], CLT_STANDING_NEAR);
}

/* --- an evaluator of ours --- */

#define N_FAKE 4

/* Kept configuration c takes c units, and a little more each time; 0 fails to be kept, 9 fails when timed. */
typedef struct fake_evaluator {
  clt_rng *rng; /* nullable: runs scatter by `noise`, and all of a turn together by as much */
  double noise;
  clt_config kept[N_FAKE];
  size_t n_timed[N_FAKE], n_rounds, fails_at;
  double energy_J, unit_s; /* unit_s 0: one */
  double waits_s, waited_s; /* for other tuners: before each round, in all */
  size_t n_processes, n_kept; /* how often anything was kept, how much the last time */
  clt_config lucky;           /* a tenth faster in the first process */
  clt_config fails_when_kept_again;
} fake_evaluator;

static int fake_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  fake_evaluator *f = state;
  (void)error;
  if (n == 0) return CLT_OK;
  f->n_processes++;
  f->n_kept = n;
  memcpy(f->kept, configs, n * sizeof *configs);
  for (size_t i = 0; i < n; i++) {
    clt_measurement_init(&out[i], configs[i]);
    out[i].phases.build_s = 0.25;
    if (configs[i] == 0 || (f->n_processes > 1 && configs[i] == f->fails_when_kept_again))
      clt_measurement_fail(&out[i], CLT_REASON_WRONG_OUTPUT, "on other data");
  }
  return CLT_OK;
}

static int fake_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                           clt_error *error) {
  fake_evaluator *f = state;
  f->waited_s += f->waits_s;
  if (++f->n_rounds == f->fails_at) return clt_fail(error, CLT_E_STOPPED, "stopped");
  for (size_t i = 0; i < n; i++) {
    clt_config config = f->kept[indices[i]];
    clt_measurement_init(&out[i], config);
    if (config == 9) {
      clt_measurement_fail(&out[i], CLT_REASON_RUN_CRASH, "crashed");
      continue;
    }
    const double turn = f->rng ? exp(f->noise * clt_rng_normal(f->rng)) : 1; /* common to its runs */
    for (size_t k = 0; k < n_runs; k++)
      out[i].runs_s[k] = (f->unit_s > 0 ? f->unit_s : 1) * (double)config *
                         (f->rng ? turn * exp(f->noise * clt_rng_normal(f->rng))
                                 : 1 + 1e-4 * (double)(f->n_timed[indices[i]]++ % 7));
    for (size_t k = 0; config == f->lucky && f->n_processes == 1 && k < n_runs; k++) out[i].runs_s[k] *= 0.9;
    out[i].n_runs = n_runs;
    out[i].energy_J = f->energy_J;
  }
  return CLT_OK;
}

static const clt_evaluator_type fake_type = {.name = "fake", .keep = fake_keep, .time_again = fake_time_again};

static void whoever_stands_is_ranked_by_median(void **state) {
  (void)state;
  fake_evaluator f = {.energy_J = 3};
  const clt_config configs[] = {2, 0, 9, 3};
  const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 20, .max_total_s = 60, .tolerance = 0.02};
  clt_measurement m[4];
  assert_int_equal(clt_contest_run(&fake_type, &f, configs, 4, &policy, m, NULL), 0);
  assert_int_equal(m[0].reason, CLT_REASON_NONE);
  assert_int_equal(m[1].reason, CLT_REASON_WRONG_OUTPUT);
  assert_int_equal(m[2].reason, CLT_REASON_RUN_CRASH);
  assert_int_equal(m[3].reason, CLT_REASON_NONE);
  assert_int_equal(f.n_timed[0], 7); /* decided by then */
  assert_int_equal(f.n_timed[1], 0);
  for (size_t i = 0; i < 4; i += 3) {
    assert_true(m[i].config == configs[i] && m[i].n_runs == 7 && m[i].energy_J == 3);
    assert_true(m[i].time_s == clt_median(m[i].runs_s, 7) && m[i].phases.build_s == 0.25);
  }
  for (size_t i = 0; i < 4; i++) clt_measurement_release(&m[i]);
}

static void who_is_beaten_rests_and_others_go_on(void **state) {
  (void)state;
  fake_evaluator f = {.energy_J = NAN};
  const clt_config configs[] = {100, 101, 200};
  const clt_contest_policy policy = {.min_rounds = 1, .max_rounds = 100, .tolerance = 1e-5};
  clt_measurement m[3];
  assert_int_equal(clt_contest_run(&fake_type, &f, configs, 3, &policy, m, NULL), 0);
  assert_true(f.n_timed[0] >= f.n_timed[2] && f.n_timed[2] >= 5);
  assert_true(isnan(m[0].energy_J));
  for (size_t i = 0; i < 3; i++) clt_measurement_release(&m[i]);
}

/* If all was known already, a search takes no time, but a single round decides nothing. */
static void what_is_enough_goes_beyond_the_fewest_rounds(void **state) {
  (void)state;
  const struct {
    double enough_s, max_total_s, waits_s;
    size_t n_runs;
  } cases[] = {{1e-12, 0, 0, 5}, {0, 1e-12, 0, 1}, {0, 0, 0, 20}, {1e-12, 1e-12, 3600, 20}}; /* waiting is no part of it */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fake_evaluator f = {.energy_J = NAN, .waits_s = cases[i].waits_s};
    const clt_contest_policy policy = {.min_rounds = 5,
                                       .max_rounds = 20,
                                       .enough_s = cases[i].enough_s,
                                       .max_total_s = cases[i].max_total_s,
                                       .waited_s = &f.waited_s};
    clt_measurement m[2]; /* of the same, which no number of rounds tells apart */
    assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){2, 2}, 2, &policy, m, NULL), 0);
    for (size_t k = 0; k < 2; k++) {
      assert_int_equal(m[k].n_runs, cases[i].n_runs);
      clt_measurement_release(&m[k]);
    }
  }
}

/* Equal ones are told apart by chance alone: in at most 5 % of contests, however often was looked. Short runs, too, which
 * have more in common within a turn. */
static void equal_finalists_are_seldom_told_apart(void **state) {
  (void)state;
  const double units_s[] = {1, 1e-6};
  const size_t n_contests = 1000;
  clt_rng rng;
  clt_rng_init(&rng, 20);
  for (size_t u = 0; u < 2; u++) {
    size_t n_false = 0;
    for (size_t k = 0; k < n_contests; k++) {
      fake_evaluator f = {.energy_J = NAN, .rng = &rng, .noise = 0.1, .unit_s = units_s[u]};
      const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 300, .tolerance = 1e-6};
      clt_measurement m[2];
      assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){2, 2}, 2, &policy, m, NULL), 0);
      n_false += f.n_rounds < 300;
      for (size_t i = 0; i < 2; i++) clt_measurement_release(&m[i]);
    }
    assert_true(n_false <= n_contests / 20);
  }
}

/* Also if the runs themselves decide when they are enough, and for any winner. */
static void intervals_hold_after_a_contest(void **state) {
  (void)state;
  size_t n_held = 0, n_held_of_best = 0, n_decided = 0;
  const size_t n_contests = 1000;
  clt_rng rng;
  clt_rng_init(&rng, 20);
  for (size_t k = 0; k < n_contests; k++) {
    fake_evaluator f = {.energy_J = NAN, .rng = &rng, .noise = 0.01};
    const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 300, .tolerance = 0.02};
    clt_measurement m[4];
    bool holds[4];
    size_t best = 0;
    assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){2, 2, 2, 2}, 4, &policy, m, NULL), 0);
    n_decided += f.n_rounds < 300;
    for (size_t i = 0; i < 4; i++) {
      const clt_interval interval = clt_measurement_interval(&m[i]);
      holds[i] = interval.low <= 2 && 2 <= interval.high;
      n_held += holds[i];
      if (m[i].time_s < m[best].time_s) best = i;
    }
    n_held_of_best += holds[best];
    for (size_t i = 0; i < 4; i++) clt_measurement_release(&m[i]);
  }
  assert_true(n_decided == n_contests);
  assert_true((double)n_held >= 0.95 * 4 * (double)n_contests);
  assert_true((double)n_held_of_best >= 0.93 * (double)n_contests);
}

/* And those that differ by much are told apart at the first look. */
static void different_finalists_are_told_apart_at_once(void **state) {
  (void)state;
  clt_rng rng;
  clt_rng_init(&rng, 20);
  fake_evaluator f = {.energy_J = NAN, .rng = &rng, .noise = 0.02};
  const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 300, .tolerance = 0.02};
  clt_measurement m[2];
  assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){2, 3}, 2, &policy, m, NULL), 0);
  assert_int_equal(f.n_rounds, 7);
  for (size_t i = 0; i < 2; i++) {
    const clt_interval interval = clt_measurement_interval(&m[i]);
    assert_true(interval.low <= m[i].time_s && m[i].time_s <= interval.high && interval.confidence >= 0.95);
    clt_measurement_release(&m[i]);
  }
}

static void short_runs_are_repeated_in_a_turn(void **state) {
  (void)state;
  const struct {
    double unit_s;
    size_t n_runs;
  } cases[] = {{1, 1}, {1.9e-4, 5}, {1e-6, 8}}; /* in the second turn: until then their length is unknown */
  for (size_t i = 0; i < 3; i++) {
    fake_evaluator f = {.energy_J = NAN, .unit_s = cases[i].unit_s};
    const clt_contest_policy policy = {.min_rounds = 9, .max_rounds = 9};
    clt_measurement m;
    assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){1}, 1, &policy, &m, NULL), 0);
    assert_int_equal(f.n_rounds, 9);
    assert_int_equal(f.n_timed[0], 1 + 8 * cases[i].n_runs);
    assert_int_equal(m.n_runs, 9); /* each turn is one number: its runs have much in common */
    clt_measurement_release(&m);
  }
}

/* A process that got good pages makes a configuration faster than it is; in others it is not. */
static void luck_of_a_process_does_not_win(void **state) {
  (void)state;
  clt_measurement m[3];
  for (unsigned n_processes = 1; n_processes <= 3; n_processes += 2) {
    fake_evaluator f = {.energy_J = NAN, .lucky = 21};
    const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 20, .tolerance = 0.02, .n_processes = n_processes};
    assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){20, 40, 21}, 3, &policy, m, NULL), 0);
    assert_int_equal(f.n_processes, n_processes);
    assert_int_equal(f.n_kept, n_processes == 1 ? 3 : 2); /* 40 needs more than luck */
    assert_int_equal(f.n_rounds, 7 * n_processes);
    assert_int_equal(m[1].n_runs, 7);
    assert_int_equal(m[2].n_runs, 7 * n_processes);
    assert_true((m[2].time_s < m[0].time_s) == (n_processes == 1));
    for (size_t i = 0; i < 3; i++) clt_measurement_release(&m[i]);
  }
}

static void what_fails_in_another_process_is_out(void **state) {
  (void)state;
  fake_evaluator f = {.energy_J = NAN, .fails_when_kept_again = 21};
  const clt_contest_policy policy = {.min_rounds = 7, .max_rounds = 20, .tolerance = 0.02, .n_processes = 3};
  clt_measurement m[2];
  assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){20, 21}, 2, &policy, m, NULL), 0);
  assert_int_equal(m[0].reason, CLT_REASON_NONE);
  assert_int_equal(m[1].reason, CLT_REASON_WRONG_OUTPUT);
  assert_int_equal(f.n_processes, 2); /* one alone has no other to be compared with */
  for (size_t i = 0; i < 2; i++) clt_measurement_release(&m[i]);
}

static void an_error_leaves_nothing_to_be_freed(void **state) {
  (void)state;
  fake_evaluator f = {.fails_at = 2};
  const clt_contest_policy policy = {.min_rounds = 5, .max_rounds = 20};
  clt_measurement m[2];
  clt_error error = {0};
  assert_int_equal(clt_contest_run(&fake_type, &f, (clt_config[]){2, 0}, 2, &policy, m, &error), CLT_E_STOPPED);
  assert_non_null(strstr(error.message, "stopped"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sign_test_is_exact),
      cmocka_unit_test(rounds_decide_by_lead_or_by_nearness),
      cmocka_unit_test(nearness_needs_medians_that_are_known),
      cmocka_unit_test(who_is_beaten_may_come_back),
      cmocka_unit_test(whoever_stands_is_ranked_by_median),
      cmocka_unit_test(who_is_beaten_rests_and_others_go_on),
      cmocka_unit_test(what_is_enough_goes_beyond_the_fewest_rounds),
      cmocka_unit_test(equal_finalists_are_seldom_told_apart),
      cmocka_unit_test(intervals_hold_after_a_contest),
      cmocka_unit_test(different_finalists_are_told_apart_at_once),
      cmocka_unit_test(short_runs_are_repeated_in_a_turn),
      cmocka_unit_test(luck_of_a_process_does_not_win),
      cmocka_unit_test(what_fails_in_another_process_is_out),
      cmocka_unit_test(an_error_leaves_nothing_to_be_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
