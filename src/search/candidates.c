/* The candidates of the surrogate search: which configurations are predicted, and which of them is the best. */
#include "base/base.h"
#include "model/model.h"
#include "search/surrogate.h"
#include "space/space.h"

#define SMALL CLT_LAYOUT_MOST           /* spaces up to here are predicted whole at each refit */
#define HUGE_SPACE UINT64_C(10000000)   /* larger spaces are sampled: predicting all takes seconds */
#define SAMPLE ((size_t)1 << 21)        /* of a huge space */
#define RANKED_SAMPLE ((size_t)1 << 16) /* of a space whose configurations share nothing by their numbers */
#define SMALL_SAMPLE ((size_t)1 << 11)  /* of one that keeps each configuration it has met, of a hundred parameters */
#define SHORT_LIST 4096                 /* of a large space, by mean and by the bound each */
#define BATCH CLT_LAYOUT_MOST           /* configurations that a thread predicts at once */
#define CHUNK (8 * BATCH)               /* enumerated at once */
#define CENTRES CLT_MOST_FASTEST        /* of the best measured and predicted, whose neighbours are looked at */
#define NEIGHBOURS 4096                 /* of one configuration, at most */
#define FEW_NEIGHBOURS 64               /* the same with a small sample, at random */
#define NEAR_FASTEST 3                  /* whose neighbours CLT_NEAR_INCUMBENT looks at */
#define IMPROVEMENT 0.005               /* relative; smaller ones are the noise of repeated runs */

/* Up to this many configurations the whole space is predicted at every other refit; larger spaces wait longer. On a
 * space of 99,008 configurations, doing so at every tenth refit reaches 0.936 of the optimum after 200 evaluations, at
 * every second 0.970, at every refit 0.963 (docs/notebook/surrogate.md). */
#define LOOKED_AT 100000
#define LONGEST_WAIT 10 /* refits */

void clt_candidates_release(clt_candidates *c) {
  clt_arena_release(&c->memory);
  for (int i = 0; i < 2; i++) clt_arena_release(&c->layout[i].memory);
}

int clt_candidates_lay_out(clt_candidates *c, clt_error *error) {
  for (int i = 0; i < 2; i++) clt_arena_release(&c->layout[i].memory);
  int rc = clt_layout_init(&c->layout[0], &c->split[0], c->extra, c->configs, c->n, error);
  if (rc == CLT_OK && c->extra) rc = clt_layout_init(&c->layout[1], &c->split[1], NULL, c->configs, c->n, error);
  return rc;
}

