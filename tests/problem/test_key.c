/* The store's key: which changes alter it and which must not; modules are compiled once. */
#include "scratch.h"

#include <dirent.h>
#include <sys/stat.h>

#include "problem/data.h"
#include "problem/plan.h"

static const char text[] =
    "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 6}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}], \"Conditions\": []},"
    "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"IncludePaths\": [\"inc\"],"
    " \"CompilerOptions\": [\"-DX=1\"], \"GlobalSize\": \"n\", \"Arguments\": ["
    " {\"Name\": \"in\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"FillType\": "
    "\"BinaryRaw\","
    "  \"DataSource\": \"in.raw\", \"Size\": 1},"
    " {\"Name\": \"out\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": 1}]},"
    "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"f\"}}";

static void write_all(void) {
  mkdir(scratch_path("inc"), 0700);
  scratch_write("k.cl", "#include \"near.h\"\n  # include \"far.h\"\n#include <system.h>\nkernel void k() {}\n");
  scratch_write("near.h", "#include \"near.h\"\n#define A 1\n");
  scratch_write("inc/far.h", "#include \"deep.h\"\n");
  scratch_write("inc/deep.h", "#define B 1\n");
  scratch_write("in.raw", "abcd");
  scratch_write("m.c", "#include <clatune/module.h>\nint f(const clt_module_call *c) { return (int)c->seed * 0; }\n");
}

/* The key of the problem with `from` replaced by `to`. */
static void key_of(char out[33], const char *from, const char *to, const clt_size *size) {
  char json[3000];
  clt_error error = {0};
  const char *at = strstr(text, from);
  assert_non_null(at);
  snprintf(json, sizeof json, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, size, size != NULL, NULL);
  if (clt_instance_key(out, instance, &error) != CLT_OK) fail_msg("%s", error.message);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void expect_same(const char *from, const char *to) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  key_of(after, from, to, NULL);
  assert_string_equal(before, after);
}

static void expect_change(const char *from, const char *to, const clt_size *size) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  key_of(after, from, to, size);
  if (strcmp(before, after) == 0) fail_msg("the key does not notice '%s'", to);
}

static void expect_change_of_file(const char *name, const char *content) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  scratch_write(name, content);
  key_of(after, "n", "n", NULL);
  if (strcmp(before, after) == 0) fail_msg("the key does not notice a change of %s", name);
}

static void parameters_values_and_conditions_are_no_part_of_it(void **state) {
  (void)state;
  expect_same("[1, 2]", "[1, 2, 4]");
  expect_same("\"Values\": [1, 2]}", "\"Values\": [1, 2]}, {\"Name\": \"b\", \"Values\": [0, 1]}");
  expect_same("\"Conditions\": []", "\"Conditions\": [{\"Expression\": \"a < 2\"}]");
  expect_same("\"Name\": \"a\", ", "\"Name\": \"a\", \"Default\": 2, ");
  expect_same("\"GlobalSize\": \"n\"",
              "\"GlobalSize\": \"n\", \"Resources\": {\"Work\": \"a\"}, \"Desirability\": \"1 + a\"");
  expect_same("\"Function\": \"f\"",
              "\"Function\": \"f\", \"Quality\": {\"Module\": \"q.c\", \"Function\": \"q\", \"Name\": \"error\"}");
  expect_same("{\"ProblemParameters\"",
              "{\"Budget\": [], \"General\": {\"BenchmarkName\": \"x\"}, \"ProblemParameters\"");
}

static void what_is_measured_is_part_of_it(void **state) {
  (void)state;
  const clt_size other = {"n", 7};
  expect_change("n", "n", &other);
  expect_change("\"Default\": 6", "\"Default\": 6, \"Macro\": false", NULL);
  expect_change("\"KernelName\": \"k\"", "\"KernelName\": \"k2\"", NULL);
  expect_change("-DX=1", "-DX=2", NULL);
  expect_change("\"GlobalSize\": \"n\"", "\"GlobalSize\": \"2 * n\"", NULL);
  expect_change("\"WriteOnly\"", "\"WriteOnly\", \"FillValue\": 0", NULL);
  expect_change("\"Function\": \"f\"", "\"Function\": \"g\"", NULL);
  expect_change("\"Function\": \"f\"", "\"Function\": \"f\", \"Verify\": {\"Function\": \"f\"}", NULL);
}

