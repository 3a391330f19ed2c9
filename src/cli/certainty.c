/* The search quality that `clatune tune` prints. */
#include "cli/tuning.h"

static const clt_certainty *certainty_of(const clt_tune_settings *settings, const clt_tune_result *r) {
  return r->comparable ? clt_certainty_find(settings->searcher, r->evaluations) : NULL;
}

const char *cli_share(char out[32], double share) {
  double one_in = round(1 / share);
  if (share <= 0) return "no";
  if (share > 0.95) return "nearly all";
  if (share < 0.55 && fabs(1 / one_in - share) < 0.035) {
    snprintf(out, 32, "about 1 in %.0f", one_in);
  } else {
    snprintf(out, 32, "about %.0f in 10", round(10 * share));
  }
  return out;
}

bool cli_certainty_text(char out[200], const clt_tune_settings *settings, const clt_tune_result *r) {
  char share[32];
  const clt_certainty *c = certainty_of(settings, r);
  int64_t least = 0; /* length of the searcher's shortest replayed searches; 0: none */
  for (size_t i = 0; i < clt_n_certainties(); i++) {
    const clt_certainty *recorded = clt_certainty_at(i);
    if (strcmp(recorded->searcher, settings->searcher) == 0 && (least == 0 || recorded->evaluations < least))
      least = recorded->evaluations;
  }
  if (c == NULL && r->comparable && r->evaluations < least) {
    snprintf(out, 200, "not known for fewer than %lld evaluations", (long long)least);
    return true;
  }
  if (c == NULL) return false;
  snprintf(
      out, 200,
      "in replays of recorded spaces, %s searches of %lld evaluations ended more than %g %% behind the optimum; mean "
      "loss %.2g %%",
      cli_share(share, c->missed), (long long)c->evaluations, 100 * c->tolerance, 100 * c->mean_loss);
  return true;
}

json_t *cli_certainty_json(const clt_tune_settings *settings, const clt_tune_result *r) {
  const clt_certainty *c = certainty_of(settings, r);
  if (c == NULL) return json_null();
  return json_pack("{s:s, s:I, s:i, s:i, s:f, s:f, s:f}", "searcher", c->searcher, "evaluations",
                   (json_int_t)c->evaluations, "spaces", c->spaces, "searches", c->searches, "tolerance", c->tolerance,
                   "missed", c->missed, "mean_loss", c->mean_loss);
}
