/* The family file's mistakes; and for every chooser of the table: it learns, gives the same numbers for the same seed, comes back from
 * its file, and obeys each "Where". */
#include "../problem/scratch.h"

#include <float.h>
#include <math.h>

#include "base/base.h"
#include "family/train.h"

#define N_ROWS 90
#define N_TRAIN 60

static const char *feature_names[] = {"size", "skew"};

/* Three variants: "plain" (size^1), "wide" (size^0.5, but skewed inputs are slow), "near" (always the fastest, if the
 * skew is at most 4), and one that fails everywhere but may always run. */
typedef struct landscape {
  clt_family family;
  clt_family_variant variants[4];
  clt_family_arm arms[4];
  clt_family_table table;
} landscape;

static double time_of(size_t arm, double size, double skew) {
  return arm == 0 ? 1e-6 * size : arm == 1 ? 2e-5 * sqrt(size) * skew : arm == 2 ? 1e-7 * size : INFINITY;
}

static void make(landscape *l) {
  static char configuration[] = "wg=64";
  clt_symbol symbols[2] = {{.name = "size", .slot = 0}, {.name = "skew", .slot = 1}};
  clt_rng rng;
  *l = (landscape){.variants = {{.name = "plain"}, {.name = "wide"}, {.name = "near"}, {.name = "broken"}}};
  assert_int_equal(clt_expr_compile(&l->variants[2].where, "skew > 4 ? 0 :\n 1", symbols, 2, NULL), CLT_OK);
  l->family = (clt_family){.name = "tiny",
                           .features = feature_names,
                           .n_features = 2,
                           .variants = l->variants,
                           .n_variants = 4,
                           .source = {.path = scratch}};
  for (size_t a = 0; a < 4; a++) l->arms[a] = (clt_family_arm){.variant = a, .configuration = configuration};
  l->table = (clt_family_table){.family = &l->family, .n = N_ROWS, .n_train = N_TRAIN, .arms = l->arms, .n_arms = 4};
  l->table.inputs = clt_new_array(N_ROWS, sizeof *l->table.inputs);
  l->table.cost = clt_new_array(N_ROWS * 4, sizeof *l->table.cost);
  clt_rng_init(&rng, 5);
  for (size_t i = 0; i < N_ROWS; i++) {
    double *x = l->table.inputs[i].features = calloc(2, sizeof *x);
    x[0] = exp(log(10) + clt_rng_unit(&rng) * log(1e4));
    x[1] = 1 + 9 * clt_rng_unit(&rng);
    for (size_t a = 0; a < 4; a++) l->table.cost[i * 4 + a] = a == 2 && x[1] > 4 ? NAN : time_of(a, x[0], x[1]);
  }
}

static void release(landscape *l) {
  for (size_t i = 0; i < N_ROWS; i++) free(l->table.inputs[i].features);
  free(l->table.inputs);
  free(l->table.cost);
  clt_expr_free(l->variants[2].where);
}

static clt_family_model *train(const landscape *l, const clt_family_chooser *chooser) {
  clt_family_model *model = NULL;
  clt_error error = {0};
  const clt_family_training how = {.chooser = chooser, .seed = 1, .threads = 1};
  if (clt_family_train(&model, &l->table, &how, &error)) fail_msg("%s", error.message);
  return model;
}

static void every_chooser_learns(void **state) {
  landscape l;
  (void)state;
  make(&l);
  for (size_t c = 0; clt_family_choosers[c]; c++) {
    clt_family_figures figures[CLT_N_JUDGED];
    size_t n = 0;
    const clt_family_training how = {.chooser = clt_family_choosers[c], .seed = 1};
    if (clt_family_choosers[c]->n_settings == 0) continue;
    assert_int_equal(clt_family_judge(figures, &n, &l.table, &how, NULL), CLT_OK);
    print_message("%s: mean %.4f, gap closed %.3f\n", clt_family_choosers[c]->scorer->name, figures[0].mean, figures[0].gap_closed);
    assert_int_equal(n, N_ROWS - N_TRAIN);
    assert_true(figures[CLT_JUDGE_CHOICE].mean > 0.9);
    assert_true(figures[CLT_JUDGE_CHOICE].gap_closed > 0.5);
    assert_true(figures[CLT_JUDGE_TOP_TWO].mean >= figures[CLT_JUDGE_CHOICE].mean);
    l.table.n = N_TRAIN; /* nested cross-validation */
    assert_int_equal(clt_family_judge(figures, &n, &l.table, &how, NULL), CLT_OK);
    assert_int_equal(n, N_TRAIN);
    assert_true(figures[CLT_JUDGE_CHOICE].mean > 0.9);
    l.table.n = N_ROWS;
  }
  release(&l);
}

