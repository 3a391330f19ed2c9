/* Which configurations the surrogate search predicts, and which of them is the most promising. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "search/surrogate.h"

#define SMALL CLT_LAYOUT_MOST         /* spaces up to here are predicted whole at each refit */
#define HUGE_SPACE UINT64_C(10000000) /* spaces from here on are sampled */
#define SAMPLE ((size_t)1 << 21)      /* of a huge space */
#define SHORT_LIST 4096               /* of a large space, by mean and by mean - kappa * spread each */
#define LOOKED_AT 100000      /* configurations for which a look at every other refit pays; more of them wait longer */
#define LONGEST_WAIT 10       /* refits */
#define BATCH CLT_LAYOUT_MOST /* configurations that a thread predicts at once */
#define CHUNK (8 * BATCH)     /* enumerated at once */
#define CENTRES 10            /* of the best measured and of the best predicted, whose neighbours are looked at */
#define NEIGHBOURS 4096       /* of one configuration, at most */
#define NEAR_FASTEST 3        /* whose neighbours clt_view_near looks at */
#define P_FAIL 0.5f           /* from here on a configuration stands behind all others */

/* --- the short list of a large space: a heap with the worst on top --- */

struct entry {
  clt_config config;
  float score;
};

struct short_list {
  struct entry *entries;
  size_t n;
  double kappa; /* the score is mean - kappa * spread */
};

static bool worse(const struct entry *a, const struct entry *b) {
  return a->score != b->score ? a->score > b->score : a->config > b->config;
}

static void swap(struct entry *a, struct entry *b) {
  struct entry t = *a;
  *a = *b;
  *b = t;
}

static void sift_up(struct entry *e, size_t i) {
  for (; i > 0 && worse(&e[i], &e[(i - 1) / 2]); i = (i - 1) / 2) swap(&e[i], &e[(i - 1) / 2]);
}

static void sift_down(struct entry *e, size_t n) {
  for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && worse(&e[child + 1], &e[child])) child++;
    if (!worse(&e[child], &e[i])) return;
    swap(&e[i], &e[child]);
  }
}

static bool may_enter(const struct short_list *list, const struct entry *entry) {
  return list->n < SHORT_LIST || worse(&list->entries[0], entry);
}

static void enter(struct short_list *list, struct entry entry) {
  if (list->n < SHORT_LIST) {
    list->entries[list->n++] = entry;
    sift_up(list->entries, list->n - 1);
  } else {
    list->entries[0] = entry;
    sift_down(list->entries, list->n);
  }
}

/* --- memory --- */

static int reserve(clt_view *view, size_t capacity, clt_error *error) {
  view->capacity = capacity;
  view->configs = clt_new_array(capacity, sizeof *view->configs);
  view->mean = clt_new_array(capacity, sizeof *view->mean);
  view->spread = clt_new_array(capacity, sizeof *view->spread);
  view->p_fail = clt_new_array(capacity, sizeof *view->p_fail);
  view->tree = clt_new_array(capacity, sizeof *view->tree);
  view->blocked = clt_new_array(capacity, sizeof *view->blocked);
  bool all = view->configs && view->mean && view->spread && view->p_fail && view->tree && view->blocked;
  return all ? CLT_OK : clt_fail_memory(error);
}

void clt_view_release(clt_view *view) {
  free(view->configs);
  free(view->mean);
  free(view->spread);
  free(view->p_fail);
  free(view->tree);
  free(view->blocked);
  free(view->sample);
  for (int i = 0; i < 2; i++) clt_layout_release(&view->layout[i]);
}

static void fill_whole(clt_view *view) {
  size_t n = clt_space_enumerate(view->space, 0, view->capacity, view->configs);
  for (size_t i = 0; i < n; i++)
    if (clt_space_canonical(view->space, view->configs[i]) == view->configs[i])
      view->configs[view->n++] = view->configs[i];
  view->complete = true;
}

static int by_rank(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Ascending ranks, so that neighbours in the sample share what is computed for one of them. */
static int draw_sample(clt_view *view, clt_rng *rng, clt_error *error) {
  view->sample = clt_new_array(SAMPLE, sizeof *view->sample);
  uint64_t *ranks = clt_new_array(SAMPLE, sizeof *ranks);
  int rc = view->sample && ranks ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < SAMPLE; i++) ranks[i] = clt_rng_below(rng, clt_space_valid(view->space));
  if (!rc) qsort(ranks, SAMPLE, sizeof *ranks, by_rank);
  for (size_t i = 0; !rc && i < SAMPLE; i++) view->sample[i] = clt_space_at(view->space, ranks[i]);
  view->n_sample = rc ? 0 : SAMPLE;
  free(ranks);
  return rc;
}

/* The table is chosen for neighbouring ranks in the middle of the space. */
static int choose_split(clt_view *view, clt_error *error) {
  uint64_t valid = clt_space_valid(view->space);
  size_t n = valid < BATCH ? (size_t)valid : BATCH;
  clt_config *configs = clt_new_array(n, sizeof *configs);
  if (configs == NULL) return clt_fail_memory(error);
  n = clt_space_enumerate(view->space, (valid - n) / 2, n, configs);
  int rc = clt_layout_split(&view->split[0], view->encoding, view->extra != NULL, configs, n, error);
  if (!rc && view->extra) rc = clt_layout_split(&view->split[1], view->encoding, false, configs, n, error);
  free(configs);
  return rc;
}

