/* Spaces: counts, ranks, membership, neighbours and samples against brute force over the cartesian product. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <clatune/space.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "space/expr.h"
#include "space/parts.h"
#include "space/space.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct parameter_text {
  const char *name, *values;
} parameter_text;

static clt_space_builder *new_builder(const parameter_text *parameters, size_t n) {
  clt_space_builder *builder = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(clt_space_builder_parameter_text(builder, parameters[i].name, NULL, parameters[i].values, NULL),
                     0);
  return builder;
}

static clt_space *new_space(const parameter_text *parameters, size_t n, const char *const *conditions,
                            size_t n_conditions) {
  clt_space_builder *builder = new_builder(parameters, n);
  clt_space *space = NULL;
  clt_error error = {0};
  for (size_t i = 0; i < n_conditions; i++)
    assert_int_equal(clt_space_builder_constraint(builder, conditions[i], CLT_CONDITION, NULL, NULL), 0);
  if (clt_space_new(&space, builder, &error)) fail_msg("%s", error.message);
  clt_space_builder_free(builder);
  return space;
}

/* --- brute force --- */

/* The configurations that satisfy all conditions, ascending. */
typedef struct truth {
  bool *valid;
  clt_config *configs;
  size_t n;
} truth;

static truth brute_force(const clt_space *space, const char *const *conditions, size_t n_conditions) {
  size_t n_parameters = clt_space_n_parameters(space);
  clt_symbol symbols[CLT_MAX_PARAMETERS] = {{0}};
  clt_expr *exprs[64];
  truth out = {calloc(clt_space_cartesian(space), sizeof *out.valid),
               calloc(clt_space_cartesian(space), sizeof *out.configs), 0};
  for (size_t p = 0; p < n_parameters; p++)
    symbols[p] = (clt_symbol){.name = clt_space_parameter(space, p)->name, .slot = (uint32_t)p};
  for (size_t c = 0; c < n_conditions; c++)
    assert_int_equal(clt_expr_compile(&exprs[c], conditions[c], symbols, n_parameters, NULL), 0);
  for (clt_config config = 0; config < clt_space_cartesian(space); config++) {
    clt_value values[CLT_MAX_PARAMETERS], result;
    bool valid = true;
    for (size_t p = 0; p < n_parameters; p++) values[p] = clt_space_value(space, config, p);
    for (size_t c = 0; valid && c < n_conditions; c++)
      valid = clt_expr_eval(exprs[c], values, &result, NULL) == 0 && clt_value_truthy(result);
    out.valid[config] = valid;
    if (valid) out.configs[out.n++] = config;
  }
  for (size_t c = 0; c < n_conditions; c++) clt_expr_free(exprs[c]);
  return out;
}

static void release(truth *t) {
  free(t->valid);
  free(t->configs);
}

static int by_config(const void *left, const void *right) {
  clt_config a = *(const clt_config *)left, b = *(const clt_config *)right;
  return (a > b) - (a < b);
}

static void check_ranks(const clt_space *space, const truth *t) {
  clt_config *all = calloc(t->n + 1, sizeof *all);
  assert_int_equal(clt_space_enumerate(space, 0, t->n + 10, all), t->n);
  for (size_t i = 0; i < t->n; i++) {
    uint64_t rank = UINT64_MAX;
    assert_int_equal(clt_space_at(space, i), all[i]);
    assert_true(clt_space_rank(&rank, space, all[i]));
    assert_int_equal(rank, i);
  }
  for (size_t first = 0; first < t->n; first += 1 + t->n / 7) {
    clt_config part[13];
    size_t n = clt_space_enumerate(space, first, COUNT(part), part);
    assert_int_equal(n, t->n - first < COUNT(part) ? t->n - first : COUNT(part));
    assert_memory_equal(part, all + first, n * sizeof *part);
  }
  assert_int_equal(clt_space_enumerate(space, t->n, 1, all), 0);
  qsort(all, t->n, sizeof *all, by_config);
  assert_memory_equal(all, t->configs, t->n * sizeof *all);
  free(all);
}

static void check_membership(const clt_space *space, const truth *t) {
  for (clt_config c = 0; c < clt_space_cartesian(space); c++) {
    uint32_t positions[CLT_MAX_PARAMETERS];
    assert_int_equal(clt_space_contains(space, c), t->valid[c]);
    assert_int_equal(clt_space_violation(space, c, NULL) == NULL, t->valid[c]);
    clt_space_positions(positions, space, c);
    assert_int_equal(clt_space_from_positions(space, positions), c);
  }
  assert_false(clt_space_contains(space, clt_space_cartesian(space)));
  assert_false(clt_space_contains(space, CLT_CONFIG_NONE));
}

static size_t distance(const clt_space *space, clt_config a, clt_config b) {
  uint32_t p[CLT_MAX_PARAMETERS], q[CLT_MAX_PARAMETERS];
  size_t n = 0;
  clt_space_positions(p, space, a);
  clt_space_positions(q, space, b);
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) n += p[i] != q[i];
  return n;
}

