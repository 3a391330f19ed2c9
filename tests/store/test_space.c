/* A space from a store's content alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "store_support.h"

static clt_store *store;
static clt_store_key key;

static int open_memory(void **state) {
  (void)state;
  key = make_key("p");
  return clt_store_new(&store, "memory", NULL, NULL);
}

static int close_memory(void **state) {
  (void)state;
  clt_store_free(store);
  return 0;
}

/* As a file may have it, whatever it is. */
static void put(const char *text) {
  clt_measurement m = make_measurement(0, 1);
  const clt_store_record record = {.kind = CLT_RECORD_SEARCH, .configuration = text, .created_s = 1, .measurement = &m};
  const clt_store_description description = {.key = key};
  assert_int_equal(store->type->add(store->state, &description, &record, NULL, NULL), 0);
}

static void values_are_what_occurs_in_order(void **state) {
  (void)state;
  clt_space *space = NULL;
  put("a=16 mode=fast x=0.5");
  put("a=8 mode=a%20b x=1.5");
  put("a=16 mode=fast x=0.5");
  assert_int_equal(clt_store_space(&space, store, &key, NULL), 0);
  assert_int_equal(clt_space_valid(space), 2);
  const clt_parameter *a = clt_space_parameter(space, 0), *mode = clt_space_parameter(space, 1),
                      *x = clt_space_parameter(space, 2);
  assert_true(a->n_values == 2 && a->values[0].type == CLT_INT && a->values[0].integer == 8);
  assert_true(mode->n_values == 2 && strcmp(mode->values[0].text, "a b") == 0);
  assert_true(x->values[1].type == CLT_REAL && x->values[1].real == 1.5);
  collected *all = collect(store, &key, space, NULL);
  assert_int_equal(all->n, 3);
  free_collected(all);
  clt_space_free(space);
}

static void what_is_no_configuration_is_left_out(void **state) {
  (void)state;
  static const char *const bad[] = {"",    "a",       "=1",  "a=%1B[2J", "a=%zz", "1a=3",       "a=1 a=2 b", "a-b=1",
                                    "b=1", "a=1 b=2", "a=%", "a=%00",    " ",     "a=%C2%9B2J", "and=1"};
  clt_space *space = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) put(bad[i]);
  put("a=1");
  put("a=%31");
  put("a=");
  put("a=nan");
  put("a=%C3%A9%0A");
  put("a=007");
  assert_int_equal(clt_store_space(&space, store, &key, NULL), 0);
  assert_int_equal(clt_space_n_parameters(space), 1);
  assert_int_equal(clt_space_valid(space), 6);
  const clt_value *values = clt_space_parameter(space, 0)->values; /* a number, then texts */
  assert_int_equal(values[0].type, CLT_INT);
  assert_string_equal(values[1].text, "");
  assert_string_equal(values[3].text, "1");
  assert_string_equal(values[5].text, "\xc3\xa9\n");
  clt_space_free(space);
}

static void nothing_is_not_found(void **state) {
  (void)state;
  clt_space *space = NULL;
  assert_int_equal(clt_store_space(&space, store, &key, NULL), CLT_E_NOT_FOUND);
  put("=");
  assert_int_equal(clt_store_space(&space, store, &key, NULL), CLT_E_NOT_FOUND);
  assert_null(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(values_are_what_occurs_in_order, open_memory, close_memory),
      cmocka_unit_test_setup_teardown(what_is_no_configuration_is_left_out, open_memory, close_memory),
      cmocka_unit_test_setup_teardown(nothing_is_not_found, open_memory, close_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
