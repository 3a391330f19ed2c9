/* Test programs are host programs whose locale has a decimal comma, if one could be made (tests/meson.build); with
 * $CLATUNE_TEST_LOCALE another one. */
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>

static void __attribute__((constructor)) take_locale(void) {
  const char *wanted = getenv("CLATUNE_TEST_LOCALE");
  setenv("LOCPATH", TEST_LOCPATH, 0);
  if (setlocale(LC_ALL, wanted ? wanted : "de_DE.UTF-8") == NULL) setlocale(LC_ALL, "");
  setlocale(LC_MESSAGES, "C"); /* some look at strerror's text */
}
