/* Finds the configuration with the smallest sum of relative costs over several places. */

#include "lookup/portable.h"
#include "base/base.h"
#include "base/text.h"
#include "device/device.h"
#include "lookup/lookup.h"
#include "store/store.h"

void clt_portable_release(clt_portable *p) {
  for (size_t i = 0; p->places && i < p->n_places; i++) {
    free(p->places[i].device);
    free(p->places[i].driver);
    free(p->places[i].sizes);
  }
  free(p->places);
  free(p->configuration);
  free(p->options);
  free(p->open_configuration);
  free(p->open_missing);
  *p = (clt_portable){0};
}

/* --- a table of all measurements --- */

typedef struct known_cost {
  double cost; /* NaN: not measured, INFINITY: failed or invalid */
  bool alone;  /* by the word of one voice */
} known_cost;

typedef struct place {
  clt_store_key key;
  char *sizes;
  clt_store *store; /* the first store that has it */
  clt_instance *instance;
  clt_objective *objective;
  known_cost *costs; /* by configuration */
  size_t capacity;
  double best;   /* the minimum cost; NaN: no correct configuration */
  bool is_known; /* to two voices, or one's own */
  bool is_named; /* by the filter */
} place;

typedef struct table {
  clt_texts configurations;
  place *places;
  size_t n_places, capacity, n_left_out;
  const clt_portable_filter *filter;
  const char *objective;
} table;

static void release_place(place *p) {
  clt_objective_free(p->objective);
  clt_instance_free(p->instance);
  free(p->sizes);
  free(p->costs);
}

static int reserve_costs(place *p, size_t n) {
  size_t before = p->capacity;
  if (clt_grow(&p->costs, &p->capacity, n, sizeof *p->costs)) return CLT_E_MEMORY;
  for (size_t i = before; i < p->capacity; i++) p->costs[i] = (known_cost){.cost = NAN};
  return CLT_OK;
}

static bool is_named(const clt_instance *instance, const char *text) {
  const clt_device_info *device = clt_instance_device(instance);
  return device && strcasecmp(device->name, text) == 0;
}

static bool matches_device(const char *key, const clt_instance *instance, const char *text) {
  const clt_device_info *device = clt_instance_device(instance);
  const bool is_type =
      device && device->type != CLT_DEVICE_OTHER && strcasecmp(clt_device_type_name(device->type), text) == 0;
  return is_type || strcasestr(key, text);
}

/* *is_named: the filter names the device, and all sizes. */
static bool passes_filter(bool *is_named, const clt_portable_filter *f, const char *device,
                          const clt_instance *instance) {
  bool fits = f->n_devices == 0;
  *is_named = !fits;
  for (size_t i = 0; i < f->n_devices && !fits; i++) fits = matches_device(device, instance, f->devices[i]);
  for (size_t k = 0; k < clt_instance_n_sizes(instance) && fits; k++) {
    clt_size size = clt_instance_size(instance, k);
    bool listed = false, equal = false;
    for (size_t i = 0; i < f->n_sizes; i++) {
      if (strcmp(f->sizes[i].name, size.name) != 0) continue;
      listed = true;
      equal = equal || f->sizes[i].value == size.value;
    }
    fits = equal || !listed;
    *is_named = *is_named && listed;
  }
  return fits;
}

/* Values of an earlier store are kept. */
static int add_costs(table *t, place *p, const clt_store_answers *answers, clt_error *error) {
  p->is_known = p->is_known || answers->has_known;
  for (const clt_store_answer *a = answers->all; a < answers->all + answers->n; a++) {
    const clt_measurement *m = a->newest;
    double cost = m == NULL ? NAN : clt_measurement_correct(m) ? clt_objective_cost(p->objective, m) : INFINITY;
    if (isnan(cost)) continue;
    char *text = clt_config_string(clt_instance_space(p->instance), m->config);
    size_t number = text ? clt_texts_add(&t->configurations, text) : CLT_NO_TEXT;
    free(text);
    if (number == CLT_NO_TEXT || reserve_costs(p, number + 1)) return clt_fail_memory(error);
    if (isnan(p->costs[number].cost)) p->costs[number] = (known_cost){cost, a->belief < CLT_KNOWN};
  }
  return CLT_OK;
}

/* Keys come oldest first, and those of the user's store before the system's. Within a store, measurements of a later
 * driver take precedence over those of an earlier one, unless one voice alone knows this driver. */
