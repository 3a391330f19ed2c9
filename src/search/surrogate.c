/* surrogate: fits models to all measurements again and again and picks the next by predicted speed, uncertainty and
 * predicted validity. docs/explanation/searching.md describes it, docs/notebook/surrogate.md has measurements. */
#include "search/surrogate.h"
#include "base/base.h"
#include "measurement/measurement.h"

#define CANDIDATES 30   /* random candidates per point of the initial design: more made no difference */
#define MIN_CORRECT 5   /* correct rows that a committee needs */
#define MORE 5          /* further points of the initial design if there are fewer */
#define LEAST_LEFT 30   /* evaluations left for a branch to pay: an initial design and some twenty picks */
#define REFIT_SHARE 100 /* refit after each new row; with many rows, after n / REFIT_SHARE new ones */
#define TRIES 200       /* random configurations before the whole order is drawn */
#define LARGEST_BLOCK 64

/* No branch begins before the networks have exploited the sources. */
#define SOURCES_FIRST 25
#define FIRST_JUDGED 2 /* rows after which sources are compared with them */

/* Up to this many rows a Gaussian process picks, which learns more from few than networks and trees (0.906 instead of
 * 0.887 of the optimum after 25 evaluations on ten recorded spaces, 0.968 instead of 0.960 after 100). With more rows
 * it is no better, and takes longer. */
#define PROCESS_ROWS 30

/* The acquisitions after that, which take turns. Networks and trees err on different configurations, and any use of the
 * spread keeps a search from getting stuck (0.984 of the optimum after 200 evaluations on ten recorded spaces, 0.972
 * with the mean alone). Differences between mixtures were within the noise. */
static const clt_acquisition mix[] = {CLT_BY_MEAN, CLT_BY_BOUND, CLT_BY_TREES, CLT_NEAR_INCUMBENT};
#define MIX 3
/* The number of acquisitions of the main search once there is a branch: it then also searches around the incumbent.
 * From the beginning that is worse (0.935 instead of 0.939 of the optimum after 50 evaluations); late it is better
 * (0.995 instead of 0.981 on pnpoly). */
#define LATE_MIX 4

typedef struct surrogate_options {
  int64_t start, patience, members, hidden, iterations;
  double kappa, decay;
  const char *models;
} surrogate_options;

typedef struct surrogate_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  surrogate_options options;
  clt_rng rng;
  clt_encoding *encoding;
  clt_committee *committee, *blind; /* blind: without the sources; NULL if there are none */
  clt_forest *forest;               /* NULL: nothing failed yet */
  bool process_picks;               /* as long as there are few rows */
  bool bars_most;                   /* most candidates probably fail */
  clt_prior_data data;
  size_t judge_at;        /* number of rows at which the sources are compared next */
  clt_prior prior;        /* n 0: none */
  bool predicted;         /* the prior is a model's predictions for these sizes */
  clt_extra_inputs extra; /* n 0: none */
  /* All that was evaluated first or asked for, in this order, in which it is learnt, too: of n_known configurations the
   * results of n_rows. A branch is a second search, which knows only its own rows. */
  clt_result_row *rows;
  float *x, *inputs; /* [row][n_inputs], [row][extra.n] */
  size_t n_known, n_rows, n_failed, rows_capacity, x_capacity, inputs_capacity;
  clt_improvement all, own; /* of all rows; of the latest branch's */
  uint32_t latest;          /* branch; 0: none yet */
  clt_candidates candidates;
  float *candidate;    /* encoded */
  int64_t spread_left; /* points left of the initial design */
  /* The models are fitted when they are first needed after new results. */
  size_t n_seen; /* rows told when the models were last outdated */
  bool has_committee, has_trees, has_process, has_validity;
  size_t n_validity, n_failed_validity; /* rows, and failures among them, that the validity model has seen */
  uint32_t turn;                        /* the branch that the models are fitted for: 0 or the latest */
  uint64_t n_picked[2];                 /* by the main search, by branches */
  double fit_s, predict_s;
  bool (*costs)(const void *user, const clt_measurement *m, double *out);
  const void *costs_user;
  clt_weighing weighing;
} surrogate_state;

/* --- initial design --- */