static void the_same_seed_gives_the_same_model_and_files_bring_it_back(void **state) {
  landscape l;
  (void)state;
  make(&l);
  for (size_t c = 0; clt_family_choosers[c]; c++) {
    if (clt_family_choosers[c]->n_settings == 0) continue;
    clt_family_model *a = train(&l, clt_family_choosers[c]), *b = train(&l, clt_family_choosers[c]), *back = NULL;
    const char *const *names = NULL;
    clt_rng rng;
    assert_int_equal(a->numbers.n, b->numbers.n);
    assert_memory_equal(a->numbers.values, b->numbers.values, a->numbers.n * sizeof *a->numbers.values);
    assert_int_equal(clt_family_model_save(a, scratch_path("m.json"), NULL), CLT_OK);
    assert_int_equal(clt_family_model_new(&back, &names, scratch_path("m.json"), NULL), CLT_OK);
    assert_string_equal(names[0], "size");
    assert_string_equal(names[1], "skew");
    assert_null(names[2]);
    clt_rng_init(&rng, 9);
    for (int i = 0; i < 10000; i++) {
      const double x[2] = {exp(12 * clt_rng_unit(&rng)), 12 * clt_rng_unit(&rng)};
      clt_family_choice one, two;
      clt_family_select(&one, a, x);
      clt_family_select(&two, back, x);
      assert_int_equal(one.arm, two.arm);
      assert_true((one.outside == NULL) == (two.outside == NULL));
      if (x[1] > 4) assert_int_not_equal(one.arm, 2);
      if (one.outside) assert_int_equal(one.arm, a->standard);
      assert_int_not_equal(one.arm, 3);
    }
    const double outside[2] = {1e9, 1}, none[2] = {NAN, 1};
    clt_family_choice choice;
    clt_family_select(&choice, a, outside);
    assert_string_equal(choice.outside, "size");
    assert_true(isnan(choice.predicted_s));
    clt_family_select(&choice, a, none);
    assert_string_equal(choice.outside, "size");
    clt_family_model_free(a);
    clt_family_model_free(b);
    clt_family_model_free(back);
  }
  release(&l);
}

/* Damaged models are refused, whatever their content; those that pass never read beyond their numbers (under the
 * sanitizer). */
static void damaged_models_are_refused_or_harmless(void **state) {
  landscape l;
  clt_rng rng;
  size_t n_refused = 0;
  (void)state;
  make(&l);
  clt_rng_init(&rng, 3);
  for (size_t c = 0; clt_family_choosers[c]; c++) {
    if (clt_family_choosers[c]->n_settings == 0) continue;
    clt_family_model *m = train(&l, clt_family_choosers[c]);
    for (int i = 0; i < 60; i++) {
      const size_t at = clt_rng_below(&rng, m->numbers.n < 200 ? m->numbers.n : 200);
      const float was = m->numbers.values[at];
      const int dim = m->numbers.dim;
      m->numbers.values[at] = (float)(clt_rng_below(&rng, 3) ? 1e7 * clt_rng_normal(&rng) : 0.5);
      if (i % 4 == 0) m->numbers.dim = (int)clt_rng_below(&rng, 100);
      clt_family_model *back = NULL;
      assert_int_equal(clt_family_model_save(m, scratch_path("bad.json"), NULL), CLT_OK);
      if (clt_family_model_new(&back, NULL, scratch_path("bad.json"), NULL) == CLT_OK) {
        const double x[2] = {1000, 3};
        clt_family_choice choice;
        clt_family_select(&choice, back, x);
        clt_family_model_free(back);
      } else {
        n_refused++;
      }
      m->numbers.values[at] = was;
      m->numbers.dim = dim;
    }
    clt_family_model_free(m);
  }
  assert_true(n_refused > 0);
  release(&l);
}

