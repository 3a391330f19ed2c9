/* permutation.h - where elements go when a matrix is transposed in place, in three steps that each stay within a row or
 * within a column. The memory is seen as m rows of n elements from first to last; common is the greatest common
 * divisor of m and n. `inverse` 0 is C2R: columns are rotated (where common > 1), rows shuffled, columns shuffled. 1 is
 * R2C: the inverse steps in the inverse order. The steps are those of Catanzaro, Keller and Garland, "A decomposition
 * for in-place matrix transposition" (PPoPP 2014). */
typedef struct number {
  uint value, factor;
} number;

typedef struct view {
  number m, n, turns_after, drops_after; /* columns that are rotated alike: n / common; rows: m / common */
} view;

static number make_number(uint value) { return (number){value, 0xFFFFFFFFu / value}; }

/* The product with the factor is the quotient or one less. */
static uint divide(uint x, number by) {
#if fast_division
  const uint quotient = mul_hi(x, by.factor);
  return x - quotient * by.value >= by.value ? quotient + 1 : quotient;
#else
  return x / by.value;
#endif
}

static uint modulo(uint x, number by) { return x - divide(x, by) * by.value; }

static view make_view(uint m, uint n, uint common) {
  return (view){make_number(m), make_number(n), make_number(n / common), make_number(m / common)};
}

/* The row that the rotation takes element (i, j) from. */
static uint rotated_from(view v, uint i, uint j) {
  const uint turns = divide(j, v.turns_after);
  return modulo(inverse ? i + v.m.value - turns : i + turns, v.m);
}

/* The column of row i that C2R brings element (i, j) to, and R2C takes it from. */
static uint other_column(view v, uint i, uint j) {
  return modulo(modulo(i + divide(j, v.turns_after), v.m) + j * v.m.value, v.n);
}

/* The row of column j that C2R takes element (i, j) from, and R2C brings it to. */
static uint other_row(view v, uint i, uint j) { return modulo(j + i * v.n.value - divide(i, v.drops_after), v.m); }
