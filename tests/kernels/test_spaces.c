/* The shipped problems' spaces: complete, with the conditions and limits that docs/reference/problems.md states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clatune/problem.h"
#include "space/space.h"

static clt_problem *load(const char *path) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  if (clt_problem_new(&problem, path, &error) != CLT_OK) fail_msg("%s", error.message);
  return problem;
}

static clt_instance *instantiate(const clt_problem *problem, const clt_device_info *device) {
  clt_instance *instance = NULL;
  clt_error error = {0};
  if (clt_instance_new(&instance, problem, NULL, 0, device, &error) != CLT_OK) fail_msg("%s", error.message);
  return instance;
}

typedef struct shipped {
  const char *path, *name;
  uint64_t cartesian, valid;
} shipped;

/* Of the 64 pairs of work-group size and pixels per work-item, 58 cover less than twice 2048 pixels and 54 less than
 * twice 1024. */
static const shipped all[] = {
    {KERNELS_FOLDER "/convolution.json", "convolution", 131072, 58 * 58 * 32},
    {KERNELS_FOLDER "/raycasting.json", "raycasting", 655360, 54 * 54 * 32 * 5},
    {KERNELS_FOLDER "/stereo.json", "stereo", 2359296, 54 * 54 * 16 * 36},
    {KERNELS_FOLDER "/filterbank.json", "filterbank", 72576, 72576},
    {KERNELS_FOLDER "/gemm.json", "gemm-tiled", 12441600, 9564480},
    {KERNELS_FOLDER "/convolution_wide.json", "convolution-wide", 8 * 6 * 5 * 3 * 4 * 32, 86016},
};
enum { N_SHIPPED = sizeof all / sizeof *all };

static void is_complete(const shipped *s) {
  clt_problem *problem = load(s->path);
  clt_instance *instance = instantiate(problem, NULL);
  const clt_space *space = clt_instance_space(instance);
  assert_string_equal(clt_problem_name(problem), s->name);
  assert_int_equal(clt_space_cartesian(space), s->cartesian);
  assert_int_equal(clt_space_valid(space), s->valid);
  assert_true(clt_space_contains(space, clt_instance_default(instance)));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void spaces_are_complete(void **state) {
  (void)state;
  for (size_t i = 0; i < N_SHIPPED; i++) is_complete(&all[i]);
}

/* Products of matrices: 42 work-groups, of 20 shapes of sums the 19 of at most 64, 4 depths of tiles and 4 of
 * unrolling, less those of 512 columns or more. Fields: 10 pairs of rows and unrolling. Vectors: 7^4 work-groups, or
 * 7^2. */
static const shipped polybench[] = {
#define POLYBENCH(name, cartesian, valid) \
  { KERNELS_FOLDER "/polybench/" name ".json", name, cartesian, valid }
    POLYBENCH("2mm", 13440, 11808),
    POLYBENCH("3mm", 13440, 11808),
    POLYBENCH("gemm", 13440, 11808),
    POLYBENCH("syrk", 13440, 11808),
    POLYBENCH("syr2k", 13440, 11808),
    POLYBENCH("correlation", 13440, 11808),
    POLYBENCH("covariance", 13440, 11808),
    POLYBENCH("atax", 7 * 7 * 3 * 7 * 7 * 5 * 4, 144060),
    POLYBENCH("bicg", 7 * 7 * 3 * 7 * 7 * 5 * 4, 144060),
    POLYBENCH("mvt", 7 * 7 * 3 * 7 * 7 * 5 * 4, 144060),
    POLYBENCH("gemver", 7 * 7 * 3 * 7 * 7 * 5 * 4, 144060),
    POLYBENCH("gesummv", 7 * 7 * 3 * 5 * 4, 2940),
    POLYBENCH("2dconv", 6720, 7 * 6 * 10 * 5 * 2),
    POLYBENCH("3dconv", 6720, 3248),
    POLYBENCH("jacobi-2d", 6720, 4080),
    POLYBENCH("fdtd-2d", 6720, 4080),
};

static void polybench_is_complete(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof polybench / sizeof *polybench; i++) is_complete(&polybench[i]);
}