/* Whether some parameters that must differ have the same positions in both, but one of them has moved, and the others
 * are in the same order; or only two have exchanged theirs. */
static bool is_moved(const clt_space *space, clt_config a, clt_config b) {
  uint32_t p[CLT_MAX_PARAMETERS], q[CLT_MAX_PARAMETERS];
  size_t n = clt_space_n_parameters(space), n_differ = 0, set = SIZE_MAX;
  uint64_t before = 0, after = 0;
  clt_space_positions(p, space, a);
  clt_space_positions(q, space, b);
  for (size_t i = 0; i < n; i++) {
    if (p[i] == q[i]) continue;
    if (n_differ++ && clt_space_distinct_of(space, i) != set) return false;
    set = clt_space_distinct_of(space, i);
    before |= UINT64_C(1) << p[i];
    after |= UINT64_C(1) << q[i];
  }
  if (set == SIZE_MAX || before != after) return false;
  for (size_t one = 0; one < n && n_differ > 2; one++) {
    bool same_order = p[one] != q[one];
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < n && p[i] != q[i] && i != one; k++)
        if (k != one && p[k] != q[k] && (p[i] < p[k]) != (q[i] < q[k])) same_order = false;
    for (size_t i = 0; i < n; i++) /* consecutive positions move by one */
      if (i != one && p[i] != q[i] && p[i] + 1 != q[i] && q[i] + 1 != p[i]) same_order = false;
    if (same_order) return true;
  }
  return n_differ == 2;
}

static void check_neighbours(const clt_space *space, const truth *t) {
  clt_config found[512];
  uint64_t step = 1 + clt_space_cartesian(space) / 37;
  for (clt_config c = 0; c < clt_space_cartesian(space); c += step) {
    size_t n = clt_space_neighbours(found, COUNT(found), space, c), expected = 0;
    assert_true(n <= COUNT(found));
    for (size_t i = 0; i < t->n; i++) {
      if (distance(space, c, t->configs[i]) != 1) continue;
      assert_true(expected < n);
      assert_int_equal(found[expected], t->configs[i]);
      expected++;
    }
    const size_t n_single = expected;
    for (size_t i = 0; i < t->n; i++) { /* and all that are reached by an exchange or an insertion */
      size_t times = 0;
      for (size_t k = n_single; k < n; k++) times += found[k] == t->configs[i];
      bool moved = t->valid[c] && distance(space, c, t->configs[i]) > 1 && is_moved(space, c, t->configs[i]);
      assert_int_equal(times, moved);
      expected += moved;
    }
    assert_int_equal(n, expected);
    assert_int_equal(clt_space_neighbours(NULL, 0, space, c), n);
  }
}

static void check_against_brute_force(const clt_space *space, const char *const *conditions, size_t n_conditions) {
  truth t = brute_force(space, conditions, n_conditions);
  assert_int_equal(clt_space_valid(space), t.n);
  check_ranks(space, &t);
  check_membership(space, &t);
  check_neighbours(space, &t);
  release(&t);
}

/* --- many small spaces at random --- */

static const char *pick(clt_rng *rng, const char *const *from, size_t n) { return from[clt_rng_below(rng, n)]; }

/* A condition on some of the n parameters p0 .. p(n-1). */
static void random_condition(clt_rng *rng, size_t n, char *out, size_t capacity) {
  static const char *const forms[] = {
      "p%d * p%d <= 40",
      "p%d %% p%d == 0",
      "p%d + p%d * p%d < 30 and p%d != 3",
      "p%d <= p%d <= p%d",
      "p%d == 1 or p%d * p%d >= 6",
      "(p%d + 1) * (p%d + 2) * (p%d + 3) * p%d <= 400",
      "p%d // p%d > 1 or p%d in [1, 3, 5]",
      "p%d / (p%d - 2) < 3",
      "not (p%d > 2 && p%d > 2) || p%d == p%d",
      "(p%d if p%d > 2 else p%d) < 4",
      "p%d != 2 and (p%d ** 2 + p%d) %% 3 != p%d",
      "max(p%d, p%d) - min(p%d, p%d) <= 4",
      "p%d > 1",
      "p%d < p%d or p%d / 0 == p%d",
      "True",
      "p%d and p%d or p%d",
      "(p%d * p%d) %% 4 == (p%d * p%d) %% 2",
      "p%d << p%d <= 64",
      "p%d != p%d and p%d != p%d",
      "p%d not in [p%d, p%d, p%d + 1]",
  };
  int who[4];
  for (int i = 0; i < 4; i++) who[i] = (int)clt_rng_below(rng, n);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
  snprintf(out, capacity, pick(rng, forms, COUNT(forms)), who[0], who[1], who[2], who[3]);
#pragma GCC diagnostic pop
}

