/* Problems that are evaluated by running programs: the section "Command", its texts, its key. */
#include "scratch.h"

#include <sys/stat.h>

#include "problem/command.h"

#define SPACE                                                                              \
  "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}," \
  " {\"Name\": \"mode\", \"Values\": [\"fast\", \"exact\"]}, {\"Name\": \"x\", \"Values\": [0.5, 1.5]}]}"
#define WITH(members) "{" SPACE ", \"Command\": {" members "}}"

static void expect_mistake(const char *json, const char *key, const char *message) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  scratch_write("p.json", json);
  int rc = clt_problem_new(&problem, scratch_path("p.json"), &error);
  assert_true(rc == CLT_E_FORMAT || rc == CLT_E_EXPRESSION);
  assert_null(problem);
  if (strcmp(error.key, key) != 0 || strstr(error.message, message) == NULL)
    fail_msg("%s: %s, not %s: %s", error.key, error.message, key, message);
}

static void mistakes_name_their_key(void **state) {
  (void)state;
  expect_mistake("{" SPACE "}", "", "needs a \"KernelSpecification\", or a \"Command\"");
  expect_mistake(WITH(""), "Command", "needs a \"Run\"");
  expect_mistake(WITH("\"Rnu\": [\"a\"]"), "Command.Rnu", "did you mean \"Run\"");
  expect_mistake(WITH("\"Run\": \"./a\""), "Command.Run", "list of words");
  expect_mistake(WITH("\"Run\": []"), "Command.Run", "needs a program");
  expect_mistake(WITH("\"Run\": [1]"), "Command.Run[0]", "needs a string");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Shell\": true"), "Command.Run", "because \"Shell\" is set");
  expect_mistake(WITH("\"Run\": [\"a{options}\"]"), "Command.Run[0]", "a separate word");
  expect_mistake(WITH("\"Run\": [\"a{\"]"), "Command.Run[0]", "a '}' is missing");
  expect_mistake(WITH("\"Run\": [\"{b}\"]"), "Command.Run[0]", "b");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Files\": [\"gone\"]"), "Command.Files[0]", "no file \"gone\"");
  expect_mistake(WITH("\"Run\": [\"a\"], \"ParametersFile\": \"../p\""), "Command.ParametersFile", "folder");
  expect_mistake(WITH("\"Run\": [\"a\"], \"EnvironmentPrefix\": \"1\""), "Command.EnvironmentPrefix", "variable");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Figure\": {\"From\": \"air\"}"), "Command.Figure.From", "\"wall\"");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Figure\": {\"From\": \"file\"}"), "Command.Figure", "needs a \"File\"");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Figure\": {\"Unit\": \"ms\"}"), "Command.Figure.Unit", "always \"s\" here");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Figure\": {\"From\": \"output\", \"Pattern\": \"(\"}"),
                 "Command.Figure.Pattern", "regular expression");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Batch\": {}, \"Check\": [\"b\"]"), "Command", "and \"Batch\"");
  expect_mistake(WITH("\"Run\": [\"a\"], \"Batch\": {}, \"Figure\": {\"From\": \"wall\"}"), "Command.Figure", "Batch");
}

static void strategies_and_groups_are_checked(void **state) {
  (void)state;
  const char *run = ", \"Command\": {\"Run\": [\"a\"]}";
  char json[1000];
  static const char *const groups[][3] = {
      {"[\"a\", [\"mode\"], [\"y\"]]", "ConfigurationSpace.Groups[2][0]", "no tuning parameter \"y\""},
      {"[\"a\", [\"mode\"], [\"a\"]]", "ConfigurationSpace.Groups[2][0]", "two groups"},
      {"[\"a\", [\"mode\"]]", "ConfigurationSpace.Groups", "\"x\" is in no group"},
      {"[\"a\", 3]", "ConfigurationSpace.Groups[1]", "needs the name"},
      {"\"a\"", "ConfigurationSpace.Groups", "needs a list"}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    snprintf(json, sizeof json, "{%.*s, \"Groups\": %s}%s}", (int)strlen(SPACE) - 1, SPACE, groups[i][0], run);
    expect_mistake(json, groups[i][1], groups[i][2]);
  }
  snprintf(json, sizeof json, "{" SPACE "%s, \"Strategy\": {\"Options\": {\"parallel\": [1]}}}", run);
  expect_mistake(json, "Strategy.Options.parallel", "needs a string");
}