static const shipped families[] = {
#define VARIANT(file, name, cartesian, valid) \
  { KERNELS_FOLDER "/families/" file ".json", name, cartesian, valid }
    VARIANT("spmv/csr_scalar", "csr-scalar", 7 * 4 * 2 * 4 * 3, 672),
    VARIANT("spmv/csr_vector", "csr-vector", 7 * 6 * 4 * 4 * 2, (7 * 6 - 3) * 4 * 4 * 2), /* 16 < 32 and 64, 32 < 64 */
    VARIANT("spmv/ell", "ell", 7 * 5 * 3 * 2 * 3 * 2, (7 * 5 * 3 - 1) * 2 * 3 * 2),
    VARIANT("spmv/dia", "dia", 7 * 5 * 3 * 2 * 3 * 2 * 2, (7 * 5 * 3 - 1) * 2 * 3 * 2 * 2),
    VARIANT("spmv/sell", "sell", 3 * 3 * 7 * 5 * 3 * 2, (3 + 5 + 5) * 3 * 7 * 3 * 2), /* vectors up to a chunk */
    VARIANT("histogram/global_even", "global-even", 6 * 4 * 3 * 4 * 2 * 3, 1350),
    VARIANT("histogram/global_dynamic", "global-dynamic", 6 * 4 * 3 * 4 * 2 * 3, 1350),
    VARIANT("histogram/local_even", "local-even", 6 * 4 * 3 * 4 * 2 * 4, 1800),
    VARIANT("histogram/local_dynamic", "local-dynamic", 6 * 4 * 3 * 4 * 2 * 4, 1800),
    VARIANT("histogram/sorted_even", "sorted-even", 6 * 4 * 4 * 4 * 2, 664),
    VARIANT("histogram/sorted_dynamic", "sorted-dynamic", 6 * 4 * 4 * 4 * 2, 664),
    VARIANT("sort/merge", "merge", 5 * 6 * 2 * 5 * 6 * 2, 1524),
    VARIANT("sort/locality", "locality", 5 * 6 * 2 * 5 * 6 * 2, 1524),
    VARIANT("sort/radix", "radix", 5 * 6 * 7 * 4 * 2, 1372),
};

static void variants_are_complete(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) is_complete(&families[i]);
}

/* A device with just so much local memory, and otherwise generous. */
static clt_device_info device_with_local_memory(uint64_t bytes) {
  clt_device_info d = {.local_memory_bytes = bytes,
                       .images = true,
                       .available = true,
                       .max_work_group_size = 1024,
                       .max_work_item_sizes = {1024, 1024, 64},
                       .max_allocation_bytes = (uint64_t)1 << 33,
                       .global_memory_bytes = (uint64_t)1 << 35,
                       .max_constant_bytes = 65536,
                       .image2d_max_width = 16384,
                       .image2d_max_height = 16384,
                       .image3d_max_width = 2048,
                       .image3d_max_height = 2048,
                       .image3d_max_depth = 2048};
  return d;
}

static bool allowed(const char *path, const clt_device_info *device, const char *text) {
  clt_problem *problem = load(path);
  clt_instance *instance = instantiate(problem, device);
  clt_error error = {0};
  clt_config config;
  if (clt_config_parse(&config, clt_instance_space(instance), text, &error) != CLT_OK) fail_msg("%s", error.message);
  const bool contained = clt_space_contains(clt_instance_space(instance), config);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return contained;
}