static void check_random_space(uint64_t seed) {
  static const char *const values[] = {"[1, 2, 4, 8]",     "[0, 1]",        "[3]",           "list(range(0, 6))",
                                       "[8, 4, 2, 1, 16]", "[True, False]", "[0.5, 1, 2.5]", "[5, 3, 1]"};
  clt_rng rng;
  char names[8][24], texts[10][100];
  parameter_text parameters[8];
  const char *conditions[10];
  clt_rng_init(&rng, seed);
  size_t n = 1 + clt_rng_below(&rng, 7), n_conditions = clt_rng_below(&rng, 7);
  for (size_t p = 0; p < n; p++) {
    snprintf(names[p], sizeof names[p], "p%zu", p);
    parameters[p] = (parameter_text){names[p], pick(&rng, values, COUNT(values))};
  }
  for (size_t c = 0; c < n_conditions; c++) {
    random_condition(&rng, n, texts[c], sizeof texts[c]);
    if (strstr(texts[c], "<<") && strstr(texts[c], "<=")) /* not with reals, that would be an error of types */
      snprintf(texts[c], sizeof texts[c], "p0 + p%zu <= 9", n - 1);
    conditions[c] = texts[c];
  }
  clt_space *space = new_space(parameters, n, conditions, n_conditions);
  check_against_brute_force(space, conditions, n_conditions);
  clt_space_free(space);
}

static void random_spaces_are_as_brute_force_says(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 400; seed++) check_random_space(seed);
}

/* --- spaces like those of real kernels --- */

static void a_matrix_product_has_its_configurations(void **state) {
  (void)state;
  static const parameter_text parameters[] = {{"PRECISION", "[32]"}, {"MWG", "[16, 32, 64]"},  {"NWG", "[16, 32, 64]"},
                                              {"KWG", "[16, 32]"},   {"MDIMC", "[8, 16, 32]"}, {"NDIMC", "[8, 16]"},
                                              {"MDIMA", "[8, 16]"},  {"VWM", "[1, 2, 4]"},     {"VWN", "[1, 2, 4]"},
                                              {"SA", "[0, 1]"}};
  static const char *const conditions[] = {"MWG % (MDIMC * VWM) == 0",
                                           "NWG % (NDIMC * VWN) == 0",
                                           "MWG % (MDIMA * VWM) == 0",
                                           "KWG % ((MDIMC * NDIMC)/MDIMA) == 0",
                                           "(MWG != 64 or NWG != 64 or MDIMC != 8)",
                                           "PRECISION % 8 == 0"};
  clt_space *space = new_space(parameters, COUNT(parameters), conditions, COUNT(conditions));
  assert_int_equal(clt_space_n_groups(space), 2);
  assert_true(space->group_of[0] == CLT_NO_GROUP);
  check_against_brute_force(space, conditions, COUNT(conditions));
  clt_space_free(space);
}

static void a_stencil_has_its_configurations(void **state) {
  (void)state;
  static const parameter_text parameters[] = {{"bx", "[1, 2, 4, 8, 16, 32, 64, 96, 128]"},
                                              {"by", "[1, 2, 4, 8]"},
                                              {"tx", "list(range(1, 5))"},
                                              {"ty", "list(range(1, 5))"},
                                              {"time", "list(range(1, 7))"},
                                              {"unroll", "list(range(1, 7))"},
                                              {"power", "[0, 1]"},
                                              {"per_unit", "[0, 1, 2]"}};
  static const char *const conditions[] = {
      "32 <= bx*by <= 256", "time % unroll == 0", "(bx*tx + time * 2) * (by*ty + time * 2) * (2+power) * 4 <= 12000",
      "per_unit == 0 or (((bx*tx + time * 2) * (by*ty + time * 2) * (2+power) * 4) * per_unit <= 16000)"};
  clt_space *space = new_space(parameters, COUNT(parameters), conditions, COUNT(conditions));
  assert_int_equal(clt_space_n_groups(space), 1);
  check_against_brute_force(space, conditions, COUNT(conditions));
  clt_space_free(space);
}

