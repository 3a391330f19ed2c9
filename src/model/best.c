/* Predicting the whole space in batches on several threads: all predictions, or the best ones. With a limit on the
 * predictions: the best that hill climbing finds. */
#include <clatune/rng.h>
#include <pthread.h>

#include "base/base.h"
#include "base/hash.h"
#include "model/model.h"
#include "space/space.h"

/* --- the best few of many candidates --- */

static inline bool is_before(const clt_candidate *p, const clt_candidate *q) {
  if (p->likely != q->likely) return p->likely;
  if (p->prediction.log_cost != q->prediction.log_cost) return p->prediction.log_cost < q->prediction.log_cost;
  return p->config < q->config;
}

static int compare_candidates(const void *a, const void *b) { return is_before(b, a) - is_before(a, b); }

int clt_heap_init(clt_heap *h, size_t capacity, clt_error *error) {
  *h = (clt_heap){clt_new_array(capacity, sizeof *h->items), 0, capacity};
  return h->items ? CLT_OK : clt_fail_memory(error);
}

void clt_heap_release(clt_heap *h) { free(h->items); }

/* A hole rises or sinks to the candidate's position. */
void clt_heap_add(clt_heap *h, const clt_candidate *c) {
  clt_candidate *items = h->items;
  size_t hole = 0;
  if (h->n < h->capacity) {
    for (hole = h->n++; hole && is_before(&items[(hole - 1) / 2], c); hole = (hole - 1) / 2)
      items[hole] = items[(hole - 1) / 2];
  } else {
    if (h->n == 0 || !is_before(c, &items[0])) return;
    for (size_t child; (child = 2 * hole + 1) < h->n; hole = child) {
      if (child + 1 < h->n && is_before(&items[child], &items[child + 1])) child++;
      if (!is_before(c, &items[child])) break;
      items[hole] = items[child];
    }
  }
  items[hole] = *c;
}

float clt_heap_worst(const clt_heap *h) {
  bool closed = h->n && h->n == h->capacity && h->items[0].likely;
  return closed ? h->items[0].prediction.log_cost : INFINITY;
}

void clt_heap_sort(clt_heap *h) {
  if (h->n) qsort(h->items, h->n, sizeof *h->items, compare_candidates);
}

/* How many of n candidates to keep for the m best: times * m, at least fewest. */
static size_t count_kept(size_t m, size_t times, size_t fewest, uint64_t n) {
  if (m == 0) return 0;
  return clt_min(n, m > SIZE_MAX / times ? n : clt_max(m * times, fewest));
}

/* --- the configurations kept --- */

#define PART 1024 /* candidates that a thread predicts at once */

struct repredicted {
  const clt_model *model;
  clt_heap *heap;
};

static int predict_part(void *user, size_t index, clt_error *error) {
  const struct repredicted *kept = user;
  size_t first = index * PART, n = clt_min(kept->heap->n - first, PART);
  clt_config configs[PART] = {0};
  clt_prediction predictions[PART];
  clt_candidate *items = kept->heap->items + first;
  for (size_t i = 0; i < n; i++) configs[i] = items[i].config;
  int rc = clt_model_predict_costs(kept->model, configs, n, false, predictions, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    predictions[i].p_valid = items[i].prediction.p_valid;
    items[i].prediction = predictions[i];
  }
  return rc;
}

/* Returns the m best candidates of the heap in ascending order, predicted exactly; predictions may be NULL. The heap
 * cannot be used afterwards. */
static int hand_out(const clt_model *model, clt_heap *h, bool exactly, size_t m, clt_config *out,
                    clt_prediction *predictions, size_t *n_out, clt_error *error) {
  struct repredicted kept = {model, h};
  int rc = exactly ? clt_parallel(model->threads, (h->n + PART - 1) / PART, predict_part, &kept, error) : CLT_OK;
  if (rc == CLT_OK) {
    clt_heap_sort(h);
    *n_out = clt_min(h->n, m);
  }
  for (size_t i = 0; rc == CLT_OK && i < *n_out; i++) {
    out[i] = h->items[i].config;
    if (predictions) predictions[i] = h->items[i].prediction;
  }
  clt_heap_release(h);
  return rc;
}

