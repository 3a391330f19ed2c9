#include "pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "format/format.h"

static bool complain(const clt_error *error) {
  char text[2048];
  clt_error_format(text, sizeof text, error);
  fprintf(stderr, "%s\n", text);
  return false;
}

static bool instantiate(pool *p, const clt_recording *recording, clt_error *error) {
  size_t n = recording->n_sizes;
  const char *device = recording->device_json;
  clt_size *sizes = calloc(n + 1, sizeof *sizes);
  for (size_t i = 0; sizes && i < n; i++) sizes[i] = recording->sizes[i];
  p->device = device[0] ? malloc(sizeof *p->device) : NULL;
  bool good = sizes != NULL;
  if (good && p->device) good = clt_device_from_json(p->device, device, error) == 0;
  if (good) good = clt_instance_new(&p->instance, p->problem, sizes, n, p->device, error) == 0;
  free(sizes);
  return good;
}

static bool to_row(row *out, const pool *p, const clt_space *recorded, const clt_measurement *m) {
  char text[1024];
  const clt_space *space = clt_instance_space(p->instance);
  clt_config_print(text, sizeof text, recorded, m->config);
  *out = (row){.time_s = m->time_s, .failed = !clt_measurement_correct(m)};
  return clt_config_parse(&out->config, space, text, NULL) == 0 && clt_space_contains(space, out->config);
}

static bool read_rows(pool *p, const clt_recording *recording) {
  size_t n = recording->n;
  p->rows = calloc(n + 1, sizeof *p->rows);
  for (size_t i = 0; p->rows && i < n; i++)
    p->n_rows += to_row(&p->rows[p->n_rows], p, clt_recording_space(recording), clt_recording_at(recording, i));
  if (p->n_rows < n)
    fprintf(stderr, "%zu of %zu recorded configurations are not in the problem's space\n", n - p->n_rows, n);
  return p->n_rows > 0;
}

bool pool_open(pool *out, const char *problem_path, const char *recording_path) {
  clt_error error = {0};
  clt_recording *recording = NULL;
  *out = (pool){0};
  bool good = clt_recording_new(&recording, recording_path, &error) == 0;
  good = good && clt_problem_new(&out->problem, problem_path, &error) == 0 && instantiate(out, recording, &error);
  if (!good) complain(&error);
  good = good && read_rows(out, recording);
  clt_recording_free(recording);
  if (!good) pool_close(out);
  return good;
}

void pool_close(pool *p) {
  clt_instance_free(p->instance);
  clt_problem_free(p->problem);
  free(p->device);
  free(p->rows);
  *p = (pool){0};
}

void pool_shuffle(pool *p, uint64_t seed) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  for (size_t i = p->n_rows; i > 1; i--) {
    size_t j = (size_t)clt_rng_below(&rng, i);
    row last = p->rows[i - 1];
    p->rows[i - 1] = p->rows[j];
    p->rows[j] = last;
  }
}