static void what_is_wrong_everywhere_is_no_answer(void **state) {
  landscape l;
  clt_family_model *model = NULL;
  clt_error error = {0};
  const clt_family_training how = {.chooser = clt_family_choosers[0], .seed = 1};
  (void)state;
  make(&l);
  for (size_t i = 0; i < N_ROWS; i++) l.table.cost[i * 4] = l.table.cost[i * 4 + 1] = INFINITY;
  assert_int_equal(clt_family_train(&model, &l.table, &how, &error), CLT_E_NO_VALID);
  assert_non_null(strstr(error.message, "without a \"Where\""));
  for (size_t i = 0; i < N_TRAIN * 4; i++) l.table.cost[i] = INFINITY;
  clt_family_figures figures[CLT_N_JUDGED];
  size_t n;
  error = (clt_error){0};
  assert_int_equal(clt_family_train(&model, &l.table, &how, &error), CLT_E_NO_VALID);
  l.table.n = N_TRAIN;
  assert_int_equal(clt_family_judge(figures, &n, &l.table, &how, &error), CLT_E_NO_VALID);
  assert_non_null(strstr(error.message, "on any training input"));
  release(&l);
}

/* Features as large as numbers are, and ones that hardly differ. */
static void features_of_any_size_make_a_model_that_can_be_read(void **state) {
  landscape l;
  clt_family_model *back = NULL;
  double mean = 0, squares = 0;
  (void)state;
  make(&l);
  for (size_t i = 0; i < N_TRAIN; i++) {
    l.table.inputs[i].features[0] = i ? (double)i : DBL_MAX;
    l.table.inputs[i].features[1] = 1e9 + 1e-4 * (double)i;
  }
  clt_family_model *m = train(&l, clt_family_choosers[0]);
  for (size_t i = 0; i < N_TRAIN; i++) {
    const double x = (l.table.inputs[i].features[1] - m->scales[1][3]) * m->scales[1][4];
    mean += x / N_TRAIN, squares += x * x / N_TRAIN;
  }
  assert_true(fabs(mean) < 0.01 && fabs(squares - 1) < 0.01);
  assert_true(m->scales[1][2] < 0); /* its range is narrow: not a logarithm */
  assert_int_equal(clt_family_model_save(m, scratch_path("m.json"), NULL), CLT_OK);
  assert_int_equal(clt_family_model_new(&back, NULL, scratch_path("m.json"), NULL), CLT_OK);
  clt_family_model_free(back);
  clt_family_model_free(m);
  release(&l);
}

/* A share that is 0 or spans several powers of ten is an input as a logarithm, in whatever unit. */
static void small_values_are_told_apart(void **state) {
  for (double unit = 1e-3; unit < 1e4; unit *= 1e6) {
    landscape l;
    (void)state;
    make(&l);
    for (size_t i = 0; i < N_TRAIN; i++) l.table.inputs[i].features[0] = i ? unit * pow(10, -(double)(i % 5)) : 0;
    clt_family_model *m = train(&l, clt_family_choosers[0]);
    const double *s = m->scales[0];
    assert_true(fabs(s[2] / (unit * 1e-4) - 1) < 1e-6);
    assert_true((log(unit * 1e-3 + s[2]) - log(unit * 1e-4 + s[2])) * s[4] > 0.5); /* in standard deviations */
    assert_true(s[0] < 0 && s[1] > unit);
    clt_family_model_free(m);
    release(&l);
  }
}

/* --- portfolios --- */

