/* Values in PostgreSQL's text form: numbers with all their digits, in any locale. */
#include "store/pq_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "store/pq.h"

enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, FLOAT8 = 701 };
enum { TEXTS = 1009, INT8S = 1016, FLOAT8S = 1022 };

/* --- going in --- */

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

int clt_pq_values_make(clt_pq_values *out, const char *places, va_list arguments, clt_error *error) {
  clt_text *bytes = &out->bytes;
  size_t begins[CLT_PQ_MOST_PLACES], n;
  bool is_null[CLT_PQ_MOST_PLACES] = {false};
  if (strlen(places) > CLT_PQ_MOST_PLACES) return clt_fail(error, CLT_E_ARGUMENT, "a statement has too many places");
  for (; *places; places++, out->n++) {
    const size_t i = out->n;
    const char *text;
    double number;
    begins[i] = bytes->n;
    clt_text array = {0};
    switch (*places) {
      case 't':
        out->types[i] = TEXT;
        is_null[i] = (text = va_arg(arguments, const char *)) == NULL;
        if (text) put_text(bytes, text);
        break;
      case 'w':
        out->types[i] = INT8;
        clt_text_printf(bytes, "%" PRId64, va_arg(arguments, int64_t));
        break;
      case 'n':
        out->types[i] = FLOAT8;
        is_null[i] = isnan(number = va_arg(arguments, double));
        clt_pq_add_number(bytes, number);
        break;
      default:
        out->types[i] = *places == 'T' ? TEXTS : INT8S;
        n = va_arg(arguments, size_t);
        const void *all = va_arg(arguments, const void *);
        for (size_t k = 0; k < n; k++) {
          clt_text_add(&array, k ? "," : "");
          if (*places == 'T')
            clt_pq_add_text(&array, ((const char *const *)all)[k]);
          else
            clt_text_printf(&array, "%" PRId64, ((const int64_t *)all)[k]);
        }
        clt_text_add(bytes, "{");
        put_text(bytes, array.bytes ? array.bytes : "");
        clt_text_add(bytes, "}");
        if (array.rc) bytes->rc = array.rc;
        clt_text_release(&array);
    }
    clt_text_add_bytes(bytes, "", 1); /* its end */
  }
  if (bytes->rc) return clt_fail_memory(error);
  if (bytes->n > INT32_MAX / 2) return clt_fail(error, CLT_E_RANGE, "too much for one statement: %zu bytes", bytes->n);
  for (size_t i = 0; i < out->n; i++) out->values[i] = is_null[i] ? NULL : bytes->bytes + begins[i];
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
  for (int column = 0; column < libpq.PQnfields(rows); column++)
    for (int row = 0; libpq.PQftype(rows, column) == TEXT && row < libpq.PQntuples(rows); row++)
      restore_text(libpq.PQgetvalue(rows, row, column));
}

/* A value of the type; NULL where it is none. */
static const char *value_of(const clt_pq_rows *rows, size_t row, int column, Oid type) {
  const bool is_one = !clt_pq_is_null(rows, row, column) && libpq.PQftype(rows, column) == type;
  return is_one ? libpq.PQgetvalue(rows, (int)row, column) : NULL;
}

size_t clt_pq_n_rows(const clt_pq_rows *rows) { return (size_t)libpq.PQntuples(rows); }

int64_t clt_pq_n_changed(const clt_pq_rows *rows) { return strtoll(libpq.PQcmdTuples((PGresult *)rows), NULL, 10); }

bool clt_pq_is_null(const clt_pq_rows *rows, size_t row, int column) {
  return row >= (size_t)libpq.PQntuples(rows) || column >= libpq.PQnfields(rows) ||
         libpq.PQgetisnull(rows, (int)row, column);
}

const char *clt_pq_text(const clt_pq_rows *rows, size_t row, int column) {
  const char *text = value_of(rows, row, column, TEXT);
  return text ? text : "";
}

int64_t clt_pq_whole(const clt_pq_rows *rows, size_t row, int column) {
  static const Oid types[] = {INT8, INT4, INT2};
  const char *text = value_of(rows, row, column, BOOL);
  if (text) return *text == 't';
  for (size_t i = 0; text == NULL && i < sizeof types / sizeof *types; i++)
    text = value_of(rows, row, column, types[i]);
  return text ? strtoll(text, NULL, 10) : 0;
}

double clt_pq_number(const clt_pq_rows *rows, size_t row, int column) {
  const char *text = value_of(rows, row, column, FLOAT8);
  return text ? clt_strtod(text, NULL) : NAN;
}

size_t clt_pq_numbers(const clt_pq_rows *rows, size_t row, int column, double *out, size_t most) {
  if (clt_pq_is_null(rows, row, column)) return 0;
  const char *at = value_of(rows, row, column, FLOAT8S);
  size_t n = 0;
  if (at && strcmp(at, "{}") == 0) return 0;
  for (char ends = '{'; at && n <= most; ends = ',') {
    if (*at == '}' && n > 0) return n;
    if (*at++ != ends || n == most) return most + 1;
    char *end = NULL;
    const bool is_null = clt_starts_with(at, "NULL");
    out[n++] = is_null ? NAN : clt_strtod(at, &end);
    at = is_null ? at + strlen("NULL") : end > at ? end : NULL;
  }
  return most + 1;
}

void clt_pq_rows_free(clt_pq_rows *rows) { libpq.PQclear(rows); }
