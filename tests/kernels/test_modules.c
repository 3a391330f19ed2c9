/* The inputs are deterministic and have structure; the references are correct, checked by other ways to the same
 * result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "stereo.h"

int structured_image(const clt_module_call *call);
int box_filter(const clt_module_call *call);
int weighted_filter(const clt_module_call *call);
int matrix_product(const clt_module_call *call);
int nested_shells(const clt_module_call *call);
int transfer_function(const clt_module_call *call);
int camera(const clt_module_call *call);
int composite(const clt_module_call *call);
int stereo_view(const clt_module_call *call);
int block_matching(const clt_module_call *call);
int disparity_error(const clt_module_call *call);
int filterbank_image(const clt_module_call *call);
int filterbank_filters(const clt_module_call *call);
int filterbank_correlate(const clt_module_call *call);

/* Fills an array twice with one seed and once with another. */
static void check_generator(clt_module_function generator, const char *name, size_t element_bytes, size_t x, size_t y,
                            size_t z) {
  scene first, again, other;
  scene_init(&first, 1);
  scene_init(&again, 1);
  scene_init(&other, 2);
  void *a = scene_array(&first, name, element_bytes, x, y, z), *b = scene_array(&again, name, element_bytes, x, y, z);
  void *c = scene_array(&other, name, element_bytes, x, y, z);
  assert_int_equal(scene_call(&first, generator, name), 0);
  assert_int_equal(scene_call(&again, generator, name), 0);
  assert_int_equal(scene_call(&other, generator, name), 0);
  assert_memory_equal(a, b, x * y * z * element_bytes);
  assert_memory_not_equal(a, c, x * y * z * element_bytes);
  scene_release(&first);
  scene_release(&again);
  scene_release(&other);
}

static void inputs_depend_on_the_seed_alone(void **state) {
  (void)state;
  check_generator(structured_image, "input", sizeof(float), 61, 37, 1);
  check_generator(nested_shells, "volume", 1, 24, 24, 24);
  check_generator(transfer_function, "transfer", 16, 256, 1, 1);
  check_generator(camera, "camera", 16, 4, 1, 1);
  check_generator(stereo_view, "left", 1, 61, 37, 1);
  check_generator(stereo_view, "right", 1, 61, 37, 1);
  check_generator(filterbank_image, "input", 4, 5, 30, 20);
  check_generator(filterbank_filters, "filters", 4, 4, 5, 9);
}

static void the_image_has_structure(void **state) {
  (void)state;
  enum { N = 256 };
  scene s;
  scene_init(&s, 1);
  const float *image = scene_array(&s, "input", sizeof(float), N, N, 1);
  assert_int_equal(scene_call(&s, structured_image, "input"), 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < N * N; i++) {
    assert_true(image[i] >= 0.0f && image[i] <= 1.0f);
    sum += image[i];
    squares += image[i] * image[i];
  }
  const double mean = sum / (N * N);
  assert_true(squares / (N * N) - mean * mean > 0.01);
  scene_release(&s);
}

/* The same by sums over rows, then columns. */
static void the_box_filter_is_the_mean_of_the_window(void **state) {
  (void)state;
  enum { W = 33, H = 21, R = 2 };
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "filter_radius", R);
  const float *image = scene_array(&s, "input", sizeof(float), W, H, 1);
  const float *result = scene_array(&s, "output", sizeof(float), W, H, 1);
  assert_int_equal(scene_call(&s, structured_image, "input"), 0);
  assert_int_equal(scene_call(&s, box_filter, NULL), 0);
  double rows[H][W] = {{0}};
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      for (int d = -R; d <= R; d++) rows[y][x] += image[y * W + (x + d < 0 ? 0 : x + d >= W ? W - 1 : x + d)];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      double sum = 0;
      for (int d = -R; d <= R; d++) sum += rows[y + d < 0 ? 0 : y + d >= H ? H - 1 : y + d][x];
      assert_true(fabs(sum / 25 - result[y * W + x]) < 1e-6);
    }
  scene_release(&s);
}

/* The weights of one pixel at a time: each moves the image. */
static void the_weighted_filter_moves_and_adds(void **state) {
  (void)state;
  enum { W = 19, H = 13, R = 1 };
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "filter_radius", R);
  const float *image = scene_array(&s, "input", sizeof(float), W, H, 1);
  float *weights = scene_array(&s, "filter", sizeof(float), 9, 1, 1);
  const float *result = scene_array(&s, "output", sizeof(float), W, H, 1);
  assert_int_equal(scene_call(&s, structured_image, "input"), 0);
  weights[2] = 2;  /* above and right */
  weights[4] = -1; /* the pixel itself */
  assert_int_equal(scene_call(&s, weighted_filter, NULL), 0);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      const float other = image[(y > 0 ? y - 1 : 0) * W + (x + 1 < W ? x + 1 : W - 1)];
      assert_true(fabsf(2 * other - image[y * W + x] - result[y * W + x]) < 1e-6f);
    }
  scene_release(&s);
}