int clt_candidates_init(clt_candidates *c, const clt_encoding *encoding, const clt_extra_inputs *extra,
                        unsigned threads, clt_rng *rng, clt_error *error) {
  uint64_t valid = clt_space_valid(encoding->space);
  c->space = encoding->space;
  c->extra = extra;
  c->threads = threads;
  c->rng = rng;
  c->age = LONGEST_WAIT;
  c->capacity = valid <= SMALL ? (size_t)valid : 2 * SHORT_LIST;
  c->configs = clt_arena_array(&c->memory, c->capacity, sizeof *c->configs);
  c->mean = clt_arena_array(&c->memory, c->capacity, sizeof *c->mean);
  c->spread = clt_arena_array(&c->memory, c->capacity, sizeof *c->spread);
  c->p_fail = clt_arena_array(&c->memory, c->capacity, sizeof *c->p_fail);
  c->process = clt_arena_array(&c->memory, c->capacity, sizeof *c->process);
  c->tree = clt_arena_array(&c->memory, c->capacity, sizeof *c->tree);
  const bool ranked = clt_space_is_ranked(c->space), too_many = clt_space_has_too_many(c->space);
  /* The layout's table is chosen for neighbouring ranks in the middle of the space; that of a ranked space is empty. */
  size_t n = ranked ? 1 : clt_min(valid, BATCH);
  clt_arena scratch = {0};
  clt_config *middle = clt_arena_array(&scratch, n, sizeof *middle);
  if (middle == NULL || c->memory.failed) {
    clt_arena_release(&scratch);
    return clt_fail_memory(error);
  }
  n = clt_space_enumerate(c->space, (valid - n) / 2, n, middle);
  int rc = clt_split_choose(&c->split[0], encoding, extra != NULL, middle, n, error);
  if (rc == CLT_OK && extra) rc = clt_split_choose(&c->split[1], encoding, false, middle, n, error);
  clt_arena_release(&scratch);
  if (rc == CLT_OK && valid <= SMALL) {
    size_t n_valid = clt_space_enumerate(c->space, 0, c->capacity, c->configs);
    for (size_t i = 0; i < n_valid; i++)
      if (clt_space_canonical(c->space, c->configs[i]) == c->configs[i]) c->configs[c->n++] = c->configs[i];
    c->complete = true;
    rc = clt_candidates_lay_out(c, error);
  }
  const size_t n_large = ranked ? RANKED_SAMPLE : SAMPLE, n_sample = too_many ? SMALL_SAMPLE : n_large;
  if (rc || valid <= (ranked ? RANKED_SAMPLE : HUGE_SPACE)) return rc;
  c->sample = clt_arena_array(&c->memory, n_sample, sizeof *c->sample);
  if (c->sample == NULL) return clt_fail_memory(error);
  /* Ascending ranks, so that neighbours in the sample share what is computed for one of them. */
  for (size_t i = 0; i < n_sample; i++) c->sample[i] = clt_rng_below(rng, valid);
  clt_sort_u64(c->sample, n_sample);
  for (size_t i = 0; i < n_sample; i++) c->sample[i] = clt_space_at(c->space, c->sample[i]);
  c->n_sample = n_sample;
  return CLT_OK;
}

/* --- predicting the whole space --- */

struct look {
  clt_candidates *candidates;
  const clt_committee *committee;
  bool blind;
  double kappa;
  const clt_map *asked;
  clt_heap lists[2];   /* by mean; by the bound */
  clt_config *configs; /* a chunk */
  float *mean, *spread;
  const clt_config *part; /* the predicted ones: n_part of them */
  size_t n_part;
};

static int predict_batch(void *user, size_t index, clt_error *error) {
  const struct look *look = user;
  const clt_candidates *c = look->candidates;
  size_t first = index * BATCH, n = clt_min(look->n_part - first, BATCH);
  clt_layout layout;
  int rc =
      clt_layout_init(&layout, &c->split[look->blind], look->blind ? NULL : c->extra, look->part + first, n, error);
  if (rc == CLT_OK)
    rc = clt_committee_predict(look->committee, &layout, look->mean + first, look->spread + first, error);
  clt_arena_release(&layout.memory);
  return rc;
}

/* Offers n configurations, at most CHUNK, to both lists. */
static int look_at(struct look *look, const clt_config *configs, size_t n, clt_error *error) {
  const clt_space *space = look->candidates->space;
  look->part = configs;
  look->n_part = n;
  int rc = clt_parallel(look->candidates->threads, (n + BATCH - 1) / BATCH, predict_batch, look, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    for (int k = 0; k < 2; k++) {
      float score = look->mean[i] - (float)(k ? look->kappa : 0) * look->spread[i];
      if (score > clt_heap_worst(&look->lists[k])) continue;
      if (clt_space_canonical(space, configs[i]) != configs[i] || clt_map_find(look->asked, configs[i])) break;
      clt_heap_add(&look->lists[k], &(clt_candidate){configs[i], {.log_cost = score}, true});
    }
  }
  return rc;
}

