/* Every kind of argument reaches the kernel as the plan says, and comes back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static bool has_extension(const bench *b, const char *name) {
  return strstr(clt_executor_device(b->executor)->extensions, name) != NULL;
}

/* out[i] = in[i] + in[i], by element type; numbers small enough for all of them. */
static void check_type(bench *b, const char *type) {
  enum { N = 48 };
  char options[100];
  bench_reset(b);
  bench_source(
      b, "kernel void f(global const T *in, global T *out) { size_t i = get_global_id(0); out[i] = in[i] + in[i]; }",
      "");
  free(b->plan.options);
  snprintf(options, sizeof options, "-DT=%s", type);
  b->plan.options = strdup(options);
  bench_buffer(b, "in", type, CLT_READ_ONLY, N, 1, 1);
  clt_plan_arg *out = bench_buffer(b, "out", type, CLT_WRITE_ONLY, N, 1, 1);
  bench_launch(b, "f", N, 4);
  unsigned char *in = bench_input(b, "in"), *reference = bench_reference(b, "out");
  size_t width = clt_element_base_bytes(out->element.base);
  for (size_t i = 0; i < out->bytes / width; i++) {
    double number = (double)(i % 50);
    float f = (float)number;
    if (out->element.base == CLT_ELEMENT_FLOAT) memcpy(in + i * width, &f, width);
    if (out->element.base == CLT_ELEMENT_DOUBLE) memcpy(in + i * width, &number, width);
    if (out->element.base < CLT_ELEMENT_HALF) in[i * width] = (unsigned char)number;
    number *= 2;
    f *= 2;
    if (out->element.base == CLT_ELEMENT_FLOAT) memcpy(reference + i * width, &f, width);
    if (out->element.base == CLT_ELEMENT_DOUBLE) memcpy(reference + i * width, &number, width);
    if (out->element.base < CLT_ELEMENT_HALF) reference[i * width] = (unsigned char)number;
  }
  bench_prepare(b, CLT_REASON_NONE);
  reference[width * 4 + width - 1] ^= 0x40; /* and the comparison is of this type */
  clt_executor_forget(b->executor, &b->data);
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
}

static void every_element_type_is_passed_and_compared(void **state) {
  bench *b = *state;
  const char *types[] = {"char", "uchar",  "uchar4", "short2", "ushort",  "int",    "uint8",
                         "long", "ulong2", "float",  "float3", "float16", "double", "double4"};
  bool doubles = has_extension(b, "cl_khr_fp64");
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (doubles || strncmp(types[i], "double", 6) != 0) check_type(b, types[i]);
}

/* Integers have no value that cannot be correct: not even 0xA5 everywhere may pass for a result. */
static void an_integer_that_was_never_written_is_wrong_whatever_it_should_be(void **state) {
  bench *b = *state;
  bench_source(b, "kernel void f(global uchar *out) { size_t i = get_global_id(0); if (i != 200) out[i] = i; }", "");
  bench_buffer(b, "out", "uchar", CLT_WRITE_ONLY, 256, 1, 1);
  bench_launch(b, "f", 256, 16);
  unsigned char *reference = bench_reference(b, "out");
  for (int value = 0; value < 256; value++) {
    for (int i = 0; i < 256; i++) reference[i] = (unsigned char)i;
    reference[200] = (unsigned char)value;
    clt_executor_forget(b->executor, &b->data);
    if (value % 15 == 0) bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  }
}

static const char stored_border[] =
    "kernel void f(global const int *in, global int *out, int width, int height, int border) {\n"
    "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "  int X = get_global_size(0), Y = get_global_size(1);\n"
    "  out[(z * Y + y) * X + x] = in[(z * Y + y) * X + x];\n"
    "}\n";