static int lay_out(clt_view *view, clt_error *error) {
  for (int i = 0; i < 2; i++) clt_layout_release(&view->layout[i]);
  int rc = clt_layout_init(&view->layout[0], &view->split[0], view->extra, view->configs, view->n, error);
  if (!rc && view->extra) rc = clt_layout_init(&view->layout[1], &view->split[1], NULL, view->configs, view->n, error);
  return rc;
}

int clt_view_init(clt_view *view, const clt_encoding *encoding, const clt_extra_inputs *extra, unsigned threads,
                  clt_rng *rng, clt_error *error) {
  uint64_t valid = clt_space_valid(encoding->space);
  view->space = encoding->space;
  view->encoding = encoding;
  view->extra = extra;
  view->threads = threads;
  view->age = LONGEST_WAIT;
  int rc = reserve(view, valid <= SMALL ? (size_t)valid : 2 * SHORT_LIST, error);
  if (!rc) rc = choose_split(view, error);
  if (!rc && valid <= SMALL) fill_whole(view);
  if (!rc && valid <= SMALL) rc = lay_out(view, error);
  if (!rc && valid > HUGE_SPACE) rc = draw_sample(view, rng, error);
  return rc;
}

void clt_view_block(clt_view *view, clt_config config) {
  for (size_t i = 0; i < view->n; i++)
    if (view->configs[i] == config) view->blocked[i] = 1;
}

/* --- looking at the whole space --- */

struct look {
  clt_view *view;
  const clt_committee *committee;
  bool blind;
  const clt_config_set *asked;
  struct short_list lists[2]; /* by mean; by mean - kappa * spread */
  clt_config *configs;        /* a chunk */
  float *mean, *spread;
};

static void offer(struct look *look, clt_config config, float mean, float spread) {
  bool known = false, open = false;
  for (int k = 0; k < 2; k++) {
    struct short_list *list = &look->lists[k];
    struct entry entry = {config, mean - (float)list->kappa * spread};
    if (!may_enter(list, &entry)) continue;
    if (!known)
      open = clt_space_canonical(look->view->space, config) == config && !clt_config_set_has(look->asked, config);
    known = true;
    if (open) enter(list, entry);
  }
}

struct part {
  struct look *look;
  const clt_config *configs;
  size_t n;
};

static int predict_part(void *user, size_t index, clt_error *error) {
  const struct part *part = user;
  size_t first = index * BATCH, n = part->n - first < BATCH ? part->n - first : BATCH;
  const struct look *look = part->look;
  const clt_extra_inputs *extra = look->blind ? NULL : look->view->extra;
  clt_layout layout;
  int rc = clt_layout_init(&layout, &look->view->split[look->blind], extra, part->configs + first, n, error);
  if (!rc) rc = clt_committee_predict(look->committee, &layout, look->mean + first, look->spread + first, error);
  clt_layout_release(&layout);
  return rc;
}

/* At most CHUNK of them. */
static int look_at(struct look *look, const clt_config *configs, size_t n, clt_error *error) {
  struct part part = {look, configs, n};
  int rc = clt_parallel(look->view->threads, (n + BATCH - 1) / BATCH, predict_part, &part, error);
  for (size_t i = 0; !rc && i < n; i++) offer(look, configs[i], look->mean[i], look->spread[i]);
  return rc;
}

static int look_at_all(struct look *look, clt_error *error) {
  const clt_view *view = look->view;
  uint64_t valid = clt_space_valid(view->space);
  int rc = CLT_OK;
  for (uint64_t first = 0; !rc && first < valid; first += CHUNK)
    rc = look_at(look, look->configs, clt_space_enumerate(view->space, first, CHUNK, look->configs), error);
  return rc;
}

static int by_score(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return worse(x, y) ? 1 : -1;
}

/* The best measured and the best predicted, in both ways. */
static int find_centres(struct look *look, const clt_told *told, clt_config *out, size_t *n, clt_error *error) {
  *n = clt_told_fastest(told, out, CENTRES);
  for (int k = 0; k < 2; k++) {
    struct short_list *list = &look->lists[k];
    struct entry *best = clt_new_array(list->n, sizeof *best);
    if (best == NULL) return clt_fail_memory(error);
    memcpy(best, list->entries, list->n * sizeof *best);
    qsort(best, list->n, sizeof *best, by_score);
    for (size_t i = 0; i < CENTRES && i < list->n; i++) out[(*n)++] = best[i].config;
    free(best);
  }
  return CLT_OK;
}

