/* matrix.h - the family's systems of equations. A matrix follows from kind, size (unknowns, about), spread, dominance,
 * contrast and seed alone; rows are computed one by one. */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

/* Kinds from CONVECTION on are not symmetric. */
enum { PLANE, SPACE, BAND, BLOCKS, CONVECTION, ONE_WAY_BAND, N_KINDS };
enum { LONGEST_ROW = 160, UNKNOWNS_OF_A_NODE = 4 };

typedef struct input {
  int kind, n, nx, ny, nz; /* nodes along the axes */
  int spread;              /* of bands: elements on either side; of grids: how much stronger one axis is */
  double dominance;        /* how much the diagonal exceeds the sum of a row's magnitudes, as a share of that */
  double contrast;         /* decades between the weakest and the strongest coefficient */
  uint64_t seed;
} input;

typedef struct system {
  int n, nonzeros;
  int *first, *column;
  float *value;
} system_t;

/* Between 0 and 1, always the same of a pair. */
static double draw(const input *in, int a, int b, int what) {
  uint64_t x = in->seed * 0x9e3779b97f4a7c15 + (uint64_t)a * 0xd1342543de82ef95 + (uint64_t)b * 0xaf251af3b0f025b5 +
               (uint64_t)what;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static double draw_pair(const input *in, int a, int b, int what) {
  return a < b ? draw(in, a, b, what) : draw(in, b, a, what);
}

static int read_input(input *in, const clt_module_call *call) {
  const int size = (int)clt_module_value(call, "size", 0);
  *in = (input){.kind = (int)clt_module_value(call, "kind", -1),
                .n = size,
                .spread = (int)clt_module_value(call, "spread", 0),
                .dominance = clt_module_value(call, "dominance", 0) / 1000,
                .contrast = clt_module_value(call, "contrast", 0),
                .seed = (uint64_t)clt_module_value(call, "seed", 0) + 1};
  if (in->kind < 0 || in->kind >= N_KINDS || size < 16 || in->spread < 1 || in->spread > 32) return 1;
  const int nodes = in->kind == BLOCKS ? size / UNKNOWNS_OF_A_NODE : size;
  in->nx = in->kind == SPACE ? (int)cbrt(nodes) : (int)sqrt(nodes);
  in->ny = in->kind == SPACE ? (int)sqrt(nodes / in->nx) : nodes / in->nx;
  in->nz = in->kind == SPACE ? nodes / in->nx / in->ny : 1;
  if (in->kind != BAND && in->kind != ONE_WAY_BAND)
    in->n = in->nx * in->ny * in->nz * (in->kind == BLOCKS ? UNKNOWNS_OF_A_NODE : 1);
  return 0;
}

/* --- rows --- */

/* Appends an element and its share of the diagonal, which is added up meanwhile. */
static int append(int k, int *columns, double *values, double *magnitudes, int column, double value) {
  columns[k] = column, values[k] = value;
  *magnitudes += fabs(value);
  return k + 1;
}

/* A grid's: the neighbours along the axes. Along x, coefficients are `spread` times as large, and of CONVECTION those
 * of the one side, too. */
static int grid_row(const input *in, int i, int *columns, double *values, double *sum, int *diagonal) {
  const int x = i % in->nx, y = i / in->nx % in->ny, z = i / in->nx / in->ny, step[3] = {1, in->nx, in->nx * in->ny};
  const int at[3] = {x, y, z}, end[3] = {in->nx, in->ny, in->nz};
  int k = 0;
  for (int side = -1; side <= 1; side++)
    for (int d = 0; d < 3; d++) {
      const int axis = side < 0 ? 2 - d : d, j = i + side * step[axis]; /* in the order of columns */
      if (side == 0 && d > 0) continue;
      if (side == 0) {
        *diagonal = k;
        columns[k++] = i;
      } else if (at[axis] + side >= 0 && at[axis] + side < end[axis]) {
        double value = pow(10, in->contrast * (draw_pair(in, i, j, 1) - 0.5));
        if (axis == 0 && in->kind != CONVECTION) value *= in->spread;
        if (in->kind == CONVECTION && side < 0) value *= 1 + in->spread / 4.0;
        k = append(k, columns, values, sum, j, -value);
      }
    }
  return k;
}

/* About `spread` elements on either side, of both signs, no further from the diagonal than 8 * spread. */
static int band_row(const input *in, int i, int *columns, double *values, double *sum, int *diagonal) {
  const int reach = 8 * in->spread;
  int k = 0;
  for (int j = i - reach < 0 ? 0 : i - reach; j < in->n && j <= i + reach; j++) {
    if (j == i) {
      *diagonal = k;
      columns[k++] = i;
    } else if (draw_pair(in, i, j, 2) < 0.125 && k < LONGEST_ROW - 1) {
      const int one_way = in->kind == ONE_WAY_BAND;
      const double at = one_way ? draw(in, i, j, 3) : draw_pair(in, i, j, 3),
                   size = one_way ? draw(in, i, j, 4) : draw_pair(in, i, j, 4);
      k = append(k, columns, values, sum, j, (at < 0.5 ? -1 : 1) * pow(10, in->contrast * (size - 0.5)));
    }
  }
  return k;
}

/* Finite elements: the unknowns of a node hold together strongly, by 10^contrast; those of neighbouring nodes, also
 * across the corner, are coupled like to like, and all to all half as much in all; along x by `spread` times as much.
 */
static int blocks_row(const input *in, int i, int *columns, double *values, double *sum, int *diagonal) {
  enum { U = UNKNOWNS_OF_A_NODE };
  const int node = i / U, x = node % in->nx, y = node / in->nx;
  const double inner = pow(10, in->contrast);
  int k = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      if (x + dx < 0 || x + dx >= in->nx || y + dy < 0 || y + dy >= in->ny) continue;
      const int other = node + dx + dy * in->nx;
      const double weight = (0.5 + draw_pair(in, node, other, 5)) * (dy == 0 ? in->spread : 1);
      for (int u = 0; u < U; u++) {
        if (other * U + u == i)
          *diagonal = k, columns[k++] = i;
        else if (other == node)
          k = append(k, columns, values, sum, other * U + u, -inner / (U - 1));
        else
          k = append(k, columns, values, sum, other * U + u, -weight * (u == i % U ? 1 : 0.5 / (U - 1)));
      }
    }
  return k;
}

