/* Oclgrind finds faults that guard bands miss: out-of-bounds reads, races, uninitialised values. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cli/tuning.h"
#include "problem/plan.h"
#include "session/session.h"

#define MOST_BYTES (1 << 20) /* of its log; an out-of-bounds loop has a finding for each element */

enum { LOG, RACES, UNINITIALISED, VENDORS, GROUP, LOCAL, CONSTANT };
static const char *const variables[CLI_OCLGRIND_VARIABLES] = {
    "OCLGRIND_LOG",        "OCLGRIND_DATA_RACES",     "OCLGRIND_UNINITIALIZED",    "OCL_ICD_VENDORS",
    "OCLGRIND_MAX_WGSIZE", "OCLGRIND_LOCAL_MEM_SIZE", "OCLGRIND_CONSTANT_MEM_SIZE"};

/* Finds the driver, which is often not registered with the loader: in OCL_ICD_VENDORS, else in a library folder next to
 * the program in PATH. */
static bool find_driver(char driver[4200]) {
  static const char *const places[] = {"lib/oclgrind", "lib", "lib64/oclgrind", "lib64"};
  const char *named = getenv("OCL_ICD_VENDORS");
  if (named && strstr(named, "oclgrind")) return snprintf(driver, 4200, "%s", named) < 4200;
  for (const char *folder = getenv("PATH"); folder && *folder;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    char program[4096];
    int length = (int)strcspn(folder, ":"), n = snprintf(program, sizeof program, "%.*s/oclgrind", length, folder);
    if (n < 0 || (size_t)n >= sizeof program || access(program, X_OK) != 0) continue;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      snprintf(driver, 4200, "%.*s/../%s/liboclgrind-rt-icd.so", length, folder, places[i]);
      if (access(driver, R_OK) == 0) return true;
    }
  }
  return false;
}

int cli_oclgrind_begin(cli_oclgrind *out, const clt_device_info *device, bool uninitialised, clt_error *error) {
  char driver[4200];
  *out = (cli_oclgrind){.log = clt_format("%s/clatune-oclgrind-XXXXXX", clt_temporary_folder())};
  int fd = out->log ? mkstemp(out->log) : -1;
  if (fd < 0) {
    clt_fail(error, CLT_E_IO, "cannot make '%s': %s", out->log ? out->log : "", strerror(errno));
    free(out->log);
    out->log = NULL;
    return CLT_E_IO;
  }
  close(fd);
  for (size_t i = 0; i < CLI_OCLGRIND_VARIABLES; i++) {
    const size_t length = strlen(variables[i]);
    for (char **entry = environ; *entry; entry++)
      if (strncmp(*entry, variables[i], length) == 0 && (*entry)[length] == '=')
        out->before[i] = strdup(*entry + length + 1);
  }
  setenv(variables[LOG], out->log, 1);
  setenv(variables[RACES], "1", 1);
  if (uninitialised) setenv(variables[UNINITIALISED], "1", 1);
  if (find_driver(driver)) setenv(variables[VENDORS], driver, 1);
  if (device) {
    const uint64_t limits[] = {device->max_work_group_size, device->local_memory_bytes, device->max_constant_bytes};
    for (size_t i = 0; i < 3; i++) {
      char text[32];
      snprintf(text, sizeof text, "%llu", (unsigned long long)limits[i]);
      if (limits[i]) setenv(variables[GROUP + i], text, 1);
    }
  }
  return 0;
}

void cli_oclgrind_end(cli_oclgrind *oclgrind) {
  if (oclgrind->log == NULL) return;
  for (size_t i = 0; i < CLI_OCLGRIND_VARIABLES; i++) {
    oclgrind->before[i] ? setenv(variables[i], oclgrind->before[i], 1) : unsetenv(variables[i]);
    free(oclgrind->before[i]);
  }
  unlink(oclgrind->log);
  free(oclgrind->log);
  *oclgrind = (cli_oclgrind){0};
}

char *cli_oclgrind_findings(size_t *n, const cli_oclgrind *oclgrind) {
  char *text = calloc(MOST_BYTES + 1, 1);
  size_t bytes = MOST_BYTES;
  if (text == NULL || clt_file_read_start(text, &bytes, oclgrind->log, NULL)) return free(text), NULL;
  /* A finding begins at the first column; its further lines are indented. */
  *n = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
    *n += *line != '\n' && *line != ' ' && *line != '\t';
  return text;
}

/* --- the winner of a tuning --- */

/* Oclgrind interprets about a million instructions per second. */
#define FEW_ITEMS 1024
#define FEW_GROUPS 4 /* races between groups need several */
/* For all checks of a tuning. Small sizes take a second or two, but a problem that cannot be made smaller may take
 * hours, which is too long for a check that was not asked for. */
