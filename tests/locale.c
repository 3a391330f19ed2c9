/* Test programs are host programs with a locale of their own: $CLATUNE_TEST_LOCALE, where one is asked for (a skipped
 * test where the system does not have it), else that of the environment. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SKIPPED 77

static void __attribute__((constructor)) take_locale(void) {
  const char *wanted = getenv("CLATUNE_TEST_LOCALE");
  bool have = setlocale(LC_ALL, wanted ? wanted : "") != NULL;
  setlocale(LC_MESSAGES, "C"); /* some look at what strerror says */
  if (have || wanted == NULL) return;
  fprintf(stderr, "there is no locale '%s'\n", wanted);
  exit(SKIPPED);
}
