#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lookup/lookup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

typedef struct answer {
  char *question;
  clt_lookup_result found;
  UT_hash_handle hh;
} answer;

struct clt_answers {
  answer *all;
};

int clt_answers_new(clt_answers **out, clt_error *error) {
  *out = calloc(1, sizeof **out);
  return *out ? CLT_OK : clt_fail_memory(error);
}

static void free_answer(answer *a) {
  clt_lookup_result_release(&a->found);
  free(a->question);
  free(a);
}

void clt_answers_clear(clt_answers *answers) {
  answer *a, *next;
  HASH_ITER(hh, answers->all, a, next) {
    HASH_DEL(answers->all, a);
    free_answer(a);
  }
}

void clt_answers_free(clt_answers *answers) {
  if (answers) clt_answers_clear(answers);
  free(answers);
}

const clt_lookup_result *clt_answers_find(const clt_answers *answers, const char *question) {
  answer *a;
  HASH_FIND_STR(answers->all, question, a);
  return a ? &a->found : NULL;
}

int clt_answers_add(clt_answers *answers, const char *question, const clt_lookup_result *found, clt_error *error) {
  answer *a = calloc(1, sizeof *a);
  if (a == NULL) return clt_fail_memory(error);
  a->question = strdup(question);
  int rc = a->question ? clt_lookup_result_copy(&a->found, found, error) : clt_fail_memory(error);
  if (rc) {
    free_answer(a);
    return rc;
  }
  HASH_ADD_KEYPTR(hh, answers->all, a->question, strlen(a->question), a);
  if (a->hh.tbl) return CLT_OK;
  free_answer(a);
  return clt_fail_memory(error);
}

int clt_lookup_result_copy(clt_lookup_result *out, const clt_lookup_result *found, clt_error *error) {
  clt_lookup_result copy = *found;
  copy.configuration = strdup(found->configuration);
  copy.options = strdup(found->options);
  copy.device = strdup(found->device);
  copy.sizes = strdup(found->sizes);
  if (copy.configuration && copy.options && copy.device && copy.sizes) return *out = copy, CLT_OK;
  clt_lookup_result_release(&copy);
  return clt_fail_memory(error);
}

void clt_lookup_result_release(clt_lookup_result *found) {
  free(found->configuration);
  free(found->options);
  free(found->device);
  free(found->sizes);
  *found = (clt_lookup_result){.tier = CLT_TIER_DEFAULT};
}