/* --- the sweep: the m best, or every prediction in order --- */

#define LARGEST_BATCH 32768
#define SMALLEST_BATCH 1024
#define BATCHES_PER_THREAD 4 /* at least, in a large enough space, so that no thread waits long for the last one */
#define KEPT 16              /* times as many as wanted are kept by fast predictions, and */
#define FEWEST_KEPT 32768    /* at least this many, or */
#define KEPT_SHARE 4         /* one in so many, if that is less */
#define CLIMBED 65536        /* predictions in a space that is too large */

struct sweep {
  const clt_model *model;
  bool fast;
  size_t batch;
  pthread_mutex_t lock;  /* of the members below, for all threads */
  clt_model_visit visit; /* NULL: the best go to the heap */
  void *user;
  size_t turn; /* the batch that is visited next */
  bool stopped;
  pthread_cond_t changed;
  clt_heap heap;
  double min_p_valid;
  const clt_config *skip;
  size_t n_skip;
};

static int sweep_batch(void *user, size_t index, clt_error *error) {
  struct sweep *s = user;
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, s->batch, sizeof *configs);
  clt_prediction *p = clt_arena_array(&scratch, s->batch, sizeof *p);
  int rc = clt_arena_check(&scratch, error);
  uint64_t first = (uint64_t)index * s->batch;
  size_t n = rc ? 0 : clt_space_enumerate(s->model->space, first, s->batch, configs);
  if (rc == CLT_OK) rc = clt_model_predict_costs(s->model, configs, n, s->fast, p, error);
  if (rc == CLT_OK && s->visit == NULL) { /* validity is asked only for those that may enter: they move to the front */
    pthread_mutex_lock(&s->lock);
    float worst = clt_heap_worst(&s->heap);
    pthread_mutex_unlock(&s->lock);
    size_t n_picked = 0;
    for (size_t i = 0; i < n; i++) {
      if (p[i].log_cost > worst || clt_search_u64(s->skip, s->n_skip, configs[i], NULL)) continue;
      configs[n_picked] = configs[i];
      p[n_picked++] = p[i];
    }
    n = n_picked;
  }
  if (rc == CLT_OK) rc = clt_model_predict_validity(s->model, configs, n, p, error);
  pthread_mutex_lock(&s->lock);
  if (s->visit) { /* batches begin in ascending order, so that the one whose turn it is never waits for a waiting one */
    while (rc == CLT_OK && !s->stopped && s->turn != index) pthread_cond_wait(&s->changed, &s->lock);
    if (rc == CLT_OK && !s->stopped) rc = s->visit(s->user, first, n, p);
    s->turn++;
    if (rc) s->stopped = true; /* at once, before another batch has its turn */
    pthread_cond_broadcast(&s->changed);
  }
  for (size_t i = 0; rc == CLT_OK && !s->visit && i < n; i++)
    clt_heap_add(&s->heap, &(clt_candidate){configs[i], p[i], !(p[i].p_valid < s->min_p_valid)});
  pthread_mutex_unlock(&s->lock);
  clt_arena_release(&scratch);
  return rc;
}

static int sweep_space(struct sweep *s, clt_error *error) {
  unsigned threads = s->model->threads;
  uint64_t n_valid = clt_space_valid(s->model->space);
  uint64_t share = n_valid / (BATCHES_PER_THREAD * (threads ? threads : clt_processors())) + 1;
  s->batch = clt_max(SMALLEST_BATCH, clt_min(share, LARGEST_BATCH));
  s->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  s->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  return clt_parallel(threads, (size_t)((n_valid + s->batch - 1) / s->batch), sweep_batch, s, error);
}

