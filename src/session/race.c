/* The check of a winner with Oclgrind. */
#include "session/contest.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "problem/plan.h"
#include "session/session.h"
#include "worker/process.h"

#define MOST_BYTES (1 << 20) /* of its log; an out-of-bounds loop has a finding for each element */
/* Oclgrind interprets about a million instructions per second. */
#define FEW_ITEMS 1024
#define FEW_GROUPS 4 /* races between groups need several */
/* For all checks of a tuning. Small sizes take a second or two, but a problem that cannot be made smaller may take
 * hours, which is too long for a check that was not asked for. */
#define LIMIT_S 30.0
#define LIMIT_IF_REQUIRED_S 600.0
#define LOOK_NS 5000000 /* how often the end and the user's wish to stop are looked for */

const char *clt_race_check_name(clt_race_check check) {
  static const char *const names[] = {"not checked", "passed", "failed"};
  return names[check];
}

/* --- the environment of its workers --- */

/* The driver, which is often not registered with the loader: in OCL_ICD_VENDORS, else in a library folder next to the
 * program in PATH. malloc'ed; NULL: not found. */
static char *find_driver(void) {
  static const char *const places[] = {"lib/oclgrind", "lib", "lib64/oclgrind", "lib64"};
  const char *named = getenv("OCL_ICD_VENDORS");
  if (named && strstr(named, "oclgrind")) return strdup(named);
  for (const char *folder = getenv("PATH"); folder && *folder;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    const int length = (int)strcspn(folder, ":");
    char *program = clt_format("%.*s/oclgrind", length, folder);
    const bool there = program && access(program, X_OK) == 0;
    free(program);
    for (size_t i = 0; there && i < sizeof places / sizeof *places; i++) {
      char *driver = clt_format("%.*s/../%s/liboclgrind-rt-icd.so", length, folder, places[i]);
      if (driver && access(driver, R_OK) == 0) return driver;
      free(driver);
    }
  }
  return NULL;
}

bool clt_oclgrind_installed(void) {
  char *driver = find_driver();
  const bool installed = driver != NULL;
  free(driver);
  return installed;
}

int clt_oclgrind_begin(clt_oclgrind *out, const clt_device_info *device, bool uninitialised, clt_error *error) {
  *out = (clt_oclgrind){.log = clt_format("%s/clatune-oclgrind-XXXXXX", clt_temporary_folder())};
  if (out->log == NULL) return clt_fail_memory(error);
  const int fd = mkstemp(out->log);
  if (fd < 0) {
    clt_fail(error, CLT_E_IO, "cannot make '%s': %s", out->log, strerror(errno));
    free(out->log);
    out->log = NULL;
    return CLT_E_IO;
  }
  close(fd);
  char *driver = find_driver(), **next = out->environment;
  *next++ = clt_format("OCLGRIND_LOG=%s", out->log);
  *next++ = clt_format("OCLGRIND_DATA_RACES=1");
  if (uninitialised) *next++ = clt_format("OCLGRIND_UNINITIALIZED=1");
  if (driver) *next++ = clt_format("OCL_ICD_VENDORS=%s", driver);
  free(driver);
  const clt_device_info none = {0}, *d = device ? device : &none;
  static const char *const names[] = {"OCLGRIND_MAX_WGSIZE", "OCLGRIND_LOCAL_MEM_SIZE", "OCLGRIND_CONSTANT_MEM_SIZE"};
  const uint64_t limits[] = {d->max_work_group_size, d->local_memory_bytes, d->max_constant_bytes};
  for (int i = 0; i < 3; i++)
    if (limits[i]) *next++ = clt_format("%s=%llu", names[i], (unsigned long long)limits[i]);
  for (char **entry = out->environment; entry < next; entry++)
    if (*entry == NULL) {
      clt_oclgrind_end(out);
      return clt_fail_memory(error);
    }
  clt_worker_add_environment((const char *const *)out->environment);
  return CLT_OK;
}