static int uniform_point(surrogate_state *s, clt_config *out, clt_error *error) {
  const clt_space *space = s->steps.space;
  for (int i = 0; i < TRIES; i++) {
    *out = clt_space_canonical(space, clt_space_at(space, clt_rng_below(&s->rng, clt_space_valid(space))));
    if (clt_map_find(&s->steps.known, *out) == NULL) return CLT_OK;
  }
  return clt_steps_random(&s->steps, out, error);
}

/* Of a few uniform candidates, the one that is farthest from all earlier proposals. Candidates that probably fail are
 * taken only if there are no others. */
static int far_point(surrogate_state *s, clt_config *out, clt_error *error) {
  float *x = s->candidate, farthest = -1;
  clt_config first;
  int rc = uniform_point(s, &first, error);
  *out = first;
  if (rc || first == CLT_CONFIG_NONE || s->n_known == 0) return rc;
  for (int i = 0; i < CANDIDATES; i++) {
    clt_config config = first;
    float p_fail = 0;
    if (i) rc = uniform_point(s, &config, error);
    if (rc == CLT_OK && config != CLT_CONFIG_NONE && s->forest)
      rc = clt_forest_predict(s->forest, &config, 1, &p_fail, error);
    if (rc || config == CLT_CONFIG_NONE) break;
    clt_encode(s->encoding, config, x);
    float distance = clt_least_distance(s->x, s->n_known, s->encoding->n_inputs, x);
    if (p_fail > CLT_P_FAIL || !(distance > farthest)) continue;
    farthest = distance;
    *out = config;
  }
  return rc;
}

/* --- results --- */

static int add_known(surrogate_state *s, clt_config config, uint32_t branch, clt_error *error) {
  size_t n_inputs = s->encoding->n_inputs, n_extra = s->extra.n, n = s->n_known;
  if (clt_grow(&s->rows, &s->rows_capacity, n + 1, sizeof *s->rows) ||
      clt_grow(&s->x, &s->x_capacity, n + 1, (n_inputs + 1) * sizeof *s->x) ||
      clt_grow(&s->inputs, &s->inputs_capacity, n + 1, (n_extra + 1) * sizeof *s->inputs))
    return clt_fail_memory(error);
  if (n_extra) clt_prior_data_speeds(&s->data, config, s->inputs + n * n_extra);
  clt_encode(s->encoding, config, s->x + n * n_inputs);
  s->rows[s->n_known++] = (clt_result_row){config, NAN, branch};
  return CLT_OK;
}

static int surrogate_learn(void *state, clt_config config, double cost, clt_error *error) {
  surrogate_state *s = state;
  int rc = s->n_rows == s->n_known ? add_known(s, config, 0, error) : CLT_OK; /* asked for instead of a proposal */
  if (rc) return rc;
  clt_result_row *row = &s->rows[s->n_rows++];
  if (isfinite(cost)) row->cost = cost;
  s->n_failed += isnan(row->cost);
  clt_improvement_note(&s->all, row->cost);
  if (row->branch && row->branch == s->latest) clt_improvement_note(&s->own, row->cost);
  return CLT_OK;
}

/* Correct, and of the branch; 0: of any. */
static bool row_trains(const clt_result_row *row, uint32_t branch) {
  return !isnan(row->cost) && (branch == 0 || row->branch == branch);
}

static bool has_enough(const surrogate_state *s, uint32_t branch) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_rows; i++) n += row_trains(&s->rows[i], branch);
  return n >= MIN_CORRECT;
}

/* --- the models --- */

/* The correct rows of the turn's branch: inputs, with n_extra further ones, and their speed relative to the
 * fastest of them. Speed is the target, and not log cost: a network that is fitted on log cost spends itself on the
 * slow majority. */
static int training_rows(const surrogate_state *s, clt_arena *memory, size_t n_extra, float **x, float **y, size_t *n,
                         clt_error *error) {
  size_t n_inputs = s->encoding->n_inputs, width = n_inputs + n_extra;
  double best = (s->turn ? &s->own : &s->all)->best_cost;
  *x = clt_arena_array(memory, s->n_rows, (width + 1) * sizeof **x);
  *y = clt_arena_array(memory, s->n_rows, sizeof **y);
  *n = 0;
  if (memory->failed) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (!row_trains(&s->rows[i], s->turn)) continue;
    memcpy(*x + *n * width, s->x + i * n_inputs, n_inputs * sizeof **x);
    for (size_t k = 0; k < n_extra; k++)
      (*x)[*n * width + n_inputs + k] = s->data.fits[k] ? s->inputs[i * n_extra + k] : 0;
    (*y)[(*n)++] = (float)(best / s->rows[i].cost);
  }
  return CLT_OK;
}