static void the_matrix_product_sums_over_k(void **state) {
  (void)state;
  enum { M = 19, N = 5, K = 7 }; /* more rows than are computed at a time, and a rest */
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "m", M);
  scene_scalar(&s, "n", N);
  scene_scalar(&s, "k", K);
  float *a = scene_array(&s, "a", sizeof(float), K, M, 1), *b = scene_array(&s, "b", sizeof(float), N, K, 1);
  const float *c = scene_array(&s, "c", sizeof(float), N, M, 1);
  for (int i = 0; i < M * K; i++) a[i] = (float)(i % 11 - 5);
  for (int i = 0; i < K * N; i++) b[i] = (float)(i % 13 - 6);
  assert_int_equal(scene_call(&s, matrix_product, NULL), 0);
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int p = 0; p < K; p++) sum += a[i / N * K + p] * b[p * N + i % N];
    assert_true(c[i] == sum);
  }
  scene_release(&s);
}

/* How long a ray is inside of the cube, in steps, from the camera's vectors alone. */
static double chord(const int32_t view[4][4], int x, int y, int size) {
  double enter = 0, leave = 1e9;
  for (int d = 0; d < 3; d++) {
    const double start = (view[0][d] + (double)x * view[1][d] + (double)y * view[2][d]) / 65536.0;
    const double step = view[3][d] / 65536.0, a = -start / step, b = (size - start) / step;
    enter = fmax(enter, fmin(a, b));
    leave = fmin(leave, fmax(a, b));
  }
  return fmax(leave - enter, 0.0);
}

static void a_uniform_volume_is_as_opaque_as_rays_are_long(void **state) {
  (void)state;
  enum { W = 40, H = 30, N = 48 };
  const double opacity = 0.02;
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "width", W);
  scene_scalar(&s, "height", H);
  scene_scalar(&s, "volume_size", N);
  memset(scene_array(&s, "volume", 1, N, N, N), 200, (size_t)N * N * N);
  float(*transfer)[4] = scene_array(&s, "transfer", 16, 256, 1, 1);
  int32_t(*view)[4] = scene_array(&s, "camera", 16, 4, 1, 1);
  float(*picture)[4] = scene_array(&s, "picture", 16, W, H, 1);
  assert_int_equal(scene_call(&s, camera, "camera"), 0);
  transfer[200][3] = (float)opacity;
  assert_int_equal(scene_call(&s, composite, NULL), 0);
  int hit = 0, missed = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      const double steps = log(1.0 - picture[y * W + x][3]) / log(1.0 - opacity);
      const double length = chord((const int32_t(*)[4])view, x, y, N);
      assert_true(fabs(steps - length) < 1.01);
      hit += length > N / 2;
      missed += length == 0;
    }
  assert_true(hit > W * H / 20 && missed > W * H / 20);
  scene_release(&s);
}

/* With numbers of 32 bits, 16 of them behind the point. */
static int camera_of(double width, double height, double volume_size, uint64_t seed, int32_t view[4][4]) {
  scene s;
  scene_init(&s, seed);
  scene_scalar(&s, "width", width);
  scene_scalar(&s, "height", height);
  scene_scalar(&s, "volume_size", volume_size);
  const void *data = scene_array(&s, "camera", 16, 4, 1, 1);
  int rc = scene_call(&s, camera, "camera");
  memcpy(view, data, 64);
  scene_release(&s);
  return rc;
}

static void pictures_too_long_for_fixed_point_are_refused(void **state) {
  (void)state;
  int32_t view[4][4];
  int accepted = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 7; seed++) {
    assert_int_equal(camera_of(8192, 8192, 1024, seed, view), 0);
    assert_int_equal(camera_of(8192, 256, 1024, seed, view), 0);
    assert_int_equal(camera_of(8192, 64, 512, seed, view), -1);
    assert_int_equal(camera_of(64, 8192, 512, seed, view), -1);
    for (int width = 4096; width <= 8192; width += 16) { /* the kernel's sum must fit */
      if (camera_of(width, 64, 512, seed, view) != 0) {
        refused++;
        continue;
      }
      accepted++;
      for (int d = 0; d < 3; d++) {
        const int64_t first = view[0][d], last = first + (int64_t)(width - 1) * view[1][d] + 63 * (int64_t)view[2][d];
        const int64_t end = 512 << 16;
        assert_true(first > end - INT32_MAX && first < INT32_MAX - end && last > end - INT32_MAX &&
                    last < INT32_MAX - end);
      }
    }
  }
  assert_true(accepted > 100 && refused > 100);
}

