/* Run folders and locks. */
#include "pool_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/text.h"
#include "worker/pool.h"

static void a_folder_is_private_and_goes_with_its_run(void **state) {
  fixture *f = *state;
  clt_run_folder folder;
  struct stat info;
  char *inner = NULL;
  assert_int_equal(clt_run_folder_new(&folder, NULL), 0);
  assert_int_equal(stat(folder.path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
  assert_int_equal(clt_run_folder_make(&inner, &folder, "worker-0", NULL), 0);
  free(inner);
  clt_run_folder_remove(&folder);
  clt_run_folder_remove(&folder);
  assert_int_equal(count_folders(f, "clatune"), 0);
}

static void folders_of_living_runs_stay(void **state) {
  fixture *f = *state;
  clt_run_folder a, b;
  assert_int_equal(clt_run_folder_new(&a, NULL), 0);
  assert_int_equal(clt_run_folder_new(&b, NULL), 0);
  assert_int_equal(count_folders(f, "clatune-"), 2);
  close(a.lock_fd); /* as if it had died */
  clt_run_folder_remove(&b);
  assert_int_equal(clt_run_folder_new(&b, NULL), 0);
  assert_int_equal(access(a.path, F_OK), -1);
  free(a.path);
  clt_run_folder_remove(&b);
}

static void what_is_not_a_run_folder_stays(void **state) {
  fixture *f = *state;
  char path[200], link[200];
  clt_run_folder folder;
  snprintf(path, sizeof path, "%s/clatune-mine", f->folder);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(link, sizeof link, "%s/clatune-link", f->folder);
  assert_int_equal(symlink("/usr", link), 0);
  assert_int_equal(clt_run_folder_new(&folder, NULL), 0);
  assert_int_equal(access(path, F_OK), 0);
  assert_int_equal(access(link, F_OK), 0);
  clt_run_folder_remove(&folder);
}

/* Names that only look like ours, folders without our marker, and runs of another host, whose locks we may not see. */
static void what_others_made_stays(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"clatune-project", "clatune-backup1", "clatune-abcdef", "clatune-ABCDEF",
                                      "clatune.new-things", "clatune.new-abcdef"};
  static const char *const locks[] = {"", "", "", "clatune run on another.host\n", "", ""};
  const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  char path[300], file[330];
  clt_run_folder folder;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof file, "%s/lock", path);
    assert_int_equal(clt_file_replace(file, locks[i], strlen(locks[i]), NULL), 0);
    snprintf(file, sizeof file, "%s/results.txt", path);
    assert_int_equal(clt_file_replace(file, "x", 1, NULL), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
  }
  assert_int_equal(clt_run_folder_new(&folder, NULL), 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(file, sizeof file, "%s/%s/results.txt", f->folder, names[i]);
    assert_int_equal(access(file, F_OK), 0);
  }
  clt_run_folder_remove(&folder);
}

static void links_are_removed_and_not_followed(void **state) {
  fixture *f = *state;
  char kept[200], link[5000];
  clt_run_folder folder;
  snprintf(kept, sizeof kept, "%s/kept", f->folder);
  int fd = open(kept, O_CREAT | O_WRONLY, 0600);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(clt_run_folder_new(&folder, NULL), 0);
  snprintf(link, sizeof link, "%s/link", folder.path);
  assert_int_equal(symlink(f->folder, link), 0);
  clt_run_folder_remove(&folder);
  assert_int_equal(access(kept, F_OK), 0);
}

