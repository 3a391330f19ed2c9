#include "base/base.h"
#include "family/train.h"

#define MOST_DEVICES 256
/* Of squared distances, in units of the devices' spread: */
#define SAME 0.1       /* so near ones count alike */
#define OTHER_TYPE 1.0 /* in few figures a CPU may look like a GPU */

/* --- devices --- */

void clt_family_devices_release(clt_family_devices *d) {
  free(d->all);
  free(d->places);
  free(d->names);
  free(d->figures);
  *d = (clt_family_devices){0};
}

static int same_device(const clt_device_info *a, const clt_device_info *b) {
  char left[512], right[512];
  clt_device_key(left, sizeof left, a);
  clt_device_key(right, sizeof right, b);
  return strcmp(left, right) == 0;
}

static int has_inputs(bool *out, const clt_family *f, const clt_family_place *place, clt_error *error) {
  clt_family_records records;
  int result = clt_family_records_init(&records, f, place->store, place->device, error);
  *out = false;
  for (size_t i = 0; result == CLT_OK && i < f->n_inputs && !*out; i++) {
    clt_family_input input;
    clt_error cause = {0};
    const int rc =
        clt_family_input_get(&input, f, f->inputs + i * f->n_parameters, &records, place->device, true, &cause);
    clt_family_input_release(&input);
    *out = rc == CLT_OK;
    if (rc && rc != CLT_E_NOT_FOUND) result = clt_fail(error, rc, "%s", cause.message);
  }
  clt_family_records_release(&records);
  return result;
}

static int add_device(clt_family_devices *d, const clt_device_info *device, clt_store *store, clt_error *error) {
  if (d->n == MOST_DEVICES)
    return clt_fail(error, CLT_E_RANGE, "the stores describe more than %d devices; name fewer with --sources",
                    MOST_DEVICES);
  d->all[d->n] = *device;
  d->places[d->n] = (clt_family_place){store, &d->all[d->n]};
  d->n++;
  return CLT_OK;
}

static int add_described(clt_family_devices *d, const clt_family *f, clt_store *store, const clt_family_place *target,
                         clt_error *error) {
  clt_device_info *described = clt_family_alloc(MOST_DEVICES, sizeof *described);
  size_t n = 0;
  int rc = clt_store_devices(described, &n, MOST_DEVICES, store, error);
  for (size_t k = 0; rc == CLT_OK && k < n; k++) {
    const clt_family_place place = {store, &described[k]};
    bool known = false;
    for (size_t i = 0; i < d->n && !known; i++) known = same_device(&described[k], &d->all[i]);
    if (known || (target && same_device(&described[k], target->device))) continue;
    rc = has_inputs(&known, f, &place, error);
    if (rc == CLT_OK && known) rc = add_device(d, &described[k], store, error);
  }
  free(described);
  return rc;
}

/* Keeps the figures that are known for every device and differ between devices. What a driver states is left out: a
 * compiler that vectorises by itself prefers vectors of one element, on the same processor on which another one prefers
 * sixteen. */
int clt_family_devices_read(clt_family_devices *d, clt_error *error) {
  if (d->n < 2)
    return clt_fail(
        error, CLT_E_NOT_FOUND,
        "the sources have no measurements of the family on another device; run 'clatune family measure' there");
  d->names = clt_family_alloc(CLT_MOST_FEATURES, sizeof *d->names);
  d->figures = clt_family_alloc(d->n * CLT_MOST_FEATURES, sizeof *d->figures);
  clt_feature *all = clt_family_alloc(d->n * CLT_MOST_FEATURES, sizeof *all);
  size_t n = 0;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < d->n; i++) {
    clt_feature *own = &all[i * CLT_MOST_FEATURES];
    bool is_probed = false;
    rc = clt_device_features(own, &n, d->places[i].store, d->places[i].device, error);
    for (size_t k = 0; k < n; k++) is_probed |= !own[k].is_said && own[k].value > 0;
    if (rc == CLT_OK && !is_probed)
      rc = clt_fail(
          error, CLT_E_NOT_FOUND,
          "the characteristics of '%s' are not in the store; 'clatune devices --probe --device NAME --store STORE' "
          "measures them",
          d->all[i].name);
  }
  for (size_t k = 0; rc == CLT_OK && k < n; k++) {
    bool differs = false, known = true;
    for (size_t i = 0; i < d->n; i++) {
      const double value = all[i * CLT_MOST_FEATURES + k].value;
      known = known && isfinite(value) && value > 0;
      differs |= value != all[k].value;
    }
    if (!known || !differs || !all[k].is_balance) continue;
    memcpy(d->names[d->n_figures], all[k].name, sizeof *d->names);
    for (size_t i = 0; i < d->n; i++)
      d->figures[i * CLT_MOST_FEATURES + d->n_figures] = log(all[i * CLT_MOST_FEATURES + k].value);
    d->n_figures++;
  }
  free(all);
  return rc;
}

