/* clatune-worker: builds, runs and verifies configurations for a tuner, in a process that may crash or hang. Some
 * configurations stay prepared. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "opencl/executor.h"
#include "worker/child/child.h"
#include "worker/message.h"

#define MOST_MARGIN 1e30 /* of integers without a tolerance; JSON has no infinity */
#define DATA_SETS 2      /* of preparing and timing; of the present check */

typedef struct prepared_slot {
  clt_prepared *prepared; /* NULL: empty */
  clt_measurement measurement;
} prepared_slot;

typedef struct server {
  clt_frame_reader reader;
  bool gate;      /* the first launch of this request waits for permission */
  bool ended;     /* the parent is gone */
  bool measuring; /* the current request is for a measurement */
  clt_instance *instance;
  clt_executor *executor;
  clt_data *data[DATA_SETS]; /* by set - 1 */
  char *only[DATA_SETS];     /* clt_recipe.only of each */
  prepared_slot slots[CLT_WORKER_SLOTS];
} server;

static void send_reply(server *s, json_t *message) {
  fflush(stdout); /* the kernel's output must arrive before the reply */
  if (message == NULL || clt_frame_send(CLT_WORKER_FD, message, NULL)) s->ended = true;
  json_decref(message);
}

static void on_phase(void *user, clt_phase phase) {
  server *s = user;
  if (phase == CLT_PHASE_LAUNCH) clt_worker_watch_faults(CLT_WORKER_FD);
  send_reply(s, clt_message_phase(phase));
  if (phase != CLT_PHASE_LAUNCH || !s->gate) return;
  /* If the parent ends while a worker waits here, no answer is needed. */
  json_t *message = clt_frame_await(&s->reader, CLT_WORKER_FD);
  if (message == NULL || strcmp(clt_json_string(message, "request"), "go") != 0) _Exit(1);
  json_decref(message);
  s->gate = false;
}

static json_t *reply_measurement(const clt_measurement *m) {
  return json_pack("{s:s, s:o}", "reply", "measurement", "measurement", clt_message_from_measurement(m));
}

/* Replies before any call that may hang now; the parent replaces a worker after a fault. */
static void on_fault(void *user, const clt_measurement *m, bool dead) {
  server *s = user;
  if (!s->measuring) return;
  json_t *reply = reply_measurement(m);
  if (dead) json_object_set_new(reply, "dead", json_true());
  send_reply(s, reply);
  json_decref(clt_frame_await(&s->reader, CLT_WORKER_FD));
  _Exit(0);
}

/* --- without a problem --- */

static int serve_devices(server *s, const json_t *request, json_t **out, clt_error *error) {
  clt_device_info *devices = NULL;
  size_t n = 0;
  int rc = clt_opencl_devices(&devices, &n, error);
  if (rc) return rc;
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) clt_json_append(&list, clt_device_json(&devices[i]));
  free(devices);
  *out = json_pack("{s:s, s:o}", "reply", "devices", "devices", list);
  return CLT_OK;
}

static int serve_inspect(server *s, const json_t *request, json_t **out, clt_error *error) {
  int64_t platform, device;
  clt_kernel_info *kernels = NULL;
  size_t n = 0;
  int rc = clt_message_integer(&platform, request, "platform", 0, INT32_MAX, error);
  if (rc == CLT_OK) rc = clt_message_integer(&device, request, "device", 0, INT32_MAX, error);
  /* The executor stays on the first request's device, because a compiler loads its library again for each context. */
  if (rc == CLT_OK && s->executor == NULL) rc = clt_executor_new(&s->executor, (int)platform, (int)device, error);
  if (rc == CLT_OK)
    rc = clt_opencl_inspect(&kernels, &n, s->executor, clt_json_string(request, "text"),
                            clt_json_string(request, "options"), error);
  if (rc == CLT_OK) *out = json_pack("{s:s, s:o}", "reply", "kernels", "kernels", clt_message_from_kernels(kernels, n));
  free(kernels);
  return rc;
}

/* --- the problem and its data --- */

