/* The table of inputs x arms, from the measurements of a store. */
#include "base/base.h"
#include "family/family.h"
#include "measurement/measurement.h"

#define LEAST_GAIN 0.01 /* that the next configuration of a portfolio must bring */
#define FAILURE 10.0    /* a failure costs this many times the longest time of its input */

static int compare_answers(const void *left, const void *right) {
  const clt_family_answer *a = left, *b = right;
  if (a->variant != b->variant) return a->variant < b->variant ? -1 : 1;
  if (a->config != b->config) return a->config < b->config ? -1 : 1;
  return (a->input > b->input) - (a->input < b->input);
}

static clt_family_answer *find_answer(const clt_family_answers *a, const clt_family_answer *wanted) {
  return a->n ? bsearch(wanted, a->all, a->n, sizeof *a->all, compare_answers) : NULL;
}

/* Sorts the times. */
static double mean_of_faster_half(double *times_s, size_t n) {
  double sum_s = 0;
  qsort(times_s, n, sizeof *times_s, clt_by_number);
  for (size_t i = 0; i < (n + 1) / 2; i++) sum_s += times_s[i];
  return sum_s / (double)((n + 1) / 2);
}

/* Adds a measurement to the answer of its configuration, unless that is a failure. user: the answers of one key. */
static int add_right(void *user, const clt_store_record *record, const clt_measurement *m) {
  const clt_family_answers *of_key = user;
  clt_family_answer wanted = of_key->all[0], *a;
  wanted.config = m->config;
  if (record->kind != CLT_RECORD_SEARCH || !clt_measurement_correct(m) || !(m->time_s > 0)) return 0;
  if ((a = find_answer(of_key, &wanted)) == NULL || isinf(a->time_s) || record->voice != a->voice) return 0;
  if (a->n_right == CLT_FAMILY_REPEATS) return 0;
  a->right_s[a->n_right++] = m->time_s;
  a->time_s = mean_of_faster_half(a->right_s, a->n_right);
  return 0;
}

int clt_family_answers_add(clt_family_answers *a, clt_store *store, const clt_instance *instance, size_t input,
                           size_t variant, clt_error *error) {
  const clt_space *space = clt_instance_space(instance);
  clt_store_key key;
  clt_store_answers known = {0};
  int rc = clt_store_key_init(&key, instance, error);
  if (rc == CLT_OK) rc = clt_store_newest(&known, store, &key, space, false, NULL, error);
  if (rc == CLT_OK && clt_grow(&a->all, &a->capacity, a->n + known.n, sizeof *a->all)) rc = clt_fail_memory(error);
  clt_family_answers of_key = {.all = rc ? NULL : a->all + a->n};
  for (size_t i = 0; rc == CLT_OK && i < known.n; i++) {
    const clt_measurement *m = known.all[i].newest;
    if (m == NULL) continue;
    of_key.all[of_key.n++] =
        (clt_family_answer){.input = input,
                            .variant = variant,
                            .config = m->config,
                            .time_s = clt_measurement_correct(m) && m->time_s > 0 ? m->time_s : INFINITY,
                            .wrong = clt_reason_invalidity(m->reason) == CLT_CORRECTNESS,
                            .voice = known.all[i].words[known.all[i].chosen].voice};
  }
  if (rc == CLT_OK && of_key.n)
    rc = clt_store_walk(store, CLT_STORE_OLDEST_FIRST, &key, space, add_right, &of_key, error);
  a->n += rc == CLT_OK ? of_key.n : 0;
  clt_store_answers_release(&known);
  return rc;
}

/* The answers of one configuration on inputs below n_train: [first, first + n); n_answers: on all. */
typedef struct table_choice {
  size_t first, n, n_answers;
  bool wrong;
} table_choice;

/* The mean over the inputs of the log of the shortest time: that in `least` or that of candidate c. */
static double mean_with(const clt_family_answers *a, const table_choice *c, const double *least, const double *longest,
                        size_t n_inputs) {
  double sum = 0;
  size_t n = 0, at = c->first;
  for (size_t i = 0; i < n_inputs; i++) {
    while (at < c->first + c->n && a->all[at].input < i) at++;
    const bool has = at < c->first + c->n && a->all[at].input == i;
    const double time_s = fmin(fmin(least[i], has ? a->all[at].time_s : INFINITY), FAILURE * longest[i]);
    if (longest[i] > 0) sum += log(time_s), n++;
  }
  return n ? sum / (double)n : INFINITY;
}

