/* Values in PostgreSQL's binary form: numbers exact in any locale, and no quoting. */
#include "store/pq_values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "store/pq.h"

enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, FLOAT8 = 701 };
enum { TEXTS = 1009, INT8S = 1016, FLOAT8S = 1022 };

/* --- going in --- */

static void put(clt_text *out, uint64_t value, size_t n_bytes) {
  unsigned char bytes[8];
  for (size_t i = 0; i < n_bytes; i++) bytes[i] = (unsigned char)(value >> 8 * (n_bytes - 1 - i));
  clt_text_add_bytes(out, bytes, n_bytes);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* PostgreSQL takes nothing but UTF-8. A byte that is none becomes the character ESCAPED + byte of a private plane, and
 * so do the bytes of such a character: every text comes back as it was. */
#define ESCAPED 0x10fe00u
#define ESCAPED_BYTES "\xf4\x8f" /* begin each of them */

static void put_text(clt_text *out, const char *text) {
  const size_t n = strlen(text);
  size_t from = 0, i = 0;
  while (i < n) {
    uint32_t c = 0;
    const size_t length = clt_text_character(text + i, n - i, &c);
    if (length > 0 && length <= n - i && (c < ESCAPED || c >= ESCAPED + 256)) {
      i += length;
      continue;
    }
    clt_text_add_bytes(out, text + from, i - from);
    c = ESCAPED + (unsigned char)text[i];
    const unsigned char character[] = {(unsigned char)(0xf0 | c >> 18), (unsigned char)(0x80 | (c >> 12 & 0x3f)),
                                       (unsigned char)(0x80 | (c >> 6 & 0x3f)), (unsigned char)(0x80 | (c & 0x3f))};
    clt_text_add_bytes(out, character, sizeof character);
    from = ++i;
  }
  clt_text_add_bytes(out, text + from, n - from);
}

/* The length of what was put since `begin` goes into the four bytes before it. */
static void put_length(clt_text *out, size_t begin) {
  if (out->rc) return;
  const size_t n = out->n - begin;
  for (size_t i = 0; i < 4; i++) out->bytes[begin - 4 + i] = (char)(n >> 8 * (3 - i));
}

static void put_array(clt_text *out, size_t n, Oid type) {
  put(out, n > 0, 4); /* dimensions */
  put(out, 1, 4);     /* there may be NULLs */
  put(out, type, 4);
  if (n) put(out, n, 4);
  if (n) put(out, 1, 4); /* the first index */
}

static void put_texts(clt_text *out, size_t n, const char *const *texts) {
  put_array(out, n, TEXT);
  for (size_t i = 0; i < n; i++) {
    put(out, UINT32_MAX, 4); /* NULL */
    const size_t begin = out->n;
    if (texts[i]) put_text(out, texts[i]);
    if (texts[i]) put_length(out, begin);
  }
}

static void put_numbers(clt_text *out, size_t n, const double *numbers) {
  put_array(out, n, FLOAT8);
  for (size_t i = 0; i < n; i++) {
    put(out, isnan(numbers[i]) ? UINT32_MAX : 8, 4);
    if (!isnan(numbers[i])) put(out, bits_of(numbers[i]), 8);
  }
}

static void put_whole_numbers(clt_text *out, size_t n, const int64_t *numbers) {
  put_array(out, n, INT8);
  for (size_t i = 0; i < n; i++) {
    put(out, 8, 4);
    put(out, (uint64_t)numbers[i], 8);
  }
}

int clt_pq_values_make(clt_pq_values *out, const char *places, va_list arguments, clt_error *error) {
  clt_text *bytes = &out->bytes;
  bool is_null[CLT_PQ_MOST_PLACES] = {false};
  if (strlen(places) > CLT_PQ_MOST_PLACES) return clt_fail(error, CLT_E_ARGUMENT, "a statement has too many places");
  for (; *places; places++, out->n++) {
    const size_t i = out->n, begin = bytes->n;
    const char *text;
    double number;
    size_t n;
    switch (*places) {
      case 't':
        out->types[i] = TEXT;
        is_null[i] = (text = va_arg(arguments, const char *)) == NULL;
        if (text) put_text(bytes, text);
        break;
      case 'w':
        out->types[i] = INT8;
        put(bytes, (uint64_t)va_arg(arguments, int64_t), 8);
        break;
      case 'n':
        out->types[i] = FLOAT8;
        is_null[i] = isnan(number = va_arg(arguments, double));
        put(bytes, bits_of(number), 8);
        break;
      case 'T':
        out->types[i] = TEXTS;
        n = va_arg(arguments, size_t);
        put_texts(bytes, n, va_arg(arguments, const char *const *));
        break;
      case 'W':
        out->types[i] = INT8S;
        n = va_arg(arguments, size_t);
        put_whole_numbers(bytes, n, va_arg(arguments, const int64_t *));
        break;
      default:
        out->types[i] = FLOAT8S;
        n = va_arg(arguments, size_t);
        put_numbers(bytes, n, va_arg(arguments, const double *));
    }
    out->begins[i] = begin;
    out->lengths[i] = (int)(bytes->n - begin);
    out->formats[i] = 1;
  }
  clt_text_add(bytes, ""); /* so that there is an address */
  if (bytes->rc) return clt_fail_memory(error);
  if (bytes->n > INT32_MAX / 2) return clt_fail(error, CLT_E_RANGE, "too much for one statement: %zu bytes", bytes->n);
  for (size_t i = 0; i < out->n; i++) out->values[i] = is_null[i] ? NULL : bytes->bytes + out->begins[i];
  return CLT_OK;
}

void clt_pq_values_release(clt_pq_values *values) { clt_text_release(&values->bytes); }

/* --- coming out: whatever the server sends --- */

static void restore_text(char *text) {
  char *out = strstr(text, ESCAPED_BYTES);
  for (const char *in = out; in && *in;) {
    uint32_t c = 0;
    const bool is_one = clt_text_character(in, strnlen(in, 4), &c) == 4 && c >= ESCAPED && c < ESCAPED + 256;
    if (is_one && c > ESCAPED) {
      *out++ = (char)(c - ESCAPED);
      in += 4;
    } else {
      *out++ = *in++;
    }
  }
  if (out) *out = '\0';
}

void clt_pq_restore_texts(PGresult *rows) {
  for (int column = 0; column < PQnfields(rows); column++)
    for (int row = 0; PQftype(rows, column) == TEXT && row < PQntuples(rows); row++)
      restore_text(PQgetvalue(rows, row, column));
}

static uint64_t get(const char *bytes, size_t n_bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < n_bytes; i++) value = value << 8 | (unsigned char)bytes[i];
  return value;
}