/* The kernel copies the stored array as it is; clt_array_store defines the reference. */
static void check_border(bench *b, size_t x, size_t y, size_t z, clt_border_mode mode) {
  bench_reset(b);
  bench_source(b, stored_border, "");
  clt_plan_arg *in = bench_buffer(b, "in", "int", CLT_READ_ONLY, x, y, z);
  bench_border(in, 2, mode);
  size_t global[3];
  for (int d = 0; d < 3; d++) global[d] = in->extent[d] + 2 * in->border[d];
  bench_buffer(b, "out", "int", CLT_WRITE_ONLY, global[0], global[1], global[2]);
  bench_int(b, "width", (int)x);
  bench_int(b, "height", (int)y);
  bench_int(b, "border", 2);
  clt_plan_launch *launch = bench_launch(b, "f", 1, 0);
  launch->n_dimensions = 3;
  memcpy(launch->global, global, sizeof global);
  int *content = bench_input(b, "in");
  for (size_t i = 0; i < x * y * z; i++) content[i] = (int)i + 1;
  clt_array_store(bench_reference(b, "out"), in, content);
  bench_prepare(b, CLT_REASON_NONE);
}

static void borders_are_stored_as_the_plan_says(void **state) {
  for (int mode = CLT_BORDER_ZERO; mode <= CLT_BORDER_CLAMP; mode++) {
    check_border(*state, 7, 5, 1, mode);
    check_border(*state, 4, 3, 5, mode);
  }
}

static void an_output_with_a_border_is_compared_without_it(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void f(global int *out) {\n"
               "  out[(get_global_id(1) + 1) * (get_global_size(0) + 2) + get_global_id(0) + 1] =\n"
               "      get_global_id(1) * 10 + get_global_id(0);\n"
               "}\n",
               "");
  clt_plan_arg *out = bench_buffer(b, "out", "int", CLT_WRITE_ONLY, 6, 4, 1);
  bench_border(out, 1, CLT_BORDER_ZERO);
  bench_launch_2d(b, "f", (size_t[]){6, 4}, (size_t[]){2, 2});
  int *reference = bench_reference(b, "out");
  for (int i = 0; i < 24; i++) reference[i] = i / 6 * 10 + i % 6;
  bench_prepare(b, CLT_REASON_NONE);
}

static void read_write_arguments_are_restored_before_each_run(void **state) {
  bench *b = *state;
  bench_source(b, "kernel void f(global float *x) { x[get_global_id(0)] += 1; }", "");
  bench_buffer(b, "x", "float", CLT_READ_WRITE, 256, 1, 1);
  bench_launch(b, "f", 256, 16);
  float *in = bench_input(b, "x"), *out = bench_reference(b, "x");
  for (int i = 0; i < 256; i++) out[i] = (in[i] = (float)i) + 1;
  bench_measure(b, 5, 5, CLT_REASON_NONE);
  assert_int_equal(b->m.n_runs, 5);
  bench_prepare(b, CLT_REASON_NONE);
}

static void constant_and_local_memory_are_arguments(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void f(constant float *weights, local float *tile, global float *out, int n) {\n"
               "  size_t i = get_local_id(0);\n"
               "  tile[i] = weights[i] * n;\n"
               "  barrier(CLK_LOCAL_MEM_FENCE);\n"
               "  out[get_global_id(0)] = tile[get_local_size(0) - 1 - i];\n"
               "}\n",
               "");
  bench_buffer(b, "weights", "float", CLT_READ_ONLY, 8, 1, 1)->kind = CLT_ARG_CONSTANT;
  bench_local(b, 8 * sizeof(float));
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 64, 1, 1);
  bench_int(b, "n", 3);
  bench_launch(b, "f", 64, 8);
  float *weights = bench_input(b, "weights"), *out = bench_reference(b, "out");
  for (int i = 0; i < 8; i++) weights[i] = (float)(i * i);
  for (int i = 0; i < 64; i++) out[i] = 3 * weights[7 - i % 8];
  bench_measure(b, 1, 2, CLT_REASON_NONE);
}

static clt_plan_arg *add_sampler(bench *b, bool clamp_to_edge) {
  clt_plan_arg *sampler = bench_int(b, "sampler", 0);
  sampler->kind = CLT_ARG_SAMPLER;
  sampler->sampler_clamp_to_edge = clamp_to_edge;
  return sampler;
}