static void a_portfolio_covers_the_inputs_and_leaves_out_what_is_wrong(void **state) {
  /* Configuration 0 is good on even inputs, 1 on odd ones, 2 is the best everywhere and incorrect on one, 3 is known on
   * one input alone, 4 on those to learn from alone. */
  clt_family_answers a = {0};
  clt_config chosen[CLT_MAX_PORTFOLIO];
  (void)state;
  a.all = calloc(100, sizeof *a.all);
  for (size_t i = 0; i < 10; i++)
    for (clt_config c = 0; c < 5; c++) {
      if ((c == 3 && i > 0) || (c == 4 && i >= 8)) continue;
      a.all[a.n++] = (clt_family_answer){i, 7, c, c == 2 ? 0.1 : c >= 3 ? 0.01 : c == i % 2 ? 1 : 3, c == 2 && i == 9};
    }
  assert_int_equal(clt_family_portfolio(chosen, 8, &a, 7, 8), 2); /* 9 is an input to judge by: one error is enough */
  assert_int_equal(chosen[0] + chosen[1], 1);
  assert_int_equal(clt_family_portfolio(chosen, 1, &a, 7, 8), 1);
  assert_int_equal(clt_family_portfolio(chosen, 8, &a, 6, 8), 0);
  free(a.all);
}

/* --- the file --- */

#define PROBLEM(values) PROBLEM_OF("int", values)
#define PROBLEM_OF(type, values)                                                                                            \
  "{\"General\": {\"BenchmarkName\": \"p\"}, \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 8}],"              \
  "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Type\": \"" type "\", \"Values\": " values "}]}," \
  "\"KernelSpecification\": {\"KernelName\": \"f\", \"KernelFile\": \"f.cl\", \"GlobalSize\": [\"n\"], \"Arguments\": " \
  "[]}}"
#define FAMILY(train, features, variants)                                                                             \
  "{\"Family\": \"tiny\", \"Module\": \"m.c\",\n\"Inputs\": {\"Parameters\": [\"n\", \"seed\"], \"Train\": " train "},\n" \
  "\"Features\": " features ",\n\"Variants\": " variants "}\n"
#define TRAIN "[{\"n\": [8, 16], \"seed\": \"range(1, 4)\"}]"
#define FEATURES "{\"From\": \"a\", \"Numbers\": [\"n\"], \"Functions\": [{\"Function\": \"look\", \"Names\": [\"skew\"]}]}"
#define VARIANTS "[{\"Name\": \"a\", \"Problem\": \"p.json\"}]"

static void add_of(clt_store *store, const clt_store_key *key, int64_t voice, double time_s, const char *configuration, const char *log) {
  static int64_t n_added;
  clt_measurement m;
  clt_measurement_init(&m, 0);
  m.time_s = time_s;
  m.log = (char *)log;
  const clt_store_record record = {.configuration = configuration, .measurement = &m, .origin = "0123456789abcdef", .sequence = ++n_added, .voice = voice};
  assert_int_equal(store->type->add(store->state, &(clt_store_description){.key = *key}, &record, NULL, NULL), 0);
}

static void one_voice_does_not_say_how_long_takes_what_others_measured(void **state) {
  const clt_device_info device = {.name = "d"};
  clt_family_answers a = {0};
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_store *store = NULL;
  clt_store_key key;
  (void)state;
  scratch_write("p.json", PROBLEM("[1, 2]"));
  scratch_write("f.cl", "kernel void f() {}");
  assert_int_equal(clt_problem_new(&problem, scratch_path("p.json"), NULL), 0);
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, &device, NULL), 0);
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  assert_int_equal(clt_store_key_init(&key, instance, NULL), 0);
  for (int i = 0; i < 3; i++) add_of(store, &key, 7, 1e-9, "wg=1", NULL);
  add_of(store, &key, 5, 2, "wg=1", NULL);
  add_of(store, &key, 8, 2.5, "wg=1", NULL);
  assert_int_equal(clt_family_answers_add(&a, store, instance, 0, 0, NULL), 0);
  assert_true(a.n == 1 && a.all[0].time_s >= 2);
  free(a.all);
  clt_store_free(store);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void an_own_answer_about_an_input_counts_else_what_two_others_say(void **state) {
  static const struct {
    int64_t voice;
    const char *says; /* the feature, and the seconds that it took */
    double feature;   /* 0: none is known */
    bool calculates;  /* if it may: then it fails, as there is no such function */
  } cases[] = {{7, "none", 0, true},         {7, "[9.0, 1.0]", 9, true},  {5, "[2.0, 1.0]", 9, true},  {7, "[8.0, 1.0]", 9, true},
               {8, "[2.0, 3.0]", 2, false}, {0, "[3.0, 1.0]", 3, false}, {7, "[2.0, 1.0]", 3, false}, {0, "[4.0, 1.0]", 4, false}};
  const clt_device_info device = {.name = "d"};
  clt_family *f = NULL;
  clt_store *store = NULL;
  clt_family_records records;
  clt_family_input input;
  (void)state;
  scratch_write("p.json", PROBLEM("[1, 2]"));
  scratch_write("m.c", "");
  scratch_write("f.json", FAMILY(TRAIN, FEATURES, VARIANTS));
  assert_int_equal(clt_family_load(&f, scratch_path("f.json"), NULL), 0);
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  assert_int_equal(clt_family_records_init(&records, f, store, &device, NULL), 0);
  assert_int_equal(clt_family_input_get(&input, f, f->inputs, &records, &device, true, NULL), CLT_E_NOT_FOUND);
  clt_family_input_release(&input);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    add_of(store, &records.key, cases[i].voice, 1, "features=1", cases[i].says);
    assert_int_equal(clt_family_input_get(&input, f, f->inputs, &records, &device, true, NULL) == CLT_OK, cases[i].feature > 0);
    assert_true(input.features[1] == cases[i].feature);
    clt_family_input_release(&input);
    assert_int_equal(clt_family_input_get(&input, f, f->inputs, &records, &device, false, NULL) != CLT_OK, cases[i].calculates);
    clt_family_input_release(&input);
  }
  clt_family_records_release(&records);
  clt_store_free(store);
  clt_family_free(f);
}