/* All different, said in pairs or by lists, with other conditions next to them or in between. */
static void permutations_are_small(void **state) {
  (void)state;
  static const char *const others[] = {"True", "p0 < p3 or p1 % 2 == p4 % 2", "p4 == 0 or p1 // p4 != 1",
                                       "p0 == 2 or p2 == 2 or p3 < p4"};
  parameter_text parameters[10];
  char names[10][8], texts[10][200], pairs[2000];
  for (size_t i = 0; i < 10; i++) {
    snprintf(names[i], sizeof names[i], "p%zu", i);
    snprintf(texts[i], sizeof texts[i], "p%zu not in [", i);
    for (size_t k = 0, n = strlen(texts[i]); k < i; k++)
      n += (size_t)snprintf(texts[i] + n, sizeof texts[i] - n, "p%zu%s", k, k + 1 < i ? ", " : "]");
  }
  for (size_t size = 4; size <= 10; size += size < 6 ? 1 : 4) {
    const char *conditions[11];
    size_t used = 0, n = 0;
    uint64_t factorial = 1;
    char range[20];
    snprintf(range, sizeof range, "range(%zu)", size);
    for (size_t i = 0; i < size; i++) {
      parameters[i] = (parameter_text){names[i], range};
      factorial *= i + 1;
      if (i > 0) conditions[n++] = texts[i];
      for (size_t k = 0; k < i; k++)
        used += (size_t)snprintf(pairs + used, sizeof pairs - used, "%sp%zu != p%zu", used ? " and " : "", i, k);
    }
    clt_space *space = new_space(parameters, size, conditions, n);
    assert_int_equal(clt_space_valid(space), factorial);
    clt_space_free(space);
    for (size_t o = 0; o < COUNT(others) && size > 4 && size < 10; o++) {
      conditions[n] = others[o];
      space = new_space(parameters, size, conditions, n + 1);
      check_against_brute_force(space, conditions, n + 1);
      clt_space_free(space);
    }
    conditions[0] = pairs;
    space = new_space(parameters, size, conditions, 1);
    assert_int_equal(clt_space_valid(space), factorial);
    assert_int_equal(space->groups[0]->n_nodes, 1); /* nothing is stored */
    assert_int_equal(clt_space_neighbours(NULL, 0, space, clt_space_at(space, 0)),
                     size * (size - 1) / 2 + (size - 1) * (size - 2));
    if (size < 7) check_against_brute_force(space, conditions, 1);
    clt_space_free(space);
  }
}

static void strings_take_part(void **state) {
  (void)state;
  static const parameter_text parameters[] = {
      {"layout", "['row', 'column', 'tiled']"}, {"other", "['row', 'tiled', 'none']"}, {"tile", "[1, 2, 4]"}};
  static const char *const conditions[] = {"layout != 'tiled' or tile > 1", "layout == other or 'o' in other",
                                           "other in ['row', 'none'] or tile != 4"};
  clt_space *space = new_space(parameters, 3, conditions, 3);
  check_against_brute_force(space, conditions, 3);
  clt_space_free(space);
}

/* --- large spaces --- */

static void free_parameters_only_multiply(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder(NULL, 0);
  for (int i = 0; i < 63; i++) {
    char name[8];
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "[0, 1]", NULL), 0);
  }
  clt_space *space = NULL;
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_true(clt_space_valid(space) == (uint64_t)1 << 63);
  assert_int_equal(clt_space_n_groups(space), 63);
  for (uint64_t rank = 1; rank < (uint64_t)1 << 62; rank = rank * 3 + 1) {
    uint64_t back;
    assert_true(clt_space_rank(&back, space, clt_space_at(space, rank)));
    assert_true(back == rank);
  }
  clt_space_free(space);
  assert_int_equal(clt_space_builder_parameter_text(builder, "more", "int", "[0, 1]", NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_true(clt_space_has_too_many(space) && clt_space_valid(space) == INT64_MAX);
  clt_space_free(space);
  clt_space_builder_free(builder);
}

/* `sets` orders of n items each, p0_0, p0_1 ... p1_0 ..., and a switch. */
static clt_space_builder *orders(int sets, int n) {
  clt_space_builder *builder = new_builder(NULL, 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "on", "int", "[0, 1]", NULL), 0);
  for (int i = 0; i < sets * n; i++) {
    char name[24], range[24], *condition;
    clt_text text = {0};
    snprintf(name, sizeof name, "p%d_%d", i / n % 10, i % n);
    snprintf(range, sizeof range, "range(%d)", n);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", range, NULL), 0);
    clt_text_printf(&text, "%s not in [", name);
    for (int k = 0; k < i % n; k++) clt_text_printf(&text, "p%d_%d, ", i / n, k);
    clt_text_add(&text, "]");
    assert_int_equal(clt_text_take(&condition, &text, NULL), 0);
    assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
    free(condition);
  }
  return builder;
}

/* One thread of several that meet the same configurations. */
static void *meet(void *user) {
  const clt_space *space = user;
  for (uint64_t rank = 0; rank < 300; rank++) {
    clt_config config = clt_space_at(space, rank);
    uint32_t positions[CLT_MAX_PARAMETERS];
    clt_space_positions(positions, space, config);
    if (clt_space_from_positions(space, positions) != config) return user;
  }
  return NULL;
}

