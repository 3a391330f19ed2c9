/* The configuration of the least summed relative cost over several places. */
#include "lookup/portable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "lookup/lookup.h"
#include "measurement/objective.h"
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

/* --- what was measured, in one table --- */

typedef struct place {
  clt_store_key key;
  char *sizes;
  clt_store *store; /* the one that it was found in first */
  clt_instance *instance;
  clt_objective *objective;
  double *costs; /* by configuration: NaN where it was not measured, INFINITY where it fails or is not valid */
  size_t capacity;
  double best; /* the least cost; NaN: nothing succeeded */
} place;

typedef struct table {
  clt_texts configurations;
  place *places;
  size_t n_places, capacity;
  const clt_portable_filter *filter;
  const char *objective;
} table;

static void release_place(place *p) {
  clt_objective_free(p->objective);
  clt_instance_free(p->instance);
  free(p->sizes);
  free(p->costs);
  *p = (place){.best = NAN};
}

static void release_table(table *t) {
  for (size_t i = 0; i < t->n_places; i++) release_place(&t->places[i]);
  free(t->places);
  clt_texts_release(&t->configurations);
}

static int reserve_costs(place *p, size_t n) {
  size_t before = p->capacity;
  if (clt_grow(&p->costs, &p->capacity, n, sizeof *p->costs)) return CLT_E_MEMORY;
  for (size_t i = before; i < p->capacity; i++) p->costs[i] = NAN;
  return CLT_OK;
}

typedef struct reading {
  table *table;
  place *place;
} reading;

/* What another store knew before stands. */
static int collect_cost(void *user, const clt_store_answer *answer) {
  const reading *r = user;
  place *p = r->place;
  if (answer->newest == NULL) return 0;
  double cost = clt_measurement_correct(answer->newest) ? clt_objective_cost(p->objective, answer->newest) : INFINITY;
  if (isnan(cost)) return 0;
  char *text = clt_config_string(clt_instance_space(p->instance), answer->config);
  size_t number = text ? clt_texts_add(&r->table->configurations, text) : CLT_NO_TEXT;
  free(text);
  if (number == CLT_NO_TEXT || reserve_costs(p, number + 1)) return CLT_E_MEMORY;
  if (isnan(p->costs[number])) p->costs[number] = cost;
  return 0;
}

static int read_costs(table *t, place *p, clt_store *store, clt_error *error) {
  reading r = {t, p};
  return clt_store_newest(store, &p->key, clt_instance_space(p->instance), false, collect_cost, &r, NULL, error);
}

static bool passes_filter(const clt_portable_filter *f, const char *device, const clt_instance *instance) {
  bool fits = f->n_devices == 0;
  for (size_t i = 0; i < f->n_devices && !fits; i++) fits = strcasestr(device, f->devices[i]) != NULL;
  for (size_t k = 0; k < clt_instance_n_sizes(instance) && fits; k++) {
    clt_size size = clt_instance_size(instance, k);
    bool listed = false, equal = false;
    for (size_t i = 0; i < f->n_sizes; i++) {
      if (strcmp(f->sizes[i].name, size.name) != 0) continue;
      listed = true;
      equal = equal || f->sizes[i].value == size.value;
    }
    fits = equal || !listed;
  }
  return fits;
}

/* Keys come oldest first, the user's store before the system's. A later driver of the same store goes before an earlier
 * one, one of another store does not. */
