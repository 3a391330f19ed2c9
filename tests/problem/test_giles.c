/* Giles' configuration file. */
#include "scratch.h"

#include "problem/command.h"
#include "problem/guidance.h"

/* As the paper prints it, but for its slip. */
#define RIGHT                                                            \
  "PARAMS = { blocks, threads, {atomics1, cache}, {unroll, {order}} }\n" \
  "\n"                                                                   \
  "blocks = {16, 32}\n"                                                  \
  "threads = {64, 128, 256} # as many as fit\n"                          \
  "atomics1 = {0, 1}\n"                                                  \
  "cache = {shared, texture}\n"                                          \
  "unroll = {\n  1,\n  2\n}\n"                                           \
  "order = {0.5, 1.5}\n"                                                 \
  "PARAMETERS_FILE = params.h\n"                                         \
  "FIGURE_OF_MERIT_FILE = fom.txt\n"                                     \
  "EVALUATION = { make; ./executable }\n"                                \
  "STRATEGY = { brute_force parallel:4 }\n"

static int load(clt_problem **out, const char *text, clt_error *error) {
  scratch_write("tune.conf", text);
  return clt_problem_new(out, scratch_path("tune.conf"), error);
}

static void the_file_of_the_paper_is_read(void **state) {
  (void)state;
  clt_problem *problem = NULL;
  clt_error error = {0};
  if (load(&problem, RIGHT, &error)) fail_msg("%d: %s", error.line, error.message);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_command *command = clt_instance_command(instance);
  assert_string_equal(clt_problem_name(problem), "tune");
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 2 * 3 * 2 * 2 * 2 * 2);
  assert_int_equal(clt_problem_guidance(problem)->n_groups, 4);
  assert_int_equal(clt_problem_guidance(problem)->group_of[0], 0);
  assert_int_equal(clt_problem_guidance(problem)->group_of[2], 1);
  assert_int_equal(clt_problem_guidance(problem)->group_of[5], 3);
  assert_int_equal(clt_problem_guidance(problem)->group_parents[3], 2);
  assert_int_equal(command->n_build, 1);
  assert_string_equal(command->build[0].words[0].text, "make");
  assert_int_equal(command->run.n, 1);
  assert_string_equal(command->run.words[0].text, "./executable");
  assert_false(command->shell);
  assert_string_equal(command->parameters_file, "params.h");
  assert_int_equal(command->parameters_form, CLT_PARAMETERS_DEFINES);
  assert_int_equal(command->figure.source, CLT_FIGURE_FILE);
  assert_string_equal(command->figure.file, "fom.txt");
  assert_string_equal(clt_problem_guidance(problem)->searcher, "exhaustive");
  assert_string_equal(clt_problem_guidance(problem)->settings[0].name, "parallel");
  assert_string_equal(clt_problem_guidance(problem)->settings[0].value, "4");
  assert_true(clt_problem_is_file(scratch_path("tune.conf")));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* `old` in the right file becomes `new`. */
static void expect_mistake(const char *old, const char *new, int line, const char *message) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  char text[2000];
  const char *at = strstr(RIGHT, old);
  assert_non_null(at);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - RIGHT), RIGHT, new, at + strlen(old));
  assert_int_equal(load(&problem, text, &error), CLT_E_FORMAT);
  assert_null(problem);
  if (error.line != line || strstr(error.message, message) == NULL)
    fail_msg("line %d: %s, not line %d: %s", error.line, error.message, line, message);
}

static void the_slip_of_the_paper_has_its_line_and_a_hint(void **state) {
  (void)state;
  expect_mistake("\natomics1 = {0, 1}", "\natomic1 = {0, 1}", 5, "did you mean \"atomics1\"?");
}