static void inputs_are_all_combinations(void **state) {
  clt_family *f = NULL;
  clt_error error = {0};
  (void)state;
  scratch_write("p.json", PROBLEM("[1, 2]"));
  scratch_write("f.json", FAMILY(TRAIN, FEATURES, VARIANTS));
  if (clt_family_load(&f, scratch_path("f.json"), &error)) fail_msg("%s: %s", error.key, error.message);
  assert_int_equal(f->n_train, 6);
  assert_int_equal(f->n_inputs, 6);
  const int64_t expected[] = {8, 1, 8, 2, 8, 3, 16, 1, 16, 2, 16, 3};
  assert_memory_equal(f->inputs, expected, sizeof expected);
  assert_int_equal(f->n_features, 2);
  assert_string_equal(f->features[1], "skew");
  clt_family_free(f);
}

/* Otherwise an arm is something else on each input. */
static void values_of_parameters_are_the_same_on_each_input(void **state) {
  clt_family *f = NULL;
  clt_error error = {0};
  clt_size size = {"n", 8};
  const clt_family_input input = {.n = 1, .sizes = &size};
  clt_instance *instance = NULL;
  (void)state;
  scratch_write("p.json", PROBLEM("\"[1, n]\""));
  scratch_write("f.json", FAMILY(TRAIN, FEATURES, VARIANTS));
  assert_int_equal(clt_family_load(&f, scratch_path("f.json"), &error), CLT_OK);
  assert_int_equal(clt_family_instance(&instance, f, 0, &input, NULL, &error), CLT_OK);
  clt_instance_free(instance);
  size.value = 16;
  assert_int_equal(clt_family_instance(&instance, f, 0, &input, NULL, &error), CLT_E_UNSUPPORTED);
  assert_non_null(strstr(error.message, "'a': the values of its tuning parameters depend on the input"));
  clt_family_free(f);
  error = (clt_error){0};
  scratch_write("p.json", PROBLEM_OF("permutation", "\"range(21)\""));
  assert_int_equal(clt_family_load(&f, scratch_path("f.json"), &error), CLT_OK);
  assert_int_equal(clt_family_instance(&instance, f, 0, &input, NULL, &error), CLT_E_UNSUPPORTED);
  assert_non_null(strstr(error.message, "'a': it has more than 2^63 valid configurations"));
  clt_family_free(f);
}