static int add_place(void *user, const clt_related *found, clt_instance **instance, clt_error *error) {
  table *t = user;
  size_t i = 0;
  if (t->filter && !passes_filter(t->filter, found->key.device, *instance)) return CLT_OK;
  while (i < t->n_places &&
         (strcmp(t->places[i].key.device, found->key.device) != 0 || strcmp(t->places[i].sizes, found->sizes) != 0))
    i++;
  if (i == t->n_places) {
    if (clt_grow(&t->places, &t->capacity, i + 1, sizeof *t->places)) return clt_fail_memory(error);
    t->places[t->n_places++] = (place){.best = NAN};
  } else if (strcmp(t->places[i].key.driver, found->key.driver) == 0) {
    return read_costs(t, &t->places[i], found->store, error);
  } else if (t->places[i].store != found->store) {
    return CLT_OK;
  }
  place *p = &t->places[i];
  release_place(p);
  p->key = found->key;
  p->store = found->store;
  p->instance = *instance;
  *instance = NULL;
  p->sizes = strdup(found->sizes);
  int rc = p->sizes ? clt_objective_new(&p->objective, p->instance, t->objective, error) : clt_fail_memory(error);
  return rc ? rc : read_costs(t, p, found->store, error);
}

/* What a configuration that was not measured at a place costs there, as far as that is known: it is not valid there, or
 * stands for another one. */
static int complete_table(table *t, clt_error *error) {
  for (place *p = t->places; p < t->places + t->n_places; p++) {
    const clt_space *space = clt_instance_space(p->instance);
    if (reserve_costs(p, t->configurations.n)) return clt_fail_memory(error);
    for (size_t i = 0; i < t->configurations.n; i++) {
      clt_config config;
      if (isnan(p->costs[i]) &&
          (clt_config_parse(&config, space, t->configurations.all[i], NULL) || !clt_space_contains(space, config))) {
        p->costs[i] = INFINITY;
      } else if (isnan(p->costs[i]) && clt_space_canonical(space, config) != config) {
        char *text = clt_config_string(space, clt_space_canonical(space, config));
        if (text == NULL) return clt_fail_memory(error);
        size_t number = clt_texts_find(&t->configurations, text);
        if (number != CLT_NO_TEXT) p->costs[i] = p->costs[number];
        free(text);
      }
      if (isfinite(p->costs[i])) p->best = fmin(p->best, p->costs[i]);
    }
  }
  return CLT_OK;
}

/* --- which configuration --- */

typedef struct score {
  const char *configuration; /* NULL: none */
  size_t number, n_missing;
  double sum, worst;
} score;

/* False: it fails somewhere, or was measured nowhere. */
static bool score_configuration(score *out, const table *t, size_t number) {
  *out = (score){.configuration = t->configurations.all[number], .number = number};
  for (size_t i = 0; i < t->n_places; i++) {
    double cost = t->places[i].costs[number], relative = cost / t->places[i].best;
    if (isinf(cost)) return false;
    out->n_missing += isnan(relative);
    if (isnan(relative)) continue;
    out->sum += relative;
    out->worst = fmax(out->worst, relative);
  }
  return out->n_missing < t->n_places;
}

/* As good as the best where nothing is known. */
static double bound(const score *s) { return s->sum + (double)s->n_missing; }

static bool comes_before(double x, const score *a, double y, const score *b) {
  return x != y ? x < y : strcmp(a->configuration, b->configuration) < 0;
}

static void choose_configurations(const table *t, clt_portable *out, score *best, score *open) {
  score s;
  *best = *open = (score){0};
  for (size_t i = 0; i < t->configurations.n; i++) {
    if (!score_configuration(&s, t, i)) continue;
    out->n_configurations++;
    out->n_complete += s.n_missing == 0;
    if (best->configuration == NULL || s.n_missing < best->n_missing ||
        (s.n_missing == best->n_missing && comes_before(s.sum, &s, best->sum, best)))
      *best = s;
  }
  for (size_t i = 0; i < t->configurations.n && best->configuration; i++) {
    if (i == best->number || !score_configuration(&s, t, i) || s.n_missing == 0 || bound(&s) >= bound(best)) continue;
    out->n_open++;
    if (open->configuration == NULL || comes_before(bound(&s), &s, bound(open), open)) *open = s;
  }
}

/* --- saying so --- */