#define LIMIT_S 30.0
#define LIMIT_IF_ASKED_S 600.0

/* The first finding that begins with one of these texts; NULL: none. */
static const char *find_kind(const char *findings, const char *const *kinds, size_t n) {
  for (const char *line = findings; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
    for (size_t i = 0; i < n; i++)
      if (strncmp(line, kinds[i], strlen(kinds[i])) == 0) return line;
  return NULL;
}

/* A fault of the kernel; other messages are about Oclgrind's own limits. */
static const char *find_fault(const char *findings) {
  static const char *const kinds[] = {"Read-write data race", "Write-write data race", "Invalid read",
                                      "Invalid write of", "Work-group divergence"};
  return find_kind(findings, kinds, sizeof kinds / sizeof *kinds);
}

/* What need not be a fault: Oclgrind 21.10 calls many correct kernels uninitialised (4 of the 45 in tests/checks), and
 * a kernel may restore an input that it writes to. The checks of the winner find both if results depend on it. */
static const char *find_oddity(const char *findings) {
  static const char *const kinds[] = {"Invalid write to read-only buffer", "Uninitialized value"};
  return find_kind(findings, kinds, sizeof kinds / sizeof *kinds);
}

/* Runs a configuration under Oclgrind, at small sizes. *fault: the first fault, malloc'ed; NULL: none. why: the reason
 * if it could not be run. CLT_E_AGAIN: no time left. */
static int run_under_oclgrind(char **fault, cli_tuning *t, clt_config config, clt_error *why) {
  /* Only the limit of the whole check applies. */
  static const clt_setting patience[] = {{"run-timeout", "1e6"}, {"compile-timeout", "1e6"}, {"host-timeout", "1e6"}};
  const double start_s = clt_now_s(), limit_s = t->needs_race_check ? LIMIT_IF_ASKED_S : LIMIT_S;
  const clt_instance *instance = t->subject.instance;
  clt_device_info *devices = NULL, device = *t->subject.device;
  clt_instance *small = NULL;
  clt_plan *plan = NULL;
  clt_measurement m;
  cli_oclgrind oclgrind;
  clt_tune_settings settings = t->settings;
  size_t n = 0, place = 0;
  double few = FEW_ITEMS;
  bool images = false;
  *fault = NULL;
  /* Oclgrind takes reads of images for uninitialised values. */
  if (clt_plan_new(&plan, instance, config, NULL)) plan = NULL;
  for (size_t i = 0; plan && i < plan->n_args; i++) images = images || clt_arg_is_image(plan->args[i].kind);
  for (size_t i = 0; plan && i < plan->n_launches; i++) {
    const size_t *local = plan->launches[i].local;
    if (plan->launches[i].has_local)
      few = fmax(few, FEW_GROUPS * (double)local[0] * (double)local[1] * (double)local[2]);
  }
  clt_plan_free(plan);
  int rc = cli_oclgrind_begin(&oclgrind, &device, !images, why);
  if (rc) return rc;
  clt_measurement_init(&m, config);
  rc = clt_devices(&devices, &n, why);
  while (rc == 0 && place < n && strcmp(devices[place].platform_name, "Oclgrind") != 0) place++;
  if (rc == 0 && place == n)
    rc = clt_fail(why, CLT_E_DEVICE, "Oclgrind is not among the OpenCL devices; name its driver in OCL_ICD_VENDORS");
  if (rc == 0) { /* Oclgrind's place with the limits of the tuned device, so that the same constraints apply */
    device.platform_index = devices[place].platform_index;
    device.device_index = devices[place].device_index;
    memcpy(device.name, devices[place].name, sizeof device.name);
    memcpy(device.driver_version, devices[place].driver_version, sizeof device.driver_version);
    rc = clt_instance_new_smaller(&small, &config, instance, config, &device, few, why);
  }
  settings.evaluator = "opencl";
  settings.evaluator_settings = patience;
  settings.n_evaluator_settings = sizeof patience / sizeof *patience;
  settings.log = NULL;
  settings.finalists = 0;
  const double left_s = limit_s - t->race_check_s - (clt_now_s() - start_s);
  if (rc == 0 && left_s <= 0) rc = clt_fail(why, CLT_E_AGAIN, "no time is left");
  if (rc == 0) rc = clt_run_config(&m, small, config, &settings, left_s, why);
  char *findings = rc == 0 ? cli_oclgrind_findings(&n, &oclgrind) : NULL;
  const char *first = find_fault(findings);
  char *sizes = small ? clt_instance_sizes_text(small) : NULL;
  const char *oddity = first ? NULL : find_oddity(findings);
  if (oddity && !t->told_oddity) {
    const bool writes = strncmp(oddity, "Invalid write", 13) == 0;
    char *text = clt_format("Oclgrind: %.*s%s", (int)strcspn(oddity, "\n"), oddity,
                            writes ? "; declare the argument \"ReadWrite\" if the kernel restores it" : "");
    if (text) t->settings.log(t, CLT_LOG_WARNING, text);
    free(text);
    t->told_oddity = true;
  }
  if (first)
    *fault = clt_format("Oclgrind%s%s: %.*s", sizes && *sizes ? " at " : "", sizes ? sizes : "",
                        (int)strcspn(first, "\n"), first);
  else if (rc == 0 && !clt_measurement_correct(&m))
    rc = clt_fail(why, CLT_E_DEVICE, "Oclgrind cannot run it, %s: %.200s", clt_reason_text(m.reason),
                  m.log ? m.log : "no reason given");
  free(findings);
  free(sizes);
  free(devices);
  clt_measurement_release(&m);
  clt_instance_free(small);
  cli_oclgrind_end(&oclgrind);
  t->race_check_s += clt_now_s() - start_s;
  return rc;
}

/* Rejects a winner with a fault if the default configuration has none; with --oclgrind yes, in any case. */
static int check_races(void *user, clt_measurement *winner, clt_error *error) {
  cli_tuning *t = user;
  const clt_space *space = clt_instance_space(t->subject.instance);
  const clt_config standard = clt_instance_default(t->subject.instance);
  char *fault = NULL, *other = NULL;
  clt_error why = {0};
  bool shared = false;
  int rc = run_under_oclgrind(&fault, t, winner->config, &why);
  if (rc == CLT_E_AGAIN && t->needs_race_check)
    return clt_fail(error, CLT_E_WORKER,
                    "the winner cannot be checked for races: it takes more than %.0f s under Oclgrind; choose a "
                    "smaller size or leave out --oclgrind yes",
                    LIMIT_IF_ASKED_S);
  if (rc && fault == NULL && t->needs_race_check)
    return clt_fail(error, rc, "the winner cannot be checked for races: %s", why.message);
  if (fault && !t->needs_race_check && clt_space_contains(space, standard)) {
    shared = clt_space_canonical(space, standard) == winner->config;
    int unknown = shared ? CLT_OK : run_under_oclgrind(&other, t, standard, &why);
    if (unknown == CLT_E_STOPPED || unknown == CLT_E_AGAIN) free(fault), fault = NULL, rc = unknown;
    shared = shared || other;
  }
  if (rc == CLT_E_STOPPED) return clt_fail(error, rc, "the check for races was stopped");
  t->race_check = shared ? "failed" : rc ? "not checked" : "passed";
  snprintf(t->race_reason, sizeof t->race_reason, "%s",
           shared || fault || !rc ? ""
           : rc == CLT_E_AGAIN    ? "it takes too long under Oclgrind; --oclgrind yes allows up to 10 minutes"
                                  : why.message);
  char *text =
      shared ? clt_format("%s; the default configuration has such a fault too, so the winner is not rejected", fault)
      : t->race_reason[0] ? clt_format("the winner is not checked for races: %s", t->race_reason)
                          : NULL;
  if (text) t->settings.log(t, shared ? CLT_LOG_WARNING : CLT_LOG_INFO, text);
  if (fault && !shared) clt_measurement_fail(winner, CLT_REASON_WRONG_OUTPUT, fault);
  free(text);
  free(fault);
  free(other);
  return CLT_OK;
}

void cli_race_check(cli_tuning *t, const cli_arguments *arguments) {
  const char *choice = cli_text(arguments, "oclgrind"), *vendors = getenv("OCL_ICD_VENDORS");
  char driver[4200];
  bool yes = choice && strcmp(choice, "yes") == 0, no = choice && strcmp(choice, "no") == 0;
  if (choice && !yes && !no && strcmp(choice, "auto") != 0)
    cli_usage("option '--oclgrind' needs auto, no or yes, not '%s'", choice);
  bool there = find_driver(driver), suits = strcmp(t->settings.evaluator, "opencl") == 0;
  if (yes && !suits) cli_usage("'--oclgrind yes' needs the evaluator 'opencl'");
  if (yes && !there) cli_die(CLI_NO_DEVICE, CLI_NO_OCLGRIND);
  t->needs_race_check = yes;
  /* If OCL_ICD_VENDORS selects other drivers, Oclgrind is not used. */
  if (yes || (!no && there && suits && (vendors == NULL || strstr(vendors, "oclgrind"))))
    t->settings.check = check_races;
}