static void tiles_must_fit_into_local_memory(void **state) {
  (void)state;
  /* convolution: 4 (16 + 4)^2; raycasting: 256 float4; stereo: (16 + 6 + 16 + 6 + 31) (16 + 6);
   * filterbank: (8 + 1) rows of 8 depths of (16 + 4 + 1), and a place for each of 8 x 1 work-items, padded;
   * gemm: two buffers of 16 columns of 17 and rows of 32; convolution_wide: (64 + 8) (8 + 4) */
  static const uint64_t needs[N_SHIPPED] = {1600,       4096, 1650, 4 * (9 * 8 * 21 + 8 * 2), 4 * 2 * 16 * (17 + 32),
                                            4 * 72 * 12};
  static const char *const configs[N_SHIPPED] = {
      "wg_x=8 wg_y=16 ppt_x=2 ppt_y=1 use_image=0 use_local=1 pad=0 interleave=0 unroll=0",
      "wg_x=8 wg_y=16 ppt_x=2 ppt_y=1 image_data=0 image_tf=0 local_tf=1 constant_tf=0 interleave=0 unroll=1",
      "wg_x=8 wg_y=16 ppt_x=2 ppt_y=1 image_left=1 image_right=1 local_left=1 local_right=1 unroll_disparity=1 "
      "unroll_dx=1 unroll_dy=1",
      "block_h=8 block_w=16 n_filter_rows=2 n_output_4s=1 spill=1 imul_fast=0 pad_shared=1 use_tex1d=0 "
      "maxrreg=unlimited fast_math=0",
      "wg_x=8 wg_y=4 rows=4 vectors=1 vec=4 vec_a=1 tile_k=16 unroll=1 stage_a=1 stage_b=1 buffers=2 pad=1 "
      "interleave_x=0 "
      "interleave_y=0",
      "wg_x=8 wg_y=4 vec=4 vectors=2 rows=2 use_local=1 pad=0 window=0 reuse_rows=0 unroll=0"};
  for (size_t i = 0; i < N_SHIPPED; i++) {
    const clt_device_info enough = device_with_local_memory(needs[i]), less = device_with_local_memory(needs[i] - 1);
    assert_true(allowed(all[i].path, &enough, configs[i]));
    assert_false(allowed(all[i].path, &less, configs[i]));
  }
}

static void work_groups_must_fit_the_device(void **state) {
  (void)state;
  const clt_device_info device = device_with_local_memory(65536);
  const char *rest = "ppt_x=1 ppt_y=1 use_image=0 use_local=0 pad=0 interleave=0 unroll=0";
  char text[200];
  strcpy(text, "wg_x=128 wg_y=8 ");
  assert_true(allowed(all[0].path, &device, strcat(text, rest)));
  strcpy(text, "wg_x=128 wg_y=16 ");
  assert_false(allowed(all[0].path, &device, strcat(text, rest)));
}

static void a_device_without_images_keeps_the_buffers(void **state) {
  (void)state;
  clt_device_info device = device_with_local_memory(65536);
  device.images = false;
  assert_false(allowed(all[0].path, &device,
                       "wg_x=8 wg_y=8 ppt_x=1 ppt_y=1 use_image=1 use_local=0 pad=0 interleave=0 unroll=0"));
  assert_true(allowed(all[0].path, &device,
                      "wg_x=8 wg_y=8 ppt_x=1 ppt_y=1 use_image=0 use_local=0 pad=0 interleave=0 unroll=0"));
}

