#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "lookup/lookup.h"

/* The key that a text has, or would have, in the map: its hash, or the next one that is not another text's. */
static uint64_t key_of(const clt_texts *texts, const char *text, size_t *number) {
  uint64_t key = clt_hash64(text, strlen(text)) >> 1; /* never the one number that is no key */
  for (const uint64_t *place; (place = clt_map_find(&texts->numbers, key)); key++) {
    *number = (size_t)*place;
    if (strcmp(texts->all[*place], text) == 0) return key;
  }
  *number = CLT_NO_TEXT;
  return key;
}

size_t clt_texts_find(const clt_texts *texts, const char *text) {
  size_t number;
  key_of(texts, text, &number);
  return number;
}

size_t clt_texts_add(clt_texts *texts, const char *text) {
  size_t number;
  uint64_t key = key_of(texts, text, &number);
  if (number != CLT_NO_TEXT) return number;
  if (clt_grow(&texts->all, &texts->capacity, texts->n + 1, sizeof *texts->all)) return CLT_NO_TEXT;
  char *copy = strdup(text);
  uint64_t *place = copy ? clt_map_add(&texts->numbers, key, NULL) : NULL;
  if (place == NULL) return free(copy), CLT_NO_TEXT;
  *place = texts->n;
  texts->all[texts->n] = copy;
  return texts->n++;
}

void clt_texts_release(clt_texts *texts) {
  for (size_t i = 0; i < texts->n; i++) free(texts->all[i]);
  free(texts->all);
  clt_map_release(&texts->numbers);
  *texts = (clt_texts){0};
}
