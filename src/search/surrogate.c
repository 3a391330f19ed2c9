/* surrogate: fits an ensemble on all measurements again and again and picks the next by predicted speed, uncertainty
 * and predicted validity. */
#include "search/surrogate.h"
#include "search/prior.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"

#define CANDIDATES 30   /* of which the one farthest from all others is taken */
#define MIN_CORRECT 5   /* rows that a committee needs */
#define MORE 5          /* points asked for when there are fewer */
#define LEAST_LEFT 30   /* evaluations for which a new beginning pays */
#define REFIT_SHARE 100 /* a refit for each new row, and for each hundredth of them when there are many */
#define TRIES 200
#define LARGEST_BLOCK 64
#define TRANSFERRED 4       /* picks by what is known elsewhere */
#define START_TRANSFERRED 4 /* well-spread points after them */
#define SOURCES_FIRST 25    /* evaluations before a branch that does without sources */
#define PRIOR_ROWS 40       /* so long a model's predictions, corrected, pick alone */

/* One of a block's requests. */
typedef struct request {
  clt_row row; /* once it is told */
  bool told;
  uint32_t branch;
} request;

typedef struct surrogate_state {
  clt_search_setup setup;
  clt_surrogate_options options;
  clt_rng rng;
  clt_draw draw; /* for what is left where random tries find nothing new */
  clt_encoding *encoding;
  clt_committee *committee, *blind; /* the second knows nothing of elsewhere; NULL where nothing is known there */
  clt_forest *forest;               /* NULL: nothing failed yet */
  clt_elsewhere elsewhere;
  clt_prior prior;        /* n 0: none */
  clt_extra_inputs extra; /* n 0: none */
  clt_told told;
  clt_config_set asked;
  float *points; /* encoded, all that were asked for */
  size_t n_points, points_capacity;
  float *candidate; /* encoded */
  clt_view view;
  int64_t allowance, n_asked;
  /* What is asked for in one block is decided by the results of those before, so neither the order of results nor how
   * late they come makes a difference, and a search that was stopped finds its way again. */
  request block[LARGEST_BLOCK];
  size_t block_size; /* the first number asked for; 0: not known yet */
  size_t n_block, n_block_told;
  clt_config transferred[TRANSFERRED]; /* the first ones, where something is known elsewhere */
  size_t n_transferred, transfers_left;
  int64_t spread_left; /* well-spread points to ask for before the models are used */
  /* The models are fitted when they are first needed after news. */
  size_t n_seen; /* rows told when the models were last outdated */
  bool has_committee, has_trees, has_validity;
  size_t n_validity, n_failed_validity; /* rows, and failures among them, that the validity model has seen */
  uint32_t turn;                        /* the branch that the models are fitted for: 0 or the latest */
  clt_config_set own;                   /* asked for by the latest branch */
  uint64_t n_picked[2];                 /* by the main search, by branches */
  double fit_s, predict_s;
  clt_search_report report;
} surrogate_state;

static void enter(surrogate_state *s, const char *phase) {
  snprintf(s->report.phase, sizeof s->report.phase, "%s", phase);
}

static int note_asked(surrogate_state *s, clt_config config, clt_error *error) {
  size_t n_inputs = s->encoding->n_inputs;
  int rc = clt_config_set_add(&s->asked, config, error);
  if (rc) return rc;
  if (clt_grow(&s->points, &s->points_capacity, s->n_points + 1, (n_inputs + 1) * sizeof *s->points))
    return clt_fail_memory(error);
  clt_encode(s->encoding, config, s->points + s->n_points++ * n_inputs);
  clt_view_block(&s->view, config);
  return CLT_OK;
}

static int learn_from(surrogate_state *s, clt_error *error) {
  int rc = clt_elsewhere_init(&s->elsewhere, &s->setup, s->encoding, error);
  s->extra = (clt_extra_inputs){s->elsewhere.n, clt_elsewhere_fill, &s->elsewhere};
  s->transfers_left = TRANSFERRED;
  if (s->spread_left > START_TRANSFERRED) s->spread_left = START_TRANSFERRED;
  return rc;
}

