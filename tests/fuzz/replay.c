/* Gives every file of a corpus to a fuzz target. */
#include <dirent.h>

#include "fuzz.h"

static void replay(const char *folder, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  static uint8_t bytes[1 << 20];
  if (file == NULL) abort();
  size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees where the input ends */
  memcpy(exact, bytes, n);
  LLVMFuzzerTestOneInput(exact, n);
  free(exact);
}

int main(int argc, char **argv) {
  size_t n = 0;
  DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
  if (folder == NULL) return 1;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    replay(argv[1], entry->d_name);
    n++;
  }
  closedir(folder);
  printf("%zu inputs\n", n);
  return n == 0;
}
