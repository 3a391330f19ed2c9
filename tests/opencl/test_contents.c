/* Hashes of contents by the device, memory that the next configuration gets again, and results that are known. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "opencl/internal.h"

#include "bench.h"

enum { BYTES = (1 << 20) + 12 };

/* As on a GPU: on a CPU the host makes the hashes. */
static int set_up_gpu(void **state) {
  const int rc = bench_set_up(state);
  if (rc == 0) ((bench *)*state)->executor->info.type = CLT_DEVICE_GPU;
  return rc;
}

static int tear_down_gpu(void **state) {
  clt_executor *executor = ((bench *)*state)->executor;
  const int rc = bench_tear_down(state);
  clt_objects_drop(executor);
  clt_sum_free(executor);
  executor->info.type = CLT_DEVICE_CPU;
  return rc;
}

static uint64_t hash_of(clt_executor *executor, const clt_object *object, bool *by_device) {
  clt_view view;
  uint64_t hash = 0;
  assert_int_equal(clt_object_hash(&hash, &view, executor, object), CL_SUCCESS);
  *by_device = view.bytes == NULL;
  clt_object_close(executor, object, &view);
  return hash;
}

static void the_device_hashes_as_the_host_does(void **state) {
  bench *b = *state;
  clt_executor *executor = b->executor;
  const clt_plan_arg *arg = bench_buffer(b, "in", "uchar", CLT_READ_ONLY, BYTES, 1, 1);
  clt_object object = {0};
  unsigned char *content = malloc(BYTES);
  bool by_device;
  for (size_t i = 0; i < BYTES; i++) content[i] = (unsigned char)(i * 2654435761u >> 13);
  assert_int_equal(clt_object_new(&object, executor, arg, CL_MEM_READ_WRITE), CL_SUCCESS);
  const uint64_t expected = clt_object_hash_of(executor, &object, content);
  assert_int_equal(clt_object_write(executor, &object, content), CL_SUCCESS);
  assert_true(hash_of(executor, &object, &by_device) == expected);
  assert_true(by_device);
  /* One byte anywhere, the signs of many numbers, and two words that changed places. */
  static const size_t places[] = {0, 7, 8, BYTES / 2, BYTES - 13, BYTES - 1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    content[places[i]] ^= 1;
    assert_int_equal(clt_object_write(executor, &object, content), CL_SUCCESS);
    assert_true(hash_of(executor, &object, &by_device) != expected);
    content[places[i]] ^= 1;
  }
  for (size_t i = 7; i < BYTES; i += 8) content[i] ^= 0x80;
  assert_int_equal(clt_object_write(executor, &object, content), CL_SUCCESS);
  assert_true(hash_of(executor, &object, &by_device) != expected);
  for (size_t i = 7; i < BYTES; i += 8) content[i] ^= 0x80;
  unsigned char word[8];
  memcpy(word, content + 64, 8), memcpy(content + 64, content + 8000, 8), memcpy(content + 8000, word, 8);
  assert_int_equal(clt_object_write(executor, &object, content), CL_SUCCESS);
  assert_true(hash_of(executor, &object, &by_device) != expected);
  clt_object_release(&object, executor);
  free(content);
}

static void the_host_hashes_little(void **state) {
  bench *b = *state;
  const clt_plan_arg *arg = bench_buffer(b, "in", "uchar", CLT_READ_ONLY, 4096, 1, 1);
  clt_object object = {0};
  unsigned char content[4096] = {1, 2, 3};
  bool by_device;
  assert_int_equal(clt_object_new(&object, b->executor, arg, CL_MEM_READ_WRITE), CL_SUCCESS);
  assert_int_equal(clt_object_write(b->executor, &object, content), CL_SUCCESS);
  assert_true(hash_of(b->executor, &object, &by_device) == clt_hash64(content, sizeof content));
  assert_false(by_device);
  clt_object_release(&object, b->executor);
}

/* out = in + wrong, over 1 MiB: more than the host hashes. */
static void copy_kernel(bench *b, const char *text) {
  enum { N = 1 << 18 };
  bench_source(b, text, "");
  bench_buffer(b, "in", "float", CLT_READ_ONLY, N, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, N, 1, 1);
  bench_launch(b, "f", N, 16);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < N; i++) out[i] = in[i] = (float)i;
}

#define COPY "kernel void f(global float *in, global float *out) { size_t i = get_global_id(0); out[i] = in[i];"

static void large_results_are_compared(void **state) {
  bench *b = *state;
  copy_kernel(b, COPY " if (i == 77777) out[i] = 3; }");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(b, "element 77777");
}

static void damage_to_a_large_input_is_found(void **state) {
  bench *b = *state;
  copy_kernel(b, COPY " if (i == 99999) in[i] = 3; }");
  bench_prepare(b, CLT_REASON_OUT_OF_BOUNDS);
  bench_expect_log(b, "overwrote the input data of argument 'in'");
}

static void a_known_result_keeps_its_difference(void **state) {
  bench *b = *state;
  copy_kernel(b, COPY " if (i == 5) out[i] = nextafter(out[i], 9.0f); }");
  b->arrays[1].relative_tolerance = 1e-3;
  const size_t before = b->executor->n_correct;
  bench_prepare(b, CLT_REASON_NONE);
  const double error = b->m.max_abs_error;
  assert_true(error > 0);
  clt_measurement again;
  clt_prepared *other = NULL;
  clt_measurement_init(&again, 0);
  assert_int_equal(clt_executor_prepare(b->executor, &other, &b->plan, &b->data, &again, &b->error), CLT_OK);
  assert_non_null(other);
  assert_true(again.max_abs_error == error);
  assert_int_equal(b->executor->n_correct, before + 1); /* compared once */
  clt_prepared_free(other);
  clt_measurement_release(&again);
}

static void memory_is_used_again(void **state) {
  bench *b = *state;
  copy_kernel(b, COPY " }");
  bench_prepare(b, CLT_REASON_NONE);
  const cl_mem memory = b->prepared->bindings.items[1].object.memory;
  clt_prepared_free(b->prepared);
  b->prepared = NULL;
  bench_prepare(b, CLT_REASON_NONE);
  assert_ptr_equal(b->prepared->bindings.items[1].object.memory, memory);
}

#define GPU_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_gpu, tear_down_gpu)

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(the_device_hashes_as_the_host_does),  GPU_TEST(the_host_hashes_little),
      GPU_TEST(large_results_are_compared),          GPU_TEST(damage_to_a_large_input_is_found),
      GPU_TEST(a_known_result_keeps_its_difference), GPU_TEST(memory_is_used_again),
  };
  return bench_main("contents", tests, sizeof tests / sizeof *tests);
}