static void mistakes_have_their_line(void **state) {
  (void)state;
  expect_mistake("PARAMS = {", "PARAM = {", 1, "needs PARAMS");
  expect_mistake("threads, {", "thread-s, {", 1, "not a valid name");
  expect_mistake("EVALUATION", "EVALUTION", 14, "did you mean \"EVALUATION\"");
  expect_mistake("STRATEGY", "STRATGEY", 15, "did you mean \"STRATEGY\"");
  expect_mistake("blocks = {16, 32}\n", "", 1, "\"blocks\" has no values");
  expect_mistake("{16, 32}", "{16,, 32}", 3, "between two commas");
  expect_mistake("{16, 32}", "{16, 32", 3, "never closed");
  expect_mistake("blocks = {16, 32}", "blocks {16, 32}", 3, "needs '='");
  expect_mistake("cache = {shared", "blocks = {shared", 6, "is already set on line 3");
  expect_mistake("./executable", "./executable | tee log", 14, "put them into a script");
  expect_mistake("./executable", "'./executable", 14, "never closed");
  expect_mistake("parallel:4", "parallel", 15, "needs name:value");
  expect_mistake("params.h", "/etc/params.h", 12, "folder");
}

/* Found later, where the space is made. */
static void mistakes_in_values_have_their_line(void **state) {
  (void)state;
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_error error = {0};
  assert_int_equal(load(&problem, "PARAMS = {a}\n\n\na = {16, 16}\nEVALUATION = ./x\n", NULL), 0);
  assert_int_not_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, &error), 0);
  assert_int_equal(error.line, 4);
  clt_problem_free(problem);
}

static void any_bytes_are_read_without_harm(void **state) {
  (void)state;
  static const char *const texts[] = {
      "A",     "A=",       "A={",        "PARAMS={}",          "PARAMS={a}\na={",
      "_ = }", "PARAMS=a", "PARAMS={a}", "# nothing\n\n#more", "PARAMS = {{{{{{{{{{{{{{{{{{a"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    clt_problem *problem = NULL;
    clt_error error = {0};
    assert_int_not_equal(load(&problem, texts[i], &error), 0);
    assert_true(error.message[0] != 0);
  }
  clt_problem *latin = NULL;
  clt_error error = {0};
  assert_int_equal(load(&latin, "PARAMS = {a}\na = {caf\xe9}\nEVALUATION = x\n", &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, "UTF-8"));
  for (size_t n = 0; n < strlen(RIGHT); n++) {
    clt_problem *problem = NULL;
    char text[2000];
    snprintf(text, sizeof text, "%.*s", (int)n, RIGHT);
    if (load(&problem, text, NULL) == 0) clt_problem_free(problem);
  }
}

static void what_we_add_to_it_is_read(void **state) {
  (void)state;
  clt_problem *problem = NULL;
  clt_error error = {0};
  scratch_write("a.c", "");
  scratch_write("big.dat", "");
  const char *text =
      "PARAMS = {a, b}\na = [2**i for i in range(4)]\nb = {1 2 3}\n"
      "EVALUATION = { cc -o 'a b' a.c ; ; \"./a b\" {a} x#y }\nCHECK = {cmp x y}\nFILES = {a.c}\n"
      "LINKS = {big.dat}\nCONDITIONS = { a > b; a + b < 9 }\nBUDGET = 12\n";
  if (load(&problem, text, &error)) fail_msg("%d: %s", error.line, error.message);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_command *command = clt_instance_command(instance);
  assert_int_equal(clt_space_cartesian(clt_instance_space(instance)), 12);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 4);
  assert_int_equal(command->n_build, 1);
  assert_string_equal(command->build[0].words[2].text, "a b");
  assert_string_equal(command->run.words[0].text, "./a b");
  assert_string_equal(command->run.words[2].text, "x#y");
  assert_int_equal(command->check.n, 3);
  assert_int_equal(command->n_files, 1);
  assert_int_equal(command->n_links, 1);
  assert_int_equal(clt_problem_guidance(problem)->budget, 12);
  assert_int_equal(command->figure.source, CLT_FIGURE_WALL);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_of_the_paper_is_read), cmocka_unit_test(the_slip_of_the_paper_has_its_line_and_a_hint),
      cmocka_unit_test(mistakes_have_their_line), cmocka_unit_test(mistakes_in_values_have_their_line),
                                     cmocka_unit_test(any_bytes_are_read_without_harm),
      cmocka_unit_test(what_we_add_to_it_is_read)};
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
