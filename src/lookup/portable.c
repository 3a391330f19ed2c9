/* The configuration of the least summed relative cost. */
#include "lookup/portable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

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

/* --- which places --- */

typedef struct gathering {
  clt_portable_table table;
  const clt_portable_filter *filter;
  const char *objective;
} gathering;

static bool device_fits(const clt_portable_filter *f, const char *device) {
  for (size_t i = 0; i < f->n_devices; i++)
    if (strcasestr(device, f->devices[i])) return true;
  return f->n_devices == 0;
}

static bool size_fits(const clt_portable_filter *f, clt_size size) {
  bool listed = false;
  for (size_t i = 0; i < f->n_sizes; i++) {
    if (strcmp(f->sizes[i].name, size.name) != 0) continue;
    if (f->sizes[i].value == size.value) return true;
    listed = true;
  }
  return !listed;
}

static int gather(void *user, clt_store *store, const clt_store_key *key, clt_instance **instance, const char *sizes,
                  clt_error *error) {
  gathering *g = user;
  bool fits = g->filter == NULL || device_fits(g->filter, key->device);
  for (size_t i = 0; fits && g->filter && i < clt_instance_n_sizes(*instance); i++)
    fits = size_fits(g->filter, clt_instance_size(*instance, i));
  if (!fits) return CLT_OK;
  clt_instance *taken = *instance;
  *instance = NULL;
  return clt_portable_table_add(&g->table, store, key, taken, sizes, g->objective, error);
}

static int check_sizes(const clt_problem *problem, const clt_portable_filter *f, clt_error *error) {
  for (size_t i = 0; f && i < f->n_sizes; i++) {
    size_t k = 0, n = clt_problem_n_sizes(problem);
    while (k < n && strcmp(clt_problem_size(problem, k).name, f->sizes[i].name) != 0) k++;
    if (k == n)
      return clt_fail(error, CLT_E_ARGUMENT, "'%s' has no problem parameter '%.64s'", clt_problem_name(problem),
                      f->sizes[i].name);
  }
  return CLT_OK;
}

/* --- which configuration --- */

typedef struct score {
  const clt_portable_row *row;
  size_t n_missing;
  double sum, worst;
} score;

/* False: it fails somewhere, or was measured nowhere. */
static bool judge(score *out, const clt_portable_table *t, const clt_portable_row *row) {
  *out = (score){.row = row};
  for (size_t i = 0; i < t->n_places; i++) {
    double relative = row->costs[i] / t->places[i].best;
    if (isinf(row->costs[i])) return false;
    out->n_missing += isnan(relative);
    if (isnan(relative)) continue;
    out->sum += relative;
    out->worst = fmax(out->worst, relative);
  }
  return out->n_missing < t->n_places;
}

static bool better(const score *a, const score *b) {
  if (b->row == NULL) return true;
  if (a->n_missing != b->n_missing) return a->n_missing < b->n_missing;
  return a->sum != b->sum ? a->sum < b->sum : strcmp(a->row->text, b->row->text) < 0;
}

/* As good as the best where nothing is known. */
static double bound(const score *s) { return s->sum + (double)s->n_missing; }

static score find_best(const clt_portable_table *t, clt_portable *out) {
  score best = {.row = NULL}, s;
  for (const clt_portable_row *row = t->rows; row; row = row->hh.next) {
    if (!judge(&s, t, row)) continue;
    out->n_configurations++;
    out->n_complete += s.n_missing == 0;
    if (better(&s, &best)) best = s;
  }
  return best;
}

static score find_open(const clt_portable_table *t, const score *best, clt_portable *out) {
  score open = {.row = NULL}, s;
  for (const clt_portable_row *row = t->rows; row; row = row->hh.next) {
    if (row == best->row || !judge(&s, t, row) || s.n_missing == 0 || bound(&s) >= bound(best)) continue;
    out->n_open++;
    if (open.row == NULL || bound(&s) < bound(&open) ||
        (bound(&s) == bound(&open) && strcmp(row->text, open.row->text) < 0))
      open = s;
  }
  return open;
}

/* --- saying so --- */

static char *missing_text(const clt_portable_table *t, const clt_portable_row *row) {
  char *text = NULL;
  size_t length, n = 0;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return NULL;
  for (size_t i = 0; i < t->n_places; i++) {
    const clt_place *p = &t->places[i];
    if (isnan(row->costs[i]))
      fprintf(out, "%s%s%s%s", n++ ? "; " : "", p->key.device, p->sizes[0] ? ", " : "", p->sizes);
  }
  return fclose(out) ? free(text), NULL : text;
}