/* Too many valid ones to number them: each gets a number when the space meets it. */
static void large_orders_are_numbered_at_first_sight(void **state) {
  (void)state;
  static const struct {
    int sets, n;
    bool too_many;
  } cases[] = {{1, 20, false}, {1, 21, true}, {2, 14, true}, {3, 35, true}, {1, 100, true}};
  for (size_t c = 0; c < COUNT(cases); c++) {
    const size_t n = (size_t)cases[c].n, n_positions = (size_t)cases[c].sets * n + 1;
    clt_space_builder *builder = orders(cases[c].sets, cases[c].n);
    clt_space *space = NULL, *again = NULL;
    uint32_t positions[CLT_MAX_PARAMETERS], other[CLT_MAX_PARAMETERS];
    clt_config parsed;
    assert_int_equal(clt_space_new(&space, builder, NULL), 0);
    assert_int_equal(clt_space_new(&again, builder, NULL), 0);
    assert_int_equal(clt_space_has_too_many(space), cases[c].too_many);
    assert_int_equal(clt_space_n_groups(space), cases[c].sets + 1);
    assert_true(clt_space_same_parameters(space, again) == !cases[c].too_many);
    assert_true(!cases[c].too_many || !clt_space_numbers(space, 0)); /* it has met none */
    double on = 0, first = 0;                                          /* the switch; the position of an item */
    for (uint64_t rank = 0; rank < 2000; rank++) {
      const clt_config config = clt_space_at(space, rank * 1000003);
      assert_true(clt_space_contains(space, config) && clt_space_at(space, rank * 1000003) == config);
      assert_null(clt_space_violation(space, config, NULL));
      clt_space_positions(positions, space, config);
      on += positions[0];
      first += positions[1];
      if (rank % 500) continue;
      char *text = clt_config_string(space, config);
      assert_int_equal(clt_config_parse(&parsed, space, text, NULL), 0);
      assert_true(parsed == config);
      assert_int_equal(clt_config_parse(&parsed, again, text, NULL), 0);
      clt_space_positions(other, again, parsed);
      assert_memory_equal(other, positions, n_positions * sizeof *positions);
      free(text);
      clt_config near[300];
      const size_t n_near = clt_space_neighbours(near, COUNT(near), space, config);
      assert_int_equal(n_near, 1 + (size_t)cases[c].sets * (n * (n - 1) / 2 + (n - 1) * (n - 2)));
      for (size_t i = 0; i < n_near && i < COUNT(near); i++) {
        assert_true(near[i] != config && clt_space_is_neighbour(space, config, near[i]));
        assert_int_equal(clt_space_difference(space, config, near[i]), distance(space, config, near[i]));
      }
      other[1] = other[2]; /* a position twice */
      assert_true(clt_space_from_positions(space, other) == CLT_CONFIG_NONE || !cases[c].too_many);
    }
    if (cases[c].too_many) {
      assert_true(fabs(on / 2000 - 0.5) < 0.05);
      assert_true(fabs(first / 2000 - (double)(n - 1) / 2) < 0.05 * (double)n);
      assert_false(clt_space_rank(&(uint64_t){0}, space, parsed));
    }
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, meet, again), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
      void *differs;
      pthread_join(threads[i], &differs);
      assert_null(differs);
    }
    clt_space_free(again);
    clt_space_free(space);
    clt_space_builder_free(builder);
  }
}

/* Their orders are not listed, so that conditions on the items of one cannot be checked early. */
static void conditions_on_large_orders_are_refused(void **state) {
  (void)state;
  clt_error error = {0};
  clt_space *space = NULL;
  clt_space_builder *builder = orders(1, 65);
  assert_int_equal(clt_space_builder_constraint(builder, "p0_0 < p0_1", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, &error), CLT_E_RANGE);
  assert_non_null(strstr(error.message, "'p0_2', 'p0_3', 'p0_4', 'p0_5' and 61 more that satisfy 'p0_0 < p0_1' do not fit"));
  assert_non_null(strstr(error.message, "memory; list fewer values, as a permutation with conditions rarely fits beyond 20 items, or drop"));
  clt_space_builder_free(builder);
}