/* Branches do not use prior data: if it misleads, they are the way out; if it does not, the main search exploits it. */
static int need_committee(surrogate_state *s, clt_error *error) {
  bool changed = false, blind = s->turn != 0 && s->blind;
  clt_committee *committee = blind ? s->blind : s->committee;
  float *x, *y;
  size_t n;
  if (s->has_committee) return CLT_OK;
  double start_s = clt_now_s();
  clt_arena scratch = {0};
  int rc = training_rows(s, &scratch, blind ? 0 : s->extra.n, &x, &y, &n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) y[i] = -y[i];
  if (rc == CLT_OK) rc = clt_committee_fit(committee, x, y, n, &s->rng, error);
  clt_arena_release(&scratch);
  double fitted_s = clt_now_s();
  const clt_fastest fastest = clt_fastest_of(s->rows, s->n_rows);
  if (rc == CLT_OK)
    rc = clt_candidates_predict(&s->candidates, committee, blind, &s->steps.known, &fastest, s->options.kappa, &changed,
                                error);
  if (changed) s->has_trees = s->has_process = s->has_validity = false;
  s->has_committee = rc == CLT_OK;
  s->fit_s += fitted_s - start_s;
  s->predict_s += clt_now_s() - fitted_s;
  return rc;
}

/* On the same target, 1 - speed: the lower, the faster. */
static int need_trees(surrogate_state *s, clt_error *error) {
  clt_candidates *c = &s->candidates;
  clt_forest *trees = NULL;
  float *x, *y;
  size_t n;
  if (s->has_trees) return CLT_OK;
  uint64_t seed = clt_rng_next(&s->rng);
  clt_arena scratch = {0};
  int rc = training_rows(s, &scratch, 0, &x, &y, &n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) y[i] = y[i] < 1 ? 1 - y[i] : 0;
  if (rc == CLT_OK) rc = clt_forest_fit(&trees, s->encoding, x, y, n, seed, error);
  clt_arena_release(&scratch);
  if (rc == CLT_OK) rc = clt_forest_predict(trees, c->configs, c->n, c->tree, error);
  clt_forest_free(trees);
  s->has_trees = rc == CLT_OK;
  return rc;
}

/* On log cost: the process learns all of the space, and not the fast end only. */
static int need_process(surrogate_state *s, clt_error *error) {
  clt_candidates *c = &s->candidates;
  if (s->has_process) return CLT_OK;
  double start_s = clt_now_s();
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, s->n_rows, sizeof *configs);
  double *y = clt_arena_array(&scratch, s->n_rows, sizeof *y);
  size_t n = 0;
  int rc = clt_arena_check(&scratch, error);
  for (size_t i = 0; rc == CLT_OK && i < s->n_rows; i++) {
    if (!row_trains(&s->rows[i], 0)) continue;
    configs[n] = s->rows[i].config;
    y[n++] = log(s->rows[i].cost);
  }
  if (rc == CLT_OK)
    rc = clt_candidates_predict_improvement(c, s->encoding, configs, y, n, log(s->all.best_cost), error);
  clt_arena_release(&scratch);
  s->has_process = rc == CLT_OK;
  s->fit_s += clt_now_s() - start_s; /* its predictions included */
  return rc;
}

/* The validity model, fitted to all rows: again after every failure, and after 10 % more rows. */
static int need_forest(surrogate_state *s, clt_error *error) {
  bool outdated = s->n_failed != s->n_failed_validity || 10 * s->n_rows >= 11 * s->n_validity;
  if (s->n_failed == 0 || !outdated) return CLT_OK;
  clt_forest *validity = NULL;
  float *failed = clt_new_array(s->n_rows, sizeof *failed);
  if (failed == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_rows; i++) failed[i] = isnan(s->rows[i].cost);
  int rc = clt_forest_fit(&validity, s->encoding, s->x, failed, s->n_rows, clt_rng_next(&s->rng), error);
  free(failed);
  if (rc) return rc;
  clt_forest_free(s->forest);
  s->forest = validity;
  s->n_validity = s->n_rows;
  s->n_failed_validity = s->n_failed;
  s->has_validity = false;
  return CLT_OK;
}

