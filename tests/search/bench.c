#include "bench.h"
#include "base/plugin.h"

static void add_parameter(clt_space_builder *builder, const char *name, int n, int first, int factor, int step) {
  clt_value values[16];
  for (int i = 0, x = first; i < n; i++, x = x * factor + step) values[i] = (clt_value){CLT_INT, .integer = x};
  assert_int_equal(clt_space_builder_parameter(builder, name, values, (size_t)n, NULL), 0);
}

/* 8 * 8 * 2 * 2 * 12 = 3072 configurations, fewer with the constraint. */
static clt_space *make_space(const char *constraint, bool with_aliases) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  add_parameter(builder, "a", 8, 1, 2, 0);
  add_parameter(builder, "b", 8, 1, 2, 0);
  add_parameter(builder, "c", 2, 0, 1, 1);
  add_parameter(builder, "d", 2, 0, 1, 1);
  add_parameter(builder, "e", 12, 1, 1, 1);
  assert_int_equal(clt_space_builder_constraint(builder, constraint, CLT_CONDITION, NULL, NULL), 0);
  if (with_aliases)
    assert_int_equal(clt_space_builder_alias(builder, "c == 1", "d", (clt_value){CLT_INT, .integer = 0}, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

clt_space *bench_space(bool with_aliases) { return make_space("a * b <= 1024", with_aliases); }

clt_space *bench_small_space(void) { return make_space("a * b <= 4", true); }

clt_space *bench_orders(int n_items) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  add_parameter(builder, "on", 2, 0, 1, 1);
  for (int i = 0; i < n_items; i++) {
    char name[16], values[24], others[600];
    size_t n = (size_t)snprintf(others, sizeof others, "p%d not in [", i);
    snprintf(name, sizeof name, "p%d", i);
    snprintf(values, sizeof values, "range(%d)", n_items);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", values, NULL), 0);
    for (int k = 0; k < i; k++) n += (size_t)snprintf(others + n, sizeof others - n, "p%d, ", k);
    snprintf(others + n, sizeof others - n, "]");
    assert_int_equal(clt_space_builder_constraint(builder, others, CLT_CONDITION, NULL, NULL), 0);
  }
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

double bench_order(const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  double cost = 1;
  clt_space_positions(positions, space, config);
  for (size_t i = 1; i < clt_space_n_parameters(space); i++)
    for (size_t k = 1; k < i; k++) cost += positions[i] > positions[k] ? 0.01 * (double)(1 + (i * k) % 5) : 0;
  return 1e-3 * (cost + 0.2 * !positions[0]);
}

static double number(const clt_space *space, clt_config config, const char *name) {
  return clt_value_number(clt_space_value(space, config, (size_t)clt_space_find_parameter(space, name)));
}

double bench_bowl(const clt_space *space, clt_config config) {
  double a = log2(number(space, config, "a")), b = log2(number(space, config, "b"));
  double e = number(space, config, "e"), switches = 0.15 * number(space, config, "c");
  if (number(space, config, "c") == 0) switches += 0.3 * number(space, config, "d");
  return 1e-3 * exp(0.08 * (a - 4) * (a - 4) + 0.1 * (b - 2) * (b - 2) + 0.05 * a * fabs(b - 2) + 0.03 * fabs(e - 7) +
                    switches);
}

double bench_bowl_failing(const clt_space *space, clt_config config) {
  bool fails = number(space, config, "a") * number(space, config, "e") > 80 || number(space, config, "b") == 4;
  return fails ? NAN : bench_bowl(space, config);
}

double bench_optimum_s(const clt_space *space, bench_objective objective) {
  double least = INFINITY;
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++)
    least = fmin(least, objective(space, clt_space_at(space, rank)));
  return least;
}

static void tell(bench *b, void *state, clt_config config) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  double time_s = b->objective(b->setup.space, config);
  if (isnan(time_s)) {
    clt_measurement_fail(&m, CLT_REASON_LAUNCH, NULL);
    b->n_failed++;
  } else {
    m.time_s = m.runs_s[0] = time_s;
    m.n_runs = 1;
    b->best_s = fmin(b->best_s, time_s);
  }
  assert_int_equal(b->type->tell(state, config, time_s, &m, NULL), 0);
  clt_measurement_release(&m);
}

static void check_and_note(bench *b, clt_config config) {
  const clt_space *space = b->setup.space;
  assert_true(clt_space_contains(space, config));
  assert_true(clt_space_canonical(space, config) == config);
  for (size_t i = 0; i < b->setup.n_evaluated; i++) assert_true(b->setup.evaluated[i] != config);
  for (size_t i = 0; i < b->n_asked; i++) assert_true(b->asked[i] != config);
  assert_true(b->n_asked < BENCH_CAPACITY);
  b->asked[b->n_asked++] = config;
}

/* Answers one of the outstanding configurations: the oldest, or a random one. */
static void answer_one(bench *b, void *state, clt_config *outstanding, size_t *n, clt_rng *rng) {
  size_t i = b->shuffled ? (size_t)clt_rng_below(rng, *n) : 0;
  clt_config config = outstanding[i];
  memmove(&outstanding[i], &outstanding[i + 1], (--*n - i) * sizeof *outstanding);
  tell(b, state, config);
}

static void loop(bench *b, void *state) {
  clt_config outstanding[256], batch[64];
  size_t n_outstanding = 0, n;
  clt_rng rng;
  clt_rng_init(&rng, 99);
  for (;;) {
    assert_int_equal(b->type->ask(state, b->batch, batch, &n, NULL), 0);
    assert_true(n <= b->batch);
    for (size_t i = 0; i < n; i++) check_and_note(b, batch[i]);
    memcpy(&outstanding[n_outstanding], batch, n * sizeof *batch);
    n_outstanding += n;
    if (n == 0 && n_outstanding == 0) return;
    if (b->stop_after && b->n_asked >= b->stop_after) return;
    size_t keep = b->shuffled && n > 0 && n_outstanding < 100 ? n_outstanding / 2 : 0;
    while (n_outstanding > keep) answer_one(b, state, outstanding, &n_outstanding, &rng);
  }
}

void bench_run(bench *b) {
  clt_error error = {0};
  void *state = calloc(1, b->type->state_size ? b->type->state_size : 1);
  void *options = calloc(1, b->type->options_size ? b->type->options_size : 1);
  clt_config evaluated[16];
  size_t n = 0;
  if (b->has_first) evaluated[n++] = clt_space_canonical(b->setup.space, b->first);
  for (size_t i = 0; i < b->n_warm_start; i++) evaluated[n++] = b->warm_start[i];
  b->setup.has_default = b->has_first;
  b->setup.evaluated = evaluated;
  b->setup.n_evaluated = n;
  b->n_asked = b->n_failed = 0;
  b->best_s = INFINITY;
  assert_int_equal(clt_options_parse(options, b->type->options_size, b->type->options, b->type->n_options, b->settings,
                                     b->n_settings, &error),
                   0);
  int rc = b->type->init(state, &b->setup, options, &error);
  if (rc) print_message("%s\n", error.message);
  assert_int_equal(rc, 0);
  for (size_t i = 0; i < n; i++) tell(b, state, evaluated[i]);
  loop(b, state);
  b->report = (clt_search_report){.timed_beside = CLT_CONFIG_NONE};
  if (b->type->report) b->type->report(state, &b->report);
  b->type->fini(state);
  free(state);
  free(options);
}
