/* The utilities that every component uses: maps, growing text, files, programs, JSON values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <clatune/rng.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

#define N_KEYS 512

static void maps_agree_with_a_table(void **state) {
  (void)state;
  clt_map map = {0};
  clt_rng rng;
  uint64_t values[N_KEYS] = {0};
  bool there[N_KEYS] = {false};
  size_t n = 0;
  clt_rng_init(&rng, 3);
  for (int i = 0; i < 20000; i++) {
    uint64_t index = clt_rng_below(&rng, N_KEYS), key = index << (index % 3 ? 0 : 48); /* some differ high up alone */
    if (clt_rng_below(&rng, 3)) {
      bool is_new;
      uint64_t *value = clt_map_add(&map, key, &is_new);
      assert_non_null(value);
      assert_int_equal(is_new, !there[index]);
      assert_int_equal(*value, there[index] ? values[index] : 0);
      *value = values[index] = clt_rng_next(&rng);
      n += is_new;
      there[index] = true;
    } else {
      assert_int_equal(clt_map_remove(&map, key), there[index]);
      n -= there[index];
      there[index] = false;
    }
    assert_int_equal(map.n, n);
  }
  for (uint64_t index = 0; index < N_KEYS; index++) {
    const uint64_t *value = clt_map_find(&map, index << (index % 3 ? 0 : 48));
    assert_int_equal(value != NULL, there[index]);
    if (value) assert_int_equal(*value, values[index]);
  }
  size_t n_walked = 0;
  uint64_t key;
  for (size_t at = 0; clt_map_next(&map, &at, &key, NULL);) n_walked += clt_map_find(&map, key) != NULL;
  assert_int_equal(n_walked, n);
  clt_map_release(&map);
  assert_null(clt_map_find(&map, 1));
}

static void no_configuration_is_no_key(void **state) {
  (void)state;
  clt_map map = {0};
  assert_null(clt_map_add(&map, UINT64_MAX, NULL));
  assert_non_null(clt_map_add(&map, 0, NULL));
  assert_null(clt_map_find(&map, UINT64_MAX));
  assert_false(clt_map_remove(&map, UINT64_MAX));
  clt_map_release(&map);
}