static void images_are_read_through_samplers(void **state) {
  bench *b = *state;
  enum { W = 17, H = 9 };
  if (!clt_executor_device(b->executor)->images) skip();
  bench_source(b,
               "kernel void f(read_only image2d_t in, sampler_t s, global float *out) {\n"
               "  int x = get_global_id(0), y = get_global_id(1);\n"
               "  out[y * get_global_size(0) + x] = read_imagef(in, s, (int2)(x - 1, y)).x;\n"
               "}\n",
               "");
  bench_buffer(b, "in", "float", CLT_READ_ONLY, W, H, 1)->kind = CLT_ARG_IMAGE2D;
  clt_plan_arg *sampler = add_sampler(b, true);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, W, H, 1);
  bench_launch_2d(b, "f", (size_t[]){W, H}, (size_t[]){1, 1});
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < W * H; i++) in[i] = (float)i + 1;
  for (int i = 0; i < W * H; i++) out[i] = in[i % W == 0 ? i : i - 1];
  bench_prepare(b, CLT_REASON_NONE);
  sampler->sampler_clamp_to_edge = false; /* zeros outside */
  for (int i = 0; i < H; i++) out[i * W] = 0;
  bench_measure(b, 2, 2, CLT_REASON_NONE);
}

static void images_of_bytes_are_integers_or_normalised(void **state) {
  bench *b = *state;
  if (!clt_executor_device(b->executor)->images) skip();
  bench_source(b,
               "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
               "kernel void f(read_only image2d_t in, read_only image2d_t same, global float *out) {\n"
               "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
               "  out[at.y * get_global_size(0) + at.x] = read_imageui(in, s, at).w + read_imagef(same, s, at).y;\n"
               "}\n",
               "");
  bench_buffer(b, "in", "uchar4", CLT_READ_ONLY, 8, 6, 1)->kind = CLT_ARG_IMAGE2D;
  clt_plan_arg *same = bench_buffer(b, "same", "uchar4", CLT_READ_ONLY, 8, 6, 1);
  same->kind = CLT_ARG_IMAGE2D;
  same->channel = CLT_CHANNEL_NORMALISED;
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 8, 6, 1);
  bench_launch_2d(b, "f", (size_t[]){8, 6}, (size_t[]){4, 2});
  unsigned char *in = bench_input(b, "in"), *copy = bench_input(b, "same");
  float *out = bench_reference(b, "out");
  for (int i = 0; i < 8 * 6 * 4; i++) copy[i] = in[i] = (unsigned char)(i + 20);
  for (int i = 0; i < 8 * 6; i++) out[i] = (float)in[4 * i + 3] + (float)copy[4 * i + 1] / 255.0f;
  bench_prepare(b, CLT_REASON_NONE);
}

static void volumes_are_images_of_three_dimensions(void **state) {
  bench *b = *state;
  enum { W = 6, H = 5, D = 4 };
  if (!clt_executor_device(b->executor)->images) skip();
  bench_source(b,
               "kernel void f(read_only image3d_t in, sampler_t s, global float *out) {\n"
               "  int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
               "  int W = get_global_size(0), H = get_global_size(1);\n"
               "  out[(at.z * H + at.y) * W + at.x] = read_imagef(in, s, at + (int4)(1, 1, 1, 0)).x;\n"
               "}\n",
               "");
  clt_plan_arg *in = bench_buffer(b, "in", "float", CLT_READ_ONLY, W, H, D);
  in->kind = CLT_ARG_IMAGE3D;
  bench_border(in, 1, CLT_BORDER_CLAMP);
  add_sampler(b, false);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, W, H, D);
  clt_plan_launch *launch = bench_launch(b, "f", W, 0);
  launch->n_dimensions = 3;
  launch->global[1] = H;
  launch->global[2] = D;
  float *content = bench_input(b, "in");
  for (int i = 0; i < W * H * D; i++) content[i] = (float)i;
  memcpy(bench_reference(b, "out"), content, sizeof *content * W * H * D);
  bench_prepare(b, CLT_REASON_NONE);
}

static void an_image_can_be_an_output(void **state) {
  bench *b = *state;
  if (!clt_executor_device(b->executor)->images) skip();
  const char *source =
      "kernel void f(write_only image2d_t out) {\n"
      "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  if (at.x != LEFT_OUT) write_imagef(out, at, (float4)(at.x, at.y, 2, 3));\n"
      "}\n";
  bench_source(b, source, "-DLEFT_OUT=99");
  bench_buffer(b, "out", "float4", CLT_WRITE_ONLY, 10, 4, 1)->kind = CLT_ARG_IMAGE2D;
  bench_launch_2d(b, "f", (size_t[]){10, 4}, (size_t[]){2, 2});
  float *out = bench_reference(b, "out");
  for (int i = 0; i < 40; i++) memcpy(out + 4 * i, (float[]){(float)(i % 10), (float)(i / 10), 2, 3}, 16);
  bench_prepare(b, CLT_REASON_NONE);
  strcpy(b->plan.options, "-DLEFT_OUT=3");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(b, "element 3");
}