static void the_files_behind_it_are_part_of_it(void **state) {
  (void)state;
  expect_change_of_file("k.cl", "kernel void k() { }\n");
  expect_change_of_file("near.h", "#define A 2\n");
  expect_change_of_file("inc/deep.h", "#define B 2\n");
  expect_change_of_file("in.raw", "abce");
  expect_change_of_file("m.c", "int f(void) { return 1; }\n");
}

static void every_file_that_the_preprocessor_may_read_is_part_of_it(void **state) {
  (void)state;
  static const struct {
    const char *kernel, *file, *from, *to; /* from, to: in the problem file */
  } cases[] = {{"#include <near.h>\n", "near.h", "", ""},
               {"#include <far.h>\n", "inc/deep.h", "", ""},
               {"  #\tinclude\t<far.h>\n", "inc/far.h", "", ""},
               {"/* first */ #include <far.h>\n", "inc/far.h", "", ""},
               {"#include \\\n  \"near.h\"\n", "near.h", "", ""},
               {"%:include \"near.h\"\n", "near.h", "", ""},
               {"#define WHICH <far.h>\n#include WHICH\n", "inc/far.h", "", ""},
               {"#if __has_include(\"inc/far.h\")\n#endif\n", "inc/far.h", "", ""},
               {"#include \"inc/../inc/far.h\"", "inc/far.h", "", ""},
               {"#include \"nested.h\"\n", "near.h", "", ""},
               {"#include \"same.h\"\n", "inc/same.h", "", ""}, /* drivers differ in which they take */
               {"#include \"same.h\"\n", "same.h", "", ""},
               {"#include <other.h>\n", "more/other.h", "\"-DX=1\"", "\"-Imore\""},
               {"#include <other.h>\n", "more/other.h", "\"-DX=1\"", "\"-I\", \"more\""},
               {"#include <other.h>\n", "more/other.h", "\"-DX=1\"", "\"-DX=1 -I more -DY\""},
               {"#include <other.h>\n", "more/other.h", "\"Module\": \"m.c\", \"Function\": \"f\"",
                "\"KernelName\": \"k\", \"GlobalSize\": 1, \"CompilerOptions\": [\"-Imore\"]"},
               {"", "near.h", "\"-DX=1\"", "\"-include near.h\""},
               {"#include X\n", "near.h", "\"-DX=1\"", "\"-DX=\\\\\\\"near.h\\\\\\\"\""},
               {"#include STR(a)\n", "near.h", "[1, 2]", "[\"near.h\", \"none.h\"]"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char before[33], after[33];
    write_all();
    mkdir(scratch_path("more"), 0700);
    scratch_write("more/other.h", "#define C 1\n");
    scratch_write("inc/nested.h", "#include \"near.h\"\n");
    scratch_write("same.h", "#define C 1\n");
    scratch_write("inc/same.h", "#define C 1\n");
    scratch_write("k.cl", cases[i].kernel);
    key_of(before, cases[i].from, cases[i].to, NULL);
    scratch_write(cases[i].file, "#define C 2\n");
    key_of(after, cases[i].from, cases[i].to, NULL);
    if (strcmp(before, after) == 0) fail_msg("case %zu: the key does not notice a change of %s", i, cases[i].file);
  }
}

/* However many, and whatever they include: themselves, too. */
static void hundreds_of_files_are_part_of_it(void **state) {
  (void)state;
  enum { N = 600 };
  char before[33], after[33], name[40], content[80];
  write_all();
  scratch_write("k.cl", "#include \"part0.h\"\n#include <part1.h>\n");
  for (int i = 0; i < N; i++) {
    snprintf(name, sizeof name, "part%d.h", i);
    snprintf(content, sizeof content, "#include \"part%d.h\"\n#include \"part%d.h\"\n", i + 1, i);
    scratch_write(name, content);
  }
  key_of(before, "n", "n", NULL);
  scratch_write(name, "/* the last one */\n");
  key_of(after, "n", "n", NULL);
  assert_string_not_equal(before, after);
}

/* The default tolerance is scaled to the reference, a stated one is not. */
static void note_warning(void *user, clt_log_level level, const char *said) {
  char *all = user;
  assert_int_equal(level, CLT_LOG_WARNING);
  strcat(strcat(all, said), "\n");
}

#define ORDERS "[\"01\", \"10\"], \"Type\": \"permutation\"" /* a mistake: whole orders, not items */

static void a_parameter_whose_value_nobody_reads_is_warned_of(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *kernel, *include;
    bool warns;
  } cases[] = {{"", "", "kernel void k() { g(a); }\n", "", false},
               {"", "", "kernel void k() { /* a */ aa(b.a1); // a\n}\n", "", true},
               {"", "", "#ifndef a\n# define a 1\n#endif\n#if !defined(a) || !defined a\n#undef  a\n#endif\n", "", true},
               {"", "", "#ifdef a\nint x;\n#endif\n", "", true},
               {"", "", "#if a == 2\nint x;\n#endif\n", "", false},
               {"", "", "#ifndef a\n#define a 1\n#endif\n#define WIDTH (2 * a)\n", "", false},
               {"", "", "#include \"far.h\"\n", "float x[a];\n", false},
               {"", "", "#include \"far.h\"\n", "float x;\n", true},
               {"\"GlobalSize\": \"n\"", "\"GlobalSize\": \"n / a\"", "", "", false},
               {"\"Conditions\": []", "\"Conditions\": [\"a < 2\"]", "", "", false},
               {"-DX=1", "-DX=a", "", "", false},
               {"[1, 2]", "[1]", "", "", false},
               {"[1, 2]", ORDERS, "kernel void k() { g(a); }\n", "", true},
               {"[1, 2]", ORDERS, "kernel void k() { g(a_01); }\n", "", false},
               {"[1, 2]", ORDERS ", \"Default\": [\"10\", \"01\"]", "#if a_10 == 0\nint x;\n#endif\n", "", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char json[3000], said[2000] = "";
    const char *at = strstr(text, cases[i].from);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - text), text, cases[i].to, at + strlen(cases[i].from));
    write_all();
    scratch_write("k.cl", cases[i].kernel);
    scratch_write("inc/far.h", cases[i].include);
    clt_problem *problem = scratch_problem(json);
    clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
    clt_warn_unused(instance, note_warning, said);
    if (cases[i].warns != (strstr(said, "has no effect: neither 'k.cl'") != NULL)) fail_msg("case %zu: %s", i, said);
    clt_instance_free(instance);
    unlink(scratch_path("k.cl"));
    instance = scratch_instance(problem, NULL, 0, NULL);
    said[0] = 0;
    clt_warn_unused(instance, note_warning, said); /* the kernel cannot be read */
    assert_string_equal(said, "");
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

static void a_tolerance_that_is_stated_is_not_the_default(void **state) {
  (void)state;
  char before[33], after[33];
  write_all();
  static const char type[] = "{\"Name\": \"out\", \"Type\": \"int\"";
  key_of(before, type, "{\"Name\": \"out\", \"Type\": \"float\"", NULL);
  key_of(after, type, "{\"Name\": \"out\", \"Type\": \"float\", \"AbsoluteTolerance\": 1e-6", NULL);
  assert_string_not_equal(before, after);
}

static void a_missing_kernel_is_an_error(void **state) {
  (void)state;
  char key[33] = "untouched";
  clt_error error = {0};
  write_all();
  unlink(scratch_path("k.cl"));
  clt_problem *problem = scratch_problem(text);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_key(key, instance, &error), CLT_E_IO);
  assert_string_equal(key, "untouched");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static size_t count_modules(void) {
  size_t n = 0;
  DIR *folder = opendir(scratch_path("clatune/modules"));
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) n += entry->d_name[0] != '.';
  closedir(folder);
  return n;
}

