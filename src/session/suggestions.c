/* A warm start: what is evaluated before the searcher is asked, and what a model of other sizes tells it. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"

/* Enough that one of them is nearly the best, few enough to cost little where the model is wrong. */
#define SUGGESTIONS 8
#define DIFFERENT 3     /* parameters at least in which any two of them differ */
#define PREDICTED 32768 /* the best ones, in larger spaces */
#define MIN_P_VALID 0.5

static size_t n_different(const clt_space *space, clt_config a, clt_config b) {
  uint32_t x[CLT_MAX_PARAMETERS], y[CLT_MAX_PARAMETERS];
  size_t n = 0;
  clt_space_positions(space, a, x);
  clt_space_positions(space, b, y);
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) n += x[i] != y[i];
  return n;
}

/* Unless it is there already. */
static void add(clt_session *s, clt_config config) {
  if (s->first != CLT_CONFIG_NONE && config == clt_space_canonical(s->space, s->first)) return;
  for (size_t i = 0; i < s->n_suggested; i++)
    if (s->suggested[i] == config) return;
  s->suggested[s->n_suggested++] = config;
}

static bool is_near_any(const clt_session *s, clt_config config, size_t parameters) {
  for (size_t i = 0; i < s->n_suggested; i++)
    if (n_different(s->space, s->suggested[i], config) < parameters) return true;
  return false;
}

/* The best of n that are predicted, and not too much alike as long as there are others: what differs in a switch that
 * matters little would tell no more than one of them. */
static void add_suggestions(clt_session *s, const clt_config *best, size_t n) {
  size_t most = s->n_suggested + SUGGESTIONS;
  for (size_t parameters = DIFFERENT; parameters > 0; parameters--)
    for (size_t i = 0; i < n && s->n_suggested < most; i++)
      if (clt_space_canonical(s->space, best[i]) == best[i] && !is_near_any(s, best[i], parameters)) add(s, best[i]);
}

static int add_source(clt_session *s, const clt_config *best, const clt_prediction *predictions, size_t n,
                      clt_error *error) {
  clt_known_speed *known = clt_new_array(n, sizeof *known);
  if (known == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    bool fails = predictions[i].p_valid < MIN_P_VALID;
    known[i] = (clt_known_speed){best[i], fails ? 0 : expf(predictions[0].log_time - predictions[i].log_time)};
  }
  int rc = clt_sources_add(&s->sources, "a model of other sizes", known, n, error);
  s->predicted = rc == CLT_OK && n > 0;
  free(known);
  return rc;
}

/* One sweep for both. */
static int ask_model(clt_session *s, clt_error *error) {
  size_t n = s->result->valid < PREDICTED ? (size_t)s->result->valid : PREDICTED;
  clt_config *best = clt_new_array(n, sizeof *best);
  clt_prediction *predictions = clt_new_array(n, sizeof *predictions);
  int rc = best && predictions ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_model_best(s->settings->model, n, MIN_P_VALID, NULL, 0, best, predictions, &n, error);
  if (rc == CLT_OK) add_suggestions(s, best, n);
  bool transfers = s->searcher->transfers && s->settings->configurations == NULL;
  if (rc == CLT_OK && transfers) rc = add_source(s, best, predictions, n, error);
  free(best);
  free(predictions);
  return rc;
}

int clt_session_choose_suggestions(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  size_t n = settings->n_begin_with + (settings->model ? SUGGESTIONS : 0);
  if (n == 0) return CLT_OK;
  s->suggested = clt_new_array(n, sizeof *s->suggested);
  s->suggested_told = clt_new_array(n, sizeof *s->suggested_told);
  if (s->suggested == NULL || s->suggested_told == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < settings->n_begin_with; i++) {
    if (!clt_space_contains(s->space, settings->begin_with[i]))
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration to begin with is not in the space");
    add(s, clt_space_canonical(s->space, settings->begin_with[i]));
  }
  return settings->model ? ask_model(s, error) : CLT_OK;
}
