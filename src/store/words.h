/* store/words.h - what several voices say about a configuration, and which word counts (docs/explanation/trust.md). */
#pragma once

#include <clatune/sys/store.h>

#define CLT_MOST_VOICES 64 /* of one configuration, the newest; others do not count */
/* As a factor of costs: the best of many single measurements looks better than it is. */
#define CLT_CLEARLY_BETTER 0.8

/* A voice's newest word about a configuration. */
typedef struct clt_word {
  int64_t voice; /* clt_store_record's */
  bool correct;
  double cost;              /* above 0; NaN: unknown, or it failed */
  const clt_measurement *m; /* nullable */
} clt_word;

/* Whether two words agree: both failed, or neither cost is more than twice the other. */
bool clt_words_agree(const clt_word *a, const clt_word *b);

typedef enum clt_belief {
  CLT_DISPUTED, /* no more voices agree than contradict */
  CLT_CLAIMED,  /* by one voice alone */
  CLT_BY_FIRST, /* by one voice alone, the first; at most one contradicts it */
  CLT_KNOWN     /* by one's own voice; or by two, and by more than contradict it */
} clt_belief;

#define CLT_NO_VOICE (-1)
#define CLT_WEIGHT_OF_FIRST 3
static inline int clt_voice_weight(int64_t voice, int64_t first) { return voice == first ? CLT_WEIGHT_OF_FIRST : 2; }

/* Finds the voice that tips the scales: who measured a key first. *first is CLT_NO_VOICE, and then 0, no other's, if
 * there are finalists of one's own: then the first voice is one of many. */
static inline void clt_first_note(int64_t *first, const clt_store_record *record) {
  if (record->voice == 0 && (record->kind == CLT_RECORD_FINALIST || record->kind == CLT_RECORD_COMPARED))
    *first = 0;
  else if (record->is_first && *first != 0)
    *first = record->voice;
}

/* The index of the word that counts. words: n > 0, at most one of each voice. first: from clt_first_note. Of two words
 * that agree, that voice's counts, else the median by cost. */
size_t clt_words_judge(clt_belief *belief, const clt_word *words, size_t n, int64_t first);

/* What a voice says about something else than a configuration. */
typedef struct clt_saying {
  int64_t voice;
  const void *what; /* borrowed */
} clt_saying;
typedef bool (*clt_sayings_agree)(const void *user, const void *what, const void *other);

/* The index of the saying that counts: one's own, else what the first voice says, until two others agree on another.
 * all: n > 0, one of each voice. *weight: of the voices that agree; more than CLT_WEIGHT_OF_FIRST if several do. */
size_t clt_sayings_judge(uint64_t *weight, const clt_saying *all, size_t n, int64_t first, clt_sayings_agree agree,
                         const void *user);

/* devices.c: lets descriptions describe their devices as counts: as one's own newest says, else as who described the
 * device first does, until two others agree. bytes: from one to the next. any_driver: whatever the driver's version. */
int clt_store_weigh_devices(clt_store_description *keys, size_t n, size_t bytes, bool any_driver, clt_error *error);