/* Too many combinations to number them: only the valid configurations have numbers. */
static void only_valid_configurations_count(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder(NULL, 0);
  clt_space *space = NULL;
  clt_text sum = {0}, differ = {0};
  uint32_t positions[CLT_MAX_PARAMETERS], back[CLT_MAX_PARAMETERS];
  clt_error error = {0};
  char name[8], *condition;
  for (int i = 0; i < 65; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "[0, 1]", NULL), 0);
    clt_text_printf(&sum, "%sp%d", i ? " + " : "", i);
  }
  clt_text_add(&sum, " <= 2");
  assert_int_equal(clt_text_take(&condition, &sum, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_builder_alias(builder, "p1 == 1", "p0", (clt_value){.type = CLT_INT}, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_int_equal(clt_space_valid(space), 1 + 65 + 65 * 64 / 2);
  assert_false(clt_space_contains(space, clt_space_valid(space)));
  size_t n_empty = 0, n_aliases = 0;
  for (clt_config c = 0; c < clt_space_valid(space); c++) {
    size_t n = 0;
    clt_space_positions(positions, space, c);
    for (size_t p = 0; p < 65; p++) n += clt_space_value(space, c, p).integer == 1;
    assert_true(n <= 2 && clt_space_contains(space, c) && clt_space_from_positions(space, positions) == c);
    assert_int_equal(clt_space_neighbours(NULL, 0, space, c), n == 2 ? 2 : 65);
    n_empty += n == 0;
    n_aliases += clt_space_canonical(space, c) != c;
    if (n < 2) continue;
    for (size_t p = 0; p < 3; p++) positions[p] = 1;
    assert_true(clt_space_from_positions(space, positions) == CLT_CONFIG_NONE);
  }
  assert_int_equal(n_empty, 1);
  assert_int_equal(n_aliases, 1);
  assert_null(clt_space_violation(space, 0, NULL));
  assert_non_null(clt_space_violation(space, CLT_CONFIG_NONE, NULL));
  clt_space_free(space);
  clt_space_builder_free(builder);
  free(condition);

  builder = new_builder(NULL, 0);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "range(20)", NULL), 0);
    for (int k = 0; k < i; k++) clt_text_printf(&differ, "%sp%d != p%d", differ.n ? " and " : "", i, k);
  }
  assert_int_equal(clt_text_take(&condition, &differ, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
  free(condition);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_true(clt_space_valid(space) == UINT64_C(2432902008176640000));
  clt_rng rng;
  clt_rng_init(&rng, 1);
  clt_config configs[100];
  assert_int_equal(clt_space_sample(configs, space, &rng, 100, NULL), 100);
  for (size_t i = 0; i < 100; i++) {
    uint32_t seen = 0;
    clt_space_positions(positions, space, configs[i]);
    for (size_t p = 0; p < 20; p++) seen |= UINT32_C(1) << positions[p];
    assert_int_equal(seen, (1 << 20) - 1);
    assert_true(clt_space_from_positions(space, positions) == configs[i]);
    clt_space_move(space, positions, 3, 7, i % 2);
    clt_config moved = clt_space_from_positions(space, positions);
    assert_true(moved == configs[i] || clt_space_is_neighbour(space, configs[i], moved));
    clt_space_positions(back, space, moved);
    assert_int_equal(back[3], 7);
    assert_int_equal(clt_space_difference(space, configs[i], moved), distance(space, configs[i], moved));
  }
  clt_space *again = NULL, *other = NULL; /* numbers mean the same only with the same constraints */
  assert_int_equal(clt_space_new(&again, builder, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "p0 == 3", CLT_CONDITION, NULL, NULL), 0);
  for (int i = 1; i < 12; i++) {
    char fixed[16];
    snprintf(fixed, sizeof fixed, "p%d == %d", i, i + 3);
    assert_int_equal(clt_space_builder_constraint(builder, fixed, CLT_CONDITION, NULL, NULL), 0);
  }
  assert_int_equal(clt_space_new(&other, builder, NULL), 0);
  assert_int_equal(clt_space_valid(other), 40320);
  assert_true(clt_space_same_parameters(space, again) && !clt_space_same_parameters(space, other));
  clt_space_free(again);
  clt_space_free(other);
  clt_space_free(space);
  clt_space_builder_free(builder);

  builder = new_builder(NULL, 0);
  for (int i = 0; i < 32; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "range(4)", NULL), 0);
  }
  clt_text total = {0}; /* those of one group are counted */
  for (int i = 0; i < 32; i++) clt_text_printf(&total, "%sp%d", i ? " + " : "", i);
  clt_text_add(&total, " > 0");
  assert_int_equal(clt_text_take(&condition, &total, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
  free(condition);
  assert_int_equal(clt_space_new(&space, builder, &error), CLT_E_RANGE);
  assert_non_null(strstr(error.message, "'p0', 'p1', 'p2', 'p3' and 28 more that satisfy 'p0 + p1"));
  clt_space_builder_free(builder);
}

/* Sixteen items, of which some are in a given order. */
static void permutations_may_have_further_conditions(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder(NULL, 0);
  clt_space *space = NULL;
  char name[8], text[200];
  for (int i = 0; i < 16; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "range(16)", NULL), 0);
    size_t n = (size_t)snprintf(text, sizeof text, "p%d not in [", i);
    for (int k = 0; k < i; k++) n += (size_t)snprintf(text + n, sizeof text - n, "p%d%s", k, k + 1 < i ? ", " : "]");
    if (i) assert_int_equal(clt_space_builder_constraint(builder, text, CLT_CONDITION, NULL, NULL), 0);
  }
  assert_int_equal(clt_space_builder_constraint(builder, "p0 < p1 < p2", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "p3 < p4 or p5 == 7", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_true(clt_space_valid(space) == UINT64_C(20922789888000) / 6 / 2 * 17 / 16);
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (uint64_t rank = 1; rank < clt_space_valid(space); rank = rank * 7 + 1) {
    clt_space_positions(positions, space, clt_space_at(space, rank));
    assert_true(positions[0] < positions[1] && positions[1] < positions[2]);
    assert_true(positions[3] < positions[4] || positions[5] == 7);
    assert_true(clt_space_from_positions(space, positions) == clt_space_at(space, rank));
  }
  clt_space_free(space);
  clt_space_builder_free(builder);
}

/* One group of 10^12 configurations: the number of ordered n-tuples with a bounded sum is known. */
static void one_group_may_have_billions_of_configurations(void **state) {
  (void)state;
  static const char *const values = "list(range(16))";
  parameter_text parameters[12];
  char names[12][4], sum[200] = "p0";
  for (int i = 0; i < 12; i++) {
    snprintf(names[i], sizeof names[i], "p%d", i);
    parameters[i] = (parameter_text){names[i], values};
    if (i) snprintf(sum + strlen(sum), sizeof sum - strlen(sum), " + %s", names[i]);
  }
  strcat(sum, " <= 90");
  uint64_t ways[256] = {1}, expected = 0; /* of reaching a sum with the parameters so far */
  for (int i = 0; i < 12; i++) {
    uint64_t next[256] = {0};
    for (int s = 0; s < 240; s++)
      for (int v = 0; v < 16 && s + v < 256; v++) next[s + v] += ways[s];
    memcpy(ways, next, sizeof ways);
  }
  for (int s = 0; s <= 90; s++) expected += ways[s];
  const char *const conditions[] = {sum};
  clt_space *space = new_space(parameters, 12, conditions, 1);
  assert_int_equal(clt_space_n_groups(space), 1);
  assert_true(expected > 100000000000000u);
  assert_true(clt_space_valid(space) == expected);
  for (uint64_t rank = 0; rank < expected; rank += expected / 1000) {
    uint64_t back;
    clt_config config = clt_space_at(space, rank);
    assert_null(clt_space_violation(space, config, NULL));
    assert_true(clt_space_rank(&back, space, config));
    assert_true(back == rank);
  }
  clt_space_free(space);
}

/* Values that no two combinations share cannot be merged: beyond the limits that is an error, not a full memory. */
static void a_group_beyond_the_limits_is_refused(void **state) {
  (void)state;
  static const parameter_text parameters[] = {{"a", "range(64)"}, {"b", "range(64)"}, {"c", "range(64)"}};
  static const clt_diagram_limits limits[] = {{1000, SIZE_MAX}, {SIZE_MAX, 1000}, {SIZE_MAX, SIZE_MAX}};
  for (size_t i = 0; i < COUNT(limits); i++) {
    clt_space_builder *builder = new_builder(parameters, 3);
    clt_space *space = NULL;
    clt_error error = {0};
    assert_int_equal(clt_space_builder_constraint(builder, "(a * 64 + b) * 7 % 1009 < (c * 64 + b) * 5 % 1013",
                                                  CLT_CONDITION, NULL, NULL),
                     0);
    int rc = clt_space_new_within(&space, builder, limits[i], &error);
    if (i == 2) {
      assert_int_equal(rc, 0);
    } else {
      assert_int_equal(rc, CLT_E_RANGE);
      assert_non_null(strstr(error.message, "'a'"));
    }
    clt_space_free(space);
    clt_space_builder_free(builder);
  }
}

/* --- constraints that cannot be evaluated --- */

static int try_condition(const char *condition, clt_error *error, uint64_t *valid) {
  static const parameter_text parameters[] = {{"x", "[1, 2, 3, 40]"}, {"y", "[0, 1, 2]"}, {"s", "['u', 'v']"}};
  clt_space_builder *builder = new_builder(parameters, 3);
  clt_space *space = NULL;
  int rc = clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, error);
  if (rc == 0) rc = clt_space_new(&space, builder, error);
  if (rc == 0) *valid = clt_space_valid(space);
  clt_space_free(space);
  clt_space_builder_free(builder);
  return rc;
}