static int try_to_generate(clt_error *error) {
  clt_data *data = NULL;
  clt_problem *problem = scratch_problem(text);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  int rc = clt_data_new(&data, instance, &clt_own_inputs, error);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

static void generate(void) {
  clt_error error = {0};
  if (try_to_generate(&error) != CLT_OK) fail_msg("%s", error.message);
}

static void a_module_is_compiled_once_until_it_changes(void **state) {
  (void)state;
  unsetenv("CC");
  write_all();
  generate();
  assert_int_equal(count_modules(), 1);
  setenv("CC", "cc", 1); /* the same compiler: nothing is compiled */
  generate();
  assert_int_equal(count_modules(), 1);
  scratch_write("m.c", "#include <clatune/module.h>\nint f(const clt_module_call *c) { return c->target != 0; }\n");
  generate();
  assert_int_equal(count_modules(), 2);
}

static void only_modules_of_the_user_are_loaded(void **state) {
  (void)state;
  static const char planted[] = "a shared object of somebody else";
  static const struct {
    mode_t mode;
    uid_t owner;
    const char *why;
  } bad[] = {{0770, 0, "other users can write to it"}, {0702, 0, "other users can write to it"}, {0700, 1, "another user"}};
  char own[512], folder[600], library[900] = "";
  struct stat status;
  snprintf(own, sizeof own, "%s", scratch_path("own"));
  snprintf(folder, sizeof folder, "%s/clatune/modules", own);
  setenv("XDG_CACHE_HOME", own, 1);
  write_all();
  generate();
  assert_int_equal(stat(folder, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0700);
  DIR *listing = opendir(folder);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
    if (entry->d_name[0] != '.') snprintf(library, sizeof library, "%s/%s", folder, entry->d_name);
  closedir(listing);
  for (int kind = 0; kind < 3; kind++) { /* writable to others; a link; of another user */
    if (kind == 2 && geteuid() != 0) continue;
    assert_int_equal(unlink(library), 0);
    if (kind == 1) {
      assert_int_equal(symlink(scratch_path("m.c"), library), 0);
    } else {
      FILE *file = fopen(library, "w");
      assert_true(file && fputs(planted, file) >= 0 && fclose(file) == 0);
      assert_int_equal(chmod(library, kind == 0 ? 0660 : 0700), 0);
      if (kind == 2) assert_int_equal(chown(library, 1, 1), 0);
    }
    generate(); /* the file there is no shared object */
    assert_int_equal(lstat(library, &status), 0);
    assert_true(S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 0777) == 0700);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    clt_error error = {0};
    if (bad[i].owner && geteuid() != 0) continue;
    assert_int_equal(chmod(folder, bad[i].mode), 0);
    if (bad[i].owner) assert_int_equal(chown(folder, bad[i].owner, 1), 0);
    assert_int_equal(try_to_generate(&error), CLT_E_IO);
    if (!strstr(error.message, bad[i].why) || !strstr(error.message, "set XDG_CACHE_HOME"))
      fail_msg("%s", error.message);
  }
  setenv("XDG_CACHE_HOME", scratch, 1);
  generate();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_values_and_conditions_are_no_part_of_it),
      cmocka_unit_test(what_is_measured_is_part_of_it),
      cmocka_unit_test(the_files_behind_it_are_part_of_it),
      cmocka_unit_test(every_file_that_the_preprocessor_may_read_is_part_of_it),
      cmocka_unit_test(hundreds_of_files_are_part_of_it),
      cmocka_unit_test(a_parameter_whose_value_nobody_reads_is_warned_of),
      cmocka_unit_test(a_tolerance_that_is_stated_is_not_the_default),
      cmocka_unit_test(a_missing_kernel_is_an_error),
      cmocka_unit_test(a_module_is_compiled_once_until_it_changes),
      cmocka_unit_test(only_modules_of_the_user_are_loaded),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