static void exclusive_use_excludes_and_is_not_starved(void **state) {
  clt_device_lock a, b, c;
  (void)state;
  clt_device_lock *all[] = {&a, &b, &c};
  for (int i = 0; i < 3; i++) assert_int_equal(clt_lock_open(all[i], "gpu-1", NULL), 0);
  assert_true(clt_lock_try(&a, CLT_LOCK_SHARED, NULL, NULL));
  assert_true(clt_lock_try(&b, CLT_LOCK_SHARED, NULL, NULL));
  assert_false(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, NULL, NULL)); /* b gives up its share and waits at the gate */
  assert_false(clt_lock_try(&c, CLT_LOCK_SHARED, NULL, NULL));    /* so no new process comes to share */
  assert_false(clt_lock_try(&c, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  assert_true(clt_lock_try(&a, CLT_UNLOCKED, NULL, NULL));
  assert_false(clt_lock_try(&a, CLT_LOCK_SHARED, NULL, NULL));
  assert_true(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  assert_false(clt_lock_try(&a, CLT_LOCK_SHARED, NULL, NULL));
  clt_lock_close(&b); /* or its process dies */
  assert_true(clt_lock_try(&a, CLT_LOCK_SHARED, NULL, NULL));
  assert_true(clt_lock_try(&c, CLT_LOCK_SHARED, NULL, NULL));
  clt_lock_close(&a);
  clt_lock_close(&c);
}

static void keep_text(void *user, clt_log_level level, const char *text) {
  assert_int_equal(level, CLT_LOG_INFO);
  snprintf(user, 400, "%s", text);
}

static void who_waits_is_told_for_whom_and_for_how_long(void **state) {
  clt_device_lock a, b;
  char said[400] = "", named[120];
  double waited_s = 0;
  (void)state;
  assert_int_equal(clt_lock_open(&a, "gpu-1", NULL), 0);
  assert_int_equal(clt_lock_open(&b, "gpu-1", NULL), 0);
  b.waited_s = &waited_s;
  assert_true(clt_lock_try(&a, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  assert_false(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, keep_text, said));
  assert_string_equal(said, ""); /* not at once */
  assert_true(waited_s == 0);
  b.wait_s -= 60; /* as if it had come a minute earlier, and had last tried half a second ago */
  b.counted_s -= 0.5;
  assert_non_null(strstr(a.holder, "test-worker-leftovers")); /* the command */
  snprintf(a.holder, sizeof a.holder, "%ld 1700000000 clatune tune\n", (long)getppid());
  assert_int_equal(pwrite(a.fd, a.holder, strlen(a.holder), 0), strlen(a.holder));
  assert_false(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, keep_text, said));
  snprintf(named, sizeof named, "waiting for process %ld, which uses the device (clatune tune, since 2023", (long)getppid());
  assert_true(clt_starts_with(said, named));
  assert_true(waited_s >= 0.5);
  said[0] = '\0';
  assert_false(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, keep_text, said));
  assert_string_equal(said, ""); /* once */
  b.counted_s -= 600; /* away for long: that was no waiting */
  assert_true(clt_lock_try(&a, CLT_UNLOCKED, NULL, NULL));
  assert_true(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, keep_text, said));
  assert_true(waited_s < 300);
  /* A holder that is gone is not named: process numbers end below 2^22. */
  assert_true(pwrite(b.fd, "4194305 1700000000 gone\n", 24, 0) == 24);
  assert_false(clt_lock_try(&a, CLT_LOCK_EXCLUSIVE, keep_text, said));
  a.wait_s -= 60;
  assert_false(clt_lock_try(&a, CLT_LOCK_EXCLUSIVE, keep_text, said));
  assert_string_equal(said, "waiting for another tuner that uses the device");
  /* Nor is the one that waits, where it got the lock after the one that still has it. */
  assert_int_equal(pwrite(a.fd, b.holder, strlen(b.holder), 0), strlen(b.holder));
  a.said = false;
  said[0] = '\0';
  assert_false(clt_lock_try(&a, CLT_LOCK_EXCLUSIVE, keep_text, said));
  assert_string_equal(said, "waiting for another tuner that uses the device");
  clt_lock_close(&a);
  clt_lock_close(&b);
}

static void locks_of_different_devices_are_independent(void **state) {
  clt_device_lock a, b, none;
  (void)state;
  assert_int_equal(clt_lock_open(&a, "name a/b", NULL), 0);
  assert_int_equal(clt_lock_open(&b, "name a.b", NULL), 0);
  assert_int_equal(clt_lock_open(&none, NULL, NULL), 0);
  assert_true(clt_lock_try(&a, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  assert_true(clt_lock_try(&b, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  assert_true(clt_lock_try(&none, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  clt_lock_close(&a);
  clt_lock_close(&b);
}

static void a_lock_that_somebody_else_laid_out_is_refused(void **state) {
  fixture *f = *state;
  char path[200];
  clt_device_lock lock;
  clt_error error = {0};
  snprintf(path, sizeof path, "%s/clatune", f->folder);
  assert_int_equal(symlink("/tmp", path), 0);
  assert_int_equal(clt_lock_open(&lock, "cpu", &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "clatune"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_folder_is_private_and_goes_with_its_run),
      TEST(folders_of_living_runs_stay),
      TEST(what_is_not_a_run_folder_stays),
      TEST(what_others_made_stays),
      TEST(links_are_removed_and_not_followed),
      TEST(exclusive_use_excludes_and_is_not_starved),
      TEST(who_waits_is_told_for_whom_and_for_how_long),
      TEST(locks_of_different_devices_are_independent),
      TEST(a_lock_that_somebody_else_laid_out_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