static int add_place(void *user, const clt_related *found, clt_instance **instance, clt_error *error) {
  table *t = user;
  place *p = t->places;
  clt_store_answers answers = {0};
  bool is_named = false;
  if (t->filter && !passes_filter(&is_named, t->filter, found->d.key.device, *instance)) return CLT_OK;
  while (p < t->places + t->n_places &&
         (strcmp(p->key.device, found->d.key.device) != 0 || strcmp(p->sizes, found->d.sizes) != 0))
    p++;
  const bool is_new = p == t->places + t->n_places;
  const bool is_other = is_new || strcmp(p->key.driver, found->d.key.driver) != 0;
  int rc = clt_store_newest(&answers, found->store, &found->d.key, clt_instance_space(*instance), false, NULL, error);
  if (is_other && !is_new && (p->store != found->store || (p->is_known && !answers.has_known))) {
    clt_store_answers_release(&answers);
    return rc;
  }
  if (is_new && clt_grow(&t->places, &t->capacity, t->n_places + 1, sizeof *t->places)) rc = clt_fail_memory(error);
  if (rc == CLT_OK && is_new) p = &t->places[t->n_places++];
  if (rc == CLT_OK && is_other) {
    if (!is_new) release_place(p);
    *p = (place){.key = found->d.key,
                 .sizes = strdup(found->d.sizes),
                 .store = found->store,
                 .instance = *instance,
                 .best = NAN,
                 .is_named = is_named};
    *instance = NULL;
    rc = p->sizes ? clt_objective_new(&p->objective, p->instance, t->objective, error) : clt_fail_memory(error);
  }
  if (rc == CLT_OK) rc = add_costs(t, p, &answers, error);
  clt_store_answers_release(&answers);
  return rc;
}

static bool is_device_meant(const table *t, const place *p, const char *text) {
  for (const place *other = t->places; other < t->places + t->n_places; other++)
    if (is_named(other->instance, text)) return is_named(p->instance, text);
  return matches_device(p->key.device, p->instance, text);
}

/* A device's whole name is meant rather than longer ones that contain it. */
static bool is_place_meant(const table *t, const place *p) {
  const clt_portable_filter *f = t->filter;
  bool meant = f == NULL || f->n_devices == 0;
  for (size_t k = 0; !meant && k < f->n_devices; k++) meant = is_device_meant(t, p, f->devices[k]);
  return meant;
}

/* What one voice alone has measured, perhaps on an invented device, counts only where nothing else does. */
static void choose_places(table *t) {
  size_t n = 0, n_known = 0;
  for (size_t i = 0; i < t->n_places; i++) n_known += t->places[i].is_known && is_place_meant(t, &t->places[i]);
  for (size_t i = 0; i < t->n_places; i++) {
    if (!is_place_meant(t, &t->places[i])) continue;
    if (n_known && !t->places[i].is_known && !t->places[i].is_named) {
      t->n_left_out++;
      continue;
    }
    const place p = t->places[n]; /* others stay in the table until all are decided */
    t->places[n++] = t->places[i];
    t->places[i] = p;
  }
  while (t->n_places > n) release_place(&t->places[--t->n_places]);
}

/* Adds known costs of configurations that were not measured at a place: a configuration that is invalid there, or has
 * the cost of its canonical configuration. */
static int complete_table(table *t, clt_error *error) {
  for (place *p = t->places; p < t->places + t->n_places; p++) {
    const clt_space *space = clt_instance_space(p->instance);
    if (reserve_costs(p, t->configurations.n)) return clt_fail_memory(error);
    for (size_t i = 0; i < t->configurations.n; i++) {
      clt_config config;
      if (isnan(p->costs[i].cost) &&
          (clt_config_parse(&config, space, t->configurations.all[i], NULL) || !clt_space_contains(space, config))) {
        p->costs[i].cost = INFINITY;
      } else if (isnan(p->costs[i].cost) && clt_space_canonical(space, config) != config) {
        char *text = clt_config_string(space, clt_space_canonical(space, config));
        if (text == NULL) return clt_fail_memory(error);
        size_t number = clt_texts_find(&t->configurations, text);
        if (number != CLT_NO_TEXT) p->costs[i] = p->costs[number];
        free(text);
      }
      if (isfinite(p->costs[i].cost)) p->best = fmin(p->best, p->costs[i].cost);
    }
  }
  return CLT_OK;
}

/* --- choosing the configuration --- */

typedef struct score {
  const char *configuration; /* NULL: none */
  size_t number, n_missing;
  double sum, worst,
      bound; /* bound: the sum if it is as good as the best configuration at places where it was not measured */
} score;

/* False: it fails at a place, or was not measured at any. */
static bool score_configuration(score *out, const table *t, size_t number) {
  *out = (score){.configuration = t->configurations.all[number], .number = number};
  for (size_t i = 0; i < t->n_places; i++) {
    double cost = t->places[i].costs[number].cost, relative = cost / t->places[i].best;
    if (isinf(cost)) return false;
    out->n_missing += isnan(relative);
    if (isnan(relative)) continue;
    out->sum += relative;
    out->worst = fmax(out->worst, relative);
  }
  out->bound = out->sum + (double)out->n_missing;
  return out->n_missing < t->n_places;
}

static bool comes_before(double x, const score *a, double y, const score *b) {
  return b->configuration == NULL || (x != y ? x < y : strcmp(a->configuration, b->configuration) < 0);
}