/* What was begun with takes the places of what a search begins with otherwise. */
static int begin_after(surrogate_state *s, const clt_search_setup *setup, clt_error *error) {
  int rc = CLT_OK;
  int64_t n_warm = (int64_t)setup->n_evaluated - setup->has_default;
  for (size_t i = 0; !rc && i < setup->n_evaluated; i++) rc = note_asked(s, setup->evaluated[i], error);
  if (n_warm) s->transfers_left = 0;
  s->spread_left = s->spread_left > n_warm ? s->spread_left - n_warm : 0;
  return rc;
}

static int check_policy(const char *name, const char *policy, clt_error *error) {
  size_t n = strspn(policy, "mltn");
  if (n > 0 && policy[n] == '\0') return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs some of the letters m, l, t and n, not '%s'", name, policy);
}

static int take_predictions(surrogate_state *s, clt_error *error) {
  if (!s->setup.predicted || s->setup.n_sources == 0 || s->encoding->n_inputs == 0) return CLT_OK;
  return clt_prior_init(&s->prior, &s->setup.sources[0], s->encoding, error);
}

static int surrogate_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  surrogate_state *s = state;
  s->setup = *setup;
  s->options = *(const clt_surrogate_options *)options;
  s->allowance = clt_search_allowance(setup);
  s->spread_left = s->options.start;
  s->report.timed_beside = CLT_CONFIG_NONE;
  enter(s, "spreading");
  clt_rng_init(&s->rng, setup->seed);
  clt_draw_init(&s->draw, setup->space, setup->seed);
  clt_committee_options committee = {(size_t)s->options.members, (size_t)s->options.hidden,
                                     (unsigned)s->options.iterations, s->options.decay};
  int rc = check_policy("policy", s->options.policy, error);
  if (!rc) rc = check_policy("late-policy", s->options.late_policy, error);
  if (!rc) rc = clt_encoding_new(&s->encoding, setup->space, NULL, error);
  if (!rc && setup->n_sources && s->encoding->n_inputs) rc = learn_from(s, error);
  if (!rc && (s->candidate = clt_new_array(s->encoding->n_inputs, sizeof(float))) == NULL) rc = clt_fail_memory(error);
  if (!rc && s->encoding->n_inputs) rc = clt_committee_new(&s->committee, s->encoding, s->extra.n, &committee, error);
  if (!rc && s->extra.n) rc = clt_committee_new(&s->blind, s->encoding, 0, &committee, error);
  const clt_extra_inputs *extra = s->extra.n ? &s->extra : NULL;
  s->told.inputs = extra;
  if (!rc) rc = clt_view_init(&s->view, s->encoding, extra, setup->threads, &s->rng, error);
  if (!rc) rc = take_predictions(s, error);
  return rc ? rc : begin_after(s, setup, error);
}

/* --- well-spread points --- */

static int uniform(surrogate_state *s, clt_config *out, clt_error *error) {
  const clt_space *space = s->setup.space;
  for (int i = 0; i < TRIES; i++) {
    *out = clt_space_canonical(space, clt_space_at(space, clt_rng_below(&s->rng, clt_space_valid(space))));
    if (!clt_config_set_has(&s->asked, *out)) return CLT_OK;
  }
  do {
    int rc = clt_draw_next(&s->draw, out, error);
    if (rc) return rc;
  } while (*out != CLT_CONFIG_NONE && clt_config_set_has(&s->asked, *out));
  return CLT_OK;
}

static int probability_of_failure(const surrogate_state *s, clt_config config, float *out, clt_error *error) {
  *out = 0;
  return s->forest ? clt_forest_predict(s->forest, &config, 1, out, error) : CLT_OK;
}

/* The one of a few uniform candidates that is farthest from all that was asked for; of those that probably fail only
 * where there are no others. */
static int far_point(surrogate_state *s, clt_config *out, clt_error *error) {
  float *x = s->candidate, farthest = -1;
  clt_config first;
  int rc = uniform(s, &first, error);
  *out = first;
  if (rc || first == CLT_CONFIG_NONE || s->n_points == 0) return rc;
  for (int i = 0; i < CANDIDATES; i++) {
    clt_config config = first;
    float p_fail;
    if (i) rc = uniform(s, &config, error);
    if (!rc && config != CLT_CONFIG_NONE) rc = probability_of_failure(s, config, &p_fail, error);
    if (rc || config == CLT_CONFIG_NONE) break;
    clt_encode(s->encoding, config, x);
    float distance = clt_least_distance(s->points, s->n_points, s->encoding->n_inputs, x);
    if (p_fail > 0.5f || !(distance > farthest)) continue;
    farthest = distance;
    *out = config;
  }
  return rc;
}