static void a_division_by_zero_is_not_valid(void **state) {
  (void)state;
  uint64_t valid = 0;
  assert_int_equal(try_condition("x / y >= 0", NULL, &valid), 0);
  assert_int_equal(valid, 4 * 2 * 2);
  assert_int_equal(try_condition("y == 0 or x / y >= 0", NULL, &valid), 0);
  assert_int_equal(valid, 4 * 3 * 2);
  assert_int_equal(try_condition("1 / 0 > x", NULL, &valid), 0);
  assert_int_equal(valid, 0);
}

static void overflow_and_wrong_types_are_errors_where_python_would_meet_them(void **state) {
  (void)state;
  uint64_t valid = 0;
  clt_error error = {0};
  assert_int_equal(try_condition("x ** 30 * (y + 1) > 5", &error, &valid), CLT_E_EXPRESSION);
  assert_non_null(strstr(error.message, "exceeds 64 bits"));
  assert_non_null(strstr(error.message, "x=40"));
  assert_int_equal(try_condition("x < 40 and x ** 30 * (y + 1) > 5", NULL, &valid), 0);
  assert_int_equal(valid, 2 * 3 * 2);
  assert_int_equal(try_condition("x + y < 40 and x ** 39 > 5", NULL, &valid), 0);
  assert_int_equal(valid, 2 * 3 * 2);
  assert_int_equal(try_condition("x < 40 && (s == 'u' || x ** 39 > 5)", NULL, &valid), 0);
  assert_int_equal(valid, (3 + 2) * 3);
  error = (clt_error){0};
  assert_int_equal(try_condition("s < x", &error, &valid), CLT_E_EXPRESSION);
  assert_non_null(strstr(error.message, "types"));
  assert_int_equal(try_condition("s < 3", NULL, &valid), CLT_E_EXPRESSION);
  assert_int_equal(try_condition("z > 3", &error, &valid), CLT_E_EXPRESSION);
}

