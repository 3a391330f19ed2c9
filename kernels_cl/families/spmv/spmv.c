/* spmv.c - the product of a sparse matrix and a vector: the matrix in each variant's format, the reference, features, and
 * what a format costs. Nothing here depends on how many threads run. */
#include "matrix.c" /* a module is one C file */

static const int chunks[] = {4, 16, 64}, sigmas[] = {1, 256, 4096};
enum { N_CHUNKS = 3, N_SIGMAS = 3, N_LAYOUTS = N_CHUNKS * N_SIGMAS, FEWEST_ROWS = 4 };

/* --- formats. Places without a nonzero hold column 0 and value 0. --- */

static int longest_row(const matrix *m) {
  int longest = 1;
  for (int i = 0; i < m->n; i++)
    if (m->starts[i + 1] - m->starts[i] > longest) longest = m->starts[i + 1] - m->starts[i];
  return longest;
}

/* Rows of arrays are filled up to a multiple of 16, the longest vector. */
static size_t padded(int n) { return ((size_t)n + 15) / 16 * 16; }

/* A matrix that is given as arrays, as conversions and features are. Not to be freed. */
static matrix from_arrays(const clt_module_call *call) {
  const clt_module_array *starts = clt_module_find(call, "row_starts"), *columns = clt_module_find(call, "columns"),
                         *values = clt_module_find(call, "values");
  if (!starts || !columns) return (matrix){0};
  return (matrix){(int)starts->extent[0] - 1, starts->data, columns->data, values ? values->data : NULL};
}

/* The number of each diagonal that has a nonzero, or -1, at n - 1 + column - row; NULL: no memory. */
static int *number_diagonals(const matrix *m, int *count) {
  const size_t all = 2 * (size_t)m->n;
  int *number = malloc(all * sizeof *number);
  *count = 0;
  if (!number) return NULL;
  for (size_t d = 0; d < all; d++) number[d] = -1;
  for (int i = 0; i < m->n; i++)
    for (int k = m->starts[i]; k < m->starts[i + 1]; k++) number[m->n - 1 + m->columns[k] - i] = 0;
  for (size_t d = 0; d < all; d++)
    if (number[d] == 0) number[d] = (*count)++;
  return number;
}

/* Column by column; each target (nullable) has place for `width` columns of padded(n), and is 0. */
static void fill_ell(const matrix *m, int width, int *columns, float *values, uint64_t seed) {
  const size_t stride = padded(m->n);
  for (int i = 0; i < m->n; i++)
    for (int k = m->starts[i], j = 0; k < m->starts[i + 1] && j < width; k++, j++) {
      if (columns) columns[(size_t)j * stride + (size_t)i] = m->columns[k];
      if (values) values[(size_t)j * stride + (size_t)i] = matrix_value(m, k, seed);
    }
}

static void fill_dia(const matrix *m, const int *number, int *offsets, float *values, uint64_t seed) {
  const size_t stride = padded(m->n);
  for (int d = 0; offsets && d < 2 * m->n; d++)
    if (number[d] >= 0) offsets[number[d]] = d - (m->n - 1);
  for (int i = 0; values && i < m->n; i++)
    for (int k = m->starts[i]; k < m->starts[i + 1]; k++)
      values[(size_t)number[m->n - 1 + m->columns[k] - i] * stride + (size_t)i] = matrix_value(m, k, seed);
}