void clt_oclgrind_end(clt_oclgrind *o) {
  if (o->log == NULL) return;
  clt_worker_add_environment(NULL);
  for (size_t i = 0; i < CLT_OCLGRIND_VARIABLES; i++) free(o->environment[i]);
  unlink(o->log);
  free(o->log);
  *o = (clt_oclgrind){0};
}

char *clt_oclgrind_findings(size_t *n, size_t most, const clt_oclgrind *oclgrind) {
  char *end = NULL, *text = calloc(MOST_BYTES + 1, 1);
  size_t bytes = MOST_BYTES;
  if (text == NULL || clt_file_read_start(text, &bytes, oclgrind->log, NULL)) {
    free(text);
    return NULL;
  }
  /* A finding begins at the first column; its further lines are indented. */
  *n = 0;
  for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strchr("\n \t", *line) || clt_starts_with(line, "Oclgrind: ")) continue; /* that no more findings are shown */
    if (++*n == most + 1) end = line;
  }
  if (end) *end = '\0';
  return text;
}

/* --- the winner of a tuning --- */

/* Findings that are faults of the kernel; others are about Oclgrind's own limits. */
static const char *const faults[] = {"Read-write data race", "Write-write data race", "Invalid read",
                                     "Invalid write of",     "Work-group divergence", NULL};
/* What need not be a fault: Oclgrind 21.10 calls many correct kernels uninitialised (4 of the 45 in tests/checks), and
 * a kernel may restore an input that it writes to. The checks of the winner find both if results depend on it. */
static const char *const oddities[] = {"Invalid write to read-only buffer", "Uninitialized value", NULL};