/* --- the models --- */

static bool has_news(const surrogate_state *s) {
  size_t news = s->told.n - s->n_seen;
  return news > 0 && news >= s->told.n / REFIT_SHARE;
}

/* The main search and the latest branch take turns at the news. */
static void outdate_models(surrogate_state *s) {
  s->turn = s->turn == 0 && clt_told_correct(&s->told, s->told.latest) >= MIN_CORRECT ? s->told.latest : 0;
  s->has_committee = s->has_trees = false;
  s->n_seen = s->told.n;
}

/* Branches do without what is known elsewhere: if it misleads, they are the way out, and if it does not, the main
 * search makes the best of it. */
static int need_committee(surrogate_state *s, clt_error *error) {
  bool changed = false, blind = s->turn != 0 && s->blind;
  clt_committee *committee = blind ? s->blind : s->committee;
  if (s->has_committee) return CLT_OK;
  double start_s = clt_now_s();
  int rc = clt_told_fit(&s->told, s->turn, committee, blind, s->encoding, &s->rng, error);
  double fitted_s = clt_now_s();
  if (!rc) rc = clt_view_predict(&s->view, committee, blind, &s->asked, &s->told, s->options.kappa, &changed, error);
  if (changed) s->has_trees = s->has_validity = false;
  s->has_committee = !rc;
  s->fit_s += fitted_s - start_s;
  s->predict_s += clt_now_s() - fitted_s;
  return rc;
}

static int need_trees(surrogate_state *s, clt_error *error) {
  if (s->has_trees) return CLT_OK;
  clt_forest *trees;
  int rc = clt_told_trees(&trees, &s->told, s->turn, s->encoding, clt_rng_next(&s->rng), error);
  if (rc) return rc;
  rc = clt_view_predict_trees(&s->view, trees, error);
  clt_forest_free(trees);
  s->has_trees = !rc;
  return rc;
}

/* Fitted again with every failure, and when there are a tenth more rows. */
static int need_forest(surrogate_state *s, clt_error *error) {
  const clt_told *told = &s->told;
  bool outdated = told->n_failed != s->n_failed_validity || 10 * told->n >= 11 * s->n_validity;
  if (told->n_failed == 0 || !outdated) return CLT_OK;
  clt_forest *validity;
  int rc = clt_told_validity(&validity, told, s->encoding, clt_rng_next(&s->rng), error);
  if (rc) return rc;
  clt_forest_free(s->forest);
  s->forest = validity;
  s->n_validity = told->n;
  s->n_failed_validity = told->n_failed;
  s->has_validity = false;
  return CLT_OK;
}

static int need_validity(surrogate_state *s, clt_error *error) {
  int rc = need_forest(s, error);
  if (rc || s->forest == NULL || s->has_validity) return rc;
  rc = clt_view_predict_failures(&s->view, s->forest, error);
  s->has_validity = !rc;
  return rc;
}

/* Where much is known from the beginning a stall comes early, and the first branch costs little. */
static int64_t patience(const surrogate_state *s) {
  return s->extra.n && s->told.latest == 0 ? (s->options.patience + 1) / 2 : s->options.patience;
}

/* Where nothing has improved for long, a branch begins anew beside the main search. */
static void branch_if_stalled(surrogate_state *s) {
  if (s->options.patience == 0 || !clt_told_stalled(&s->told, patience(s))) return;
  if (s->allowance - s->n_asked < LEAST_LEFT) return;
  if (s->extra.n && s->n_asked < SOURCES_FIRST) return;
  clt_told_begin_branch(&s->told);
  s->n_seen = 0;
  s->spread_left = s->options.start;
  s->turn = s->told.latest;
  enter(s, "search from anew");
}

/* --- asking --- */