static bool has_word(const char *text, const char *word, size_t n) {
  for (const char *at = text; (at = strstr(at, word)); at++)
    if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
  return false;
}

/* The words of `options` that `others` has, too; in place. */
static int keep_common(char *options, const char *others) {
  char *copy = strdup(options), *rest = NULL, *end = options;
  if (copy == NULL) return CLT_E_MEMORY;
  *end = '\0';
  for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    size_t n = strlen(word);
    if (!has_word(others, word, n)) continue;
    if (end > options) *end++ = ' ';
    memcpy(end, word, n + 1);
    end += n;
  }
  free(copy);
  return CLT_OK;
}

static int find_options(char **out, const clt_portable_table *t, const char *configuration, clt_error *error) {
  char *common = NULL;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < t->n_places; i++) {
    const clt_instance *instance = t->places[i].instance;
    clt_config config;
    char *options = NULL;
    rc = clt_config_parse(&config, clt_instance_space(instance), configuration, error);
    if (rc == CLT_OK) rc = clt_instance_options(instance, config, &options, error);
    if (rc == CLT_OK && common && keep_common(common, options)) rc = clt_fail_memory(error);
    if (rc == CLT_OK && common == NULL) common = options, options = NULL;
    free(options);
  }
  if (rc) return free(common), rc;
  *out = common;
  return CLT_OK;
}

static int tell_places(clt_portable *out, const clt_portable_table *t, const clt_portable_row *row, clt_error *error) {
  out->places = clt_new_array(t->n_places, sizeof *out->places);
  if (out->places == NULL) return clt_fail_memory(error);
  for (; out->n_places < t->n_places; out->n_places++) {
    const clt_place *p = &t->places[out->n_places];
    double cost = row->costs[out->n_places];
    clt_portable_place *told = &out->places[out->n_places];
    *told = (clt_portable_place){strdup(p->key.device),
                                 strdup(p->key.driver),
                                 strdup(p->sizes),
                                 cost / p->best,
                                 clt_objective_exchange(p->objective, cost),
                                 clt_objective_exchange(p->objective, p->best)};
    if (!told->device || !told->driver || !told->sizes) return out->n_places++, clt_fail_memory(error);
  }
  return CLT_OK;
}

static int answer(clt_portable *out, const clt_portable_table *t, clt_error *error) {
  score best = find_best(t, out);
  if (best.row == NULL)
    return clt_fail(error, CLT_E_NO_VALID,
                    "every configuration that was measured fails at one of the %zu places, or is not valid there",
                    t->n_places);
  score open = find_open(t, &best, out);
  out->n_missing = best.n_missing;
  out->sum_relative = best.sum;
  out->worst_relative = best.worst;
  out->configuration = strdup(best.row->text);
  if (open.row) out->open_configuration = strdup(open.row->text);
  if (open.row) out->open_missing = missing_text(t, open.row);
  if (!out->configuration || (open.row && (!out->open_configuration || !out->open_missing)))
    return clt_fail_memory(error);
  int rc = tell_places(out, t, best.row, error);
  return rc ? rc : find_options(&out->options, t, best.row->text, error);
}

int clt_catalog_portable(clt_catalog *catalog, clt_portable *out, const clt_problem *problem,
                         const clt_portable_filter *filter, clt_error *error) {
  clt_portable made = {0};
  gathering g = {.filter = filter};
  int rc = check_sizes(problem, filter, error);
  if (rc) return rc;
  pthread_mutex_lock(&catalog->mutex);
  g.objective = catalog->objective;
  rc = clt_catalog_each_place(catalog, problem, gather, &g, error);
  pthread_mutex_unlock(&catalog->mutex);
  if (rc == CLT_OK && g.table.n_places == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the store knows nothing of '%s' at these sizes on these devices; 'clatune tune' makes it known",
                  clt_problem_name(problem));
  if (rc == CLT_OK) rc = clt_portable_table_complete(&g.table, error);
  if (rc == CLT_OK) rc = answer(&made, &g.table, error);
  clt_portable_table_release(&g.table);
  if (rc) return clt_portable_release(&made), rc;
  *out = made;
  return CLT_OK;
}