/* --- asking --- */

/* Expected costs from the model, or from the fitting sources. */
static int renew_prior(surrogate_state *s, clt_error *error) {
  const size_t n = s->predicted ? 1 : s->data.n;
  clt_arena_release(&s->prior.memory);
  return clt_prior_init(&s->prior, s->data.sources, n, s->data.fits, s->predicted, s->encoding, error);
}

/* Compares the sources: after each of the first rows, later rarely, since a change means recomputing the candidates'
 * inputs. Predictions of a model are corrected instead. */
static int judge_sources(surrogate_state *s, clt_error *error) {
  if (s->extra.n == 0 || s->predicted || s->n_rows < s->judge_at) return CLT_OK;
  s->judge_at = s->n_rows < s->prior.rules.n_rows ? s->n_rows + 1 : s->n_rows + s->n_rows / 2;
  if (!clt_prior_data_judge(&s->data, s->inputs, s->rows, s->n_rows, s->n_rows < s->prior.rules.n_rows)) return CLT_OK;
  s->has_committee = false;
  int rc = renew_prior(s, error);
  if (rc) return rc;
  return s->candidates.n ? clt_candidates_lay_out(&s->candidates, error) : CLT_OK;
}

static bool any_fits(const surrogate_state *s) {
  bool any = false;
  for (size_t k = 0; k < s->extra.n; k++) any = any || s->data.fits[k];
  return any;
}

/* After a long time without improvement, a branch starts next to the main search: far from all measured configurations,
 * with models fitted to its own rows only. A stuck search is stuck because its models are too certain of what they have
 * seen; a complete restart would lose what the main search has found (docs/notebook/surrogate.md compares both). From
 * then on main search and branch take turns, and the main search sees the rows of both. A branch that stalls is
 * replaced by the next one. With fitting prior data the first branch starts early, since it costs little. */
static void branch_if_stalled(surrogate_state *s) {
  const clt_improvement *i = s->latest ? &s->own : &s->all;
  bool early = any_fits(s) && s->latest == 0;
  int64_t patience = early ? (s->options.patience + 1) / 2 : s->options.patience;
  if (patience == 0 || (int64_t)(i->n - i->best_at) < patience) return;
  if (s->steps.left < LEAST_LEFT || (any_fits(s) && s->steps.n_asked < SOURCES_FIRST)) return;
  s->turn = ++s->latest;
  s->own = (clt_improvement){0};
  s->n_seen = 0;
  s->spread_left = s->options.start;
  s->steps.phase = "new branch";
}

/* The acquisition of the next pick. The process has no part in branches, which are for models that err elsewhere, nor
 * while a source fits, because sources are inputs of the networks. In large spaces it has every other turn, because the
 * networks choose the candidates. */
static clt_acquisition next_acquisition(surrogate_state *s) {
  const uint64_t n_picked = s->n_picked[s->turn != 0]++;
  const bool processes = s->process_picks && s->turn == 0 && s->n_rows <= PROCESS_ROWS && !any_fits(s);
  if (s->candidates.n == 0) return CLT_BY_MEAN; /* the networks make the short list */
  if (processes && (s->candidates.complete || n_picked % 2)) return CLT_BY_PROCESS;
  return mix[n_picked % (s->turn == 0 && s->latest != 0 ? LATE_MIX : MIX)];
}

