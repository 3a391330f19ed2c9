#include "family/across.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "device/device.h"
#include "session/probe.h"

#define MOST_DEVICES 256
#define SAME 0.01 /* of squared distances: so near devices count alike */

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
  if (d->n == MOST_DEVICES) return clt_fail(error, CLT_E_RANGE, "at most %d devices", MOST_DEVICES);
  d->all[d->n] = *device;
  d->places[d->n] = (clt_family_place){store, &d->all[d->n]};
  d->n++;
  return CLT_OK;
}

static int add_described(clt_family_devices *d, const clt_family *f, clt_store *store, const clt_family_place *target,
                         clt_error *error) {
  clt_store_description *keys = NULL;
  size_t n = 0;
  int rc = clt_store_keys(&keys, &n, store, false, error);
  for (size_t k = n; rc == CLT_OK && k-- > 0;) { /* the newest description counts */
    clt_device_info device;
    bool known = false;
    if (clt_device_from_json(&device, keys[k].device_json, NULL)) continue;
    device.platform_index = device.device_index = -1;
    for (size_t i = 0; i < d->n && !known; i++) known = same_device(&device, &d->all[i]);
    if (known || (target && same_device(&device, target->device))) continue;
    const clt_family_place place = {store, &device};
    rc = has_inputs(&known, f, &place, error);
    if (rc == CLT_OK && known) rc = add_device(d, &device, store, error);
  }
  clt_store_keys_free(keys, n);
  return rc;
}

/* Keeps the figures that are known of every device, and are not the same of all. */
int clt_family_devices_read(clt_family_devices *d, clt_error *error) {
  if (d->n < 2)
    return clt_fail(error, CLT_E_NOT_FOUND,
                    "the sources have nothing of the family that was measured on another device");
  d->names = clt_new_array(CLT_MOST_FEATURES, sizeof *d->names);
  d->figures = clt_new_array(d->n * CLT_MOST_FEATURES, sizeof *d->figures);
  clt_feature *all = clt_new_array(d->n * CLT_MOST_FEATURES, sizeof *all);
  size_t n = 0;
  int rc = all && d->names && d->figures ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < d->n; i++) {
    clt_feature *own = &all[i * CLT_MOST_FEATURES];
    bool is_probed = false;
    rc = clt_device_features(own, &n, d->places[i].store, d->places[i].device, error);
    for (size_t k = 0; k < n; k++) is_probed |= !own[k].is_said && own[k].value > 0;
    if (rc == CLT_OK && !is_probed)
      rc = clt_fail(error, CLT_E_NOT_FOUND,
                    "what '%s' can do is not known; 'clatune devices --probe --device NAME --store STORE' measures it",
                    d->all[i].name);
  }
  for (size_t k = 0; rc == CLT_OK && k < n; k++) {
    bool differs = false, known = true;
    for (size_t i = 0; i < d->n; i++) {
      const double value = all[i * CLT_MOST_FEATURES + k].value;
      known = known && isfinite(value) && value > 0;
      differs |= value != all[k].value;
    }
    if (!known || !differs) continue;
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
  *d = (clt_family_devices){.all = clt_new_array(MOST_DEVICES, sizeof *d->all),
                            .places = clt_new_array(MOST_DEVICES, sizeof *d->places)};
  int rc = d->all && d->places ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n_stores; i++) rc = add_described(d, family, stores[i], target, error);
  if (rc == CLT_OK && target) rc = add_device(d, target->device, target->store, error);
  return rc;
}

/* Squared distance in figures, each divided by its spread over the devices but `without`; of so many the mean. */
static double distance(const clt_family_devices *d, size_t a, size_t b, const double *spread, const size_t *chosen,
                       size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; k++) {
    const double apart = d->figures[a * CLT_MOST_FEATURES + chosen[k]] - d->figures[b * CLT_MOST_FEATURES + chosen[k]];
    if (spread[chosen[k]] > 0) sum += apart * apart / (spread[chosen[k]] * spread[chosen[k]]);
  }
  return n ? sum / (double)n : 0;
}

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

/* --- choosing figures --- */

typedef struct selection {
  const clt_family_devices *devices;
  const clt_family_table *table;
  size_t target, n_arms, n_inputs;
  double spread[CLT_MOST_FEATURES];
  double *cost; /* [device][input][arm]: log of the time over the input's best; NaN: it may not run, or is not known */
} selection;