/* Keys that had one place in every process are now spread: no long run of entries side by side. */
static void chosen_keys_do_not_collide(void **state) {
  (void)state;
  clt_map map = {0};
  clt_rng rng;
  uint64_t inverse = 1, *value, *before = NULL;
  size_t run = 0, longest = 0;
  clt_rng_init(&rng, 5);
  for (int i = 0; i < 6; i++) inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
  for (int i = 0; i < 4000; i++) {
    const uint64_t half = clt_rng_next(&rng) >> 32, folded = (half << 32 | half) * inverse;
    assert_non_null(clt_map_add(&map, folded ^ (folded >> 32), NULL));
  }
  for (size_t at = 0; clt_map_next(&map, &at, NULL, &value); before = value) {
    run = before && value == before + 2 ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  assert_true(longest < 500);
  clt_map_release(&map);
}

static void sorted_arrays_are_searched(void **state) {
  (void)state;
  uint64_t values[] = {9, 2, 7, 4};
  size_t place;
  clt_sort_u64(values, 4);
  assert_true(clt_search_u64(values, 4, 7, &place));
  assert_int_equal(place, 2);
  assert_false(clt_search_u64(values, 4, 10, &place));
  assert_int_equal(place, 4);
}

static void text_grows(void **state) {
  (void)state;
  clt_text text = {0};
  char *out = NULL, long_part[5000];
  assert_int_equal(clt_text_take(&out, &text, NULL), 0);
  assert_string_equal(out, "");
  free(out);
  memset(long_part, 'x', sizeof long_part);
  clt_text_add(&text, "a");
  clt_text_printf(&text, "%d%s", 12, "b");
  clt_text_add_bytes(&text, long_part, sizeof long_part);
  assert_int_equal(text.n, 4 + sizeof long_part);
  assert_int_equal(clt_text_take(&out, &text, NULL), 0);
  assert_memory_equal(out, "a12bxxx", 7);
  assert_int_equal(strlen(out), 4 + sizeof long_part);
  assert_null(text.bytes);
  free(out);
  clt_text_add_bytes(&text, "", SIZE_MAX - 4);
  clt_text_add(&text, "too late");
  clt_error error = {0};
  assert_int_equal(clt_text_take(&out, &text, &error), CLT_E_MEMORY);
  assert_int_equal(error.code, CLT_E_MEMORY);
}

static void words_are_told_apart(void **state) {
  (void)state;
  assert_true(clt_ends_with("a.json.gz", ".gz") && clt_ends_with("x", "") && !clt_ends_with("gz", ".gz"));
  assert_true(clt_starts_with("--json", "--") && !clt_starts_with("-", "--"));
  assert_true(clt_is_name("_a9") && !clt_is_name("") && !clt_is_name("9a") && !clt_is_name("a-b"));
}

static void files_are_replaced_whole(void **state) {
  const char *folder = *state;
  char path[256], *bytes = NULL;
  size_t n;
  clt_replacement r;
  snprintf(path, sizeof path, "%s/f", folder);
  assert_int_equal(clt_file_replace(path, "one", 3, NULL), 0);
  assert_int_equal(clt_file_replace_open(&r, path, NULL), 0);
  assert_int_equal(write(r.fd, "tw", 2), 2);
  assert_int_equal(access(r.beside, F_OK), 0);
  clt_file_replace_abort(&r);
  assert_int_equal(clt_file_read(&bytes, &n, path, 10, NULL), 0);
  assert_int_equal(n, 3);
  assert_string_equal(bytes, "one");
  free(bytes);
  assert_int_equal(clt_file_replace_open(&r, path, NULL), 0);
  assert_int_equal(write(r.fd, "two!", 4), 4);
  assert_int_equal(clt_file_replace_commit(&r, NULL), 0);
  clt_error error = {0};
  assert_int_equal(clt_file_read(&bytes, &n, path, 3, &error), CLT_E_RANGE);
  clt_text text = {0};
  assert_int_equal(clt_file_read_packed(&text, path, 4, NULL), 0);
  assert_string_equal(text.bytes, "two!");
  clt_text_release(&text);
  assert_int_equal(clt_file_read_packed(&text, path, 3, NULL), CLT_E_RANGE);
  char nowhere[256];
  snprintf(nowhere, sizeof nowhere, "%s/none/f", folder);
  assert_int_equal(clt_file_replace(nowhere, "x", 1, NULL), CLT_E_IO);
}

static void what_is_no_regular_file_stays_what_it_is(void **state) {
  const char *folder = *state;
  char file[256], link[256], pipe[256], *bytes;
  struct stat status;
  snprintf(file, sizeof file, "%s/behind", folder);
  snprintf(link, sizeof link, "%s/link", folder);
  snprintf(pipe, sizeof pipe, "%s/pipe", folder);
  assert_int_equal(clt_file_replace("/dev/null", "one", 3, NULL), 0);
  assert_int_equal(stat("/dev/null", &status), 0);
  assert_true(S_ISCHR(status.st_mode));
  assert_int_equal(clt_file_replace(file, "one", 3, NULL), 0);
  assert_int_equal(symlink(file, link), 0);
  assert_int_equal(clt_file_replace(link, "two", 3, NULL), 0);
  assert_int_equal(lstat(link, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_int_equal(clt_file_read(&bytes, NULL, file, 10, NULL), 0);
  assert_string_equal(bytes, "two");
  free(bytes);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_int_equal(clt_file_read(&bytes, NULL, pipe, 10, NULL), CLT_E_IO); /* and does not wait */
  clt_text text = {0};
  assert_int_equal(clt_file_read_packed(&text, pipe, 10, NULL), CLT_E_IO);
  assert_int_equal(clt_file_replace(folder, "x", 1, NULL), CLT_E_IO);
}

static void bombs_are_not_unpacked(void **state) {
  char path[256];
  static const char zeros[1 << 16];
  clt_text text = {0};
  clt_error error = {0};
  snprintf(path, sizeof path, "%s/bomb.gz", (const char *)*state);
  gzFile file = gzopen(path, "wb9");
  for (int i = 0; i < 64; i++) assert_int_equal(gzwrite(file, zeros, sizeof zeros), sizeof zeros);
  gzclose(file);
  assert_int_equal(clt_file_read_packed(&text, path, 1 << 30, &error), CLT_E_RANGE);
  assert_non_null(strstr(error.message, "unpacks to"));
}

static void deep_trees_are_removed(void **state) {
  char path[256], name[] = "d";
  snprintf(path, sizeof path, "%s/deep", (const char *)*state);
  assert_int_equal(mkdir(path, 0700), 0);
  int fd = open(path, O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 200; i++) {
    assert_int_equal(mkdirat(fd, name, 0700), 0);
    int inner = openat(fd, name, O_RDONLY | O_DIRECTORY);
    close(fd);
    fd = inner;
    close(openat(fd, "file", O_CREAT | O_WRONLY, 0600));
  }
  close(fd);
  clt_remove_tree(path, false);
  assert_int_equal(access(path, F_OK), -1);
}

static void numbers_have_a_point_in_every_locale(void **state) {
  char text[32], *joined, *end;
  (void)state;
  if (localeconv()->decimal_point[0] != ',') skip();
  assert_true(clt_strtod("0.25", &end) == 0.25);
  assert_int_equal(*end, 0);
  clt_snprintf(text, sizeof text, "%g", 0.25);
  assert_string_equal(text, "0.25");
  joined = clt_format("%.3f", 0.25);
  assert_string_equal(joined, "0.250");
  free(joined);
  clt_text grown = {0};
  clt_text_printf(&grown, "%g", 2.5);
  assert_string_equal(grown.bytes, "2.5");
  clt_text_release(&grown);
  clt_value_print(text, sizeof text, (clt_value){CLT_REAL, .real = 0.5});
  assert_string_equal(text, "0.5");
}

static void what_is_shown_does_not_steer(void **state) {
  static const char evil[] = "a\033[2J\xc2\x9b \xff\xe2\x80\xae\xc3\xa9\n\xe4\xb8";
  clt_text shown = {0};
  (void)state;
  assert_int_equal(clt_text_add_shown(&shown, evil, sizeof evil - 1, "\n"), sizeof evil - 3); /* the last is cut off */
  assert_string_equal(shown.bytes, "a?[2J? ??\xc3\xa9\n");
  assert_int_equal(clt_text_add_shown(&shown, "\xe4\xb8\x96\0\n", 5, ""), 5);
  assert_string_equal(shown.bytes, "a?[2J? ??\xc3\xa9\n\xe4\xb8\x96??");
  clt_text_release(&shown);
}

static void replaced_files_have_the_mode_of_others(void **state) {
  const char *folder = *state;
  char path[256];
  struct stat status;
  snprintf(path, sizeof path, "%s/mode", folder);
  mode_t mask = umask(027);
  assert_int_equal(clt_file_replace(path, "x", 1, NULL), 0);
  umask(mask);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0640);
}

static void programs_run_and_are_read(void **state) {
  char *const words[] = {"sh", "-c", "pwd; echo more >&2; cat; exit 3", NULL};
  clt_spawn spawn = {.program = "sh", .arguments = words, .folder = *state};
  clt_text output = {0};
  int status;
  assert_int_equal(clt_spawn_output(&output, &status, &spawn, 1000, NULL), 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  assert_true(clt_ends_with(output.bytes, "\nmore\n"));
  assert_true(clt_starts_with(output.bytes, *state));
  clt_text_release(&output);
  spawn.own_group = true;
  assert_int_equal(clt_spawn_output(&output, &status, &spawn, 4, NULL), 0); /* the rest is dropped */
  assert_int_equal(output.n, 4);
  clt_text_release(&output);
  spawn.program = "no-such-program-anywhere";
  clt_error error = {0};
  assert_int_equal(clt_spawn_output(&output, &status, &spawn, 4, &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "no-such-program-anywhere"));
}

static int mark(void *user, size_t index, clt_error *error) {
  (void)error;
  ((unsigned char *)user)[index]++;
  return 0;
}

static int fail_at_seven(void *user, size_t index, clt_error *error) {
  (void)user;
  if (error) error->line = (int)index;
  return index == 7 ? CLT_E_RANGE : 0;
}

static void work_is_shared(void **state) {
  (void)state;
  unsigned char marks[1000] = {0};
  assert_int_equal(clt_parallel(4, sizeof marks, mark, marks, NULL), 0);
  for (size_t i = 0; i < sizeof marks; i++) assert_int_equal(marks[i], 1);
  clt_error error = {0};
  assert_int_equal(clt_parallel(2, 100, fail_at_seven, NULL, &error), CLT_E_RANGE);
  assert_int_equal(error.line, 7);
}

static void values_go_to_json_and_back(void **state) {
  (void)state;
  const clt_value values[] = {
      {CLT_INT, .integer = -3}, {CLT_BOOL, .integer = 1}, {CLT_REAL, .real = 0.5}, {CLT_STRING, .text = "x"}};
  for (size_t i = 0; i < 4; i++) {
    json_t *json = clt_json_value(values[i]);
    clt_value back;
    assert_true(clt_json_to_value(&back, json));
    assert_int_equal(back.type, values[i].type);
    assert_true(clt_value_equal(back, values[i]));
    json_decref(json);
  }
  json_t *none = clt_json_real(NAN), *text = clt_json_text("a\xff");
  clt_value value;
  assert_true(json_is_null(none));
  assert_false(clt_json_to_value(&value, none));
  assert_string_equal(json_string_value(text), "a?");
  json_decref(none);
  json_decref(text);
}

static int make_folder(void **state) {
  static char folder[256];
  snprintf(folder, sizeof folder, "%s/clatune-test-XXXXXX", clt_temporary_folder());
  *state = mkdtemp(folder);
  return *state == NULL;
}

static int remove_folder(void **state) {
  clt_remove_tree(*state, false);
  return access(*state, F_OK) == 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_agree_with_a_table),
      cmocka_unit_test(chosen_keys_do_not_collide),
      cmocka_unit_test(no_configuration_is_no_key),
      cmocka_unit_test(sorted_arrays_are_searched),
      cmocka_unit_test(text_grows),
      cmocka_unit_test(words_are_told_apart),
      cmocka_unit_test(files_are_replaced_whole),
      cmocka_unit_test(replaced_files_have_the_mode_of_others),
      cmocka_unit_test(what_is_no_regular_file_stays_what_it_is),
      cmocka_unit_test(bombs_are_not_unpacked),
      cmocka_unit_test(deep_trees_are_removed),
      cmocka_unit_test(numbers_have_a_point_in_every_locale),
      cmocka_unit_test(what_is_shown_does_not_steer),
      cmocka_unit_test(programs_run_and_are_read),
      cmocka_unit_test(work_is_shared),
      cmocka_unit_test(values_go_to_json_and_back),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
