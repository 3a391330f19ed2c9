/* product.h - products of matrices. A work-group of wg_x x wg_y computes a tile of wg_y * rows rows and wg_x * vec
 * columns of the result, each work-item `rows` vectors, wg_y rows apart. With tile_k, so many columns of the left
 * matrix and rows of the right one are brought into local memory at a time; tile_k 0 reads both where they are. */
#include "vectors.h"

#define TILE_ROWS (wg_y * rows)
#define TILE_COLUMNS (wg_x * vec)
#define FIRST_ROW ((int)get_group_id(1) * TILE_ROWS)
#define FIRST_COLUMN ((int)get_group_id(0) * TILE_COLUMNS)
#define ROW(r) (FIRST_ROW + (int)get_local_id(1) + (r)*wg_y)
#define COLUMN (FIRST_COLUMN + (int)get_local_id(0) * vec)

/* Of a symmetric result one half suffices: nothing is added up in a tile wholly above the diagonal. A `return` there,
 * before the barriers, makes PoCL 3.1 write where it must not. */
#define DEPTH_OF_LOWER(depth) (FIRST_COLUMN < FIRST_ROW + TILE_ROWS ? (depth) : 0)

#if tile_k
#define ROOM_FOR_TILES __local float tiles[tile_k * (TILE_ROWS + TILE_COLUMNS)]
#else
#define ROOM_FOR_TILES __local float *const tiles = 0
#endif

typedef struct matrix {
  __global const float *first;
  int height, width;
  int down, right; /* from an element to the next one of its column, and of its row */
} matrix;

#define AS_STORED(first, height, width) ((matrix){first, height, width, width, 1})
#define TRANSPOSED(first, height, width) ((matrix){first, width, height, 1, width}) /* of what is stored so */

static void clear(floatv *sums) {
  for (int r = 0; r < rows; r++) sums[r] = 0;
}

#if tile_k
/* Copies the part of matrix a from (top, left) on, in the order in which a lies; zeros stand for what is beyond a. */
static void load_tile(__local float *tile, int tile_height, int tile_width, matrix a, int top, int left) {
  for (int i = get_local_id(1) * wg_x + get_local_id(0); i < tile_height * tile_width; i += wg_x * wg_y) {
    const int line = a.right == 1 ? tile_width : tile_height, slow = i / line, fast = i - slow * line;
    const int y = a.right == 1 ? slow : fast, x = a.right == 1 ? fast : slow;
    const bool exists = top + y < a.height && left + x < a.width;
    tile[y * tile_width + x] = exists ? a.first[(top + y) * a.down + (left + x) * a.right] : 0;
  }
}

/* Adds a b, up to a's column `depth`, to the work-item's sums. All of a work-group take part. */
static void add_product(floatv *sums, matrix a, matrix b, int depth, __local float *tiles) {
  __local float *const left = tiles, *const right = tiles + TILE_ROWS * tile_k;
  for (int start = 0; start < depth; start += tile_k) {
    load_tile(left, TILE_ROWS, tile_k, a, FIRST_ROW, start);
    load_tile(right, tile_k, TILE_COLUMNS, b, start, FIRST_COLUMN);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll unroll
    for (int k = 0; k < tile_k; k++) {
      const floatv factor = VLOAD(right + k * TILE_COLUMNS + get_local_id(0) * vec);
      for (int r = 0; r < rows; r++) sums[r] += left[(get_local_id(1) + r * wg_y) * tile_k + k] * factor;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#else
static floatv neighbours(matrix b, int row, int column) {
  float found[vec];
  if (b.right == 1) return VLOAD(b.first + row * b.down + column);
  for (int i = 0; i < vec; i++) found[i] = b.first[row + (column + i) * b.right];
  return VLOAD(found);
}

static void add_product(floatv *sums, matrix a, matrix b, int depth, __local float *tiles) {
  if (COLUMN >= b.width) return;
#pragma unroll unroll
  for (int k = 0; k < depth; k++) {
    const floatv factor = neighbours(b, k, COLUMN);
    for (int r = 0; r < rows; r++) sums[r] += a.first[min(ROW(r), a.height - 1) * a.down + k * a.right] * factor;
  }
}
#endif