static void constant_memory_yields_to_an_image(void **state) {
  (void)state;
  clt_problem *problem = load(all[1].path);
  clt_instance *instance = instantiate(problem, NULL);
  const clt_space *space = clt_instance_space(instance);
  clt_error error = {0};
  clt_config both, image;
  const char *rest = "wg_x=8 wg_y=8 ppt_x=1 ppt_y=1 image_data=0 image_tf=1 local_tf=0 interleave=0 unroll=4";
  char text[200];
  assert_true(clt_space_has_aliases(space));
  assert_int_equal(clt_config_parse(&both, space, strcat(strcpy(text, "constant_tf=1 "), rest), &error), CLT_OK);
  assert_int_equal(clt_config_parse(&image, space, strcat(strcpy(text, "constant_tf=0 "), rest), &error), CLT_OK);
  assert_true(both != image);
  assert_int_equal(clt_space_canonical(space, both), image);
  assert_int_equal(clt_space_canonical(space, image), image);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

#define FILTERBANK(changing) changing " block_h=8 block_w=8 spill=0 imul_fast=1 pad_shared=1 fast_math=0"

static void registers_are_limited_where_the_driver_can(void **state) {
  (void)state;
  clt_device_info device = device_with_local_memory(65536);
  const char *limited = FILTERBANK("maxrreg=16 n_filter_rows=1 n_output_4s=all use_tex1d=0");
  assert_false(allowed(KERNELS_FOLDER "/filterbank.json", &device, limited));
  strcpy(device.extensions, "cl_khr_fp64 cl_nv_compiler_options");
  assert_true(allowed(KERNELS_FOLDER "/filterbank.json", &device, limited));
}

static void weights_must_fit_into_constant_memory_and_the_image_into_one_of_a_buffer(void **state) {
  (void)state;
  clt_device_info device = device_with_local_memory(65536);
  device.image1d_buffer_max_width = 128 * 128 * 8;
  device.max_constant_bytes = 8 * 5 * 16 * 4; /* one row of 16 filters of 5 x 8 */
  const char *path = KERNELS_FOLDER "/filterbank.json";
  assert_true(allowed(path, &device, FILTERBANK("maxrreg=unlimited n_filter_rows=1 n_output_4s=all use_tex1d=1")));
  assert_true(allowed(path, &device, FILTERBANK("maxrreg=unlimited n_filter_rows=2 n_output_4s=2 use_tex1d=1")));
  assert_false(allowed(path, &device, FILTERBANK("maxrreg=unlimited n_filter_rows=2 n_output_4s=all use_tex1d=1")));
  device.image1d_buffer_max_width--;
  assert_false(allowed(path, &device, FILTERBANK("maxrreg=unlimited n_filter_rows=1 n_output_4s=all use_tex1d=1")));
  assert_true(allowed(path, &device, FILTERBANK("maxrreg=unlimited n_filter_rows=1 n_output_4s=all use_tex1d=0")));
}

static void parse_object(clt_config *out, const clt_space *space, json_t *object) {
  char text[500] = "";
  const char *name;
  json_t *value;
  json_object_foreach(object, name, value) {
    char *number = json_dumps(value, JSON_ENCODE_ANY);
    const char *shown = json_is_string(value) ? json_string_value(value) : number;
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s=%s ", name, shown);
    free(number);
  }
  assert_int_equal(clt_config_parse(out, space, text, NULL), CLT_OK);
}

static void the_papers_grid_is_in_the_space(void **state) {
  (void)state;
  json_t *grid = json_load_file(KERNELS_FOLDER "/filterbank-grid.json", JSON_REJECT_DUPLICATES, NULL);
  const clt_device_info device = device_with_local_memory(1 << 20);
  clt_problem *problem = load(KERNELS_FOLDER "/filterbank.json");
  clt_instance *instance = instantiate(problem, &device);
  const clt_space *space = clt_instance_space(instance);
  clt_config configs[73];
  assert_int_equal(json_array_size(grid), 73);
  for (size_t i = 0; i < 73; i++) {
    parse_object(&configs[i], space, json_array_get(grid, i));
    assert_true(clt_space_contains(space, configs[i]));
    for (size_t j = 0; j < i; j++) assert_true(configs[i] != configs[j]);
  }
  assert_true(configs[0] == clt_instance_default(instance));
  clt_instance_free(instance);
  clt_problem_free(problem);
  json_decref(grid);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spaces_are_complete),
      cmocka_unit_test(polybench_is_complete),
      cmocka_unit_test(variants_are_complete),
      cmocka_unit_test(tiles_must_fit_into_local_memory),
      cmocka_unit_test(work_groups_must_fit_the_device),
      cmocka_unit_test(a_device_without_images_keeps_the_buffers),
      cmocka_unit_test(constant_memory_yields_to_an_image),
      cmocka_unit_test(registers_are_limited_where_the_driver_can),
      cmocka_unit_test(the_papers_grid_is_in_the_space),
      cmocka_unit_test(weights_must_fit_into_constant_memory_and_the_image_into_one_of_a_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
