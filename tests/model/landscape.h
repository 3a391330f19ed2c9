/* A synthetic landscape for the tests: the parameters of a stencil-like kernel, times with structure, interactions and
 * noise, and failures if work-groups grow too large. */
#ifndef TESTS_MODEL_LANDSCAPE_H
#define TESTS_MODEL_LANDSCAPE_H

#include <math.h>

#include <stdlib.h>
#include "row.h"

static const char *const landscape_powers = "[2**i for i in range(8)]";

/* wg_x wg_y ppt_x ppt_y in powers of two, three booleans, unroll, a layout by name, a constant. 221,184 configurations;
 * with limit, those with at most 512 work-items. */
static inline clt_space *landscape_space(bool limit) {
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  clt_error error = {0};
  int rc = clt_space_builder_new(&b, &error);
  const char *const sizes[] = {"wg_x", "wg_y", "ppt_x", "ppt_y"};
  for (int i = 0; !rc && i < 4; i++)
    rc = clt_space_builder_parameter_text(b, sizes[i], "int", i < 2 ? landscape_powers : "[1, 2, 3, 4, 6, 8]", &error);
  const char *const flags[] = {"use_image", "use_local", "pad"};
  for (int i = 0; !rc && i < 3; i++) rc = clt_space_builder_parameter_text(b, flags[i], "bool", "[0, 1]", &error);
  if (!rc) rc = clt_space_builder_parameter_text(b, "unroll", "int", "[1, 2, 4, 8]", &error);
  if (!rc) rc = clt_space_builder_parameter_text(b, "layout", "string", "['rows', 'tiles', 'morton']", &error);
  if (!rc) rc = clt_space_builder_parameter_text(b, "radius", "int", "[2]", &error);
  if (!rc && limit) rc = clt_space_builder_constraint(b, "wg_x * wg_y <= 512", CLT_CONDITION, NULL, &error);
  if (!rc) rc = clt_space_new(&space, b, &error);
  clt_space_builder_free(b);
  return rc ? NULL : space;
}

static inline double landscape_number(const clt_space *space, clt_config config, const char *name) {
  return clt_value_number(clt_space_value(space, config, (size_t)clt_space_find_parameter(space, name)));
}

static inline bool landscape_fails(const clt_space *space, clt_config config) {
  return landscape_number(space, config, "wg_x") * landscape_number(space, config, "wg_y") > 1024;
}

/* Without noise. */
static inline double landscape_time_s(const clt_space *space, clt_config config) {
  double x = log2(landscape_number(space, config, "wg_x")), y = log2(landscape_number(space, config, "wg_y"));
  double p = landscape_number(space, config, "ppt_x"), q = landscape_number(space, config, "ppt_y");
  double local = landscape_number(space, config, "use_local"), image = landscape_number(space, config, "use_image");
  double occupancy = 0.08 * (x + y - 7) * (x + y - 7) + 0.03 * (x - 5) * (x - 5);
  double reuse = 0.05 * (p - 4) * (p - 4) * (1 - 0.5 * local) + 0.04 * fabs(q - 2) + 0.02 * p * q * image;
  double memory = 0.3 * local * image - 0.25 * local + 0.1 * landscape_number(space, config, "pad") * (1 - image);
  double unroll = 0.06 * fabs(log2(landscape_number(space, config, "unroll")) - 2);
  size_t layout = (size_t)(config % 3); /* radius has one value, so layout is the fastest digit */
  return 1e-3 * exp(occupancy + reuse + memory + unroll + (layout == 1 ? -0.2 : 0.05 * (double)layout * image));
}

/* n rows drawn from the valid configurations; failed ones if the landscape fails. Log times have this noise. */
static inline row *landscape_rows(const clt_space *space, size_t n, double noise, uint64_t seed) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  clt_config *configs = calloc(n, sizeof *configs);
  row *rows = calloc(n, sizeof *rows);
  if (clt_space_sample(configs, space, &rng, n, NULL) != (int64_t)n) abort();
  for (size_t i = 0; i < n; i++) {
    double factor = exp(noise * clt_rng_normal(&rng));
    rows[i] = (row){configs[i], landscape_time_s(space, configs[i]) * factor, landscape_fails(space, configs[i])};
  }
  free(configs);
  return rows;
}

#endif