static void mistakes_are_reported_with_line_and_key(void **state) {
  static const struct {
    const char *json, *says;
  } cases[] = {
      {FAMILY("[{\"n\": 8}]", FEATURES, VARIANTS), "f.json:2: Inputs.Train[0]: needs \"seed\""},
      {FAMILY("[{\"n\": 8, \"sed\": 1}]", FEATURES, VARIANTS), "did you mean \"seed\"?"},
      {FAMILY("[]", FEATURES, VARIANTS), "needs \"Train\""},
      {FAMILY("[{\"n\": 8, \"seed\": 1}, {\"n\": [4, 8], \"seed\": 1}]", FEATURES, VARIANTS),
       "Inputs.Train[1]: the input n=8 seed=1 is given twice"},
      {FAMILY(TRAIN ", \"Test\": [{\"n\": 16, \"seed\": 2}]", FEATURES, VARIANTS),
       "Inputs.Test[0]: the input n=16 seed=2 is given twice"},
      {FAMILY(TRAIN, "{\"Numbers\": [\"m\"]}", VARIANTS), "f.json:3: Features.Numbers[0]: there is no input parameter"},
      {FAMILY(TRAIN, "{\"Fom\": \"a\", \"Numbers\": [\"n\"]}", VARIANTS), "did you mean \"From\"?"},
      {FAMILY(TRAIN, "{\"Numbers\": []}", VARIANTS), "needs 1 to 32 features"},
      {FAMILY(TRAIN, "{\"From\": \"b\", \"Numbers\": [\"n\"]}", VARIANTS), "there is no variant \"b\""},
      {FAMILY(TRAIN, "{\"Functions\": [{\"Function\": \"look\", \"Names\": [\"n\"]}]}", VARIANTS), "\"n\" is given twice"},
      {FAMILY(TRAIN, FEATURES, "[{\"Name\": \"a\", \"Problem\": \"p.json\", \"Where\": \"skew < 2\"}]"),
       "needs at least one variant without a \"Where\""},
      {FAMILY(TRAIN, FEATURES, "[{\"Name\": \"a\", \"Problem\": \"p.json\"}, {\"Name\": \"b\", \"Problem\": \"p.json\",\n"
                               " \"Where\": \"skwe < 2\"}]"),
       "f.json:5: Variants[1].Where: "},
      {FAMILY(TRAIN, FEATURES, "[{\"Name\": \"a\", \"Problem\": \"q.json\"}]"), "q.json"},
      {FAMILY(TRAIN, FEATURES, "[{\"Name\": \"a b\", \"Problem\": \"p.json\"}]"), "Variants[0].Name"},
      {FAMILY(TRAIN, FEATURES, "[" "{\"Name\": \"a\", \"Problem\": \"p.json\"}, {\"Name\": \"a\", \"Problem\": \"p.json\"}]"),
       "\"a\" is given twice"},
      {FAMILY(TRAIN, FEATURES, "[]"), "needs 1 to 64 variants"}};
  (void)state;
  scratch_write("p.json", PROBLEM("[1, 2]"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_family *f = NULL;
    clt_error error = {0};
    char text[2000];
    scratch_write("f.json", cases[i].json);
    assert_int_not_equal(clt_family_load(&f, scratch_path("f.json"), &error), CLT_OK);
    clt_error_format(text, sizeof text, &error);
    if (strstr(text, cases[i].says) == NULL) fail_msg("'%s' does not say '%s'", text, cases[i].says);
    assert_null(f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_chooser_learns),
      cmocka_unit_test(the_same_seed_gives_the_same_model_and_files_bring_it_back),
      cmocka_unit_test(damaged_models_are_refused_or_harmless),
      cmocka_unit_test(what_is_wrong_everywhere_is_no_answer),
      cmocka_unit_test(features_of_any_size_make_a_model_that_can_be_read),
      cmocka_unit_test(small_values_are_told_apart),
      cmocka_unit_test(a_portfolio_covers_the_inputs_and_leaves_out_what_is_wrong),
      cmocka_unit_test(one_voice_does_not_say_how_long_takes_what_others_measured),
      cmocka_unit_test(an_own_answer_about_an_input_counts_else_what_two_others_say),
      cmocka_unit_test(inputs_are_all_combinations),
      cmocka_unit_test(values_of_parameters_are_the_same_on_each_input),
      cmocka_unit_test(mistakes_are_reported_with_line_and_key),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