static int look_at_sample(struct look *look, const clt_told *told, clt_error *error) {
  const clt_view *view = look->view;
  clt_config centres[3 * CENTRES];
  size_t n_centres = 0;
  int rc = CLT_OK;
  for (size_t first = 0; !rc && first < view->n_sample; first += CHUNK) {
    size_t n = view->n_sample - first < CHUNK ? view->n_sample - first : CHUNK;
    rc = look_at(look, view->sample + first, n, error);
  }
  if (!rc) rc = find_centres(look, told, centres, &n_centres, error);
  for (size_t i = 0; !rc && i < n_centres; i++) {
    size_t n = clt_space_neighbours(view->space, centres[i], look->configs, NEIGHBOURS);
    rc = look_at(look, look->configs, n < NEIGHBOURS ? n : NEIGHBOURS, error);
  }
  return rc;
}

/* Both lists, each configuration once. */
static void take_lists(clt_view *view, const struct look *look) {
  size_t n = 0;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < look->lists[k].n; i++) view->configs[n++] = look->lists[k].entries[i].config;
  clt_sort_u64(view->configs, n);
  view->n = 0;
  for (size_t i = 0; i < n; i++)
    if (view->n == 0 || view->configs[i] != view->configs[view->n - 1]) view->configs[view->n++] = view->configs[i];
  memset(view->blocked, 0, view->n);
  view->age = 0;
}

static int choose_short_list(clt_view *view, const clt_committee *committee, bool blind, const clt_config_set *asked,
                             const clt_told *told, double kappa, clt_error *error) {
  struct look look = {view, committee, blind, asked, {{.kappa = 0}, {.kappa = kappa}}};
  for (int k = 0; k < 2; k++) look.lists[k].entries = clt_new_array(SHORT_LIST, sizeof *look.lists[k].entries);
  look.configs = clt_new_array(CHUNK, sizeof *look.configs);
  look.mean = clt_new_array(CHUNK, sizeof *look.mean);
  look.spread = clt_new_array(CHUNK, sizeof *look.spread);
  bool all = look.lists[0].entries && look.lists[1].entries && look.configs && look.mean && look.spread;
  int rc = all ? CLT_OK : clt_fail_memory(error);
  if (!rc) rc = view->n_sample ? look_at_sample(&look, told, error) : look_at_all(&look, error);
  if (!rc) {
    take_lists(view, &look);
    rc = lay_out(view, error);
  }
  for (int k = 0; k < 2; k++) free(look.lists[k].entries);
  free(look.configs);
  free(look.mean);
  free(look.spread);
  return rc;
}

/* --- predicting and choosing --- */

static bool all_blocked(const clt_view *view) {
  for (size_t i = 0; i < view->n; i++)
    if (!view->blocked[i]) return false;
  return true;
}

/* Refits until the next look at the whole space, so that looking costs about as much in all spaces. */
static int wait(const clt_view *view) {
  uint64_t n = view->n_sample ? view->n_sample : clt_space_valid(view->space);
  return n / LOOKED_AT < LONGEST_WAIT ? 1 + (int)(n / LOOKED_AT) : LONGEST_WAIT;
}

int clt_view_predict(clt_view *view, const clt_committee *committee, bool blind, const clt_config_set *asked,
                     const clt_told *told, double kappa, bool *changed, clt_error *error) {
  blind = blind && view->extra;
  view->age++;
  *changed = !view->complete && (view->age > wait(view) || all_blocked(view));
  int rc = *changed ? choose_short_list(view, committee, blind, asked, told, kappa, error) : CLT_OK;
  return rc ? rc : clt_committee_predict(committee, &view->layout[blind], view->mean, view->spread, error);
}

int clt_view_predict_trees(clt_view *view, const clt_forest *trees, clt_error *error) {
  return clt_forest_predict(trees, view->configs, view->n, view->tree, error);
}

int clt_view_predict_failures(clt_view *view, const clt_forest *validity, clt_error *error) {
  return clt_forest_predict(validity, view->configs, view->n, view->p_fail, error);
}

clt_config clt_view_best(const clt_view *view, double kappa, bool by_trees) {
  clt_config best = CLT_CONFIG_NONE;
  float least = INFINITY;
  bool best_fails = true;
  for (size_t i = 0; i < view->n; i++) {
    if (view->blocked[i]) continue;
    float score = by_trees ? view->tree[i] : view->mean[i] - (float)kappa * view->spread[i];
    bool fails = view->p_fail[i] > P_FAIL;
    if (best != CLT_CONFIG_NONE && (fails > best_fails || (fails == best_fails && !(score < least)))) continue;
    best = view->configs[i];
    least = score;
    best_fails = fails;
  }
  return best;
}

clt_config clt_view_near(const clt_view *view, const clt_told *told) {
  clt_config centres[NEAR_FASTEST], best = CLT_CONFIG_NONE;
  size_t n_centres = clt_told_fastest(told, centres, NEAR_FASTEST);
  float least = INFINITY;
  for (size_t i = 0; i < view->n; i++) {
    if (view->blocked[i] || view->p_fail[i] > P_FAIL || !(view->mean[i] < least)) continue;
    bool near = false;
    for (size_t k = 0; k < n_centres && !near; k++)
      near = clt_encoded_difference(view->encoding, view->configs[i], centres[k]) == 1;
    if (!near) continue;
    best = view->configs[i];
    least = view->mean[i];
  }
  return best;
}
