/* transpose.c - the family's inputs, reference and features: a matrix of rows x columns, row by row, is transposed in
 * its own memory. */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/* A number in [low, high], small ones as often as large ones. */
static int draw(uint64_t *state, double low, double high) {
  *state += 0x9e3779b97f4a7c15;
  const double at = (double)(mix(*state) >> 11) / 9007199254740992.0;
  return (int)fmin(high, floor(low * pow((high + 1) / low, at)));
}

static int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }

/* rows, columns and their greatest common divisor. Kinds: 0 any, 1 tall, 2 wide, 3 multiples of the same number,
 * 4 multiples of 16. At most 2^20 elements. */
int shape(const clt_module_call *call) {
  const int kind = (int)clt_module_value(call, "kind", 0);
  uint64_t state = mix((uint64_t)clt_module_value(call, "seed", 1) * 8 + (uint64_t)kind);
  double *out = call->target->data;
  int rows, columns;
  switch (kind) {
    case 0: rows = draw(&state, 32, 1024), columns = draw(&state, 32, 1024); break;
    case 1: columns = draw(&state, 2, 64), rows = draw(&state, 1024, 16384); break;
    case 2: rows = draw(&state, 2, 64), columns = draw(&state, 1024, 16384); break;
    case 3: {
      const int unit = draw(&state, 12, 128);
      rows = unit * draw(&state, 1, 8), columns = unit * draw(&state, 1, 8);
      break;
    }
    case 4: rows = 16 * draw(&state, 2, 64), columns = 16 * draw(&state, 2, 64); break;
    default: return 1;
  }
  out[0] = rows, out[1] = columns, out[2] = divisor(rows, columns);
  return 0;
}

/* Numbers that tell elements apart. */
int numbers(const clt_module_call *call) {
  float *matrix = call->target->data;
  const size_t n = call->target->extent[0] * call->target->extent[1];
  if (clt_module_value(call, "divisor", 0) !=
      divisor((int)clt_module_value(call, "rows", 1), (int)clt_module_value(call, "columns", 1)))
    return 1;
  for (size_t i = 0; i < n; i++) matrix[i] = (float)((mix(call->seed) + i * 5) % 16777213);
  return 0;
}

int transpose(const clt_module_call *call) {
  const clt_module_array *array = clt_module_find(call, "matrix");
  const size_t rows = (size_t)clt_module_value(call, "rows", 0), columns = (size_t)clt_module_value(call, "columns", 0);
  float *matrix = array->data, *before = malloc(array->bytes);
  if (before == NULL) return 1;
  memcpy(before, matrix, array->bytes);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) matrix[j * rows + i] = before[i * columns + j];
  free(before);
  return 0;
}

/* The number of elements, the logarithm of the aspect, and rows and columns without their common divisor. */
int features(const clt_module_call *call) {
  const double rows = clt_module_value(call, "rows", 1), columns = clt_module_value(call, "columns", 1);
  const double common = clt_module_value(call, "divisor", 1);
  double *out = call->target->data;
  out[0] = rows * columns;
  out[1] = log2(rows / columns);
  out[2] = rows / common, out[3] = columns / common;
  return 0;
}