/* clt_model_best in a space that is too large to be swept. */
static int climb_to_best(clt_config *out, clt_prediction *predictions, size_t *n_out, const clt_model *model, size_t m,
                         double min_p_valid, const clt_config *skip, size_t n_skip, clt_error *error) {
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, m + n_skip, sizeof *configs);
  clt_prediction *found = clt_arena_array(&scratch, m + n_skip, sizeof *found);
  size_t n = 0;
  int rc = clt_arena_check(&scratch, error);
  if (rc == CLT_OK) rc = clt_model_climb(model, m + n_skip, min_p_valid, CLIMBED, configs, found, &n, error);
  *n_out = 0;
  for (size_t i = 0; rc == CLT_OK && i < n && *n_out < m; i++) {
    if (clt_search_u64(skip, n_skip, configs[i], NULL)) continue;
    if (predictions) predictions[*n_out] = found[i];
    out[(*n_out)++] = configs[i];
  }
  clt_arena_release(&scratch);
  return rc;
}

int clt_model_best(clt_config *out, clt_prediction *predictions, size_t *n_out, const clt_model *model, size_t m,
                   double min_p_valid, const clt_config *skip, size_t n_skip, clt_error *error) {
  uint64_t n_valid = clt_space_valid(model->space);
  if (n_valid > CLT_MOST_SWEPT)
    return climb_to_best(out, predictions, n_out, model, m, min_p_valid, skip, n_skip, error);
  m = clt_min(m, n_valid);
  size_t n_kept = count_kept(m, KEPT, clt_min(n_valid / KEPT_SHARE, FEWEST_KEPT), n_valid);
  bool fast = n_kept < n_valid && model->type->has_fast;
  struct sweep s = {.model = model, .fast = fast, .min_p_valid = min_p_valid, .skip = skip, .n_skip = n_skip};
  int rc = clt_heap_init(&s.heap, fast ? n_kept : m, error);
  if (rc == CLT_OK && m) rc = sweep_space(&s, error);
  if (rc) {
    clt_heap_release(&s.heap);
    return rc;
  }
  return hand_out(model, &s.heap, fast, m, out, predictions, n_out, error);
}

int clt_model_sweep(const clt_model *model, clt_model_visit visit, void *user, clt_error *error) {
  return sweep_space(&(struct sweep){.model = model, .visit = visit, .user = user}, error);
}

/* --- hill climbing --- */

#define SWEPT 4   /* times as many configurations as may be predicted one by one are swept in the same time */
#define SAMPLED 4 /* one in so many predictions is of a random configuration, to begin with */
#define CLIMBS 4  /* from the best of these; the rest goes to the neighbours of the best of all */

/* After a climb by fast predictions, so many times as many as wanted are predicted exactly, */
#define CLIMB_KEPT 4
#define FEWEST_CLIMB_KEPT 32 /* and at least this many */

typedef struct looked_at {
  clt_candidate candidate;
  bool expanded; /* its neighbours were looked at */
} looked_at;

typedef struct climb {
  const clt_model *model;
  double min_p_valid;
  bool fast; /* on the way fast predictions do */
  looked_at *all;
  clt_map index; /* of a configuration among them */
  size_t n, capacity;
  clt_config *batch; /* capacity */
  clt_prediction *predictions;
} climb;

/* Predicts the new ones of n configurations, up to the limit on predictions. */
static int look_at(climb *c, const clt_config *configs, size_t n, clt_error *error) {
  size_t first = c->n, n_new = 0;
  for (size_t i = 0; i < n && c->n < c->capacity; i++) {
    bool is_new;
    uint64_t *index = clt_map_add(&c->index, configs[i], &is_new);
    if (index == NULL) return clt_fail_memory(error);
    if (!is_new) continue;
    *index = c->n++;
    c->batch[n_new++] = configs[i];
  }
  int rc = clt_model_predict_costs(c->model, c->batch, n_new, c->fast, c->predictions, error);
  if (rc == CLT_OK) rc = clt_model_predict_validity(c->model, c->batch, n_new, c->predictions, error);
  for (size_t i = 0; rc == CLT_OK && i < n_new; i++) {
    const clt_prediction *p = &c->predictions[i];
    c->all[first + i].candidate = (clt_candidate){c->batch[i], *p, !(p->p_valid < c->min_p_valid)};
  }
  return rc;
}