static int serve_open(server *s, const json_t *request, json_t **out, clt_error *error) {
  if (s->instance) return clt_fail(error, CLT_E_ARGUMENT, "the worker already has a problem");
  int rc = clt_message_to_instance(&s->instance, request, error);
  if (rc) return rc;
  const clt_device_info *wanted = clt_instance_device(s->instance);
  if (s->executor == NULL) rc = clt_executor_new(&s->executor, wanted->platform_index, wanted->device_index, error);
  if (rc) return rc;
  /* The parent has the device's indices from another process, where they may differ. */
  const clt_device_info *found = clt_executor_device(s->executor);
  if (strcmp(wanted->name, found->name) != 0 || strcmp(wanted->driver_version, found->driver_version) != 0)
    return clt_fail(error, CLT_E_DEVICE,
                    "device %d:%d is now '%s' instead of '%s'; choose again from 'clatune devices'",
                    wanted->platform_index, wanted->device_index, found->name, wanted->name);
  if (json_is_true(json_object_get(request, "probe")) && !clt_executor_answers(s->executor))
    return clt_fail(error, CLT_E_DEVICE, "it did not run a test kernel");
  clt_executor_limit_generator(s->executor, clt_json_number(request, "generate_s"));
  clt_executor_on_phase(s->executor, on_phase, s);
  clt_executor_on_fault(s->executor, on_fault, s);
  *out = json_pack("{s:s}", "reply", "ok");
  return CLT_OK;
}

static void add_warning(void *list, clt_log_level level, const char *text) {
  json_array_append_new(list, clt_json_text(text));
}