int clt_family_devices_find(clt_family_devices *d, const clt_family *family, clt_store *const *stores, size_t n_stores,
                            const clt_family_place *target, clt_error *error) {
  *d = (clt_family_devices){.all = clt_family_alloc(MOST_DEVICES, sizeof *d->all),
                            .places = clt_family_alloc(MOST_DEVICES, sizeof *d->places)};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_stores; i++) rc = add_described(d, family, stores[i], target, error);
  if (rc == CLT_OK && target) rc = add_device(d, target->device, target->store, error);
  return rc;
}

/* Squared distance in the chosen figures (none: in all), each divided by its spread; of so many the mean. Devices of
 * different types are farther apart. */
static double distance(const clt_family_across *s, size_t a, size_t b, const size_t *chosen, size_t n) {
  const double *left = &s->devices->figures[a * CLT_MOST_FEATURES],
               *right = &s->devices->figures[b * CLT_MOST_FEATURES];
  const size_t n_used = n ? n : s->devices->n_figures;
  double sum = 0;
  for (size_t i = 0; i < n_used; i++) {
    const size_t k = n ? chosen[i] : i;
    if (s->spread[k] > 0) sum += pow((left[k] - right[k]) / s->spread[k], 2);
  }
  if (n_used > 0) sum /= (double)n_used;
  const bool alike = s->devices->all[a].type == s->devices->all[b].type;
  return alike ? sum : sum + OTHER_TYPE;
}

/* The standard deviation of each figure over all devices except `without`. */
static void find_spread(double *spread, const clt_family_devices *d, size_t without) {
  for (size_t k = 0; k < d->n_figures; k++) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < d->n; i++)
      if (i != without) mean += d->figures[i * CLT_MOST_FEATURES + k] / (double)(d->n - 1);
    for (size_t i = 0; i < d->n; i++)
      if (i != without) squares += pow(d->figures[i * CLT_MOST_FEATURES + k] - mean, 2) / (double)(d->n - 1);
    spread[k] = sqrt(squares);
  }
}

/* --- prediction from other devices --- */

static double *row_of(const clt_family_across *s, size_t device, size_t input) {
  return &s->cost[(device * s->table.family->n_inputs + input) * s->table.n_arms];
}

static void fill_costs(clt_family_across *s) {
  const clt_family_table *t = &s->table;
  const size_t n_rows = s->devices->n * t->family->n_inputs, n = n_rows * t->n_arms;
  s->cost = clt_family_alloc(n, sizeof *s->cost);
  s->least = clt_family_alloc(n_rows, sizeof *s->least);
  for (size_t i = 0; i < n; i++) s->cost[i] = NAN;
  for (size_t i = 0; i < t->n_train; i++) {
    const size_t device = (size_t)(t->place[i]->device - s->devices->all);
    double *row = row_of(s, device, t->number[i]), least = INFINITY;
    const bool any_right = clt_family_log_costs(row, t, i) > 0;
    for (size_t a = 0; a < t->n_arms; a++) least = fmin(least, row[a]);
    for (size_t a = 0; a < t->n_arms; a++) row[a] = any_right ? clt_family_cut(row[a], least) - least : NAN;
    s->least[device * t->family->n_inputs + t->number[i]] = least;
  }
  find_spread(s->spread, s->devices, s->target);
}

/* The weight of each device as a source for another one. In few figures alone a CPU may look like a GPU; all figures
 * together ignore the family. The constants were chosen on made-up devices. */
static void weigh(double *weight, const clt_family_across *s, size_t device, const size_t *chosen, size_t n_chosen) {
  for (size_t i = 0; i < s->devices->n; i++)
    weight[i] = pow(SAME + distance(s, device, i, chosen, n_chosen) + distance(s, device, i, NULL, 0), -3);
  weight[device] = weight[s->target] = 0;
}

/* The weighted mean of the devices' relative log costs on an input. NaN: no device knows the arm. */
static void expect(double *out, const clt_family_across *s, const double *weight, size_t input) {
  double weights[CLT_MAX_ARMS] = {0};
  for (size_t a = 0; a < s->table.n_arms; a++) out[a] = 0;
  for (size_t i = 0; i < s->devices->n; i++) {
    const double *row = row_of(s, i, input);
    for (size_t a = 0; weight[i] > 0 && a < s->table.n_arms; a++)
      if (!isnan(row[a])) out[a] += weight[i] * row[a], weights[a] += weight[i];
  }
  for (size_t a = 0; a < s->table.n_arms; a++) out[a] = weights[a] > 0 ? out[a] / weights[a] : NAN;
}