/* Makes the most promising configurations of the space the candidates. */
static int choose_short_list(clt_candidates *c, const clt_committee *committee, bool blind, const clt_map *asked,
                             const clt_fastest *fastest, double kappa, clt_error *error) {
  struct look look = {.candidates = c, .committee = committee, .blind = blind, .kappa = kappa, .asked = asked};
  uint64_t valid = clt_space_valid(c->space);
  clt_arena scratch = {0};
  look.configs = clt_arena_array(&scratch, CHUNK, sizeof *look.configs);
  look.mean = clt_arena_array(&scratch, CHUNK, sizeof *look.mean);
  look.spread = clt_arena_array(&scratch, CHUNK, sizeof *look.spread);
  int rc = clt_arena_check(&scratch, error);
  for (int k = 0; rc == CLT_OK && k < 2; k++) rc = clt_heap_init(&look.lists[k], SHORT_LIST, error);
  for (uint64_t first = 0; rc == CLT_OK && c->n_sample == 0 && first < valid; first += CHUNK)
    rc = look_at(&look, look.configs, clt_space_enumerate(c->space, first, CHUNK, look.configs), error);
  for (size_t first = 0; rc == CLT_OK && first < c->n_sample; first += CHUNK)
    rc = look_at(&look, c->sample + first, clt_min(c->n_sample - first, CHUNK), error);
  if (rc == CLT_OK && c->n_sample) { /* around the best measured and the best predicted, in both ways */
    clt_config centres[3 * CENTRES];
    size_t n_centres = fastest->n;
    memcpy(centres, fastest->configs, fastest->n * sizeof *centres);
    for (int k = 0; rc == CLT_OK && k < 2; k++) {
      clt_heap copy;
      rc = clt_heap_init(&copy, CENTRES, error);
      for (size_t i = 0; rc == CLT_OK && i < look.lists[k].n; i++) clt_heap_add(&copy, &look.lists[k].items[i]);
      if (rc == CLT_OK) clt_heap_sort(&copy);
      for (size_t i = 0; rc == CLT_OK && i < copy.n; i++) centres[n_centres++] = copy.items[i].config;
      clt_heap_release(&copy);
    }
    for (size_t i = 0; rc == CLT_OK && i < n_centres; i++) {
      const bool few = clt_space_has_too_many(c->space);
      size_t n = few ? FEW_NEIGHBOURS : clt_space_neighbours(look.configs, NEIGHBOURS, c->space, centres[i]);
      for (size_t k = 0; few && k < n; k++) look.configs[k] = clt_vary(c->space, centres[i], c->rng);
      rc = look_at(&look, look.configs, clt_min(n, NEIGHBOURS), error);
    }
  }
  if (rc == CLT_OK) { /* both lists, each configuration once */
    size_t n = 0;
    for (int k = 0; k < 2; k++)
      for (size_t i = 0; i < look.lists[k].n; i++) c->configs[n++] = look.lists[k].items[i].config;
    clt_sort_u64(c->configs, n);
    c->n = 0;
    for (size_t i = 0; i < n; i++)
      if (c->n == 0 || c->configs[i] != c->configs[c->n - 1]) c->configs[c->n++] = c->configs[i];
    c->age = 0;
    rc = clt_candidates_lay_out(c, error);
  }
  for (int k = 0; k < 2; k++) clt_heap_release(&look.lists[k]);
  clt_arena_release(&scratch);
  return rc;
}

/* --- predicting and choosing --- */

int clt_candidates_predict(clt_candidates *c, const clt_committee *committee, bool blind, const clt_map *asked,
                           const clt_fastest *fastest, double kappa, bool *changed, clt_error *error) {
  /* Refits until the whole space is predicted again, so that the cost per refit is similar for all spaces. */
  uint64_t waits = (c->n_sample ? c->n_sample : clt_space_valid(c->space)) / LOOKED_AT;
  int wait = waits < LONGEST_WAIT ? 1 + (int)waits : LONGEST_WAIT;
  bool any_left = false;
  int rc = CLT_OK;
  blind = blind && c->extra;
  c->age++;
  for (size_t i = 0; i < c->n && !any_left; i++) any_left = !clt_map_find(asked, c->configs[i]);
  *changed = !c->complete && (c->age > wait || !any_left);
  if (*changed) rc = choose_short_list(c, committee, blind, asked, fastest, kappa, error);
  return rc ? rc : clt_committee_predict(committee, &c->layout[blind], c->mean, c->spread, error);
}