static double *row_of(const selection *s, size_t device, size_t input) {
  return &s->cost[(device * s->n_inputs + input) * s->n_arms];
}

static int begin_selection(selection *s, const clt_family_table *t, const clt_family_devices *devices, size_t target,
                           clt_error *error) {
  *s = (selection){.devices = devices, .table = t, .target = target, .n_arms = t->n_arms};
  s->n_inputs = t->family->n_inputs;
  const size_t n = devices->n * s->n_inputs * s->n_arms;
  if ((s->cost = clt_new_array(n, sizeof *s->cost)) == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) s->cost[i] = NAN;
  for (size_t i = 0; i < t->n_train; i++) {
    double *row = row_of(s, (size_t)(t->place[i]->device - devices->all), t->number[i]), least = INFINITY;
    const bool any_right = clt_family_log_costs(row, t, i) > 0;
    for (size_t a = 0; a < t->n_arms; a++) least = fmin(least, row[a]);
    for (size_t a = 0; a < t->n_arms; a++) row[a] = any_right ? row[a] - least : NAN;
  }
  find_spread(s->spread, devices, target);
  return CLT_OK;
}

/* The regret on a device of taking the arms that the others do best with on the same inputs, the nearer ones in these
 * figures counting for more. */
static double regret_of(const selection *s, size_t left_out, const size_t *chosen, size_t n_chosen) {
  double weight[MOST_DEVICES], regret = 0;
  for (size_t i = 0; i < s->devices->n; i++)
    weight[i] = 1 / (SAME + distance(s->devices, left_out, i, s->spread, chosen, n_chosen));
  weight[left_out] = weight[s->target] = 0;
  for (size_t input = 0; input < s->n_inputs; input++) {
    const double *own = row_of(s, left_out, input);
    double least = INFINITY, taken = 0;
    for (size_t a = 0; a < s->n_arms; a++) {
      double sum = 0, weights = 0;
      for (size_t i = 0; i < s->devices->n && !isnan(own[a]); i++) {
        const double cost = weight[i] > 0 ? row_of(s, i, input)[a] : NAN;
        if (!isnan(cost)) sum += weight[i] * cost, weights += weight[i];
      }
      if (weights > 0 && sum / weights < least) least = sum / weights, taken = own[a];
    }
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
static void count_figures(double *count, const selection *s, size_t left_out) {
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

/* The most frequent figures, as many of them as are best over all devices. */
static void choose_figures(clt_family_across *out, const selection *s) {
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
    if (regret < least * (1 - 1e-9)) least = regret, out->n_chosen = k;
  }
  memcpy(out->chosen, order, out->n_chosen * sizeof *order);
}

static void find_nearest(clt_family_across *out, const selection *s) {
  size_t all[CLT_MOST_FEATURES], n = 0;
  double least = INFINITY;
  while (n < s->devices->n_figures) all[n] = n, n++;
  for (size_t i = 0; i < s->devices->n; i++) {
    const double apart = out->n_chosen ? distance(s->devices, s->target, i, s->spread, out->chosen, out->n_chosen)
                                       : distance(s->devices, s->target, i, s->spread, all, n);
    if (i != s->target && apart < least) least = apart, out->nearest = i;
  }
}

/* --- the table --- */

/* The chosen figures as features of each row. The device's own stay within the range of the others: a model has nothing
 * to say beyond it. */
static int widen(clt_family_across *out, const clt_family_devices *d, size_t target, clt_error *error) {
  clt_family_table *t = &out->table;
  const clt_family *f = t->family;
  if (f->n_features + out->n_chosen > CLT_MAX_FEATURES)
    return clt_fail(error, CLT_E_RANGE, "at most %d features with those of devices", CLT_MAX_FEATURES);
  out->wide = *f;
  out->wide.features = clt_new_array(f->n_features + out->n_chosen, sizeof *out->wide.features);
  if (out->wide.features == NULL) return clt_fail_memory(error);
  memcpy(out->wide.features, f->features, f->n_features * sizeof *f->features);
  for (size_t k = 0; k < out->n_chosen; k++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < d->n; i++) {
      const double figure = d->figures[i * CLT_MOST_FEATURES + out->chosen[k]];
      if (i != target) low = fmin(low, figure), high = fmax(high, figure);
    }
    out->values[k] = exp(fmin(high, fmax(low, d->figures[target * CLT_MOST_FEATURES + out->chosen[k]])));
    out->wide.features[out->wide.n_features++] = d->names[out->chosen[k]];
  }
  for (size_t i = 0; i < t->n; i++) {
    const size_t device = (size_t)(t->place[i]->device - d->all);
    double *features = realloc(t->inputs[i].features, (out->wide.n_features + 1) * sizeof *features);
    if (features == NULL) return clt_fail_memory(error);
    t->inputs[i].features = features;
    for (size_t k = 0; k < out->n_chosen; k++)
      features[f->n_features + k] =
          device == target ? out->values[k] : exp(d->figures[device * CLT_MOST_FEATURES + out->chosen[k]]);
  }
  t->family = &out->wide;
  t->n_device = out->n_chosen;
  return CLT_OK;
}

static int fail_unmeasured(const clt_device_info *device, clt_error *error) {
  return clt_fail(
      error, CLT_E_NOT_FOUND,
      "'%s' has not measured what the other devices have; 'clatune family measure --sources STORE' with all "
      "of them does that",
      device->name);
}

int clt_family_across_load(clt_family_across *out, const clt_family *family, const clt_family_devices *d, size_t target,
                           size_t most, double uses, clt_error *error) {
  clt_family_place places[MOST_DEVICES];
  size_t n = 0, n_rows[MOST_DEVICES] = {0};
  selection s = {0};
  *out = (clt_family_across){.device = &d->all[target]};
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
  if (rc == CLT_OK) rc = begin_selection(&s, &out->table, d, target, error);
  if (rc == CLT_OK) choose_figures(out, &s);
  if (rc == CLT_OK) find_nearest(out, &s);
  out->selection_s = clt_now_s() - start_s;
  free(s.cost);
  return rc ? rc : widen(out, d, target, error);
}

void clt_family_across_release(clt_family_across *a) {
  clt_family_table_release(&a->table);
  free(a->wide.features);
  *a = (clt_family_across){0};
}

/* --- models --- */

int clt_family_across_train(clt_family_model **out, const clt_family_across *across, const clt_family_training *how,
                            clt_error *error) {
  clt_family_model *m = NULL;
  int rc = clt_family_train(&m, &across->table, how, error);
  if (rc) return rc;
  m->n_features -= across->n_chosen;
  m->n_fixed = across->n_chosen;
  for (size_t k = 0; k < m->n_fixed; k++) {
    const double *s = m->scales[m->n_features + k];
    m->fixed[k] = (float)(((s[2] < 0 ? across->values[k] : log(across->values[k] + s[2])) - s[3]) * s[4]);
    m->fixed_names[k] = m->names.all[m->n_features + k];
    m->names.all[m->n_features + k] = NULL;
  }
  m->names.n = m->n_features;
  *out = m;
  return CLT_OK;
}

int clt_family_across_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_across *across,
                            bool nearest, const clt_family_devices *devices, const clt_family_training *how,
                            clt_error *error) {
  const clt_family_table *t = &across->table;
  if (t->n == t->n_train) return fail_unmeasured(across->device, error);
  if (!nearest) return clt_family_judge(out, n, t, how, error);
  clt_family_table one = *t; /* its rows to learn from are those of one device */
  one.inputs = clt_new_array(t->n, sizeof *one.inputs);
  one.cost = clt_new_array(t->n * t->n_arms, sizeof *one.cost);
  one.n = one.n_train = 0;
  int rc = one.inputs && one.cost ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < t->n; i++) {
    if (i < t->n_train && t->place[i]->device != &devices->all[across->nearest]) continue;
    one.inputs[one.n] = t->inputs[i];
    memcpy(&one.cost[one.n++ * t->n_arms], &t->cost[i * t->n_arms], t->n_arms * sizeof *one.cost);
    one.n_train += i < t->n_train;
  }
  if (rc == CLT_OK) rc = clt_family_judge(out, n, &one, how, error);
  free(one.inputs);
  free(one.cost);
  return rc;
}
