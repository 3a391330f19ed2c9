/* Predictions for the whole space, in batches of ranks, on several threads. */
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "model/screening.h"

#define LARGEST_BATCH 32768
#define SMALLEST_BATCH 1024
#define SCREENED 16           /* times as many as wanted are kept for predict, and */
#define FEWEST_SCREENED 32768 /* at least this many, or */
#define SCREENED_SHARE 4      /* one in so many, where that is less */
#define BATCHES_PER_THREAD 4  /* at least, where the space allows, so that no thread waits long for the last one */

struct sweep {
  const clt_model *model;
  bool screen;
  uint64_t n_valid;
  size_t batch;
  /* What to do with a batch's predictions; p_valid is not set. Called by several threads at once; may change both. */
  int (*use)(struct sweep *sweep, size_t index, clt_config *configs, clt_prediction *predictions, size_t n,
             clt_error *error);
  void (*failed)(struct sweep *sweep); /* nullable: told when a batch fails */
  pthread_mutex_t lock;
  void *user;
};

static int sweep_batch(void *user, size_t index, clt_error *error) {
  struct sweep *s = user;
  clt_config *configs = clt_new_array(s->batch, sizeof *configs);
  clt_prediction *predictions = clt_new_array(s->batch, sizeof *predictions);
  int rc = configs && predictions ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  size_t n = clt_space_enumerate(s->model->space, (uint64_t)index * s->batch, s->batch, configs);
  rc = clt_model_predict_costs(s->model, configs, n, s->screen, predictions, error);
  if (!rc) rc = s->use(s, index, configs, predictions, n, error);
done:
  if (rc && s->failed) s->failed(s);
  free(configs);
  free(predictions);
  return rc;
}

static size_t batch_size(uint64_t n_valid, unsigned threads) {
  uint64_t share = n_valid / (BATCHES_PER_THREAD * (threads ? threads : clt_processors())) + 1;
  return share < SMALLEST_BATCH ? SMALLEST_BATCH : share > LARGEST_BATCH ? LARGEST_BATCH : (size_t)share;
}

static int run(struct sweep *s, clt_error *error) {
  if (pthread_mutex_init(&s->lock, NULL)) return clt_fail_memory(error);
  s->n_valid = clt_space_valid(s->model->space);
  s->batch = batch_size(s->n_valid, s->model->threads);
  size_t n = (size_t)((s->n_valid + s->batch - 1) / s->batch);
  int rc = clt_parallel(s->model->threads, n, sweep_batch, s, error);
  pthread_mutex_destroy(&s->lock);
  return rc;
}

/* --- the m best --- */

struct best {
  double min_p_valid;
  const clt_config *skip;
  size_t n_skip;
  clt_heap heap; /* of all threads, under the sweep's lock */
};

/* The candidates of a batch that may enter, moved to the front of both arrays; validity is asked for these only. */
static size_t pick(const struct best *best, clt_config *configs, clt_prediction *p, size_t n, float worst) {
  size_t n_picked = 0;
  for (size_t i = 0; i < n; i++) {
    if (p[i].log_cost > worst || clt_search_u64(best->skip, best->n_skip, configs[i], NULL)) continue;
    configs[n_picked] = configs[i];
    p[n_picked++] = p[i];
  }
  return n_picked;
}

static int use_for_best(struct sweep *s, size_t index, clt_config *configs, clt_prediction *p, size_t n,
                        clt_error *error) {
  (void)index;
  struct best *best = s->user;
  pthread_mutex_lock(&s->lock);
  float worst = clt_heap_worst(&best->heap);
  pthread_mutex_unlock(&s->lock);
  size_t n_picked = pick(best, configs, p, n, worst);
  int rc = clt_model_predict_validity(s->model, configs, n_picked, p, error);
  if (rc) return rc;
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < n_picked; i++) {
    clt_candidate c = {configs[i], p[i], !(p[i].p_valid < best->min_p_valid)};
    clt_heap_add(&best->heap, &c);
  }
  pthread_mutex_unlock(&s->lock);
  return CLT_OK;
}

int clt_model_best(const clt_model *model, size_t m, double min_p_valid, const clt_config *skip, size_t n_skip,
                   clt_config *out, clt_prediction *predictions, size_t *n_out, clt_error *error) {
  struct best best = {min_p_valid, skip, n_skip};
  uint64_t n_valid = clt_space_valid(model->space);
  if (m > n_valid) m = (size_t)n_valid;
  size_t fewest = n_valid / SCREENED_SHARE < FEWEST_SCREENED ? (size_t)(n_valid / SCREENED_SHARE) : FEWEST_SCREENED;
  size_t n_screened = clt_screened(m, SCREENED, fewest, n_valid);
  bool screens = n_screened < n_valid && clt_model_screens(model);
  struct sweep sweep = {.model = model, .screen = screens, .use = use_for_best, .user = &best};
  int rc = clt_heap_init(&best.heap, screens ? n_screened : m, error);
  if (!rc && m) rc = run(&sweep, error);
  if (!rc && screens) rc = clt_screened_predict(model, &best.heap, error);
  if (!rc) *n_out = clt_heap_give(&best.heap, m, out, predictions);
  clt_heap_release(&best.heap);
  return rc;
}

/* --- every prediction, in order --- */

struct visit {
  clt_model_visit visit;
  void *user;
  size_t turn; /* the batch that is visited next */
  bool stopped;
  pthread_cond_t changed;
};

static void stop_visits(struct sweep *s) {
  struct visit *v = s->user;
  pthread_mutex_lock(&s->lock);
  v->stopped = true;
  pthread_cond_broadcast(&v->changed);
  pthread_mutex_unlock(&s->lock);
}

/* Batches are taken in ascending order, so the one whose turn it is never waits for a thread that waits. */
static int use_for_visit(struct sweep *s, size_t index, clt_config *configs, clt_prediction *p, size_t n,
                         clt_error *error) {
  struct visit *v = s->user;
  int rc = clt_model_predict_validity(s->model, configs, n, p, error);
  if (rc) return rc;
  pthread_mutex_lock(&s->lock);
  while (!v->stopped && v->turn != index) pthread_cond_wait(&v->changed, &s->lock);
  if (!v->stopped) rc = v->visit(v->user, (uint64_t)index * s->batch, n, p);
  v->turn++;
  if (rc) v->stopped = true; /* at once, before another batch has its turn */
  pthread_cond_broadcast(&v->changed);
  pthread_mutex_unlock(&s->lock);
  return rc;
}

int clt_model_sweep(const clt_model *model, clt_model_visit visit, void *user, clt_error *error) {
  struct visit v = {visit, user};
  struct sweep sweep = {.model = model, .use = use_for_visit, .failed = stop_visits, .user = &v};
  if (pthread_cond_init(&v.changed, NULL)) return clt_fail_memory(error);
  int rc = run(&sweep, error);
  pthread_cond_destroy(&v.changed);
  return rc;
}
