/* matrix.c - the structures of sparse matrices. Included by spmv.c: a module is one C file. */
#include "matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../pattern.h"

enum { MAX_ROWS = 1 << 24, MAX_NONZEROS = 1 << 28 };

/* Entries in any order, twice or more often. */
typedef struct entries {
  int n;
  size_t count, capacity;
  int (*at)[2]; /* row, column */
  bool failed;
} entries;

static void add(entries *e, int64_t row, int64_t column) {
  if (row < 0 || row >= e->n || column < 0 || column >= e->n || e->failed) return;
  if (e->count == e->capacity) {
    const size_t capacity = e->capacity ? 2 * e->capacity : 1024;
    void *more = capacity <= MAX_NONZEROS ? realloc(e->at, capacity * sizeof *e->at) : NULL;
    e->failed = more == NULL;
    if (e->failed) return;
    e->at = more;
    e->capacity = capacity;
  }
  e->at[e->count][0] = (int)row;
  e->at[e->count++][1] = (int)column;
}

static int compare(const void *a, const void *b) { return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b); }

/* Sorts the entries by row, then by column; those that are there twice are one. */
static bool gather(matrix *m, const entries *e) {
  int *next = calloc((size_t)e->n + 1, sizeof *next), count = 0;
  m->starts = calloc((size_t)e->n + 1, sizeof *m->starts);
  m->columns = malloc((e->count + 1) * sizeof *m->columns);
  if (e->failed || !next || !m->starts || !m->columns) return free(next), false;
  for (size_t k = 0; k < e->count; k++) m->starts[e->at[k][0] + 1]++;
  for (int i = 0; i < e->n; i++) next[i + 1] = m->starts[i + 1] += m->starts[i];
  for (size_t k = 0; k < e->count; k++) m->columns[next[e->at[k][0]]++] = e->at[k][1];
  for (int i = 0, from = 0; i < e->n; i++) {
    const int to = m->starts[i + 1];
    qsort(m->columns + from, (size_t)(to - from), sizeof *m->columns, compare);
    for (int k = from; k < to; k++)
      if (k == from || m->columns[k] != m->columns[k - 1]) m->columns[count++] = m->columns[k];
    from = to;
    m->starts[i + 1] = count;
  }
  free(next);
  return true;
}

static double uniform(uint32_t x, uint32_t y, uint64_t seed) { return (pattern_hash(x, y, seed) + 0.5) * 0x1p-32; }

/* --- kinds --- */

static bool add_stencil(entries *e, int degree) {
  const bool is_cube = degree == 7 || degree == 27, is_star = degree == 5 || degree == 7;
  if (!is_cube && degree != 5 && degree != 9) return false;
  const int width = (int)(is_cube ? cbrt(e->n) + 0.001 : sqrt(e->n)), height = is_cube ? width : e->n;
  for (int i = 0; i < e->n; i++)
    for (int dz = is_cube ? -1 : 0; dz <= is_cube; dz++)
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          const int x = i % width + dx, y = i / width % height + dy;
          if (is_star && abs(dx) + abs(dy) + abs(dz) > 1) continue;
          if (x >= 0 && x < width && y >= 0 && y < height)
            add(e, i, i + dx + (int64_t)width * (dy + (int64_t)height * dz));
        }
  return true;
}

static void add_diagonals(entries *e, int degree, uint64_t seed, bool beside) {
  for (int d = 0; d < degree; d++) {
    const int64_t far = (int64_t)((uniform((uint32_t)d, 1, seed) - 0.5) * e->n);
    const int64_t offset = beside ? d - degree / 2 : d == 0 ? 0 : far;
    for (int i = 0; i < e->n; i++) add(e, i, i + offset);
  }
}

static void add_blocks(entries *e, int degree, uint64_t seed) {
  static const int near[7][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}}; /* of a mesh of triangles */
  const int nodes = (e->n + degree - 1) / degree, width = (int)sqrt(nodes);
  for (int node = 0; node < nodes; node++)
    for (int k = 0; k < 7; k++) {
      const int x = node % width + near[k][0], other = node + near[k][0] + width * near[k][1];
      const int low = node < other ? node : other, high = node < other ? other : node;
      if (x < 0 || x >= width || other < 0 || other >= nodes) continue;
      if (k > 0 && pattern_hash((uint32_t)low, (uint32_t)high, seed) % 8 == 0) continue; /* a hole */
      for (int i = 0; i < degree; i++)
        for (int j = 0; j < degree; j++) add(e, (int64_t)node * degree + i, (int64_t)other * degree + j);
    }
}

static void add_power_law(entries *e, int degree, uint64_t seed) {
  for (int i = 0; i < e->n; i++) {
    const double wanted = degree / 3.0 * pow(uniform((uint32_t)i, 1, seed), -1 / 1.5);
    const int length = (int)fmin(fmax(wanted + 0.5, 1), 1 + e->n / 16.0);
    for (int k = 0; k < length; k++) {
      const double u = uniform((uint32_t)i, (uint32_t)k + 2, seed);
      add(e, i, (int64_t)(u * u * e->n)); /* the first columns more often */
    }
  }
}