static int take(surrogate_state *s, clt_config config, clt_config *out, size_t *n_out, clt_error *error) {
  s->block[s->n_block++] = (request){{.config = config}, false, s->turn};
  out[(*n_out)++] = config;
  s->n_asked++;
  return note_asked(s, config, error);
}

/* One more well-spread point; false in *some when the space is used up. */
static int ask_spread(surrogate_state *s, clt_config *out, size_t *n_out, bool *some, clt_error *error) {
  clt_config config;
  int rc = far_point(s, &config, error);
  *some = !rc && config != CLT_CONFIG_NONE;
  if (s->spread_left > 0) s->spread_left--;
  return *some ? take(s, config, out, n_out, error) : rc;
}

/* While a branch explores, the main search also looks around the best. */
static char next_pick(surrogate_state *s) {
  bool late = s->turn == 0 && s->told.latest != 0;
  const char *policy = late ? s->options.late_policy : s->options.policy;
  return policy[s->n_picked[s->turn != 0]++ % strlen(policy)];
}

static clt_config choose(const surrogate_state *s, char how) {
  clt_config near = how == 'n' ? clt_view_near(&s->view, &s->told) : CLT_CONFIG_NONE;
  return near != CLT_CONFIG_NONE ? near : clt_view_best(&s->view, how == 'l' ? s->options.kappa : 0, how == 't');
}

/* By what a model predicted, corrected by what was measured since. */
static int ask_prior(surrogate_state *s, clt_config *out, size_t *n_out, bool *some, clt_error *error) {
  clt_config config = CLT_CONFIG_NONE;
  double start_s = clt_now_s();
  int rc = need_forest(s, error);
  if (!rc) rc = clt_prior_best(&config, &s->prior, s->told.rows, s->told.n, &s->asked, s->forest, error);
  s->predict_s += clt_now_s() - start_s;
  *some = !rc && config != CLT_CONFIG_NONE;
  return *some ? take(s, config, out, n_out, error) : rc;
}

static int ask_model(surrogate_state *s, clt_config *out, size_t *n_out, bool *some, clt_error *error) {
  if (has_news(s)) outdate_models(s);
  char how = next_pick(s);
  if (how == 't' && s->view.n == 0) how = 'm';
  int rc = how == 't' ? need_trees(s, error) : need_committee(s, error);
  if (!rc) rc = need_validity(s, error);
  if (rc) return rc;
  clt_config config = choose(s, how);
  if (config == CLT_CONFIG_NONE && !s->view.complete) return ask_spread(s, out, n_out, some, error);
  *some = config != CLT_CONFIG_NONE;
  return *some ? take(s, config, out, n_out, error) : CLT_OK;
}

/* --- asking, in order of precedence --- */

static bool waits_for_rows(const surrogate_state *s) { return clt_told_correct(&s->told, 0) < MIN_CORRECT; }

/* What is fastest elsewhere; nothing where no more is known there. */
static int ask_transferred(surrogate_state *s, clt_config *out, size_t *n_out, clt_error *error) {
  clt_config config = clt_elsewhere_best(&s->elsewhere, s->n_transferred, s->transferred, s->n_transferred, &s->asked);
  s->transfers_left--;
  if (config == CLT_CONFIG_NONE) return CLT_OK;
  s->transferred[s->n_transferred++] = config;
  return take(s, config, out, n_out, error);
}

static int ask_one(surrogate_state *s, clt_config *out, size_t *n_out, bool *some, clt_error *error) {
  if (s->committee == NULL) return ask_spread(s, out, n_out, some, error);
  if (s->prior.n && s->told.n < PRIOR_ROWS) {
    int rc = ask_prior(s, out, n_out, some, error);
    if (rc || *some) return rc;
  }
  if (s->transfers_left > 0) return ask_transferred(s, out, n_out, error);
  if (s->spread_left == 0 && !waits_for_rows(s)) branch_if_stalled(s);
  if (s->spread_left == 0 && waits_for_rows(s)) s->spread_left = MORE;
  if (s->spread_left > 0) return ask_spread(s, out, n_out, some, error);
  return ask_model(s, out, n_out, some, error);
}

