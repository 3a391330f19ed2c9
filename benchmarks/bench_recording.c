/* How long loading a recording takes. Arguments: files; without any, one of 18,000 entries with 32 runs is made. */
#include <clatune/recording.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "format/format.h"

static void write_entry(gzFile file, int i) {
  int a = i % 150, b = i / 150;
  gzprintf(file, "%s\"%d,%d\": {\"a\": %d, \"b\": %d, \"time\": %.15f, \"times\": [", i ? ",\n" : "", a, b, a, b,
           1.0 + i * 1e-4);
  for (int run = 0; run < 32; run++) gzprintf(file, "%s%.14f", run ? ", " : "", 1.0 + i * 1e-4 + run * 1.23456789e-3);
  gzprintf(file, "], \"compile_time\": 400.25, \"verification_time\": 10.5, \"benchmark_time\": 99.125}");
}

static void write_list(gzFile file, const char *name, int n) {
  gzprintf(file, "\"%s\": [0", name);
  for (int i = 1; i < n; i++) gzprintf(file, ", %d", i);
  gzprintf(file, "]");
}

static int write_recording(char *path) {
  int fd = mkstemps(path, 8);
  gzFile file = fd < 0 ? NULL : gzdopen(fd, "wb");
  if (file == NULL) return -1;
  gzprintf(file, "{\"tune_params\": {");
  write_list(file, "a", 150);
  gzprintf(file, ", ");
  write_list(file, "b", 120);
  gzprintf(file, "}, \"cache\": {\n");
  for (int i = 0; i < 18000; i++) write_entry(file, i);
  gzprintf(file, "}\n}");
  return gzclose(file) == Z_OK ? 0 : -1;
}

static int load(const char *path) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  double start_s = clt_now_s();
  if (clt_recording_new(&recording, path, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  printf("%s: %zu configurations in %.3f s, optimum %.6g ms\n", clt_recording_name(recording),
         recording->n, clt_now_s() - start_s, recording->optimum_s * 1e3);
  clt_recording_free(recording);
  return 0;
}

int main(int argc, char **argv) {
  int rc = 0;
  for (int i = 1; i < argc; i++) rc |= load(argv[i]);
  if (argc > 1) return rc;
  char path[] = "./recording-XXXXXX.json.gz";
  rc = write_recording(path) ? 1 : load(path);
  unlink(path);
  return rc;
}
