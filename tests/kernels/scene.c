#include "scene.h"

#include <stdlib.h>

void scene_init(scene *s, uint64_t seed) {
  memset(s, 0, sizeof *s);
  s->seed = seed;
}

void scene_release(scene *s) {
  for (size_t i = 0; i < s->n_arrays; i++) free(s->arrays[i].data);
  s->n_arrays = 0;
}

void scene_scalar(scene *s, const char *name, double value) {
  if (s->n_scalars == SCENE_MAX) abort();
  s->scalars[s->n_scalars++] = (clt_module_scalar){name, value};
}

void *scene_array(scene *s, const char *name, size_t element_bytes, size_t x, size_t y, size_t z) {
  void *data = calloc(x * y * z, element_bytes);
  if (!data || s->n_arrays == SCENE_MAX) abort();
  s->arrays[s->n_arrays++] = (clt_module_array){name, "", {x, y, z}, data, x * y * z * element_bytes};
  return data;
}

int scene_call(const scene *s, clt_module_function function, const char *target) {
  clt_module_call call = {s->arrays, s->n_arrays, s->scalars, s->n_scalars, NULL, s->seed};
  if (target) call.target = clt_module_find(&call, target);
  return function(&call);
}