static void images_that_the_device_lacks_are_a_limit(void **state) {
  bench *b = *state;
  bench_source(b, "kernel void f(read_only image2d_t in, global float *out) { out[0] = 1; }", "");
  clt_plan_arg *in = bench_buffer(b, "in", "double", CLT_READ_ONLY, 8, 8, 1);
  in->kind = CLT_ARG_IMAGE2D;
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 1, 1, 1);
  bench_launch(b, "f", 1, 1);
  bench_input(b, "in");
  bench_prepare(b, CLT_REASON_DEVICE_LIMIT);
  bench_reset(b);
  bench_source(b, "kernel void f(read_only image2d_t in) {}", "");
  in = bench_buffer(b, "in", "float", CLT_READ_ONLY, (size_t)clt_executor_device(b->executor)->image2d_max_width + 1, 1,
                    1);
  in->kind = CLT_ARG_IMAGE2D;
  bench_launch(b, "f", 1, 1);
  bench_prepare(b, CLT_REASON_DEVICE_LIMIT);
}

static void an_image_can_be_a_view_of_a_buffer(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void f(read_only image1d_buffer_t in, global float *out) {\n"
               "  int i = get_global_id(0);\n"
               "  out[i] = read_imagef(in, i).x + 100 * read_imagef(in, i).y;\n"
               "}\n",
               "");
  bench_buffer(b, "in", "float4", CLT_READ_ONLY, 30, 10, 1)->kind = CLT_ARG_IMAGE1D_BUFFER;
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 300, 1, 1);
  bench_launch(b, "f", 300, 10);
  float *values = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < 1200; i++) values[i] = (float)i;
  for (int i = 0; i < 300; i++) out[i] = (float)(4 * i) + 100 * (float)(4 * i + 1);
  bench_measure(b, 2, 2, CLT_REASON_NONE);
}

static void groups_of_launches_take_turns_and_know_their_round(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void first(global int *middle, uint round) { middle[get_global_id(0)] = round + 1; }\n"
               "kernel void second(global int *middle, uint round, global int *out) {\n"
               "  int i = get_global_id(0);\n"
               "  out[i] = out[i] * 3 + middle[i] * (round + 2);\n"
               "}\n",
               "");
  bench_buffer(b, "middle", "int", CLT_READ_WRITE, 64, 1, 1);
  clt_plan_arg *round = bench_int(b, "round", 0);
  assert_int_equal(clt_element_parse(&round->element, "uint"), 0);
  round->is_repetition = true;
  clt_plan_launch *first = bench_launch(b, "first", 64, 8);
  bench_buffer(b, "out", "int", CLT_READ_WRITE, 64, 1, 1);
  first->repeat = bench_launch(b, "second", 64, 16)->repeat = 300; /* more than are enqueued at a time */
  first->together = 2;
  uint32_t *start = bench_input(b, "out"), *out = bench_reference(b, "out");
  for (uint32_t i = 0; i < 64; i++) start[i] = out[i] = i;
  for (uint32_t r = 0; r < 300; r++)
    for (uint32_t i = 0; i < 64; i++) out[i] = out[i] * 3 + (r + 1) * (r + 2);
  bench_measure(b, 2, 2, CLT_REASON_NONE);
}