/* The build options that are the same at all places. */
static int common_options(char **out, const table *t, const char *configuration, clt_error *error) {
  char *common = NULL;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < t->n_places; i++) {
    const clt_instance *instance = t->places[i].instance;
    clt_config config;
    char *options = NULL, *both = NULL, *rest = NULL;
    rc = clt_config_parse(&config, clt_instance_space(instance), configuration, error);
    if (rc == CLT_OK) rc = clt_instance_options(instance, config, &options, error);
    if (rc == CLT_OK && common == NULL) {
      common = options;
    } else if (rc == CLT_OK) {
      clt_text words = {0};
      for (char *word = strtok_r(common, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t n = strlen(word);
        const char *at = strstr(options, word);
        while (at && ((at > options && at[-1] != ' ') || (at[n] != ' ' && at[n] != '\0'))) at = strstr(at + 1, word);
        if (at) clt_text_printf(&words, "%s%s", words.n ? " " : "", word);
      }
      rc = clt_text_take(&both, &words, error);
      free(options);
      free(common);
      common = both;
    }
  }
  if (rc) return free(common), rc;
  *out = common;
  return CLT_OK;
}

static int describe_answer(clt_portable *out, const table *t, clt_error *error) {
  score best, open;
  clt_text missing = {0};
  choose_configurations(t, out, &best, &open);
  if (best.configuration == NULL)
    return clt_fail(error, CLT_E_NO_VALID,
                    "every configuration that was measured fails at one of the %zu places, or is not valid there",
                    t->n_places);
  out->n_missing = best.n_missing;
  out->sum_relative = best.sum;
  out->worst_relative = best.worst;
  out->configuration = strdup(best.configuration);
  out->places = clt_new_array(t->n_places, sizeof *out->places);
  bool no_memory = out->configuration == NULL || out->places == NULL;
  for (; !no_memory && out->n_places < t->n_places; out->n_places++) {
    const place *p = &t->places[out->n_places];
    double cost = p->costs[best.number];
    clt_portable_place *answer = &out->places[out->n_places];
    *answer = (clt_portable_place){strdup(p->key.device),
                                   strdup(p->key.driver),
                                   strdup(p->sizes),
                                   cost / p->best,
                                   clt_objective_exchange(p->objective, cost),
                                   clt_objective_exchange(p->objective, p->best)};
    no_memory = !answer->device || !answer->driver || !answer->sizes;
  }
  if (no_memory) return clt_fail_memory(error);
  if (open.configuration) {
    if ((out->open_configuration = strdup(open.configuration)) == NULL) return clt_fail_memory(error);
    for (size_t i = 0; i < t->n_places; i++)
      if (isnan(t->places[i].costs[open.number]))
        clt_text_printf(&missing, "%s%s%s%s", missing.n ? "; " : "", t->places[i].key.device,
                        t->places[i].sizes[0] ? ", " : "", t->places[i].sizes);
    int rc = clt_text_take(&out->open_missing, &missing, error);
    if (rc) return rc;
  }
  return common_options(&out->options, t, best.configuration, error);
}

int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error) {
  clt_portable made = {0};
  table t = {.filter = filter};
  for (size_t i = 0; filter && i < filter->n_sizes; i++) {
    size_t k = 0, n = clt_problem_n_sizes(problem);
    while (k < n && strcmp(clt_problem_size(problem, k).name, filter->sizes[i].name) != 0) k++;
    if (k == n)
      return clt_fail(error, CLT_E_ARGUMENT, "'%s' has no problem parameter '%.64s'", clt_problem_name(problem),
                      filter->sizes[i].name);
  }
  pthread_mutex_lock(&catalog->mutex);
  t.objective = catalog->objective;
  int rc = clt_catalog_each_place(catalog, problem, add_place, &t, error);
  pthread_mutex_unlock(&catalog->mutex);
  if (rc == CLT_OK && t.n_places == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the store knows nothing of '%s' at these sizes on these devices; 'clatune tune' makes it known",
                  clt_problem_name(problem));
  if (rc == CLT_OK) rc = complete_table(&t, error);
  if (rc == CLT_OK) rc = describe_answer(&made, &t, error);
  release_table(&t);
  if (rc) return clt_portable_release(&made), rc;
  *out = made;
  return CLT_OK;
}