/* --- choosing figures --- */

/* The regret on a device of choices predicted from the other devices, on the same inputs. */
static double regret_of(const clt_family_across *s, size_t left_out, const size_t *chosen, size_t n_chosen) {
  double weight[MOST_DEVICES], expected[CLT_MAX_ARMS], regret = 0;
  weigh(weight, s, left_out, chosen, n_chosen);
  for (size_t input = 0; input < s->table.family->n_inputs; input++) {
    const double *own = row_of(s, left_out, input);
    double least = INFINITY, taken = 0;
    expect(expected, s, weight, input);
    for (size_t a = 0; a < s->table.n_arms; a++)
      if (!isnan(own[a]) && expected[a] < least) least = expected[a], taken = own[a];
    if (taken > log(1 + CLT_FAMILY_TIE)) regret += taken;
  }
  return regret;
}

/* Calls for every subset of at most three figures; the next one in `chosen`, false behind the last. */
static bool next_subset(size_t *chosen, size_t *n, size_t n_figures) {
  for (size_t k = *n; k-- > 0;) {
    if (chosen[k] + (*n - k) >= n_figures) continue;
    chosen[k]++;
    for (size_t j = k + 1; j < *n; j++) chosen[j] = chosen[j - 1] + 1;
    return true;
  }
  if (*n == CLT_MOST_CHOSEN || *n >= n_figures) return false;
  ++*n;
  for (size_t k = 0; k < *n; k++) chosen[k] = k;
  return true;
}

/* How often figures are among the best subset of a device that is left out; of equally good subsets, of which the
 * smallest count, each has its share. */
static void count_figures(double *count, const clt_family_across *s, size_t left_out) {
  double own[CLT_MOST_FEATURES] = {0}, least = INFINITY;
  size_t chosen[CLT_MOST_CHOSEN] = {0}, n = 0, least_n = 0, n_equal = 0;
  do {
    const double regret = regret_of(s, left_out, chosen, n);
    if (regret < least * (1 - 1e-9)) {
      memset(own, 0, sizeof own);
      least = regret, least_n = n, n_equal = 0;
    }
    if (regret > least || n > least_n) continue;
    n_equal++;
    for (size_t k = 0; k < n; k++) own[chosen[k]] += 1;
  } while (next_subset(chosen, &n, s->devices->n_figures));
  for (size_t k = 0; k < s->devices->n_figures; k++) count[k] += own[k] / (double)n_equal;
}

/* The most frequent figures; their number is the one with the lowest regret over all devices. */
static void choose_figures(clt_family_across *s) {
  if (s->devices->n_given > 0) {
    memcpy(s->chosen, s->devices->given, sizeof s->chosen);
    s->n_chosen = s->devices->n_given;
    return;
  }
  double count[CLT_MOST_FEATURES] = {0}, least = INFINITY;
  size_t order[CLT_MOST_CHOSEN], n = 0;
  for (size_t i = 0; i < s->devices->n; i++)
    if (i != s->target) count_figures(count, s, i);
  for (; n < CLT_MOST_CHOSEN && n < s->devices->n_figures; n++) {
    size_t best = 0;
    for (size_t k = 1; k < s->devices->n_figures; k++)
      if (count[k] > count[best]) best = k;
    if (!(count[best] > 0)) break;
    order[n] = best;
    count[best] = -1;
  }
  for (size_t k = 0; k <= n; k++) {
    double regret = 0;
    for (size_t i = 0; i < s->devices->n; i++)
      if (i != s->target) regret += regret_of(s, i, order, k);
    if (regret < least * (1 - 1e-9)) least = regret, s->n_chosen = k;
  }
  memcpy(s->chosen, order, s->n_chosen * sizeof *order);
}

/* --- the table --- */

/* Notes which arms fail on the device's own first training input. Not measured: none. */
static int note_failures(clt_family_across *s, clt_error *error) {
  const clt_family_table *t = &s->table;
  clt_family_answers own = {0};
  const int rc = clt_family_answers_read(&own, t->family, &s->devices->places[s->target], 0, 1, NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < own.n; i++)
    for (size_t a = 0; a < t->n_arms; a++)
      if (isinf(own.all[i].time_s) && own.all[i].variant == t->arms[a].variant &&
          own.all[i].config == t->arms[a].config)
        s->fails[a] = true;
  free(own.all);
  return rc;
}

static int fail_unmeasured(const clt_device_info *device, clt_error *error) {
  return clt_fail(
      error, CLT_E_NOT_FOUND,
      "'%s' lacks measurements that the other devices have; run 'clatune family measure --sources STORE' there, with "
      "the stores of all devices",
      device->name);
}

