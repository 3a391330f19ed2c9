/* What several voices say about a configuration, and which word counts. */
#include "store/words.h"

#include <math.h>

bool clt_words_agree(const clt_word *a, const clt_word *b) {
  if (a->correct != b->correct || isnan(a->cost) != isnan(b->cost)) return false;
  return !(a->correct && fmin(a->cost, b->cost) < 0.5 * fmax(a->cost, b->cost));
}

size_t clt_words_judge(clt_belief *standing, const clt_word *words, size_t n, int64_t first) {
  size_t chosen = 0, n_agree = 0;
  int most = 0, all = 0;
  *standing = CLT_KNOWN;
  for (size_t i = 0; i < n; i++) {
    size_t agree = 0;
    int weight = 0;
    if (words[i].voice == 0) return i;
    all += clt_voice_weight(words[i].voice, first);
    for (size_t k = 0; k < n; k++) {
      const bool agrees = k == i || clt_words_agree(&words[i], &words[k]);
      agree += agrees;
      if (agrees) weight += clt_voice_weight(words[k].voice, first);
    }
    const bool cautious = words[i].voice == first || (words[chosen].voice != first && !(words[i].cost < words[chosen].cost));
    if (weight > most || (weight == most && cautious)) chosen = i, most = weight, n_agree = agree;
  }
  if (2 * most <= all)
    *standing = CLT_DISPUTED;
  else if (n_agree == 1)
    *standing = words[chosen].voice == first ? CLT_BY_FIRST : CLT_CLAIMED;
  return chosen;
}