/* The first finding of a kind, without its line end; malloc'ed. NULL: none. */
static char *find_kind(const char *findings, const char *const *kinds) {
  for (const char *line = findings; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
    for (size_t i = 0; kinds[i]; i++)
      if (clt_starts_with(line, kinds[i])) return strndup(line, strcspn(line, "\n"));
  return NULL;
}

/* How many work-items show races, for clt_instance_new_smaller. *images: whether the kernel has images; Oclgrind takes
 * reads of them for uninitialised values. */
static double few_items(bool *images, const clt_instance *instance, clt_config config) {
  double few = FEW_ITEMS;
  clt_plan *plan = NULL;
  *images = false;
  if (clt_plan_new(&plan, instance, config, NULL)) return few;
  for (size_t i = 0; i < plan->n_args; i++) *images |= clt_arg_is_image(plan->args[i].kind);
  for (size_t i = 0; i < plan->n_launches; i++) {
    const size_t *local = plan->launches[i].local;
    if (plan->launches[i].has_local)
      few = fmax(few, FEW_GROUPS * (double)local[0] * (double)local[1] * (double)local[2]);
  }
  clt_plan_free(plan);
  return few;
}

/* Oclgrind's device, with the limits of the tuned one, so that the same constraints apply. */
static int make_device(clt_device_info *device, clt_error *error) {
  clt_device_info *all = NULL;
  size_t n = 0, i = 0;
  int rc = clt_devices(&all, &n, error);
  while (rc == CLT_OK && i < n && strcmp(all[i].platform_name, "Oclgrind") != 0) i++;
  if (rc == CLT_OK && i == n)
    rc = clt_fail(error, CLT_E_DEVICE, "Oclgrind is not among the OpenCL devices; name its driver in OCL_ICD_VENDORS");
  if (rc == CLT_OK) {
    device->platform_index = all[i].platform_index;
    device->device_index = all[i].device_index;
    memcpy(device->name, all[i].name, sizeof device->name);
    memcpy(device->driver_version, all[i].driver_version, sizeof device->driver_version);
  }
  free(all);
  return rc;
}

struct clt_race_run {
  clt_session *session; /* only read in the thread */
  clt_config config;
  pthread_t thread;
  bool threaded, ended; /* ended is atomic */
  int stop;             /* atomic */
  char *fault, *oddity;
  bool shared; /* the default configuration has a fault, too */
  double took_s;
  int rc;
  clt_error why;
};

/* Runs a configuration under Oclgrind, at small sizes. *fault: the first fault, malloc'ed; NULL: none. why: the reason
 * if it could not be run. CLT_E_AGAIN: no time left. */
static int run_under_oclgrind(char **fault, clt_race_run *r, clt_config config, clt_error *why) {
  /* Only the limit of the whole check applies. */
  static const clt_setting patience[] = {{"run-timeout", "1e6"}, {"compile-timeout", "1e6"}, {"host-timeout", "1e6"}};
  const clt_session *s = r->session;
  const clt_instance *instance = s->settings->instance;
  const double start_s = clt_now_s(),
               limit_s = s->settings->races == CLT_RACES_REQUIRED ? LIMIT_IF_REQUIRED_S : LIMIT_S;
  clt_tune_settings settings = *s->settings;
  clt_device_info device = *clt_instance_device(instance);
  clt_instance *small = NULL;
  clt_measurement m;
  clt_oclgrind oclgrind;
  bool images;
  const double few = few_items(&images, instance, config);
  *fault = NULL;
  int rc = clt_oclgrind_begin(&oclgrind, &device, !images, why);
  if (rc) return rc;
  clt_measurement_init(&m, config);
  settings.evaluator = "opencl";
  settings.evaluator_settings = patience;
  settings.n_evaluator_settings = sizeof patience / sizeof *patience;
  settings.log = NULL;
  settings.stop = &r->stop;
  settings.finalists = 0;
  rc = make_device(&device, why);
  if (rc == CLT_OK) rc = clt_instance_new_smaller(&small, &config, instance, config, &device, few, why);
  const double left_s = limit_s - s->race_check_s - r->took_s - (clt_now_s() - start_s);
  if (rc == CLT_OK && left_s <= 0) rc = clt_fail(why, CLT_E_AGAIN, "no time is left");
  if (rc == CLT_OK) rc = clt_run_config(&m, small, config, &settings, left_s, why);
  size_t n;
  char *findings = rc == CLT_OK ? clt_oclgrind_findings(&n, SIZE_MAX - 1, &oclgrind) : NULL,
       *first = find_kind(findings, faults);
  if (first) {
    char *sizes = clt_instance_sizes_text(small);
    *fault = clt_format("Oclgrind%s%s: %s", sizes && *sizes ? " at " : "", sizes ? sizes : "", first);
    free(sizes);
  } else {
    if (r->oddity == NULL) r->oddity = find_kind(findings, oddities);
    int length;
    const char *line = clt_telling_line(&length, m.log ? m.log : "no reason given");
    if (rc == CLT_OK && !clt_measurement_correct(&m))
      rc = clt_fail(why, CLT_E_DEVICE, "Oclgrind cannot run it (%s): %.*s", clt_reason_text(m.reason), length, line);
  }
  free(first);
  free(findings);
  clt_measurement_release(&m);
  clt_instance_free(small);
  clt_oclgrind_end(&oclgrind);
  r->took_s += clt_now_s() - start_s;
  return rc;
}

/* Without a requirement, Oclgrind is used if it is installed and OCL_ICD_VENDORS does not select other drivers. */
static bool is_wanted(const clt_tune_settings *settings) {
  const char *vendors = getenv("OCL_ICD_VENDORS");
  if (settings->races != CLT_RACES_IF_POSSIBLE) return settings->races == CLT_RACES_REQUIRED;
  const char *evaluator = clt_tune_evaluator(settings->evaluator, clt_instance_problem(settings->instance));
  return strcmp(evaluator, "opencl") == 0 && (vendors == NULL || strstr(vendors, "oclgrind")) &&
         clt_oclgrind_installed();
}

/* The default configuration is checked too if the winner has a fault: r->shared tells whether it has one. */
static int find_fault(clt_race_run *r) {
  const clt_tune_settings *settings = r->session->settings;
  const clt_space *space = clt_instance_space(settings->instance);
  const clt_config standard = clt_instance_default(settings->instance);
  char *other = NULL;
  int rc = run_under_oclgrind(&r->fault, r, r->config, &r->why);
  if (r->fault == NULL || settings->races == CLT_RACES_REQUIRED || !clt_space_contains(space, standard)) return rc;
  r->shared = clt_space_canonical(space, standard) == r->config;
  if (r->shared) return rc;
  const int unknown = run_under_oclgrind(&other, r, standard, &r->why);
  r->shared = other != NULL;
  free(other);
  if (unknown != CLT_E_STOPPED && unknown != CLT_E_AGAIN) return rc;
  free(r->fault);
  r->fault = NULL;
  return unknown;
}

static void *check_races(void *user) {
  clt_race_run *r = user;
  r->rc = find_fault(r);
  __atomic_store_n(&r->ended, true, __ATOMIC_RELEASE);
  return NULL;
}

int clt_session_begin_races(clt_race_run **out, clt_session *s, clt_config winner, clt_error *error) {
  *out = NULL;
  if (!is_wanted(s->settings)) return CLT_OK;
  clt_race_run *r = clt_new_array(1, sizeof *r);
  if (r == NULL) return clt_fail_memory(error);
  *r = (clt_race_run){.session = s, .config = winner};
  r->threaded = pthread_create(&r->thread, NULL, check_races, r) == 0;
  if (!r->threaded) check_races(r);
  *out = r;
  return CLT_OK;
}

static int judge_races(clt_race_run *r, clt_measurement *winner, clt_error *error) {
  const clt_tune_settings *settings = r->session->settings;
  clt_tune_result *result = r->session->result;
  const int rc = r->rc;
  r->session->race_check_s += r->took_s;
  if (rc == CLT_E_STOPPED) return clt_fail(error, rc, "the check for races was stopped");
  if (rc == CLT_E_AGAIN && settings->races == CLT_RACES_REQUIRED)
    return clt_fail(error, CLT_E_WORKER,
                    "the winner cannot be checked for races: it takes more than %.0f s under Oclgrind; choose a "
                    "smaller size or leave out --oclgrind yes",
                    LIMIT_IF_REQUIRED_S);
  if (rc && r->fault == NULL && settings->races == CLT_RACES_REQUIRED)
    return clt_fail(error, rc, "the winner cannot be checked for races: %s", r->why.message);
  if (r->oddity && !r->session->told_oddity) {
    const bool writes = clt_starts_with(r->oddity, "Invalid write");
    clt_log(settings->log, settings->user, CLT_LOG_WARNING, "Oclgrind: %s%s", r->oddity,
            writes ? "; declare the argument \"ReadWrite\" if the kernel restores it" : "");
    r->session->told_oddity = true;
  }
  free(result->race_reason);
  result->race_reason = NULL;
  result->race_check = rc ? CLT_RACES_NOT_CHECKED : CLT_RACES_NONE_FOUND;
  if (r->shared) {
    result->race_check = CLT_RACES_SHARED;
    clt_log(settings->log, settings->user, CLT_LOG_WARNING,
            "%s; the default configuration has such a fault too, so the winner is not rejected", r->fault);
  } else if (r->fault) {
    clt_measurement_fail(winner, CLT_REASON_WRONG_OUTPUT, r->fault);
  } else if (rc) {
    const char *why =
        rc == CLT_E_AGAIN ? "it takes too long under Oclgrind; --oclgrind yes allows up to 10 minutes" : r->why.message;
    result->race_reason = strndup(why, strcspn(why, "\n"));
    clt_log(settings->log, settings->user, CLT_LOG_INFO, "the winner is not checked for races: %s",
            result->race_reason ? result->race_reason : "");
  }
  return CLT_OK;
}

int clt_session_end_races(clt_race_run *r, clt_measurement *winner, clt_error *error) {
  if (r == NULL) return CLT_OK;
  if (winner == NULL) __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&r->ended, __ATOMIC_ACQUIRE)) {
    clt_session_note_waits(r->session, "looking for races with Oclgrind");
    if (clt_stop_asked(r->session->settings->stop)) __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
  }
  if (r->threaded) pthread_join(r->thread, NULL);
  const int rc = winner ? judge_races(r, winner, error) : CLT_OK;
  free(r->fault);
  free(r->oddity);
  free(r);
  return rc;
}