static int compare_longer(const void *a, const void *b) {
  return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

/* The rows, in windows of sigma the longest first. */
static bool order_rows(const matrix *m, int sigma, int *order) {
  int64_t *keys = malloc((size_t)m->n * sizeof *keys);
  if (!keys) return false;
  for (int i = 0; i < m->n; i++) keys[i] = (int64_t)(INT32_MAX - (m->starts[i + 1] - m->starts[i])) << 32 | i;
  for (int i = 0; sigma > 1 && i < m->n; i += sigma)
    qsort(keys + i, (size_t)(m->n - i < sigma ? m->n - i : sigma), sizeof *keys, compare_longer);
  for (int i = 0; i < m->n; i++) order[i] = (int)(keys[i] & 0x7fffffff);
  free(keys);
  return true;
}

/* Slices of `chunk` rows in that order, each column by column and as wide as its longest row. Returns the place behind the
 * last, from `at` on; each target may be NULL. */
static int64_t fill_slices(const matrix *m, int chunk, const int *order, int64_t at, int *slices, int *columns,
                           float *values, uint64_t seed) {
  for (int first = 0; first < m->n; first += chunk) {
    int width = 0;
    if (slices) *slices++ = (int)at;
    for (int lane = 0; lane < chunk && first + lane < m->n; lane++) {
      const int row = order[first + lane], length = m->starts[row + 1] - m->starts[row];
      if (length > width) width = length;
      for (int j = 0; (columns || values) && j < length; j++) {
        const int64_t place = at + (int64_t)j * chunk + lane;
        if (columns) columns[place] = m->columns[m->starts[row] + j];
        if (values) values[place] = matrix_value(m, m->starts[row] + j, seed);
      }
    }
    at += (int64_t)width * chunk;
  }
  if (slices) *slices = (int)at;
  return at;
}

/* All layouts, one behind the other; chunk by chunk, for each every sigma. Rows of `slices` have n / 4 + 2 elements. -1: no
 * memory. */
static int64_t fill_layouts(const matrix *m, int *slices, int *columns, float *values, uint64_t seed) {
  int64_t at = 0;
  int *order = malloc((size_t)m->n * sizeof *order);
  for (int i = 0; order && at >= 0 && i < N_LAYOUTS; i++) {
    int *row = slices ? slices + (size_t)i * ((size_t)m->n / FEWEST_ROWS + 2) : NULL;
    at = order_rows(m, sigmas[i % N_SIGMAS], order)
             ? fill_slices(m, chunks[i / N_SIGMAS], order, at, row, columns, values, seed)
             : -1;
  }
  free(order);
  return order ? at : -1;
}

/* --- numbers that sizes need --- */

typedef struct counts {
  double nonzeros, longest_row, n_diagonals, sell_elements;
} counts;

static bool count_all(counts *c, const matrix *m) {
  int n_diagonals;
  int *number = number_diagonals(m, &n_diagonals);
  const int64_t elements = fill_layouts(m, NULL, NULL, NULL, 0);
  free(number);
  *c = (counts){m->starts[m->n], longest_row(m), n_diagonals, (double)elements};
  return number && elements >= 0 && elements <= INT32_MAX;
}

int count(const clt_module_call *call) {
  matrix m;
  counts c;
  if (!matrix_new(&m, call)) return 1;
  const bool counted = count_all(&c, &m);
  matrix_free(&m);
  if (counted) memcpy(call->target->data, &c, sizeof c);
  return !counted;
}

/* --- generators --- */

/* The matrix, if an array of the target's length is what it needs; otherwise a size was changed without those that follow
 * from it. */
static bool new_for(matrix *m, const clt_module_call *call, const char *size, double needed(const matrix *m)) {
  if (!matrix_new(m, call)) return false;
  if (clt_module_value(call, size, -1) == needed(m)) return true;
  matrix_free(m);
  return false;
}

static double need_nonzeros(const matrix *m) { return m->starts[m->n]; }
static double need_longest(const matrix *m) { return longest_row(m); }
static double need_elements(const matrix *m) { return (double)fill_layouts(m, NULL, NULL, NULL, 0); }
static double need_diagonals(const matrix *m) {
  int count = -1;
  free(number_diagonals(m, &count));
  return count;
}

int row_starts(const clt_module_call *call) {
  matrix m;
  if (!new_for(&m, call, "nonzeros", need_nonzeros)) return 1;
  memcpy(call->target->data, m.starts, call->target->bytes);
  return matrix_free(&m), 0;
}

int csr_columns(const clt_module_call *call) {
  matrix m;
  if (!new_for(&m, call, "nonzeros", need_nonzeros)) return 1;
  memcpy(call->target->data, m.columns, call->target->bytes);
  return matrix_free(&m), 0;
}

int csr_values(const clt_module_call *call) {
  matrix m;
  if (!new_for(&m, call, "nonzeros", need_nonzeros)) return 1;
  for (int k = 0; k < m.starts[m.n]; k++) ((float *)call->target->data)[k] = matrix_value(&m, k, call->seed);
  return matrix_free(&m), 0;
}

int row_lengths(const clt_module_call *call) {
  matrix m;
  int *lengths = call->target->data;
  if (!matrix_new(&m, call)) return 1;
  for (int i = 0; i < m.n; i++) lengths[i] = m.starts[i + 1] - m.starts[i];
  return matrix_free(&m), 0;
}

int ell_columns(const clt_module_call *call) {
  matrix m;
  if (!new_for(&m, call, "longest_row", need_longest)) return 1;
  fill_ell(&m, longest_row(&m), call->target->data, NULL, call->seed);
  return matrix_free(&m), 0;
}

int ell_values(const clt_module_call *call) {
  matrix m;
  if (!new_for(&m, call, "longest_row", need_longest)) return 1;
  fill_ell(&m, longest_row(&m), NULL, call->target->data, call->seed);
  return matrix_free(&m), 0;
}

static int generate_dia(const clt_module_call *call, bool offsets) {
  matrix m;
  int count, *number;
  if (!new_for(&m, call, "n_diagonals", need_diagonals)) return 1;
  if ((number = number_diagonals(&m, &count)))
    fill_dia(&m, number, offsets ? call->target->data : NULL, offsets ? NULL : call->target->data, call->seed);
  free(number);
  matrix_free(&m);
  return number == NULL;
}
int dia_offsets(const clt_module_call *call) { return generate_dia(call, true); }
int dia_values(const clt_module_call *call) { return generate_dia(call, false); }

/* For each sigma, the rows in their order; and their lengths. */
static int generate_order(const clt_module_call *call, bool lengths) {
  matrix m;
  bool ordered = true;
  if (!matrix_new(&m, call)) return 1;
  for (int s = 0; ordered && s < N_SIGMAS; s++) {
    int *order = (int *)call->target->data + (size_t)s * (size_t)m.n;
    ordered = order_rows(&m, sigmas[s], order);
    for (int i = 0; lengths && ordered && i < m.n; i++) order[i] = m.starts[order[i] + 1] - m.starts[order[i]];
  }
  return matrix_free(&m), !ordered;
}
int sell_order(const clt_module_call *call) { return generate_order(call, false); }
int sell_lengths(const clt_module_call *call) { return generate_order(call, true); }

static int generate_sell(const clt_module_call *call, int *slices, int *columns, float *values) {
  matrix m;
  if (!new_for(&m, call, "sell_elements", need_elements)) return 1;
  const int64_t filled = fill_layouts(&m, slices, columns, values, call->seed);
  return matrix_free(&m), filled < 0;
}
int sell_slices(const clt_module_call *call) { return generate_sell(call, call->target->data, NULL, NULL); }
int sell_columns(const clt_module_call *call) { return generate_sell(call, NULL, call->target->data, NULL); }
int sell_values(const clt_module_call *call) { return generate_sell(call, NULL, NULL, call->target->data); }

/* --- reference --- */

int product(const clt_module_call *call) {
  const float *x = clt_module_find(call, "x")->data;
  float *y = clt_module_find(call, "y")->data;
  matrix m;
  if (!matrix_new(&m, call)) return 1;
  for (int i = 0; i < m.n; i++) {
    double sum = 0;
    for (int k = m.starts[i]; k < m.starts[i + 1]; k++) sum += (double)matrix_value(&m, k, call->seed) * x[m.columns[k]];
    y[i] = (float)sum;
  }
  return matrix_free(&m), 0;
}

/* --- features, of the matrix as CSR --- */

/* Mean, standard deviation and largest deviation of a row's length. */
int row_statistics(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  double *out = call->target->data, squares = 0, largest = 0;
  if (!m.starts) return 1;
  const double mean = (double)m.starts[m.n] / m.n;
  for (int i = 0; i < m.n; i++) {
    const double deviation = fabs(m.starts[i + 1] - m.starts[i] - mean);
    squares += deviation * deviation;
    largest = fmax(largest, deviation);
  }
  out[0] = mean;
  out[1] = sqrt(squares / m.n);
  out[2] = largest;
  return 0;
}

/* Elements that are stored for each nonzero in the format ELL, and in DIA. */
int ell_fill(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  if (!m.starts) return 1;
  *(double *)call->target->data = (double)longest_row(&m) * m.n / fmax(m.starts[m.n], 1);
  return 0;
}

int dia_fill(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  int count = 0;
  int *number = m.starts ? number_diagonals(&m, &count) : NULL;
  *(double *)call->target->data = (double)count * m.n / fmax(number ? m.starts[m.n] : 1, 1);
  free(number);
  return number == NULL;
}

/* On average over the layouts of SELL. */
int sell_fill(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  const int64_t elements = m.starts ? fill_layouts(&m, NULL, NULL, NULL, 0) : -1;
  *(double *)call->target->data = (double)elements / N_LAYOUTS / fmax(m.starts ? m.starts[m.n] : 1, 1);
  return elements < 0;
}

/* --- conversions from CSR, which are timed; what they make is not kept --- */

int to_ell(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  if (!m.starts) return 1;
  const int width = longest_row(&m);
  const size_t size = padded(m.n) * (size_t)width;
  int *columns = calloc(size, sizeof *columns);
  float *values = calloc(size, sizeof *values);
  if (columns && values) fill_ell(&m, width, columns, values, call->seed);
  const bool failed = !columns || !values;
  free(columns);
  free(values);
  return failed;
}

int to_dia(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  int count = 0;
  int *number = m.starts ? number_diagonals(&m, &count) : NULL;
  int *offsets = malloc((size_t)count * sizeof *offsets + 1);
  float *values = number ? calloc(padded(m.n) * (size_t)count + 1, sizeof *values) : NULL;
  const bool failed = !number || !offsets || !values;
  if (!failed) fill_dia(&m, number, offsets, values, call->seed);
  free(number);
  free(offsets);
  free(values);
  return failed;
}

/* As one of the layouts: chunks of 16, sorted in windows of 256. */
int to_sell(const clt_module_call *call) {
  const matrix m = from_arrays(call);
  int *order = m.starts ? malloc((size_t)m.n * sizeof *order) : NULL;
  int *slices = m.starts ? malloc(((size_t)m.n / 16 + 2) * sizeof *slices) : NULL, *columns = NULL;
  float *values = NULL;
  bool failed = !order || !slices || !order_rows(&m, 256, order);
  const size_t size = failed ? 0 : (size_t)fill_slices(&m, 16, order, 0, slices, NULL, NULL, 0);
  columns = calloc(size + 1, sizeof *columns);
  values = calloc(size + 1, sizeof *values);
  failed = failed || !columns || !values;
  if (!failed) fill_slices(&m, 16, order, 0, NULL, columns, values, call->seed);
  free(order);
  free(slices);
  free(columns);
  free(values);
  return failed;
}
