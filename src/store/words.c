/* What several voices say about a configuration, and which word counts. */
#include "store/words.h"

#include <math.h>

bool clt_words_agree(const clt_word *a, const clt_word *b) {
  if (a->correct != b->correct || isnan(a->cost) != isnan(b->cost)) return false;
  return !(a->correct && fmin(a->cost, b->cost) < 0.5 * fmax(a->cost, b->cost));
}

/* The median of the words that agree with one; of two the first voice's, or the higher. */
static size_t choose_among(const clt_word *words, size_t n, size_t with, size_t n_agree, int64_t first) {
  size_t median = with;
  for (size_t i = 0; i < n; i++) {
    size_t n_lower = 0;
    if (!clt_words_agree(&words[i], &words[with])) continue;
    if (words[i].voice == first && n_agree <= 2) return i;
    for (size_t k = 0; k < n; k++) {
      const bool is_lower = words[k].cost < words[i].cost || (!(words[k].cost > words[i].cost) && k < i);
      n_lower += is_lower && clt_words_agree(&words[k], &words[with]);
    }
    if (n_lower == n_agree / 2) median = i;
  }
  return median;
}

size_t clt_words_judge(clt_belief *belief, const clt_word *words, size_t n, int64_t first) {
  size_t chosen = 0, n_agree = 0;
  int most = 0, all = 0;
  *belief = CLT_KNOWN;
  for (size_t i = 0; i < n; i++) {
    size_t agree = 0;
    int weight = 0;
    if (words[i].voice == 0) return i;
    all += clt_voice_weight(words[i].voice, first);
    for (size_t k = 0; k < n; k++) {
      if (k != i && !clt_words_agree(&words[i], &words[k])) continue;
      agree++;
      weight += clt_voice_weight(words[k].voice, first);
    }
    if (weight > most) chosen = i, most = weight, n_agree = agree;
  }
  if (2 * most <= all)
    *belief = CLT_DISPUTED;
  else if (n_agree == 1)
    *belief = words[chosen].voice == first ? CLT_BY_FIRST : CLT_CLAIMED;
  return choose_among(words, n, chosen, n_agree, first);
}

size_t clt_sayings_judge(uint64_t *weight, const clt_saying *all, size_t n, int64_t first, clt_sayings_agree agree,
                         const void *user) {
  size_t chosen = 0;
  *weight = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t sum = all[i].voice == 0 ? UINT64_MAX / 2 : 0;
    for (size_t k = 0; k < n; k++)
      if (agree(user, all[i].what, all[k].what)) sum += (uint64_t)clt_voice_weight(all[k].voice, first);
    if (sum > *weight) chosen = i, *weight = sum;
  }
  return chosen;
}