/* The best configuration by the models, which take turns with each new result. CLT_CONFIG_NONE: none is left. */
static int pick_by_models(surrogate_state *s, clt_config *out, clt_error *error) {
  clt_candidates *c = &s->candidates;
  size_t news = s->n_rows - s->n_seen;
  if (s->weighing.n > 1) {
    s->all.best_cost = clt_weighing_draw(&s->weighing, s->rows, s->n_rows, &s->rng);
    s->has_committee = s->has_trees = s->has_process = false;
  }
  if (news > 0 && news >= s->n_rows / REFIT_SHARE) {
    s->turn = s->turn == 0 && has_enough(s, s->latest) ? s->latest : 0;
    s->has_committee = s->has_trees = s->has_process = false;
    s->n_seen = s->n_rows;
  }
  const clt_acquisition by = next_acquisition(s);
  int rc;
  if (by == CLT_BY_TREES)
    rc = need_trees(s, error);
  else
    rc = by == CLT_BY_PROCESS ? need_process(s, error) : need_committee(s, error);
  if (rc == CLT_OK) rc = need_forest(s, error);
  if (rc == CLT_OK && s->forest && !s->has_validity) {
    rc = clt_forest_predict(s->forest, c->configs, c->n, c->p_fail, error);
    s->has_validity = rc == CLT_OK;
    size_t n_barred = 0;
    for (size_t i = 0; i < c->n; i++) n_barred += c->p_fail[i] > CLT_P_FAIL;
    s->bars_most = 2 * n_barred > c->n;
  }
  if (rc) return rc;
  /* If nothing improves and most of the space is barred, the validity model may be incorrect: barred configurations are
   * never measured. The optimum may be among them, next to failing ones, and random search would find it. */
  if (s->latest && s->bars_most && by == CLT_BY_MEAN) return uniform_point(s, out, error);
  const clt_fastest fastest = clt_fastest_of(s->rows, s->n_rows);
  *out = clt_candidates_best(c, by, s->options.kappa, &s->steps.known, &fastest);
  return *out == CLT_CONFIG_NONE && !c->complete ? far_point(s, out, error) : CLT_OK;
}

/* The next configuration, from the first of these that applies: corrected predictions of a model; sources; the initial
 * design; the models. */
static int choose_next(surrogate_state *s, clt_config *out, clt_error *error) {
  *out = CLT_CONFIG_NONE;
  if (s->committee) {
    int rc = judge_sources(s, error);
    if (rc) return rc;
  }
  if (s->committee && s->prior.n && s->n_rows < s->prior.rules.n_rows) {
    double start_s = clt_now_s();
    /* One point of the initial design among the best of the sources shows early if the sources mislead. */
    const bool spread = !s->predicted && s->steps.n_asked == 1;
    int rc = spread ? far_point(s, out, error) : need_forest(s, error);
    if (rc == CLT_OK && !spread)
      rc = clt_prior_best(out, &s->prior, s->rows, s->n_rows, s->n_known, &s->steps.known, s->forest, error);
    s->predict_s += clt_now_s() - start_s;
    if (rc) return rc;
    if (*out != CLT_CONFIG_NONE) {
      if (s->spread_left > 0)
        s->spread_left--; /* it counts for the initial design, even if the sources turn out not to fit */
      return CLT_OK;
    }
  }
  if (s->committee && s->prior.n) s->spread_left = 0; /* the prior replaces the initial design */
  if (s->committee && s->spread_left == 0) {
    if (has_enough(s, 0))
      branch_if_stalled(s);
    else
      s->spread_left = MORE;
  }
  if (s->committee && s->spread_left == 0) return pick_by_models(s, out, error);
  if (s->spread_left > 0) s->spread_left--;
  return far_point(s, out, error);
}

static int surrogate_propose(void *state, clt_config *out, clt_error *error) {
  surrogate_state *s = state;
  if (s->spread_left == 0) s->steps.phase = "search";
  int rc = choose_next(s, out, error);
  return rc || *out == CLT_CONFIG_NONE ? rc : add_known(s, *out, s->turn, error);
}