static void the_picture_shows_shells(void **state) {
  (void)state;
  enum { W = 64, N = 64 };
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "width", W);
  scene_scalar(&s, "height", W);
  scene_scalar(&s, "volume_size", N);
  scene_array(&s, "volume", 1, N, N, N);
  scene_array(&s, "transfer", 16, 256, 1, 1);
  scene_array(&s, "camera", 16, 4, 1, 1);
  const float(*picture)[4] = scene_array(&s, "picture", 16, W, W, 1);
  assert_int_equal(scene_call(&s, nested_shells, "volume"), 0);
  assert_int_equal(scene_call(&s, transfer_function, "transfer"), 0);
  assert_int_equal(scene_call(&s, camera, "camera"), 0);
  assert_int_equal(scene_call(&s, composite, NULL), 0);
  assert_true(picture[0][3] == 0.0f);
  assert_true(picture[W / 2 * W + W / 2][3] > 0.5f);
  int edges = 0;
  for (int x = 1; x < W; x++) edges += fabsf(picture[W / 2 * W + x][3] - picture[W / 2 * W + x - 1][3]) > 0.01f;
  assert_true(edges > 4);
  scene_release(&s);
}

static unsigned char naive_match(const unsigned char *left, const unsigned char *right, int w, int h, int disparities,
                                 int radius, int x, int y) {
  int least = INT_MAX, best = 0;
  for (int d = 0; d < disparities; d++) {
    int sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
      for (int dx = -radius; dx <= radius; dx++) {
        const int row = y + dy < 0 ? 0 : y + dy >= h ? h - 1 : y + dy;
        const int a = x + dx < 0 ? 0 : x + dx >= w ? w - 1 : x + dx;
        const int b = x + dx - d < 0 ? 0 : x + dx - d >= w ? w - 1 : x + dx - d;
        sum += abs(left[row * w + a] - right[row * w + b]);
      }
    if (sum < least) {
      least = sum;
      best = d;
    }
  }
  return (unsigned char)best;
}

static void make_pair(scene *s, int w, int h, int disparities, int radius, uint64_t seed) {
  scene_init(s, seed);
  scene_scalar(s, "disparities", disparities);
  scene_scalar(s, "window_radius", radius);
  scene_array(s, "left", 1, (size_t)w, (size_t)h, 1);
  scene_array(s, "right", 1, (size_t)w, (size_t)h, 1);
  scene_array(s, "disparity", 1, (size_t)w, (size_t)h, 1);
  assert_int_equal(scene_call(s, stereo_view, "left"), 0);
  assert_int_equal(scene_call(s, stereo_view, "right"), 0);
  assert_int_equal(scene_call(s, block_matching, NULL), 0);
}