/* Columns in ascending order. Symmetric where the elements off the diagonal are; positive definite then, as the
 * diagonal dominates. */
static int make_row(const input *in, int i, int *columns, double *values) {
  double sum = 0;
  int diagonal = 0, k;
  if (in->kind == BAND || in->kind == ONE_WAY_BAND)
    k = band_row(in, i, columns, values, &sum, &diagonal);
  else
    k = (in->kind == BLOCKS ? blocks_row : grid_row)(in, i, columns, values, &sum, &diagonal);
  values[diagonal] = (sum > 0 ? sum : 1) * (1 + in->dominance);
  return k;
}

static int count_nonzeros(const input *in) {
  int columns[LONGEST_ROW], n = 0;
  double values[LONGEST_ROW];
  for (int i = 0; i < in->n; i++) n += make_row(in, i, columns, values);
  return n;
}

static void release_system(system_t *s) {
  free(s->first), free(s->column), free(s->value);
  memset(s, 0, sizeof *s);
}

static int make_system(system_t *s, const input *in) {
  int columns[LONGEST_ROW];
  double values[LONGEST_ROW];
  *s = (system_t){.n = in->n, .nonzeros = count_nonzeros(in)};
  s->first = malloc(((size_t)in->n + 1) * sizeof *s->first);
  s->column = malloc((size_t)s->nonzeros * sizeof *s->column);
  s->value = malloc((size_t)s->nonzeros * sizeof *s->value);
  if (s->first == NULL || s->column == NULL || s->value == NULL) return release_system(s), 1;
  for (int i = 0, e = 0; i <= in->n; i++) {
    s->first[i] = e;
    if (i == in->n) break;
    const int n = make_row(in, i, columns, values);
    for (int k = 0; k < n; k++) s->column[e] = columns[k], s->value[e++] = (float)values[k];
  }
  return 0;
}