/* Compiled once, with its place, which mistakes of any time have. */
static void constraints_keep_their_places(void **state) {
  (void)state;
  static const parameter_text parameters[] = {{"x", "[1, 2, 3]"}, {"s", "['u', 'v']"}};
  char path[] = "p.json", text[] = "{\"Conditions\":\n [\"x > 1\",\n \"s < x\"]}";
  clt_source source = {.path = path, .text = text};
  const clt_place place = {&source, "Conditions[1]"};
  clt_space_builder *builder = new_builder(parameters, 2);
  clt_space *space = NULL;
  clt_expr *expr = NULL;
  clt_error error = {0};
  assert_int_equal(clt_space_builder_compile(&expr, builder, "y > 1", &place, &error), CLT_E_EXPRESSION);
  assert_string_equal(error.key, "Conditions[1]");
  assert_int_equal(error.line, 3);
  assert_int_equal(clt_space_builder_compile(&expr, builder, "x > 1", NULL, NULL), 0);
  assert_int_equal(clt_space_builder_require(builder, clt_expr_share(expr), CLT_CONDITION, NULL, NULL), 0);
  clt_expr_free(expr);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  assert_int_equal(clt_space_valid(space), 4);
  clt_space_free(space);
  error = (clt_error){0};
  assert_int_equal(clt_space_builder_compile(&expr, builder, "s < x", &place, NULL), 0);
  assert_int_equal(clt_space_builder_require(builder, expr, CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, &error), CLT_E_EXPRESSION);
  assert_string_equal(error.file, "p.json");
  assert_int_equal(error.line, 3);
  assert_non_null(strstr(error.message, "with x="));
  clt_space_builder_free(builder);
}

static void a_false_constant_keeps_what_follows_from_being_evaluated(void **state) {
  (void)state;
  static const parameter_text parameters[] = {{"a", "[0]"}, {"b", "[1, 64]"}, {"c", "[64]"}};
  static const char *const texts[] = {"a and 2**b > 0", "a and 2**c > 0", "a and 2**b > c",
                                      "a != 0 && 2**c + 2**b > 0"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    clt_space *space = new_space(parameters, 3, &texts[i], 1);
    assert_int_equal(clt_space_valid(space), 0);
    clt_space_free(space);
  }
}

static void no_valid_configuration_is_no_error(void **state) {
  (void)state;
  static const char *const texts[] = {"x > 100", "x * y > 1000", "False", "x + y < 0 or s == 'w'"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    static const parameter_text parameters[] = {{"x", "[1, 2, 3, 40]"}, {"y", "[0, 1, 2]"}, {"s", "['u', 'v']"}};
    clt_space *space = new_space(parameters, 3, &texts[i], 1);
    clt_config out[4];
    clt_rng rng;
    clt_rng_init(&rng, 1);
    assert_int_equal(clt_space_valid(space), 0);
    assert_false(clt_space_contains(space, 3));
    assert_int_equal(clt_space_enumerate(space, 0, 4, out), 0);
    assert_int_equal(clt_space_neighbours(out, 4, space, 3), 0);
    assert_int_equal(clt_space_sample(out, space, &rng, 4, NULL), 0);
    assert_non_null(clt_space_violation(space, 3, NULL));
    clt_space_free(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_spaces_are_as_brute_force_says),
      cmocka_unit_test(a_matrix_product_has_its_configurations),
      cmocka_unit_test(a_stencil_has_its_configurations),
      cmocka_unit_test(permutations_are_small),
      cmocka_unit_test(strings_take_part),
      cmocka_unit_test(free_parameters_only_multiply),
      cmocka_unit_test(only_valid_configurations_count),
      cmocka_unit_test(permutations_may_have_further_conditions),
      cmocka_unit_test(large_orders_are_numbered_at_first_sight),
      cmocka_unit_test(conditions_on_large_orders_are_refused),
      cmocka_unit_test(one_group_may_have_billions_of_configurations),
      cmocka_unit_test(a_group_beyond_the_limits_is_refused),
      cmocka_unit_test(a_division_by_zero_is_not_valid),
      cmocka_unit_test(constraints_keep_their_places),
      cmocka_unit_test(overflow_and_wrong_types_are_errors_where_python_would_meet_them),
      cmocka_unit_test(a_false_constant_keeps_what_follows_from_being_evaluated),
      cmocka_unit_test(no_valid_configuration_is_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
