/* Values in PostgreSQL's text form: numbers with all their digits, in any locale. */
#include "store/pq_values.h"

#include <inttypes.h>

#include "base/base.h"
#include "store/pq.h"

enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, FLOAT8 = 701 };
enum { JSON = 114, FLOAT8S = 1022 };

/* --- going in --- */

int clt_pq_values_make(clt_pq_values *out, const char *places, va_list arguments, clt_error *error) {
  clt_text *bytes = &out->bytes;
  size_t begins[CLT_PQ_MOST_PLACES];
  bool is_null[CLT_PQ_MOST_PLACES] = {false};
  if (strlen(places) > CLT_PQ_MOST_PLACES) return clt_fail(error, CLT_E_ARGUMENT, "a statement has too many places");
  for (; *places; places++, out->n++) {
    const size_t i = out->n;
    const char *text;
    char *json;
    double number;
    begins[i] = bytes->n;
    switch (*places) {
      case 't':
        out->types[i] = TEXT;
        is_null[i] = (text = va_arg(arguments, const char *)) == NULL;
        if (text) clt_pq_add_text(bytes, text);
        break;
      case 'w':
        out->types[i] = INT8;
        clt_text_printf(bytes, "%" PRId64, va_arg(arguments, int64_t));
        break;
      case 'n':
        out->types[i] = FLOAT8;
        is_null[i] = isnan(number = va_arg(arguments, double));
        clt_text_printf(bytes, "%.17g", number);
        break;
      default:
        out->types[i] = JSON;
        json = json_dumps(va_arg(arguments, const json_t *), JSON_COMPACT);
        clt_text_add(bytes, json ? json : "");
        if (json == NULL) bytes->rc = CLT_E_MEMORY;
        free(json);
    }
    clt_text_add_bytes(bytes, "", 1); /* the terminating zero */
  }
  if (bytes->rc) return clt_fail_memory(error);
  if (bytes->n > INT32_MAX / 2) return clt_fail(error, CLT_E_RANGE, "a statement is too large: %zu bytes", bytes->n);
  for (size_t i = 0; i < out->n; i++) out->values[i] = is_null[i] ? NULL : bytes->bytes + begins[i];
  return CLT_OK;
}

void clt_pq_values_release(clt_pq_values *values) { clt_text_release(&values->bytes); }

/* --- coming out: the server is not trusted --- */

void clt_pq_restore_texts(PGresult *rows) {
  for (int column = 0; column < libpq.PQnfields(rows); column++)
    for (int row = 0; libpq.PQftype(rows, column) == TEXT && row < libpq.PQntuples(rows); row++)
      clt_pq_restore_text(libpq.PQgetvalue(rows, row, column));
}

/* A value's text if it has this type; otherwise NULL. */
static const char *value_of(const clt_pq_rows *rows, size_t row, int column, Oid type) {
  const bool is_one = !clt_pq_is_null(rows, row, column) && libpq.PQftype(rows, column) == type;
  return is_one ? libpq.PQgetvalue(rows, (int)row, column) : NULL;
}

size_t clt_pq_n_rows(const clt_pq_rows *rows) { return (size_t)libpq.PQntuples(rows); }

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