static void add_r_mat(entries *e, int degree, uint64_t seed) {
  int levels = 0;
  while ((int64_t)1 << levels < e->n) levels++;
  for (int64_t k = 0; k < (int64_t)e->n * degree; k++) {
    int64_t row = 0, column = 0;
    for (int level = 0; level < levels; level++) {
      const double u = uniform((uint32_t)k, (uint32_t)level, seed);
      const int quarter = u < 0.57 ? 0 : u < 0.76 ? 1 : u < 0.95 ? 2 : 3;
      row = 2 * row + quarter / 2;
      column = 2 * column + quarter % 2;
    }
    add(e, row, column);
  }
}

static void add_any(entries *e, int degree, uint64_t seed) {
  for (uint32_t k = 0; k < (uint32_t)e->n * (uint32_t)degree; k++)
    add(e, (int64_t)(uniform(k, 1, seed) * e->n), (int64_t)(uniform(k, 2, seed) * e->n));
}

static bool add_roads(entries *e, int degree, uint64_t seed) {
  enum { WINDOW = 1024 };
  const int width = (int)sqrt(e->n);
  int *number = malloc((size_t)e->n * sizeof *number);
  if (!number) return false;
  for (int i = 0; i < e->n; i++) {
    const int from = i / WINDOW * WINDOW, other = from + (int)(pattern_hash((uint32_t)i, 7, seed) % (uint32_t)(i - from + 1));
    number[i] = number[other];
    number[other] = i;
  }
  for (int i = 0; i < e->n; i++)
    for (int way = 0; way < 2; way++) {
      const int other = way ? i + width : i + 1;
      if (other >= e->n || (!way && other % width == 0)) continue;
      if (uniform((uint32_t)i, (uint32_t)way, seed) * 4 > degree) continue;
      add(e, number[i], number[other]);
      add(e, number[other], number[i]);
    }
  free(number);
  return true;
}

/* --- a file: "CSR1", rows and nonzeros, starts, columns, values; numbers of 4 bytes, the lowest first --- */

static bool is_right(const matrix *m, int nonzeros) {
  bool right = m->starts[0] == 0 && m->starts[m->n] == nonzeros;
  for (int i = 0; right && i < m->n; i++) right = m->starts[i] >= 0 && m->starts[i] <= m->starts[i + 1];
  for (int k = 0; right && k < nonzeros; k++) right = m->columns[k] >= 0 && m->columns[k] < m->n;
  for (int i = 0; right && i < m->n; i++)
    for (int k = m->starts[i] + 1; right && k < m->starts[i + 1]; k++) right = m->columns[k - 1] < m->columns[k];
  return right;
}

static bool read_file(matrix *m, int n, double number) {
  const char *folder = getenv("SPMV_MATRICES");
  char path[4096], magic[4];
  int32_t sizes[2];
  snprintf(path, sizeof path, "%s/%.0f.csr", folder ? folder : ".", number);
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  bool read = fread(magic, 4, 1, file) == 1 && memcmp(magic, "CSR1", 4) == 0 && fread(sizes, sizeof sizes, 1, file) == 1 &&
              sizes[0] == n && sizes[1] >= 0 && sizes[1] <= MAX_NONZEROS;
  const size_t rows = (size_t)n, nonzeros = read ? (size_t)sizes[1] : 0;
  m->starts = malloc((rows + 1) * sizeof *m->starts);
  m->columns = malloc((nonzeros + 1) * sizeof *m->columns);
  m->values = malloc((nonzeros + 1) * sizeof *m->values);
  read = read && m->starts && m->columns && m->values && fread(m->starts, sizeof *m->starts, rows + 1, file) == rows + 1 &&
         fread(m->columns, sizeof *m->columns, nonzeros, file) == nonzeros &&
         fread(m->values, sizeof *m->values, nonzeros, file) == nonzeros && is_right(m, sizes[1]);
  fclose(file);
  return read;
}

/* --- */

bool matrix_new(matrix *m, const clt_module_call *call) {
  const double size = clt_module_value(call, "n", 0), number = clt_module_value(call, "seed", 0);
  const int kind = (int)clt_module_value(call, "kind", -1), degree = (int)clt_module_value(call, "degree", 0);
  const uint64_t seed = (uint64_t)number;
  *m = (matrix){0};
  if (size < 1 || size > MAX_ROWS || degree < 1 || size * degree > MAX_NONZEROS) return false;
  entries e = {.n = m->n = (int)size};
  bool made = true;
  switch (kind) {
    case STENCIL: made = add_stencil(&e, degree); break;
    case BAND: add_diagonals(&e, degree, seed, true); break;
    case DIAGONALS: add_diagonals(&e, degree, seed, false); break;
    case BLOCKS: add_blocks(&e, degree, seed); break;
    case POWER_LAW: add_power_law(&e, degree, seed); break;
    case R_MAT: add_r_mat(&e, degree, seed); break;
    case ERDOS_RENYI: add_any(&e, degree, seed); break;
    case ROAD: made = add_roads(&e, degree, seed); break;
    case FROM_FILE: made = read_file(m, e.n, number); break;
    default: made = false;
  }
  if (made && kind != FROM_FILE) made = gather(m, &e);
  free(e.at);
  if (!made) matrix_free(m);
  return made;
}

void matrix_free(matrix *m) {
  free(m->starts);
  free(m->columns);
  free(m->values);
  *m = (matrix){0};
}

float matrix_value(const matrix *m, int k, uint64_t seed) {
  return m->values ? m->values[k] : 0.5f + pattern_unit((uint32_t)k, 3, seed);
}
