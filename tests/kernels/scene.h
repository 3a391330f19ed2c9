/* Arrays and calls of a problem's module, as the tuner makes them. */
#ifndef CLT_TESTS_KERNELS_SCENE_H
#define CLT_TESTS_KERNELS_SCENE_H

#include <clatune/module.h>

enum { SCENE_MAX = 8 };

typedef struct scene {
  clt_module_array arrays[SCENE_MAX];
  clt_module_scalar scalars[SCENE_MAX];
  size_t n_arrays, n_scalars;
  uint64_t seed;
} scene;

void scene_init(scene *s, uint64_t seed);
void scene_release(scene *s);
void scene_scalar(scene *s, const char *name, double value);
/* Adds a zeroed array; returns its data, owned by the scene. */
void *scene_array(scene *s, const char *name, size_t element_bytes, size_t x, size_t y, size_t z);
/* Calls a function of the module: with the named target, or none (NULL). */
int scene_call(const scene *s, clt_module_function function, const char *target);

#endif