int clt_family_across_load(clt_family_across *out, const clt_family *family, const clt_family_devices *d, size_t target,
                           size_t most, double uses, clt_error *error) {
  clt_family_place places[MOST_DEVICES];
  size_t n = 0, n_rows[MOST_DEVICES] = {0};
  *out = (clt_family_across){.devices = d, .target = target};
  for (size_t i = 0; i < d->n; i++)
    if (i != target) places[n++] = d->places[i];
  places[n] = d->places[target];
  int rc = clt_family_table_load(&out->table, family, places, n + 1, n, most, uses, error);
  for (size_t i = 0; rc == CLT_OK && i < out->table.n; i++) {
    const size_t device = (size_t)(out->table.place[i]->device - d->all);
    out->table.place[i] = &d->places[device]; /* these live on */
    n_rows[device]++;
  }
  for (size_t i = 0; rc == CLT_OK && i < d->n; i++)
    if (n_rows[i] == 0 && i != target) rc = fail_unmeasured(&d->all[i], error);
  const double start_s = clt_now_s();
  if (rc == CLT_OK) fill_costs(out);
  if (rc == CLT_OK) rc = note_failures(out, error);
  if (rc == CLT_OK) choose_figures(out);
  double least = INFINITY;
  for (size_t i = 0; rc == CLT_OK && i < d->n; i++) {
    const double apart = distance(out, target, i, out->chosen, out->n_chosen);
    if (i != target && apart < least) least = apart, out->nearest = i;
  }
  out->selection_s = clt_now_s() - start_s;
  return rc;
}

void clt_family_across_release(clt_family_across *a) {
  clt_family_table_release(&a->table);
  free(a->cost);
  free(a->least);
  *a = (clt_family_across){0};
}

/* --- models --- */

/* The predicted table of the device; its rows to judge by are its own measurements. Only `inputs` and `cost` belong to
 * it. */
static void fill_expected(clt_family_table *out, const clt_family_across *s, clt_family_weighting weighting) {
  const clt_family_table *t = &s->table;
  double weight[MOST_DEVICES] = {0}, expected[CLT_MAX_ARMS];
  weigh(weight, s, s->target, s->chosen, s->n_chosen);
  for (size_t i = 0; weighting != CLT_BY_DISTANCE && i < s->devices->n; i++)
    weight[i] = weighting == CLT_ALIKE ? i != s->target : i == s->nearest;
  *out = *t;
  out->inputs = clt_family_alloc(t->n, sizeof *out->inputs);
  out->cost = clt_family_alloc(t->n * t->n_arms, sizeof *out->cost);
  out->n = 0;
  for (size_t input = 0; input < t->family->n_inputs; input++) {
    double level = 0, weights = 0, failed[CLT_MAX_ARMS] = {0};
    for (size_t i = 0; i < t->n_train; i++) {
      const size_t device = (size_t)(t->place[i]->device - s->devices->all);
      const double least = s->least[device * t->family->n_inputs + input];
      if (t->number[i] != input || !(weight[device] > 0) || !isfinite(least)) continue;
      out->inputs[out->n] = t->inputs[i];
      level += weight[device] * least, weights += weight[device];
      for (size_t a = 0; a < t->n_arms; a++)
        if (isinf(t->cost[i * t->n_arms + a])) failed[a] += weight[device];
    }
    if (!(weights > 0)) continue;
    expect(expected, s, weight, input);
    for (size_t a = 0; a < t->n_arms; a++)
      out->cost[out->n * t->n_arms + a] =
          s->fails[a] || failed[a] >= weights / 2 ? INFINITY : exp(level / weights + expected[a]);
    out->n++;
  }
  out->n_train = out->n;
  for (size_t i = t->n_train; i < t->n; i++, out->n++) {
    out->inputs[out->n] = t->inputs[i];
    memcpy(&out->cost[out->n * t->n_arms], &t->cost[i * t->n_arms], t->n_arms * sizeof *out->cost);
  }
}

int clt_family_across_train(clt_family_model **out, const clt_family_across *across, const clt_family_training *how,
                            clt_error *error) {
  clt_family_table expected;
  fill_expected(&expected, across, CLT_BY_DISTANCE);
  const int rc = clt_family_train(out, &expected, how, error);
  free(expected.inputs);
  free(expected.cost);
  return rc;
}

int clt_family_across_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_across *across,
                            clt_family_weighting weighting, const clt_family_training *how, clt_error *error) {
  if (across->table.n == across->table.n_train) return fail_unmeasured(&across->devices->all[across->target], error);
  clt_family_table expected;
  fill_expected(&expected, across, weighting);
  const int rc = clt_family_judge(out, n, &expected, how, error);
  free(expected.inputs);
  free(expected.cost);
  return rc;
}