static bool is_better(const looked_at *a, const looked_at *b) {
  return b == NULL || is_before(&a->candidate, &b->candidate);
}

int clt_model_climb(const clt_model *model, size_t m, double min_p_valid, size_t n_predictions, clt_config *out,
                    clt_prediction *predictions, size_t *n_out, clt_error *error) {
  if (clt_space_valid(model->space) / SWEPT <= n_predictions)
    return clt_model_best(out, predictions, n_out, model, m, min_p_valid, NULL, 0, error);
  bool fast = model->type->has_fast;
  climb c = {.model = model, .min_p_valid = min_p_valid, .fast = fast, .capacity = n_predictions};
  size_t n_sample = n_predictions / SAMPLED + 1, most_neighbours = 0, n_distinct;
  uint32_t members[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < clt_space_n_parameters(model->space); i++)
    most_neighbours += clt_space_parameter(model->space, i)->n_values;
  for (size_t set = 0; (n_distinct = clt_space_distinct(model->space, set, members)) > 0; set++)
    most_neighbours += 2 * n_distinct * n_distinct;
  clt_arena memory = {0};
  c.all = clt_arena_array(&memory, c.capacity, sizeof *c.all);
  c.batch = clt_arena_array(&memory, c.capacity, sizeof *c.batch);
  c.predictions = clt_arena_array(&memory, c.capacity, sizeof *c.predictions);
  clt_config *sample = clt_arena_array(&memory, n_sample, sizeof *sample);
  clt_config *neighbours = clt_arena_array(&memory, most_neighbours, sizeof *neighbours);
  clt_heap h = {0};
  clt_rng rng;
  clt_rng_init(&rng, 1);
  int64_t n_drawn = clt_arena_check(&memory, error);
  if (n_drawn == CLT_OK) n_drawn = clt_space_sample(sample, model->space, &rng, n_sample, error);
  int rc = n_drawn < 0 ? (int)n_drawn : look_at(&c, sample, (size_t)n_drawn, error);
  size_t n_begun = c.n;
  for (size_t i = 0; rc == CLT_OK && c.n < c.capacity; i++) {
    looked_at *at = NULL; /* the best whose neighbours were not looked at */
    for (size_t k = 0, n = i < CLIMBS ? n_begun : c.n; k < n; k++)
      if (!c.all[k].expanded && is_better(&c.all[k], at)) at = &c.all[k];
    if (at == NULL && i >= CLIMBS) break;
    while (rc == CLT_OK && at && !at->expanded && c.n < c.capacity) {
      at->expanded = true;
      size_t n = clt_space_neighbours(neighbours, most_neighbours, model->space, at->candidate.config);
      if (n > most_neighbours) n = most_neighbours;
      rc = look_at(&c, neighbours, n, error);
      looked_at *best = NULL; /* of the neighbours that were predicted */
      for (size_t k = 0; rc == CLT_OK && i < CLIMBS && k < n; k++) {
        const uint64_t *index = clt_map_find(&c.index, neighbours[k]);
        if (index && is_better(&c.all[*index], best)) best = &c.all[*index];
      }
      at = best && is_better(best, at) ? best : NULL;
    }
  }
  if (rc == CLT_OK)
    rc = clt_heap_init(&h, fast ? count_kept(m, CLIMB_KEPT, FEWEST_CLIMB_KEPT, c.n) : clt_min(m, c.n), error);
  for (size_t i = 0; rc == CLT_OK && i < c.n; i++) clt_heap_add(&h, &c.all[i].candidate);
  if (rc == CLT_OK) rc = hand_out(model, &h, fast, m, out, predictions, n_out, error);
  clt_map_release(&c.index);
  clt_arena_release(&memory);
  return rc;
}