/* The build options that are the same at all places. */
static int list_common_options(char **out, const table *t, const char *configuration, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < t->n_places; i++) {
    const clt_instance *instance = t->places[i].instance;
    clt_config config;
    clt_text words = {0};
    char *options = NULL, *rest = NULL, *before = *out;
    rc = clt_config_parse(&config, clt_instance_space(instance), configuration, error);
    if (rc == CLT_OK) rc = clt_instance_options(&options, instance, config, error);
    if (rc) return rc;
    if (before == NULL) {
      *out = options;
      continue;
    }
    for (char *word = strtok_r(before, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
      size_t n = strlen(word);
      const char *at = strstr(options, word);
      while (at && ((at > options && at[-1] != ' ') || (at[n] != ' ' && at[n] != '\0'))) at = strstr(at + 1, word);
      if (at) clt_text_printf(&words, "%s%s", words.n ? " " : "", word);
    }
    *out = NULL;
    rc = clt_text_take(out, &words, error);
    free(options);
    free(before);
  }
  return rc;
}

static int describe_answer(clt_portable *out, const table *t, clt_error *error) {
  score best = {0}, open = {0}, s;
  clt_text missing = {0};
  for (size_t i = 0; i < t->configurations.n; i++) {
    if (!score_configuration(&s, t, i)) continue;
    out->n_configurations++;
    out->n_complete += s.n_missing == 0;
    if (best.configuration == NULL || s.n_missing < best.n_missing ||
        (s.n_missing == best.n_missing && comes_before(s.sum, &s, best.sum, &best)))
      best = s;
  }
  for (size_t i = 0; i < t->configurations.n && best.configuration; i++) {
    if (i == best.number || !score_configuration(&s, t, i) || s.n_missing == 0 || s.bound >= best.bound) continue;
    out->n_open++;
    if (comes_before(s.bound, &s, open.bound, &open)) open = s;
  }
  if (best.configuration == NULL)
    return clt_fail(
        error, CLT_E_NO_VALID,
        "no measured configuration is valid and correct in all %zu combinations of device and sizes; select fewer",
        t->n_places);
  out->n_missing = best.n_missing;
  out->n_left_out = t->n_left_out;
  out->sum_relative = best.sum;
  out->worst_relative = best.worst;
  out->configuration = strdup(best.configuration);
  out->places = clt_new_array(t->n_places, sizeof *out->places);
  bool no_memory = out->configuration == NULL || out->places == NULL;
  for (; out->places && out->n_places < t->n_places; out->n_places++) {
    const place *p = &t->places[out->n_places];
    double cost = p->costs[best.number].cost;
    out->unconfirmed = out->unconfirmed || p->costs[best.number].alone;
    clt_portable_place *answer = &out->places[out->n_places];
    *answer = (clt_portable_place){.device = strdup(p->key.device),
                                   .driver = strdup(p->key.driver),
                                   .sizes = strdup(p->sizes),
                                   .relative = cost / p->best,
                                   .value = clt_objective_value_of(p->objective, cost),
                                   .best_value = clt_objective_value_of(p->objective, p->best)};
    no_memory = no_memory || !answer->device || !answer->driver || !answer->sizes;
    if (open.configuration && isnan(p->costs[open.number].cost))
      clt_text_printf(&missing, "%s%s%s%s", missing.n ? "; " : "", p->key.device, p->sizes[0] ? ", " : "", p->sizes);
  }
  int rc = open.configuration ? clt_text_take(&out->open_missing, &missing, error) : CLT_OK;
  if (open.configuration) out->open_configuration = strdup(open.configuration);
  if (no_memory || (open.configuration && out->open_configuration == NULL)) return clt_fail_memory(error);
  return rc ? rc : list_common_options(&out->options, t, best.configuration, error);
}

int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error) {
  clt_portable made = {0};
  table t = {.filter = filter};
  for (size_t i = 0; filter && i < filter->n_sizes; i++) {
    size_t k = 0, n = clt_problem_n_sizes(problem);
    while (k < n && strcmp(clt_problem_size(problem, k).name, filter->sizes[i].name) != 0) k++;
    if (k == n)
      return clt_fail(error, CLT_E_ARGUMENT, "the problem '%s' has no problem parameter '%.64s'",
                      clt_problem_name(problem), filter->sizes[i].name);
  }
  pthread_mutex_lock(&catalog->mutex);
  t.objective = catalog->objective;
  int rc = clt_catalog_each_place(catalog, problem, add_place, &t, error);
  pthread_mutex_unlock(&catalog->mutex);
  if (rc == CLT_OK && t.n_places == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the store has no measurements of '%s' at these sizes on these devices; run 'clatune tune' first",
                  clt_problem_name(problem));
  if (rc == CLT_OK) choose_places(&t);
  if (rc == CLT_OK) rc = complete_table(&t, error);
  if (rc == CLT_OK) rc = describe_answer(&made, &t, error);
  for (size_t i = 0; i < t.n_places; i++) release_place(&t.places[i]);
  free(t.places);
  clt_texts_release(&t.configurations);
  if (rc != CLT_OK) {
    clt_portable_release(&made);
    return rc;
  }
  *out = made;
  return CLT_OK;
}
