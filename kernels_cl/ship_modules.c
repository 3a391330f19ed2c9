/* Compiles modules for machines without a C compiler:
 *   ship-modules FOLDER MODULE.c...
 * FOLDER is installed as libexec/clatune/modules. */
#include <stdio.h>

#include "problem/instance.h"

int main(int argc, char **argv) {
  clt_error error = {0};
  for (int i = 2; i < argc; i++) {
    if (clt_module_ship(argv[i], argv[1], &error)) {
      fprintf(stderr, "ship-modules: %s\n", error.message);
      return 1;
    }
  }
  return argc > 2 ? 0 : 2;
}