static void groups_and_options_are_told(void **state) {
  (void)state;
  char json[1000];
  snprintf(json, sizeof json, "{%.*s, \"Groups\": [\"x\", [\"a\"], [[\"mode\"]]]}%s}", (int)strlen(SPACE) - 1, SPACE,
           ", \"Command\": {\"Run\": [\"a\"]}, \"Strategy\": {\"Searcher\": \"groups\", \"Options\": {\"parallel\": 4, "
           "\"lock\": false, \"steady\": 0.5}}");
  clt_problem *problem = scratch_problem(json);
  assert_int_equal(clt_problem_guidance(problem)->n_groups, 4);
  assert_int_equal(clt_problem_guidance(problem)->group_parents[1], 0);
  assert_int_equal(clt_problem_guidance(problem)->group_parents[3], 2);
  assert_int_equal(clt_problem_guidance(problem)->group_of[0], 1);
  assert_int_equal(clt_problem_guidance(problem)->group_of[1], 3);
  assert_int_equal(clt_problem_guidance(problem)->group_of[2], 0);
  assert_string_equal(clt_problem_guidance(problem)->searcher, "groups");
  assert_int_equal(clt_problem_guidance(problem)->n_settings, 3);
  assert_string_equal(clt_problem_guidance(problem)->settings[0].value, "4");
  assert_string_equal(clt_problem_guidance(problem)->settings[1].value, "no");
  assert_string_equal(clt_problem_guidance(problem)->settings[2].value, "0.5");
  clt_problem_free(problem);
}

/* The words of the run command, between '|'. */
static char *words_of(const clt_instance *instance, clt_config config, clt_error *error) {
  const clt_command_places places = {"/scratch", "/folder", "p.h", NULL, NULL};
  char **words = NULL, *text = calloc(1, 1000);
  int rc = clt_command_words(instance, &clt_instance_command(instance)->run, config, &places, &words, error);
  for (size_t i = 0; rc == 0 && words[i]; i++) {
    if (i) strncat(text, "|", 999 - strlen(text));
    strncat(text, words[i], 999 - strlen(text));
  }
  clt_words_free(words);
  return text;
}