static int serve_data(server *s, const json_t *request, json_t **out, clt_error *error) {
  int64_t set;
  clt_recipe recipe;
  double quality = NAN;
  const char *folder = clt_json_string(request, "folder");
  if (s->executor == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the worker has no problem");
  int rc = clt_message_integer(&set, request, "set", 1, DATA_SETS, error);
  if (rc == CLT_OK)
    rc = clt_message_to_recipe(&recipe, json_object_get(request, "recipe"), clt_instance_space(s->instance), error);
  if (rc) return rc;
  clt_data **slot = &s->data[set - 1], *made = NULL;
  json_t *warnings = NULL;
  if (*slot) clt_executor_forget(s->executor, *slot);
  clt_data_free(*slot);
  *slot = NULL;
  free(s->only[set - 1]);
  recipe.only = s->only[set - 1] = recipe.only ? strdup(recipe.only) : NULL;
  if (json_is_true(json_object_get(request, "make"))) {
    clt_remove_tree(folder, false); /* remains of a worker that did not finish */
    if (mkdir(folder, 0700)) return clt_fail_errno(error, CLT_E_IO, "create the folder", folder);
    /* So that a generator that crashes on other inputs ends this check, instead of one worker after the other. */
    if (set == 2) on_phase(s, CLT_PHASE_VERIFY);
    rc = clt_reference_data(&made, s->executor, s->instance, &recipe, error);
    if (rc == CLT_OK) rc = clt_data_save(made, folder, error);
    /* Last, so that changes to the arrays by a module's function have no effect. */
    if (rc == CLT_OK && set == 1) rc = clt_data_quality(&quality, s->instance, made, error);
    if (made) clt_executor_forget(s->executor, made);
    clt_data_free(made);
  }
  if (rc == CLT_OK) rc = clt_data_map(slot, s->instance, &recipe, folder, error);
  if (rc) return rc;
  if (set == 1 && json_is_true(json_object_get(request, "make"))) {
    warnings = json_array();
    for (size_t i = 0; warnings && !(*slot)->verify && i < (*slot)->n_arrays; i++)
      clt_array_warn(&(*slot)->arrays[i], add_warning, warnings);
  }
  double margin = NAN;
  if (set == 2 && recipe.inputs == CLT_INPUTS_OMITTED && s->data[0]) {
    margin = 0;
    for (size_t i = 0; i < (*slot)->n_arrays; i++) {
      const clt_array *own = &s->data[0]->arrays[i], *other = &(*slot)->arrays[i];
      if (own->reference && other->reference)
        margin = fmin(fmax(margin, clt_array_margin(own, other->reference)), MOST_MARGIN);
    }
  }
  *out = json_pack("{s:s, s:o*, s:o, s:o}", "reply", "ok", "warnings", warnings, "quality", clt_json_real(quality),
                   "margin", clt_json_real(margin));
  return CLT_OK;
}

/* --- prepared configurations --- */

static int find_slot(prepared_slot **out, server *s, const json_t *request, bool prepared, clt_error *error) {
  int64_t slot;
  int rc = clt_message_integer(&slot, request, "slot", 0, CLT_WORKER_SLOTS - 1, error);
  if (rc) return rc;
  if (s->executor == NULL || s->data[0] == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "the worker has no device or no data");
  if (prepared && s->slots[slot].prepared == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "nothing is prepared in slot %d", (int)slot);
  *out = &s->slots[slot];
  return CLT_OK;
}

static void empty_slot(prepared_slot *slot) {
  clt_prepared_free(slot->prepared);
  clt_measurement_release(&slot->measurement);
  memset(slot, 0, sizeof *slot);
}

static int serve_prepare(server *s, const json_t *request, json_t **out, clt_error *error) {
  prepared_slot *slot = NULL;
  int64_t config;
  int rc = find_slot(&slot, s, request, false, error);
  if (rc == CLT_OK) rc = clt_message_integer(&config, request, "config", 0, INT64_MAX, error);
  clt_config own = rc ? CLT_CONFIG_NONE : (clt_config)config;
  if (rc == CLT_OK)
    rc = clt_message_to_config(&own, json_object_get(request, "values"), clt_instance_space(s->instance), error);
  if (rc) return rc;
  if (slot->prepared) empty_slot(slot);
  clt_build build = json_is_true(json_object_get(request, "anew")) ? CLT_BUILD_ANEW : CLT_BUILD_AS_IS;
  if (json_is_true(json_object_get(request, "mirrored"))) build = CLT_BUILD_MIRRORED;
  s->gate = json_is_true(json_object_get(request, "gate"));
  rc = clt_executor_prepare_config(s->executor, &slot->prepared, s->instance, own, build, s->data[0],
                                   &slot->measurement, error);
  slot->measurement.config = (clt_config)config; /* as the caller numbers it */
  s->gate = false;
  if (rc == CLT_OK) *out = reply_measurement(&slot->measurement);
  if (rc == CLT_OK && clt_executor_generated(s->executor))
    clt_json_set(out, "generated", json_integer((json_int_t)clt_executor_generated(s->executor)));
  if (rc || slot->prepared == NULL) empty_slot(slot);
  return rc;
}

static int serve_time(server *s, const json_t *request, json_t **out, clt_error *error) {
  prepared_slot *slot = NULL;
  clt_timing_policy timing;
  int rc = find_slot(&slot, s, request, true, error);
  if (rc == CLT_OK) rc = clt_message_to_timing(&timing, json_object_get(request, "timing"), error);
  if (rc) return rc;
  clt_measurement *m = &slot->measurement;
  m->n_runs = 0;
  m->phases.runs_s = 0;
  const bool binds = !json_is_true(json_object_get(request, "unbound"));
  if (binds && clt_instance_device(s->instance)->type == CLT_DEVICE_CPU) clt_worker_spread_threads();
  rc = clt_executor_time(s->executor, slot->prepared, &timing, m, error);
  clt_worker_free_threads();
  if (rc == CLT_OK) *out = reply_measurement(m);
  bool keep = json_is_true(json_object_get(request, "keep")) && rc == CLT_OK && m->reason == CLT_REASON_NONE;
  if (!keep) empty_slot(slot);
  return rc;
}

static int serve_verify(server *s, const json_t *request, json_t **out, clt_error *error) {
  prepared_slot *slot = NULL;
  int64_t set;
  clt_measurement m;
  int rc = find_slot(&slot, s, request, true, error);
  if (rc == CLT_OK) rc = clt_message_integer(&set, request, "set", 1, DATA_SETS, error);
  if (rc) return rc;
  if (s->data[set - 1] == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the worker does not have that set of data");
  clt_measurement_init(&m, slot->measurement.config);
  rc = clt_executor_verify(s->executor, slot->prepared, s->data[set - 1],
                           json_is_true(json_object_get(request, "garbage")), &m, error);
  if (rc == CLT_OK) *out = reply_measurement(&m);
  clt_measurement_release(&m);
  return rc;
}

/* Releases everything except the loaded driver, and on a CPU the context, with which PoCL keeps its compiler. On
 * other devices a context would hold memory, and the device itself if it accepts only one process. */
static int serve_close(server *s, const json_t *request, json_t **out, clt_error *error) {
  for (size_t i = 0; i < CLT_WORKER_SLOTS; i++) empty_slot(&s->slots[i]);
  clt_executor *kept = NULL;
  if (s->executor && clt_executor_device(s->executor)->type == CLT_DEVICE_CPU)
    clt_executor_reset(kept = s->executor);
  else
    clt_executor_free(s->executor);
  for (size_t i = 0; i < DATA_SETS; i++) clt_data_free(s->data[i]), free(s->only[i]);
  clt_problem *problem =
      s->instance ? (clt_problem *)clt_instance_problem(s->instance) : NULL; /* owned by this process */
  clt_instance_free(s->instance);
  clt_problem_free(problem);
  *s = (server){.reader = s->reader, .executor = kept};
  *out = clt_message_hello();
  return CLT_OK;
}

/* --- the program --- */

/* Answers requests until the parent closes its end. Exits without clean-up, because drivers may hang or crash in
 * their exit handlers; the parent removes the folder. */
int main(int n, char **arguments) {
  static const struct {
    const char *name;
    int (*serve)(server *s, const json_t *request, json_t **out, clt_error *error);
    bool measures;
  } table[] = {{"devices", serve_devices},
               {"inspect", serve_inspect},
               {"open", serve_open},
               {"data", serve_data},
               {"prepare", serve_prepare, true},
               {"time", serve_time, true},
               {"verify", serve_verify, true},
               {"close", serve_close}};
  static server s;
  long long parent = 0, memory_bytes = 0;
  if (n > 3 && strcmp(arguments[1], "--become") == 0)
    return clt_worker_become((pid_t)strtol(arguments[2], NULL, 10), arguments + 3);
  for (int i = 1; i < n; i++) {
    sscanf(arguments[i], "--parent=%lld", &parent);
    sscanf(arguments[i], "--memory=%lld", &memory_bytes);
  }
  if (n == 2 && strcmp(arguments[1], "--version") == 0) {
    printf("clatune-worker %s (protocol %d)\n", CLT_VERSION, CLT_PROTOCOL_VERSION);
    return 0;
  }
  if (parent <= 0) {
    fprintf(stderr, "clatune-worker: clatune starts this program; the only option for users is --version\n");
    return 2;
  }
  signal(SIGXFSZ, SIG_IGN); /* so that writing beyond a file size limit fails with EFBIG */
  clt_worker_limit(memory_bytes);
  if (strcmp(arguments[n - 1], CLT_COMMAND_TRADE) == 0) _Exit(clt_worker_run_commands(CLT_WORKER_FD, (pid_t)parent));
  if (!clt_worker_follow((pid_t)parent)) return 1;
  clt_worker_watch_faults(CLT_WORKER_FD);
  clt_worker_launch_generators();
  send_reply(&s, clt_message_hello());
  for (json_t *request; !s.ended && (request = clt_frame_await(&s.reader, CLT_WORKER_FD)); json_decref(request)) {
    clt_error error = {0};
    json_t *answer = NULL;
    const char *name = clt_json_string(request, "request");
    size_t i = 0, n_requests = sizeof table / sizeof *table;
    while (i < n_requests && strcmp(table[i].name, name) != 0) i++;
    s.measuring = i < n_requests && table[i].measures;
    int rc = i < n_requests ? table[i].serve(&s, request, &answer, &error)
                            : clt_fail(&error, CLT_E_ARGUMENT, "unknown request '%s'", name);
    if (rc && error.code == 0) clt_fail(&error, rc, "%s", clt_error_text(rc));
    send_reply(&s, rc ? clt_message_from_error(&error) : answer);
  }
  _Exit(0);
}