size_t clt_family_portfolio(clt_config *out, size_t most, clt_family_answers *a, size_t variant, size_t n_train) {
  size_t n_candidates = 0, n_out = 0, most_answers = 0, n_inputs = 0;
  if (a->n) qsort(a->all, a->n, sizeof *a->all, compare_answers);
  for (size_t i = 0; i < a->n; i++)
    if (a->all[i].input < n_train && a->all[i].input >= n_inputs) n_inputs = a->all[i].input + 1;
  table_choice *all = clt_family_alloc(a->n, sizeof *all);
  double *least = clt_family_alloc(n_inputs, sizeof *least), *longest = clt_family_alloc(n_inputs, sizeof *longest);
  for (size_t i = 0; i < a->n; i++) {
    const clt_family_answer *answer = &a->all[i];
    if (answer->variant != variant) continue;
    const bool same = n_candidates && a->all[i - 1].variant == variant && a->all[i - 1].config == answer->config;
    if (!same) all[n_candidates++] = (table_choice){.first = i};
    table_choice *c = &all[n_candidates - 1];
    c->wrong |= answer->wrong;
    if (++c->n_answers > most_answers) most_answers = c->n_answers;
    if (answer->input >= n_train) continue;
    c->n++;
    if (isfinite(answer->time_s)) longest[answer->input] = fmax(longest[answer->input], answer->time_s);
  }
  for (size_t i = 0; i < n_inputs; i++) least[i] = INFINITY;
  double mean = INFINITY;
  while (n_out < most) {
    const table_choice *best = NULL;
    double best_mean = n_out ? mean - log(1 + LEAST_GAIN) : INFINITY;
    for (const table_choice *c = all; c < all + n_candidates; c++) {
      if (c->wrong || (double)c->n_answers < 0.9 * (double)most_answers) continue;
      const double with = mean_with(a, c, least, longest, n_inputs);
      if (with < best_mean) best_mean = with, best = c;
    }
    if (best == NULL) break;
    out[n_out++] = a->all[best->first].config;
    mean = best_mean;
    for (size_t i = best->first; i < best->first + best->n; i++)
      least[a->all[i].input] = fmin(least[a->all[i].input], a->all[i].time_s);
  }
  free(all);
  free(least);
  free(longest);
  return n_out;
}

/* --- the table --- */

double clt_family_log_costs(double *out, const clt_family_table *t, size_t row) {
  const double *cost = &t->cost[row * t->n_arms];
  double longest = 0;
  for (size_t a = 0; a < t->n_arms; a++)
    if (isfinite(cost[a])) longest = fmax(longest, cost[a]);
  for (size_t a = 0; a < t->n_arms; a++) out[a] = log(isinf(cost[a]) ? FAILURE * longest : cost[a]); /* NaN stays */
  return longest;
}

double clt_family_cut(double log_cost, double least) {
  return isnan(log_cost) ? NAN : fmin(log_cost, least + CLT_FAMILY_BEHIND);
}

void clt_family_table_release(clt_family_table *t) {
  for (size_t i = 0; i < t->n; i++) clt_family_input_release(&t->inputs[i]);
  for (size_t i = 0; i < t->n_arms; i++) free(t->arms[i].configuration);
  free(t->inputs);
  free(t->number);
  free(t->place);
  free(t->arms);
  free(t->cost);
  *t = (clt_family_table){0};
}

int clt_family_answers_read(clt_family_answers *a, const clt_family *f, const clt_family_place *place, size_t first,
                            size_t end, clt_family_table *rows, clt_error *error) {
  clt_family_records records;
  int result = clt_family_records_init(&records, f, place->store, place->device, error);
  for (size_t i = first; result == CLT_OK && i < end; i++) {
    clt_family_input input;
    clt_error cause = {0};
    /* An input whose features are known here, and the answers on it of all variants that may run. */
    int rc = clt_family_input_get(&input, f, f->inputs + i * f->n_parameters, &records, place->device, true, &cause);
    for (size_t v = 0; rc == CLT_OK && v < f->n_variants; v++) {
      clt_instance *instance = NULL;
      if (!clt_family_holds(f->variants[v].where, input.features, f->n_features)) continue;
      rc = clt_family_instance(&instance, f, v, &input, place->device, &cause);
      if (rc == CLT_OK) rc = clt_family_answers_add(a, place->store, instance, rows ? rows->n : i, v, &cause);
      clt_instance_free(instance);
    }
    if (rc && rc != CLT_E_NOT_FOUND) result = clt_fail(error, rc, "%s", cause.message);
    if (rc || rows == NULL) {
      clt_family_input_release(&input);
    } else {
      rows->place[rows->n] = place;
      rows->number[rows->n] = i;
      rows->inputs[rows->n++] = input;
    }
  }
  clt_family_records_release(&records);
  return result;
}

static int read_answers(clt_family_table *t, clt_family_answers *a, const clt_family_place *places, size_t n_places,
                        size_t n_sources, clt_error *error) {
  const clt_family *f = t->family;
  const clt_family_place *last = &places[n_places - 1];
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_sources; i++)
    rc = clt_family_answers_read(a, f, &places[i], 0, f->n_train, t, error);
  t->n_train = t->n;
  if (rc == CLT_OK) rc = clt_family_answers_read(a, f, last, f->n_train, f->n_inputs, t, error);
  if (rc == CLT_OK && t->n == t->n_train && n_sources < n_places)
    rc = clt_family_answers_read(a, f, last, 0, f->n_train, t, error);
  return rc;
}

/* The costs of arms on an input. A configuration that is not valid there fails. *complete: no other arm that may run is
 * without an answer. */