/* A value of n bytes of the type; NULL where it is none. */
static const char *bytes_of(const PGresult *rows, size_t row, int column, Oid type, size_t n) {
  const bool is_one = row < (size_t)PQntuples(rows) && column < PQnfields(rows) && PQftype(rows, column) == type &&
                      PQfformat(rows, column) == 1 && !PQgetisnull(rows, (int)row, column) &&
                      (n == 0 || (size_t)PQgetlength(rows, (int)row, column) == n);
  return is_one ? PQgetvalue(rows, (int)row, column) : NULL;
}

size_t clt_pq_n_rows(const clt_pq_rows *rows) { return (size_t)PQntuples(rows); }

int64_t clt_pq_n_changed(const clt_pq_rows *rows) { return strtoll(PQcmdTuples((PGresult *)rows), NULL, 10); }

bool clt_pq_is_null(const clt_pq_rows *rows, size_t row, int column) {
  return row >= (size_t)PQntuples(rows) || PQgetisnull(rows, (int)row, column);
}

const char *clt_pq_text(const clt_pq_rows *rows, size_t row, int column) {
  const char *bytes = bytes_of(rows, row, column, TEXT, 0);
  return bytes ? bytes : "";
}

int64_t clt_pq_whole(const clt_pq_rows *rows, size_t row, int column) {
  const char *bytes = bytes_of(rows, row, column, INT8, 8);
  if (bytes) return (int64_t)get(bytes, 8);
  if ((bytes = bytes_of(rows, row, column, INT4, 4))) return (int32_t)get(bytes, 4);
  if ((bytes = bytes_of(rows, row, column, INT2, 2))) return (int16_t)get(bytes, 2);
  return (bytes = bytes_of(rows, row, column, BOOL, 1)) && *bytes;
}

static double number_of(const char *bytes) {
  const uint64_t bits = get(bytes, 8);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double clt_pq_number(const clt_pq_rows *rows, size_t row, int column) {
  const char *bytes = bytes_of(rows, row, column, FLOAT8, 8);
  return bytes ? number_of(bytes) : NAN;
}

size_t clt_pq_numbers(const clt_pq_rows *rows, size_t row, int column, double *out, size_t most) {
  if (clt_pq_is_null(rows, row, column)) return 0;
  const char *bytes = bytes_of(rows, row, column, FLOAT8S, 0);
  if (bytes == NULL || PQgetlength(rows, (int)row, column) < 12 || get(bytes + 8, 4) != FLOAT8) return most + 1;
  const char *end = bytes + PQgetlength(rows, (int)row, column);
  const uint64_t n_dimensions = get(bytes, 4);
  if (n_dimensions == 0) return 0;
  if (n_dimensions != 1 || end - bytes < 20) return most + 1;
  const size_t n = (size_t)get(bytes + 12, 4);
  bytes += 20;
  for (size_t i = 0; i < n && i < most; i++) {
    const bool is_null = end - bytes >= 4 && get(bytes, 4) == UINT32_MAX;
    if (!is_null && (end - bytes < 12 || get(bytes, 4) != 8)) return most + 1;
    out[i] = is_null ? NAN : number_of(bytes + 4);
    bytes += is_null ? 4 : 12;
  }
  return n > most ? most + 1 : n;
}

void clt_pq_rows_free(clt_pq_rows *rows) { PQclear(rows); }