static void block_matching_finds_the_least_sum(void **state) {
  (void)state;
  enum { W = 45, H = 71 }; /* more rows than one band */
  static const int cases[][2] = {{9, 3}, {1, 2}, {20, 0}, {5, 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scene s;
    make_pair(&s, W, H, cases[i][0], cases[i][1], 1);
    const unsigned char *left = s.arrays[0].data, *right = s.arrays[1].data, *result = s.arrays[2].data;
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        assert_int_equal(result[y * W + x], naive_match(left, right, W, H, cases[i][0], cases[i][1], x, y));
    scene_release(&s);
  }
}

static void the_known_disparity_is_found(void **state) {
  (void)state;
  enum { N = 256, D = 16 };
  for (uint64_t seed = 1; seed <= 3; seed++) {
    scene s;
    double mean_pixels = -1, wrong_share = -1;
    make_pair(&s, N, N, D, 3, seed);
    assert_int_equal(stereo_disparity_error(s.arrays[2].data, N, N, D, seed, &mean_pixels, &wrong_share), 0);
    assert_true(mean_pixels >= 0 && mean_pixels < 0.25);
    assert_true(wrong_share >= 0 && wrong_share < 0.03);
    memset(s.arrays[2].data, 0, N * N);
    assert_int_equal(stereo_disparity_error(s.arrays[2].data, N, N, D, seed, &mean_pixels, &wrong_share), 0);
    assert_true(wrong_share > 0.5);
    scene_release(&s);
  }
}

static void the_figure_of_quality_is_the_mean_error(void **state) {
  (void)state;
  enum { W = 128, H = 40, D = 16 };
  scene s;
  double mean_pixels = -1, wrong_share = -1;
  make_pair(&s, W, H, D, 3, 1);
  memset(s.arrays[2].data, 3, W * H / 2);
  assert_int_equal(stereo_disparity_error(s.arrays[2].data, W, H, D, 1, &mean_pixels, &wrong_share), 0);
  const double *quality = scene_array(&s, "quality", sizeof(double), 1, 1, 1);
  assert_int_equal(scene_call(&s, disparity_error, "quality"), 0);
  assert_true(*quality == mean_pixels && mean_pixels > 0);
  scene_release(&s);
  make_pair(&s, D, H, D, 3, 1); /* no column is judged */
  scene_array(&s, "quality", sizeof(double), 1, 1, 1);
  assert_int_not_equal(scene_call(&s, disparity_error, "quality"), 0);
  scene_release(&s);
}

/* z[r, c, k] = sum of x[r + h, c + w, d] f[k, h, w, d], as the formula says it. */
static double correlation(const float *x, const float *f, const size_t sizes[6], size_t r, size_t c, size_t k) {
  const size_t width = sizes[1], depth = sizes[2], n_filters = sizes[3];
  double sum = 0;
  for (size_t h = 0; h < sizes[4]; h++)
    for (size_t w = 0; w < sizes[5]; w++)
      for (size_t d = 0; d < depth; d++)
        sum += (double)x[((r + h) * width + c + w) * depth + d] *
               (double)f[((h * sizes[5] + w) * depth + d) * n_filters + k];
  return sum;
}

static void the_filterbank_is_the_sum_over_the_filters_places(void **state) {
  (void)state;
  /* height, width, depth, filters, filter height and width */
  static const size_t cases[][6] = {
      {9, 14, 3, 5, 3, 4}, {4, 5, 1, 1, 4, 5}, {13, 11, 7, 2, 1, 11}, {3, 3, 20, 4, 2, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t *n = cases[i], rows = n[0] - n[4] + 1, columns = n[1] - n[5] + 1;
    scene s;
    scene_init(&s, 3);
    const float *x = scene_array(&s, "input", 4, n[2], n[1], n[0]),
                *f = scene_array(&s, "filters", 4, n[3], n[2], n[4] * n[5]);
    const float *z = scene_array(&s, "output", 4, n[3], columns, rows);
    assert_int_equal(scene_call(&s, filterbank_image, "input"), 0);
    assert_int_equal(scene_call(&s, filterbank_filters, "filters"), 0);
    assert_int_equal(scene_call(&s, filterbank_correlate, NULL), 0);
    for (size_t r = 0; r < rows; r++)
      for (size_t c = 0; c < columns; c++)
        for (size_t k = 0; k < n[3]; k++)
          assert_true(fabs(correlation(x, f, n, r, c, k) - (double)z[(r * columns + c) * n[3] + k]) < 1e-6);
    scene_release(&s);
  }
}

static void a_missing_array_is_a_failure(void **state) {
  (void)state;
  scene s;
  scene_init(&s, 1);
  assert_int_not_equal(scene_call(&s, box_filter, NULL), 0);
  assert_int_not_equal(scene_call(&s, composite, NULL), 0);
  assert_int_not_equal(scene_call(&s, filterbank_correlate, NULL), 0);
  assert_int_not_equal(scene_call(&s, block_matching, NULL), 0);
  assert_int_not_equal(scene_call(&s, disparity_error, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_depend_on_the_seed_alone),
      cmocka_unit_test(the_image_has_structure),
      cmocka_unit_test(the_box_filter_is_the_mean_of_the_window),
      cmocka_unit_test(the_weighted_filter_moves_and_adds),
      cmocka_unit_test(the_matrix_product_sums_over_k),
      cmocka_unit_test(a_uniform_volume_is_as_opaque_as_rays_are_long),
      cmocka_unit_test(pictures_too_long_for_fixed_point_are_refused),
      cmocka_unit_test(the_picture_shows_shells),
      cmocka_unit_test(block_matching_finds_the_least_sum),
      cmocka_unit_test(the_known_disparity_is_found),
      cmocka_unit_test(the_figure_of_quality_is_the_mean_error),
      cmocka_unit_test(the_filterbank_is_the_sum_over_the_filters_places),
      cmocka_unit_test(a_missing_array_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