/* Logarithm of the expected improvement of a normal cost on the best (Jones, Schonlau and Welch, "Efficient global
 * optimization of expensive black-box functions", 1998); far from the best, where it would be 0, by its asymptote. */
static double log_improvement(double mean, double deviation, double best) {
  const double u = (best - mean) / deviation, density = exp(-0.5 * u * u) / sqrt(2 * M_PI);
  if (u < -8) return log(deviation) - 0.5 * u * u - log(sqrt(2 * M_PI) * u * u);
  return log(deviation * (density + 0.5 * u * erfc(-u / M_SQRT2)));
}

int clt_candidates_predict_improvement(clt_candidates *c, const clt_encoding *encoding, const clt_config *configs,
                                       const double *log_costs, size_t n, double best, clt_error *error) {
  float *deviation = clt_new_array(c->n, sizeof *deviation);
  if (deviation == NULL) return clt_fail_memory(error);
  int rc = clt_gaussian_predict(encoding, configs, log_costs, n, c->configs, c->n, c->process, deviation, error);
  for (size_t i = 0; rc == CLT_OK && i < c->n; i++)
    c->process[i] = (float)-log_improvement((double)c->process[i], (double)deviation[i], best);
  free(deviation);
  return rc;
}

void clt_improvement_note(clt_improvement *i, double cost) {
  bool first = !(i->best_cost > 0);
  i->n++;
  if (isnan(cost)) return;
  if (first || cost < i->best_cost * (1 - IMPROVEMENT)) i->best_at = i->n;
  if (first || cost < i->best_cost) i->best_cost = cost;
}

clt_fastest clt_fastest_of(const clt_result_row *results, size_t n_results) {
  const clt_result_row *rows[CLT_MOST_FASTEST + 1];
  clt_fastest fastest = {.n = 0};
  for (size_t i = 0; i < n_results; i++) {
    const clt_result_row *row = &results[i];
    size_t at = fastest.n;
    if (isnan(row->cost)) continue;
    for (; at > 0; at--) {
      const clt_result_row *before = rows[at - 1];
      if (row->cost != before->cost ? row->cost > before->cost : row->config >= before->config) break;
      rows[at] = before;
    }
    rows[at] = row;
    if (fastest.n < CLT_MOST_FASTEST) fastest.n++;
  }
  for (size_t k = 0; k < fastest.n; k++) fastest.configs[k] = rows[k]->config;
  return fastest;
}

/* Whether a configuration is a neighbour of one of the fastest. */
static bool is_near(const clt_candidates *c, clt_config config, const clt_fastest *fastest) {
  for (size_t k = 0; k < fastest->n && k < NEAR_FASTEST; k++)
    if (clt_space_is_neighbour(c->space, fastest->configs[k], config)) return true;
  return false;
}

clt_config clt_candidates_best(const clt_candidates *c, clt_acquisition acquisition, double kappa, const clt_map *asked,
                               const clt_fastest *fastest) {
  clt_config best = CLT_CONFIG_NONE;
  float least = INFINITY;
  bool near = acquisition == CLT_NEAR_INCUMBENT, best_fails = true;
  for (size_t i = 0; i < c->n; i++) {
    float score = c->mean[i];
    if (acquisition == CLT_BY_TREES) score = c->tree[i];
    if (acquisition == CLT_BY_PROCESS) score = c->process[i];
    if (acquisition == CLT_BY_BOUND) score -= (float)kappa * c->spread[i];
    bool fails = c->p_fail[i] > CLT_P_FAIL;
    if (best != CLT_CONFIG_NONE && (fails > best_fails || (fails == best_fails && !(score < least)))) continue;
    if (near && (fails || !is_near(c, c->configs[i], fastest))) continue;
    if (clt_map_find(asked, c->configs[i])) continue;
    best = c->configs[i];
    least = score;
    best_fails = fails;
  }
  return near && best == CLT_CONFIG_NONE ? clt_candidates_best(c, CLT_BY_MEAN, kappa, asked, fastest) : best;
}