static int fill_row(bool *complete, double *row, const clt_family_table *t, size_t input,
                    const clt_family_answers *answers, double uses, clt_error *error) {
  const clt_family *f = t->family;
  const clt_family_input *in = &t->inputs[input];
  *complete = t->n_arms > 0;
  for (size_t k = 0; k < t->n_arms && *complete; k++) {
    const size_t v = t->arms[k].variant;
    clt_family_answer wanted = {.input = input, .variant = v, .config = t->arms[k].config};
    row[k] = NAN;
    if (!clt_family_holds(f->variants[v].where, in->features, f->n_features)) continue;
    const clt_family_answer *a = find_answer(answers, &wanted);
    if (a == NULL) {
      clt_instance *instance = NULL;
      const int rc = clt_family_instance(&instance, f, v, in, t->place[input]->device, error);
      if (rc) return rc;
      const clt_space *space = clt_instance_space(instance);
      const bool valid = clt_space_contains(space, wanted.config);
      if (valid) wanted.config = clt_space_canonical(space, wanted.config);
      clt_instance_free(instance);
      if (valid) a = find_answer(answers, &wanted);
      *complete = a || !valid;
    }
    row[k] = a ? a->time_s : INFINITY;
    if (uses > 0) row[k] += in->conversion_s[v] / uses;
  }
  return CLT_OK;
}

/* Fills in all costs. Partly measured inputs are left out: measuring was interrupted there. */
static int fill_costs(clt_family_table *t, const clt_family_answers *answers, double uses, clt_error *error) {
  const size_t n = t->n, n_train = t->n_train;
  t->n = t->n_train = 0;
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) {
    clt_family_input input = t->inputs[i];
    bool complete = false;
    if (rc == CLT_OK) rc = fill_row(&complete, &t->cost[t->n * t->n_arms], t, i, answers, uses, error);
    t->inputs[i] = (clt_family_input){0};
    if (complete && rc == CLT_OK) {
      t->number[t->n] = t->number[i];
      t->place[t->n] = t->place[i];
      t->inputs[t->n++] = input;
      t->n_train += i < n_train;
    } else {
      clt_family_input_release(&input);
    }
  }
  return rc;
}

/* Adds an arm. The text of its configuration needs an instance: that of the first input on which the variant may run,
 * since the problem may not accept the sizes of others. */
static int add_arm(clt_family_table *t, size_t variant, clt_config config, clt_error *error) {
  const clt_family *f = t->family;
  clt_family_arm *arm = &t->arms[t->n_arms++];
  clt_instance *instance = NULL;
  size_t first = 0;
  while (first + 1 < t->n && !clt_family_holds(f->variants[variant].where, t->inputs[first].features, f->n_features))
    first++;
  *arm = (clt_family_arm){.variant = variant, .config = config};
  int rc = clt_family_instance(&instance, f, variant, &t->inputs[first], t->place[first]->device, error);
  if (rc == CLT_OK && (arm->configuration = clt_config_string(clt_instance_space(instance), config)) == NULL)
    rc = clt_fail_memory(error);
  clt_instance_free(instance);
  return rc;
}

int clt_family_table_load(clt_family_table *out, const clt_family *family, const clt_family_place *places,
                          size_t n_places, size_t n_sources, size_t most, double uses, clt_error *error) {
  clt_family_answers answers = {0};
  clt_family_table *t = out;
  *t = (clt_family_table){.family = family};
  const size_t most_rows = n_sources * family->n_train + family->n_inputs;
  t->inputs = clt_family_alloc(most_rows, sizeof *t->inputs);
  t->number = clt_family_alloc(most_rows, sizeof *t->number);
  t->place = clt_family_alloc(most_rows, sizeof *t->place);
  t->arms = clt_family_alloc(CLT_MAX_ARMS, sizeof *t->arms);
  int rc = read_answers(t, &answers, places, n_places, n_sources, error);
  for (size_t v = 0; rc == CLT_OK && v < family->n_variants; v++) {
    clt_config chosen[CLT_MAX_PORTFOLIO];
    const size_t n = clt_family_portfolio(chosen, most, &answers, v, t->n_train);
    if (t->n_arms + n > CLT_MAX_ARMS)
      rc = clt_fail(error, CLT_E_RANGE,
                    "there are more than %d arms (variants in a configuration); choose a smaller --portfolio",
                    CLT_MAX_ARMS);
    for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = add_arm(t, v, chosen[i], error);
  }
  t->cost = clt_family_alloc(t->n * t->n_arms, sizeof *t->cost);
  if (rc == CLT_OK) rc = fill_costs(t, &answers, uses, error);
  if (rc == CLT_OK && answers.n && t->n_arms == 0)
    rc = clt_fail(error, CLT_E_NO_VALID,
                  "no variant of the family '%s' has a configuration that is correct on every measured input",
                  family->name);
  if (rc == CLT_OK && t->n_train == 0)
    rc = clt_fail(
        error, CLT_E_NOT_FOUND,
        "no training input of the family '%s', as its file is now, is completely measured on this device; run 'clatune "
        "family measure'",
        family->name);
  free(answers.all);
  return rc;
}
