/* The best of comparisons by a plain search through all records (docs/explanation/best-known.md), for test_best.c. */
#ifndef BEST_ORACLE_H
#define BEST_ORACLE_H

#include <math.h>

#include "store/words.h"

#define MOST_SAID 60

typedef struct said {
  int64_t voice, comparison;
  clt_config config;
  double time_s; /* NaN: it failed */
} said;

typedef struct oracle {
  said all[MOST_SAID]; /* oldest first */
  size_t n;
  int64_t first;
} oracle;

/* The newest record of a configuration in the comparison of a record; NULL: none, or it failed. */
static const said *said_in(const oracle *o, const said *of, clt_config config) {
  for (const said *s = o->all + o->n; s-- > o->all;)
    if (s->voice == of->voice && s->comparison == of->comparison && s->config == config) return isnan(s->time_s) ? NULL : s;
  return NULL;
}

/* Whether a comparison has no newer record. */
static bool ends_comparison(const oracle *o, const said *of) {
  for (const said *s = of + 1; s < o->all + o->n; s++)
    if (s->voice == of->voice && s->comparison == of->comparison) return false;
  return true;
}

static const said *word_that_counts(const oracle *o, clt_config config, clt_belief *belief) {
  clt_word words[MOST_SAID];
  const said *of[MOST_SAID];
  size_t n = 0;
  for (const said *s = o->all + o->n; s-- > o->all;) {
    bool is_newest = s->config == config;
    for (size_t i = 0; i < n; i++) is_newest = is_newest && of[i]->voice != s->voice;
    if (!is_newest) continue;
    of[n] = s;
    words[n++] = (clt_word){s->voice, !isnan(s->time_s), s->time_s, NULL};
  }
  return of[clt_words_judge(belief, words, n, o->first)];
}

static bool counts(const oracle *o, clt_config config) {
  clt_belief belief;
  return !isnan(word_that_counts(o, config, &belief)->time_s) && belief >= CLT_BY_FIRST;
}

static const said *winner_of(const oracle *o, const said *of) {
  const said *winner = NULL;
  for (const said *s = o->all; s < o->all + o->n; s++)
    if (s == said_in(o, of, s->config) && counts(o, s->config) && (!winner || s->time_s < winner->time_s)) winner = s;
  return winner;
}

static const said *better_of(const oracle *o, const said *a, const said *b) {
  int64_t voices[MOST_SAID];
  int for_a = 0, for_b = 0;
  size_t n = 0;
  for (const said *s = o->all + o->n; s-- > o->all;) {
    const said *as = said_in(o, s, a->config), *bs = said_in(o, s, b->config);
    bool is_new = ends_comparison(o, s) && as && bs;
    for (size_t i = 0; i < n; i++) is_new = is_new && voices[i] != s->voice;
    if (!is_new) continue;
    if (s->voice == 0) return as->time_s < bs->time_s ? a : b;
    voices[n++] = s->voice;
    *(as->time_s < bs->time_s ? &for_a : &for_b) += clt_voice_weight(s->voice, o->first);
  }
  if (for_a > for_b && for_a > 2) return a;
  if (for_b > for_a && for_b > 2) return b;
  return a->time_s < b->time_s ? a : b;
}

static const said *champion_of(const oracle *o) {
  const said *champion = NULL;
  clt_belief belief;
  for (const said *s = o->all; s < o->all + o->n; s++) {
    const said *winner = ends_comparison(o, s) ? winner_of(o, s) : NULL;
    for (const said *later = s + 1; winner && later < o->all + o->n; later++) {
      const said *another = ends_comparison(o, later) ? winner_of(o, later) : NULL;
      if (another && another->config == winner->config) winner = NULL;
    }
    if (winner) winner = word_that_counts(o, winner->config, &belief);
    if (winner) champion = champion ? better_of(o, champion, winner) : winner;
  }
  return champion;
}

/* What a voice said last of a configuration; INFINITY: that it failed. NaN: nothing. */
static double last_said(const oracle *o, int64_t voice, clt_config config) {
  for (const said *s = o->all + o->n; s-- > o->all;)
    if (s->voice == voice && s->config == config) return isnan(s->time_s) ? INFINITY : s->time_s;
  return NAN;
}

static bool is_first_of_voice(const oracle *o, const said *of) {
  for (const said *s = o->all; s < of; s++)
    if (s->voice == of->voice) return false;
  return true;
}

static bool most_prefer(const oracle *o, clt_config config, clt_config to) {
  int votes = 0, others = 0;
  for (const said *s = o->all; s < o->all + o->n; s++) {
    const bool is_new = is_first_of_voice(o, s);
    const double a = last_said(o, s->voice, config), b = last_said(o, s->voice, to);
    if (is_new && a < b) votes += s->voice ? 2 : 3;
    if (is_new && b < a) others += s->voice ? 2 : 3;
  }
  return votes > others && votes > 2;
}

/* The champion, or the better one without a voice, again until nothing changes. *rest: those who say so. */
static const said *answer_of(const oracle *o, oracle *rest) {
  *rest = *o;
  const said *best = champion_of(rest);
  size_t n_changes = 0, n_voices = 0;
  for (const said *s = o->all; s < o->all + o->n; s++) n_voices += s->voice && is_first_of_voice(o, s);
  for (size_t next = 0; best && next < o->n && n_changes <= n_voices;) {
    const said *s = &o->all[next++];
    oracle others = {.first = o->first};
    for (const said *t = o->all; t < o->all + o->n; t++)
      if (t->voice != s->voice) others.all[others.n++] = *t;
    const said *other = s->voice && is_first_of_voice(o, s) ? champion_of(&others) : NULL;
    if (!other || other->config == best->config || !most_prefer(o, other->config, best->config)) continue;
    *rest = others;
    best = rest->all + (other - others.all);
    n_changes++;
    next = 0;
  }
  return best;
}

#endif