static void several_launches_share_arguments(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void first(global const int *in, global int *middle) {\n"
               "  middle[get_global_id(0)] = in[get_global_id(0)] * 3;\n"
               "}\n"
               "kernel void second(global const int *middle, global int *out) {\n"
               "  out[get_global_id(0)] += middle[63 - get_global_id(0)];\n"
               "}\n",
               "");
  bench_buffer(b, "in", "int", CLT_READ_ONLY, 64, 1, 1);
  bench_buffer(b, "middle", "int", CLT_READ_WRITE, 64, 1, 1);
  bench_buffer(b, "out", "int", CLT_READ_WRITE, 64, 1, 1);
  clt_plan_launch *first = bench_launch(b, "first", 64, 8), *second = bench_launch(b, "second", 64, 16);
  first->n_args = second->n_args = 2;
  second->args[0] = 1;
  second->args[1] = 2;
  second->repeat = 600; /* more than are enqueued at a time */
  int *in = bench_input(b, "in"), *start = bench_input(b, "out"), *out = bench_reference(b, "out");
  for (int i = 0; i < 64; i++) in[i] = start[i] = i;
  for (int i = 0; i < 64; i++) out[i] = i + 600 * 3 * (63 - i);
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(b->n_phases, 9); /* both kernels are announced */
  bench_time(b, 2, 2, CLT_REASON_NONE);
}

static void a_kernel_computes_the_reference(void **state) {
  bench *b = *state;
  const char *source =
      "kernel void f(global const float *in, global float *out) {\n"
      "  size_t i = get_global_id(0);\n"
      "  out[i] = FACTOR * in[i];\n"
      "}\n";
  bench_source(b, source, "-DFACTOR=3");
  bench_buffer(b, "in", "float", CLT_READ_ONLY, 100, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 100, 1, 1);
  bench_launch(b, "f", 100, 10);
  float *in = bench_input(b, "in");
  for (int i = 0; i < 100; i++) in[i] = (float)i;
  free(bench_reference(b, "out"));
  b->arrays[1].reference = NULL;
  strcpy(b->plan.options, "-DFACTOR=x");
  assert_int_equal(clt_executor_reference(b->executor, &b->plan, &b->data, &b->error), CLT_E_OPENCL);
  assert_null(b->arrays[1].reference);
  b->error = (clt_error){0};
  strcpy(b->plan.options, "-DFACTOR=3");
  assert_int_equal(clt_executor_reference(b->executor, &b->plan, &b->data, &b->error), 0);
  const float *reference = b->arrays[1].reference;
  assert_non_null(reference);
  for (int i = 0; i < 100; i++) assert_true(reference[i] == 3 * in[i]);
  bench_prepare(b, CLT_REASON_NONE);
  strcpy(b->plan.options, "-DFACTOR=4");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
}

static void without_data_nothing_is_compared(void **state) {
  bench *b = *state;
  bench_source(b, "kernel void f(global const int *in, global int *out) { out[get_global_id(0)] = in[3]; }", "");
  bench_buffer(b, "in", "int", CLT_READ_ONLY, 16, 1, 1)->has_data = true;
  bench_buffer(b, "out", "int", CLT_WRITE_ONLY, 16, 1, 1)->verified = true;
  bench_launch(b, "f", 16, 4);
  assert_int_equal(clt_executor_prepare(b->executor, &b->prepared, &b->plan, NULL, &b->m, &b->error), 0);
  assert_int_equal(b->m.reason, CLT_REASON_NONE);
  assert_true(isnan(b->m.max_abs_error));
  assert_non_null(b->prepared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(every_element_type_is_passed_and_compared),
      BENCH_TEST(an_integer_that_was_never_written_is_wrong_whatever_it_should_be),
      BENCH_TEST(borders_are_stored_as_the_plan_says),
      BENCH_TEST(an_output_with_a_border_is_compared_without_it),
      BENCH_TEST(read_write_arguments_are_restored_before_each_run),
      BENCH_TEST(constant_and_local_memory_are_arguments),
      BENCH_TEST(images_are_read_through_samplers),
      BENCH_TEST(images_of_bytes_are_integers_or_normalised),
      BENCH_TEST(volumes_are_images_of_three_dimensions),
      BENCH_TEST(an_image_can_be_an_output),
      BENCH_TEST(images_that_the_device_lacks_are_a_limit),
      BENCH_TEST(an_image_can_be_a_view_of_a_buffer),
      BENCH_TEST(groups_of_launches_take_turns_and_know_their_round),
      BENCH_TEST(several_launches_share_arguments),
      BENCH_TEST(a_kernel_computes_the_reference),
      BENCH_TEST(without_data_nothing_is_compared),
  };
  return bench_main("arguments", tests, sizeof tests / sizeof *tests);
}
