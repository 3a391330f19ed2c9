/* Expressions, and the values of a tuning parameter. */
#include "fuzz.h"
#include "space/expr.h"

static const clt_symbol symbols[] = {
    {"a", false, {CLT_INT, {0}}, 0},
    {"b", false, {CLT_INT, {0}}, 1},
    {"s", false, {CLT_INT, {0}}, 2},
    {"device.local_memory_bytes", true, {CLT_INT, {65536}}, 0},
};

static void evaluate(const char *text) {
  clt_value slots[3] = {{CLT_INT, {7}}, {.type = CLT_REAL, .real = 0.5}, {.type = CLT_STRING, .text = "abc"}};
  clt_value out;
  clt_expr *expr = NULL;
  if (clt_expr_compile(&expr, text, symbols, sizeof symbols / sizeof *symbols, NULL)) return;
  clt_expr_eval(expr, slots, &out, NULL);
  clt_expr_free(expr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  clt_value *values = NULL;
  size_t n;
  evaluate(text);
  if (clt_values_parse(&values, &n, text, "int", symbols, 4, NULL) == 0) free(values);
  free(text);
  return 0;
}
