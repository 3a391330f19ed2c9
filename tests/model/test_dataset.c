/* Encoding of configurations, folds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/rows.h"

/* A space with one parameter. */
static clt_space *one(const char *type, const char *values) {
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  assert_int_equal(clt_space_builder_new(&b, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "p", type, values, NULL), 0);
  assert_int_equal(clt_space_new(&space, b, NULL), 0);
  clt_space_builder_free(b);
  return space;
}

/* Checks the inputs of every value: expected[value][n_inputs]. */
static void check(const char *type, const char *values, size_t n_values, size_t n_inputs, const float *expected) {
  clt_space *space = one(type, values);
  clt_encoding *e = NULL;
  assert_int_equal(clt_encoding_new(&e, space, NULL, NULL), 0);
  assert_int_equal(e->n_inputs, n_inputs);
  for (size_t v = 0; v < n_values; v++) {
    float x[8] = {0};
    clt_encode(e, v, x);
    for (size_t i = 0; i < n_inputs; i++) assert_float_equal(x[i], expected[v * n_inputs + i], 1e-6);
  }
  clt_encoding_free(e);
  clt_space_free(space);
}

static void powers_are_equally_far_apart(void **state) {
  (void)state;
  check("int", "[1, 2, 4, 8, 16]", 5, 1, (float[]){-1, -0.5f, 0, 0.5f, 1});
}
static void narrow_ranges_stay_linear(void **state) {
  (void)state;
  check("int", "[4, 6, 12]", 3, 1, (float[]){-1, -0.5f, 1});
  check("int", "[0, 1, 4]", 3, 1, (float[]){-1, -0.5f, 1});
  check("float", "[0.5, 1.0]", 2, 1, (float[]){-1, 1});
}
static void booleans_are_two_sides(void **state) {
  (void)state;
  check("bool", "[0, 1]", 2, 1, (float[]){-1, 1});
}
static void text_gets_an_input_a_value(void **state) {
  (void)state;
  check("string", "['a', 'b', 'c']", 3, 3, (float[]){1, -1, -1, -1, 1, -1, -1, -1, 1});
}
static void many_integers_get_their_exponent_of_two(void **state) {
  (void)state;
  check("int", "[4, 5, 6, 7, 8]", 5, 2, (float[]){-1, 1 / 3.f, -0.5f, -1, 0, -1 / 3.f, 0.5f, -1, 1, 1});
}

static void constants_are_left_out(void **state) {
  (void)state;
  clt_space *space = one("int", "[7]");
  clt_encoding *e = NULL;
  assert_int_equal(clt_encoding_new(&e, space, NULL, NULL), 0);
  assert_int_equal(e->n_inputs, 0);
  clt_encoding_free(e);
  clt_space_free(space);
}

static void parameters_stand_side_by_side(void **state) {
  (void)state;
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  clt_encoding *e = NULL;
  assert_int_equal(clt_space_builder_new(&b, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "p", "int", "[1, 2, 3, 4, 5]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "q", "int", "[3]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "r", "string", "['x', 'y']", NULL), 0);
  assert_int_equal(clt_space_new(&space, b, NULL), 0);
  assert_int_equal(clt_encoding_new(&e, space, NULL, NULL), 0);
  assert_int_equal(e->n_inputs, 4);
  const uint32_t positions[] = {4, 0, 1};
  float x[4];
  clt_encode(e, clt_space_from_positions(space, positions), x);
  assert_float_equal(x[0], 1, 1e-6);
  assert_float_equal(x[1], -1, 1e-6); /* 5 is odd */
  assert_float_equal(x[2], -1, 1e-6);
  assert_float_equal(x[3], 1, 1e-6);
  clt_encoding_free(e);
  clt_space_free(space);
  clt_space_builder_free(b);
}

static void folds_are_even_and_follow_the_seed(void **state) {
  (void)state;
  uint32_t a[100], b[100], c[100];
  size_t count[11] = {0};
  clt_rng rng;
  clt_rng_init(&rng, 1);
  clt_deal_folds(a, 100, 11, &rng);
  clt_deal_folds(c, 100, 11, &rng);
  clt_rng_init(&rng, 1);
  clt_deal_folds(b, 100, 11, &rng);
  assert_memory_equal(a, b, sizeof a);
  assert_memory_not_equal(a, c, sizeof a);
  for (int i = 0; i < 100; i++) count[a[i]]++;
  for (int k = 0; k < 11; k++) assert_true(count[k] == 9 || count[k] == 10);
}

/* Registering a model that is not made for this interface, is incomplete, or exists already. */
static void only_whole_types_of_this_interface_are_taken(void **state) {
  (void)state;
  clt_model_type type = *clt_model_type_find("trees");
  size_t n = clt_n_plugins(&clt_models);
  assert_int_equal(clt_model_register(&type, NULL), CLT_E_ARGUMENT);
  type.name = "other";
  type.abi = CLT_MODEL_ABI + 1;
  assert_int_equal(clt_model_register(&type, NULL), CLT_E_ARGUMENT);
  type.abi = CLT_MODEL_ABI;
  type.bind = NULL;
  assert_int_equal(clt_model_register(&type, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_n_plugins(&clt_models), n);
  static clt_model_type whole;
  whole = *clt_model_type_find("trees");
  whole.name = "other";
  assert_int_equal(clt_model_register(&whole, NULL), 0);
  assert_ptr_equal(clt_model_type_find("other"), &whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_are_equally_far_apart),
      cmocka_unit_test(narrow_ranges_stay_linear),
      cmocka_unit_test(booleans_are_two_sides),
      cmocka_unit_test(text_gets_an_input_a_value),
      cmocka_unit_test(many_integers_get_their_exponent_of_two),
      cmocka_unit_test(constants_are_left_out),
      cmocka_unit_test(parameters_stand_side_by_side),
      cmocka_unit_test(folds_are_even_and_follow_the_seed),
      cmocka_unit_test(only_whole_types_of_this_interface_are_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