static void expect_words(const char *members, const char *expected) {
  clt_problem *problem = scratch_problem(members);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_error error = {0};
  char *text = words_of(instance, scratch_config(instance, "a=2 mode=exact x=1.5"), &error);
  if (error.code) fail_msg("%s", error.message);
  assert_string_equal(text, expected);
  free(text);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void words_have_their_values(void **state) {
  (void)state;
  expect_words(WITH("\"Run\": [\"./a\", \"{a}\", \"-m={mode}\", \"{2*a+1}\", \"{x}\"]"), "./a|2|-m=exact|5|1.5");
  expect_words(WITH("\"Run\": [\"a\", \"\", \"b c\", \"{{a}\", \"'{a}'\"]"), "a||b c|{a}|'2'");
  expect_words(
      WITH("\"Run\": [\"a\", {\"Word\": \"-2\", \"When\": \"a == 2\"}, {\"Word\": \"-1\", \"When\": \"a == 1\"}]"),
      "a|-2");
  expect_words(WITH("\"Run\": [\"a\", \"{options}\", \"z\"]"), "a|-Da=2|-Dmode=exact|-Dx=1.5|z");
  expect_words(WITH("\"Run\": [\"{folder}/a\", \"{scratch}\", \"-include{parameters}\"], \"ParametersFile\": \"p.h\""),
               "/folder/a|/scratch|-includep.h");
  expect_words(WITH("\"Shell\": true, \"Run\": \"echo {a} {options} > f; cat $HOME\""),
               "/bin/sh|-c|echo 2 -Da=2 -Dmode=exact -Dx=1.5 > f; cat $HOME");
}

static void a_batch_has_no_configuration(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(WITH("\"Run\": [\"a\", \"{a}\"], \"Batch\": {}"));
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_error error = {0};
  char *text = words_of(instance, CLT_CONFIG_NONE, &error);
  assert_int_equal(error.code, CLT_E_EXPRESSION);
  assert_non_null(strstr(error.message, "must not depend on the configuration"));
  free(text);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void expect_parameters(const char *file, const char *expected) {
  char json[1000], *text = NULL;
  snprintf(json, sizeof json, WITH("\"Run\": [\"a\"], \"ParametersFile\": \"%s\""), file);
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_command_parameters(instance, 0, &text, NULL), 0);
  assert_string_equal(text, expected);
  free(text);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void parameters_files_follow_their_names(void **state) {
  (void)state;
  expect_parameters("p.h", "#define a 1\n#define mode fast\n#define x 0.5\n");
  expect_parameters("p.mk", "a=1\nmode=fast\nx=0.5\n");
  expect_parameters("p.txt", "a 1\nmode fast\nx 0.5\n");
  expect_parameters("p.json", "{\n  \"a\": 1,\n  \"mode\": \"fast\",\n  \"x\": 0.5\n}");
}

static void the_environment_has_a_prefix(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(WITH("\"Run\": [\"a\"], \"EnvironmentPrefix\": \"TUNE_\""));
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  char **environment = NULL;
  assert_int_equal(clt_command_environment(instance, 0, &environment, NULL), 0);
  assert_string_equal(environment[0], "TUNE_a=1");
  assert_string_equal(environment[1], "TUNE_mode=fast");
  assert_null(environment[3]);
  clt_words_free(environment);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void key_of(char out[33], const char *json) {
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_key(out, instance, NULL), 0);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void the_key_is_of_commands_files_and_figure(void **state) {
  (void)state;
  char first[33], other[33];
  const char *json = WITH("\"Run\": [\"a\", \"{a}\"], \"Files\": [\"f.c\"]");
  scratch_write("f.c", "one");
  key_of(first, json);
  key_of(other, json);
  assert_string_equal(first, other);
  scratch_write("f.c", "two");
  key_of(other, json);
  assert_string_not_equal(first, other);
  scratch_write("f.c", "one");
  static const char *const others[] = {
      WITH("\"Run\": [\"a\", \"{a+0}\"], \"Files\": [\"f.c\"]"), WITH("\"Run\": [\"a\", \"{a}\"]"),
      WITH("\"Run\": [\"a\", \"{a}\"], \"Files\": [\"f.c\"], \"Build\": [\"b\"]"),
      WITH("\"Run\": [\"a\", \"{a}\"], \"Files\": [\"f.c\"], \"Figure\": {\"Statistic\": \"mean\"}"),
      WITH("\"Run\": [\"a\", \"{a}\"], \"Files\": [\"f.c\"], \"Environment\": false")};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    key_of(other, others[i]);
    assert_string_not_equal(first, other);
  }
}

/* --- files --- */

static int list_file(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  (void)path, (void)error;
  strcat(user, relative);
  strcat(user, folder ? "/ " : " ");
  return 0;
}

static void a_whole_folder_leaves_out_what_would_do_harm(void **state) {
  (void)state;
  char names[1000] = "";
  mkdir(scratch_path("sub"), 0700);
  scratch_write("sub/z.c", "z");
  scratch_write("a.c", "a");
  scratch_write("a.o", "\177ELF and so on");
  scratch_write("s.sqlite", "store");
  scratch_write(".hidden", "h");
  clt_problem *problem = scratch_problem(WITH("\"Run\": [\"a\"], \"Build\": [\"make\"], \"Files\": \"*\""));
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_command_each_file(instance, list_file, names, NULL), 0);
  assert_non_null(strstr(names, "a.c "));
  assert_non_null(strstr(names, "sub/ sub/z.c "));
  static const char *const out[] = {"a.o", "s.sqlite", ".hidden", "p.json"};
  for (size_t i = 0; i < 4; i++) assert_null(strstr(names, out[i]));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void files_from_elsewhere_have_their_last_name(void **state) {
  (void)state;
  assert_string_equal(clt_name_in_scratch("src/a.c"), "src/a.c");
  assert_string_equal(clt_name_in_scratch("../common/a.c"), "a.c");
  assert_string_equal(clt_name_in_scratch("/usr/include/a.h"), "a.h");
  assert_string_equal(clt_name_in_scratch("src/../../a.c"), "a.c");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_name_their_key),
                                     cmocka_unit_test(strategies_and_groups_are_checked),
                                     cmocka_unit_test(groups_and_options_are_told),
                                     cmocka_unit_test(words_have_their_values),
                                     cmocka_unit_test(a_batch_has_no_configuration),
                                     cmocka_unit_test(parameters_files_follow_their_names),
                                     cmocka_unit_test(the_environment_has_a_prefix),
                                     cmocka_unit_test(the_key_is_of_commands_files_and_figure),
                                     cmocka_unit_test(a_whole_folder_leaves_out_what_would_do_harm),
                                     cmocka_unit_test(files_from_elsewhere_have_their_last_name)};
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