/* All of the block was told: takes its rows over, in the order they were asked for. */
static int end_block(surrogate_state *s, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; !rc && i < s->n_block; i++)
    rc = clt_told_add(&s->told, s->encoding, s->block[i].row, s->block[i].branch, error);
  s->n_block = s->n_block_told = 0;
  return rc;
}

static int surrogate_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  surrogate_state *s = state;
  bool some = true;
  int rc = CLT_OK;
  *n_out = 0;
  if (s->block_size == 0) s->block_size = n < LARGEST_BLOCK ? n : LARGEST_BLOCK;
  while (!rc && some && *n_out < n && s->n_asked < s->allowance) {
    if (s->n_block == s->block_size && s->n_block_told < s->n_block) break;
    if (s->n_block == s->block_size) rc = end_block(s, error);
    if (!rc) rc = ask_one(s, out, n_out, &some, error);
  }
  return rc;
}

static int surrogate_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                          clt_error *error) {
  (void)measurement;
  surrogate_state *s = state;
  clt_row row = {.config = config, .time_s = cost, .failed = isnan(cost)};
  if (clt_search_is_evaluated(&s->setup, config)) return clt_told_add(&s->told, s->encoding, row, 0, error);
  if (s->spread_left == 0) enter(s, "search");
  for (size_t i = 0; i < s->n_block; i++) {
    if (s->block[i].row.config != config || s->block[i].told) continue;
    s->block[i].row = row;
    s->block[i].told = true;
    s->n_block_told++;
  }
  return CLT_OK;
}

static void surrogate_report(const void *state, clt_search_report *out) {
  const surrogate_state *s = state;
  *out = s->report;
  clt_search_note(out, "fit_s", s->fit_s);
  clt_search_note(out, "predict_s", s->predict_s);
}

static void surrogate_fini(void *state) {
  surrogate_state *s = state;
  clt_view_release(&s->view);
  clt_told_release(&s->told);
  clt_elsewhere_release(&s->elsewhere);
  clt_prior_release(&s->prior);
  clt_config_set_release(&s->asked);
  clt_draw_release(&s->draw);
  clt_forest_free(s->forest);
  clt_committee_free(s->committee);
  clt_committee_free(s->blind);
  clt_encoding_free(s->encoding);
  free(s->points);
  free(s->candidate);
}

#define OPTION(name, type, standard, min, max, field, help) \
  { name, type, standard, min, max, offsetof(clt_surrogate_options, field), help }

static const clt_option options[] = {
    OPTION("start", CLT_OPTION_INT, "8", 1, 1000000, start, "well-spread configurations at a beginning"),
    OPTION("kappa", CLT_OPTION_REAL, "2", 0, 100, kappa, "of the picks by least mean - kappa * spread of the ensemble"),
    OPTION("restart-after", CLT_OPTION_INT, "25", 0, 1000000, patience,
           "evaluations without an improvement after which the search begins anew; 0: never"),
    OPTION("policy", CLT_OPTION_TEXT, "mlt", 0, 0, policy,
           "what picks in turn: m least mean, l least mean - kappa * spread, t least mean of trees, n least mean among "
           "the "
           "neighbours of the best"),
    OPTION("late-policy", CLT_OPTION_TEXT, "mltn", 0, 0, late_policy,
           "the same, in the main search once it has stalled and a branch has begun"),
    OPTION("members", CLT_OPTION_INT, "16", 2, CLT_LANES, members, "networks of the ensemble"),
    OPTION("hidden", CLT_OPTION_INT, "30", 1, 64, hidden, "units of a network"),
    OPTION("iterations", CLT_OPTION_INT, "40", 1, 10000, iterations, "iterations of a fit"),
    OPTION("decay", CLT_OPTION_REAL, "0.002", 0, 100, decay, "weight decay of a fit"),
};

const clt_searcher_type clt_searcher_surrogate = {
    .abi = CLT_SEARCHER_ABI,
    .name = "surrogate",
    .summary = "an ensemble fitted again after every measurement picks the next",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(clt_surrogate_options),
    .state_size = sizeof(surrogate_state),
    .sequential = true,
    .transfers = true,
    .init = surrogate_init,
    .ask = surrogate_ask,
    .tell = surrogate_tell,
    .report = surrogate_report,
    .fini = surrogate_fini,
};
