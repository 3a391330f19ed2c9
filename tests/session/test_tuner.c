/* Mistakes in calls of clatune/clatune.h: each is refused, and nothing is written. */
#include <clatune/clatune.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char bytes[64]; /* replaces a tuner or an answer that is not looked at */
static clt_tuner *const some_tuner = (clt_tuner *)bytes;
static clt_answer *const some_answer = (clt_answer *)bytes;

static void assert_refused(int rc, clt_error *error, const char *message) {
  assert_int_equal(rc, CLT_E_ARGUMENT);
  assert_int_equal(error->code, CLT_E_ARGUMENT);
  assert_string_equal(error->message, message);
  *error = (clt_error){0}; /* else the first one would stay */
}

static void opening_needs_a_path_an_out_pointer_and_named_sizes(void **state) {
  (void)state;
  clt_error error = {0};
  clt_tuner *tuner = NULL;
  const clt_size unnamed[] = {{"width", 8}, {NULL, 8}};
  assert_refused(clt_open(NULL, "a.json", NULL, 0, NULL, NULL, &error), &error, "out is NULL");
  assert_refused(clt_open(&tuner, NULL, NULL, 0, NULL, NULL, &error), &error, "problem_path is NULL");
  assert_refused(clt_open(&tuner, "a.json", NULL, 1, NULL, NULL, &error), &error, "sizes is NULL");
  assert_refused(clt_open(&tuner, "a.json", unnamed, 2, NULL, NULL, &error), &error, "sizes[].name is NULL");
  assert_null(tuner);
}

static void a_size_given_twice_is_refused(void **state) {
  (void)state;
  clt_error error = {0};
  clt_tuner *tuner = NULL;
  const clt_size sizes[] = {{"width", 512}, {"height", 512}, {"width", 1024}};
  assert_refused(clt_open(&tuner, "a.json", sizes, 3, NULL, NULL, &error), &error,
                 "the size 'width' is given twice");
  assert_null(tuner);
  /* The first two alone are no mistake: then only the device is missing. */
  assert_int_equal(clt_open(&tuner, "a.json", sizes, 2, NULL, NULL, &error), CLT_E_DEVICE);
  assert_null(tuner);
}

static void a_null_pointer_is_refused(void **state) {
  (void)state;
  clt_error error = {0};
  clt_answer *answer = NULL;
  bool exploring = true;
  double number = 7;
  assert_refused(clt_lookup(NULL, some_tuner, &error), &error, "out is NULL");
  assert_refused(clt_lookup(&answer, NULL, &error), &error, "tuner is NULL");
  assert_refused(clt_tune(NULL, some_tuner, &error), &error, "out is NULL");
  assert_refused(clt_tune(&answer, NULL, &error), &error, "tuner is NULL");
  assert_refused(clt_ask(NULL, &exploring, some_tuner, &error), &error, "out is NULL");
  assert_refused(clt_ask(&answer, &exploring, NULL, &error), &error, "tuner is NULL");
  assert_refused(clt_ask(&answer, NULL, some_tuner, &error), &error, "exploring is NULL");
  assert_refused(clt_tell(NULL, some_answer, 1, &error), &error, "tuner is NULL");
  assert_refused(clt_tell(some_tuner, NULL, 1, &error), &error, "answer is NULL");
  assert_refused(clt_answer_number(NULL, some_answer, "x", &error), &error, "out is NULL");
  assert_refused(clt_answer_number(&number, NULL, "x", &error), &error, "answer is NULL");
  assert_refused(clt_answer_number(&number, some_answer, NULL, &error), &error, "name is NULL");
  assert_null(answer);
  assert_true(exploring);
  assert_true(number == 7);
  assert_int_equal(clt_lookup(&answer, NULL, NULL), CLT_E_ARGUMENT); /* error is nullable */
}

static void of_no_answer_all_texts_are_empty(void **state) {
  (void)state;
  for (int field = CLT_ANSWER_OPTIONS; field <= CLT_ANSWER_SIZES; field++)
    assert_string_equal(clt_answer_text(NULL, (clt_answer_field)field), "");
  assert_null(clt_answer_launch(NULL, 0));
  clt_answer_free(NULL);
  clt_close(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opening_needs_a_path_an_out_pointer_and_named_sizes),
      cmocka_unit_test(a_size_given_twice_is_refused),
      cmocka_unit_test(a_null_pointer_is_refused),
      cmocka_unit_test(of_no_answer_all_texts_are_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