static int surrogate_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  surrogate_state *s = state;
  static const clt_steps_rules rules = {"spreading", surrogate_propose, surrogate_learn, LARGEST_BLOCK};
  s->options = *(const surrogate_options *)options;
  s->spread_left = s->options.start;
  clt_rng_init(&s->rng, setup->seed);
  if (setup->n_objectives > 1) {
    s->costs = setup->costs;
    s->costs_user = setup->costs_user;
    s->weighing.n = setup->n_objectives;
    s->options.patience = 0; /* no branch: each proposal has other weights, so the search is never stuck */
  }
  const clt_committee_options committee = {(size_t)s->options.members, (size_t)s->options.hidden,
                                           (unsigned)s->options.iterations, s->options.decay};
  int rc = clt_steps_init(&s->steps, setup, &rules, error);
  if (rc == CLT_OK) rc = clt_encoding_new(&s->encoding, setup->space, NULL, error);
  if (rc) return rc;
  size_t n_inputs = s->encoding->n_inputs;
  s->candidate = clt_arena_array(&s->steps.memory, n_inputs, sizeof *s->candidate);
  if (s->candidate == NULL) return clt_fail_memory(error);
  if (setup->n_sources && n_inputs) {
    rc = clt_prior_data_init(&s->data, setup, s->encoding, error);
    s->extra = (clt_extra_inputs){s->data.n, clt_prior_data_fill, &s->data};
    s->predicted = setup->predicted;
    if (rc == CLT_OK) rc = renew_prior(s, error);
    s->judge_at = FIRST_JUDGED;
  }
  if (rc == CLT_OK && n_inputs) rc = clt_committee_new(&s->committee, s->encoding, s->extra.n, &committee, error);
  s->process_picks = strcmp(s->options.models, "all") == 0;
  if (rc == CLT_OK && !s->process_picks && strcmp(s->options.models, "networks") != 0)
    rc = clt_fail(error, CLT_E_ARGUMENT, "option 'models' needs all or networks, not '%s'", s->options.models);
  if (rc == CLT_OK && s->extra.n) rc = clt_committee_new(&s->blind, s->encoding, 0, &committee, error);
  const clt_extra_inputs *extra = s->extra.n ? &s->extra : NULL;
  if (rc == CLT_OK) rc = clt_candidates_init(&s->candidates, s->encoding, extra, setup->threads, &s->rng, error);
  for (size_t i = 0; rc == CLT_OK && i < setup->n_evaluated; i++) rc = add_known(s, setup->evaluated[i], 0, error);
  /* A warm start replaces the initial design. */
  int64_t n_warm = (int64_t)setup->n_evaluated - setup->has_default;
  s->spread_left = s->spread_left > n_warm ? s->spread_left - n_warm : 0;
  return rc;
}

static int surrogate_tell(void *state, clt_config config, double cost, const clt_measurement *m, clt_error *error) {
  surrogate_state *s = state;
  double costs[CLT_MOST_OBJECTIVES];
  int rc = CLT_OK;
  if (s->weighing.n > 1 && !isnan(cost) && s->costs(s->costs_user, m, costs))
    rc = clt_weighing_add(&s->weighing, config, costs, error);
  return rc ? rc : clt_steps_tell(state, config, cost, m, error);
}

static void surrogate_report(const void *state, clt_search_report *out) {
  const surrogate_state *s = state;
  clt_steps_report(state, out);
  clt_search_note(out, "fit_s", s->fit_s);
  clt_search_note(out, "predict_s", s->predict_s);
}

static void surrogate_fini(void *state) {
  surrogate_state *s = state;
  clt_candidates_release(&s->candidates);
  clt_arena_release(&s->data.memory);
  clt_arena_release(&s->prior.memory);
  clt_forest_free(s->forest);
  clt_committee_free(s->committee);
  clt_committee_free(s->blind);
  clt_encoding_free(s->encoding);
  clt_weighing_release(&s->weighing);
  free(s->rows);
  free(s->x);
  free(s->inputs);
  clt_steps_fini(state);
}

#define AT(field) offsetof(surrogate_options, field)
static const clt_option options[] = {
    {"start", CLT_OPTION_INT, "8", 1, 1000000, AT(start), "configurations of the initial design"},
    {"kappa", CLT_OPTION_REAL, "2", 0, 100, AT(kappa), "weight of the spread in the acquisition mean - kappa * spread"},
    {"restart-after", CLT_OPTION_INT, "25", 0, 1000000, AT(patience),
     "evaluations without an improvement of 0.5 % after which a new branch begins; 0: never"},
    {"members", CLT_OPTION_INT, "16", 2, CLT_LANES, AT(members), "networks in the ensemble"},
    {"hidden", CLT_OPTION_INT, "30", 1, 64, AT(hidden), "hidden units per network"},
    {"iterations", CLT_OPTION_INT, "40", 1, 10000, AT(iterations), "training iterations per fit"},
    {"decay", CLT_OPTION_REAL, "0.002", 0, 100, AT(decay), "weight decay"},
    {"models", CLT_OPTION_TEXT, "all", 0, 0, AT(models), "'all', or 'networks': no Gaussian process"},
};

const clt_searcher_type clt_searcher_surrogate = {
    CLT_STEPS_SEARCHER("surrogate", "fits an ensemble to all results and measures the most promising configuration",
                       surrogate_state),
    CLT_OPTIONS(options, surrogate_options),
    .sequential = true,
    .transfers = true,
    .tell = surrogate_tell,
    .init = surrogate_init,
    .report = surrogate_report,
    .fini = surrogate_fini,
};
