/* Recordings: every form that clt_recording_new tells apart, plain or gzip. */
#include <clatune/recording.h>

#include "format/format.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  clt_recording *recording = NULL;
  if (clt_recording_new(&recording, fuzz_file(&fd, data, size), NULL) == 0)
    for (size_t i = 0; i < recording->n; i++)
      if (!clt_recording_find(recording, clt_recording_at(recording, i)->config)) abort();
  clt_recording_free(recording);
  close(fd);
  return 0;
}
