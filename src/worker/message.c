#include "worker/message.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/device.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "space/space.h"

#define HEADER_BYTES 4
#define CHUNK_BYTES 65536
#define MAX_KERNELS 256
#define MAX_SIZES 1024

/* --- frames --- */

void clt_frame_reader_release(clt_frame_reader *reader) {
  free(reader->bytes);
  memset(reader, 0, sizeof *reader);
}

clt_frame_input clt_frame_receive(clt_frame_reader *reader, int fd, bool wait) {
  if (reader->n > CLT_MAX_FRAME_BYTES + HEADER_BYTES) return CLT_FRAME_NOTHING; /* take or reject it first */
  if (clt_grow(&reader->bytes, &reader->capacity, reader->n + CHUNK_BYTES, 1)) return CLT_FRAME_CLOSED;
  ssize_t got;
  do {
    got = recv(fd, reader->bytes + reader->n, CHUNK_BYTES, wait ? 0 : MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return CLT_FRAME_NOTHING;
  if (got <= 0) return CLT_FRAME_CLOSED;
  reader->n += (size_t)got;
  return CLT_FRAME_BYTES;
}

int clt_frame_take(clt_frame_reader *reader, json_t **out, clt_error *error) {
  const unsigned char *header = reader->bytes;
  json_error_t why;
  if (reader->n < HEADER_BYTES) return 0;
  size_t n = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
  if (n > CLT_MAX_FRAME_BYTES)
    return clt_fail(error, CLT_E_FORMAT, "a message of %zu bytes is longer than the %zu allowed", n,
                    CLT_MAX_FRAME_BYTES);
  if (reader->n < HEADER_BYTES + n) return 0;
  json_t *message = json_loadb((const char *)reader->bytes + HEADER_BYTES, n, JSON_REJECT_DUPLICATES, &why);
  reader->n -= HEADER_BYTES + n;
  memmove(reader->bytes, reader->bytes + HEADER_BYTES + n, reader->n);
  if (message == NULL && why.text[0] == '\0') return clt_fail_memory(error);
  if (message == NULL) return clt_fail(error, CLT_E_FORMAT, "a message is not JSON: %s", why.text);
  if (!json_is_object(message)) {
    json_decref(message);
    return clt_fail(error, CLT_E_FORMAT, "a message is not a JSON object");
  }
  *out = message;
  return 1;
}

json_t *clt_frame_await(clt_frame_reader *reader, int fd) {
  json_t *message = NULL;
  int taken;
  while ((taken = clt_frame_take(reader, &message, NULL)) == 0)
    if (clt_frame_receive(reader, fd, true) == CLT_FRAME_CLOSED) return NULL;
  return taken > 0 ? message : NULL;
}

char *clt_frame_bytes(size_t *n, const json_t *message) {
  size_t length = json_dumpb(message, NULL, 0, JSON_COMPACT);
  char *frame = length > 0 && length <= CLT_MAX_FRAME_BYTES ? malloc(HEADER_BYTES + length) : NULL;
  if (frame == NULL) return NULL;
  for (int i = 0; i < HEADER_BYTES; i++) frame[i] = (char)(length >> (24 - 8 * i) & 255);
  json_dumpb(message, frame + HEADER_BYTES, length, JSON_COMPACT);
  *n = HEADER_BYTES + length;
  return frame;
}

int clt_frame_send(int fd, const json_t *message, clt_error *error) {
  size_t n = 0, sent = 0;
  char *frame = clt_frame_bytes(&n, message);
  if (frame == NULL && json_dumpb(message, NULL, 0, JSON_COMPACT) <= CLT_MAX_FRAME_BYTES) return clt_fail_memory(error);
  if (frame == NULL) return clt_fail(error, CLT_E_RANGE, "a message is too long to send");
  while (sent < n) {
    ssize_t got = send(fd, frame + sent, n - sent, MSG_NOSIGNAL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    sent += (size_t)got;
  }
  free(frame);
  return sent == n ? CLT_OK : clt_fail(error, CLT_E_WORKER, "cannot send a message: %s", strerror(errno));
}

/* --- phases, greetings, numbers --- */

static const char *const phase_names[CLT_N_PHASES] = {"generate", "build",   "launch", "running",
                                                      "verify",   "compare", "done"};

const char *clt_phase_name(clt_phase phase) { return phase_names[phase]; }

int clt_phase_parse(clt_phase *out, const char *name) {
  for (int i = 0; i < CLT_N_PHASES; i++)
    if (strcmp(name, phase_names[i]) == 0) {
      *out = (clt_phase)i;
      return CLT_OK;
    }
  return CLT_E_FORMAT;
}

json_t *clt_message_phase(clt_phase phase) {
  return json_pack("{s:s, s:s}", "reply", "phase", "phase", phase_names[phase]);
}

json_t *clt_message_hello(void) {
  return json_pack("{s:s, s:i, s:s}", "reply", "hello", "protocol", CLT_PROTOCOL_VERSION, "version", CLT_VERSION);
}

int clt_message_integer(int64_t *out, const json_t *message, const char *key, int64_t min, int64_t max,
                        clt_error *error) {
  const json_t *x = json_object_get(message, key);
  if (!json_is_integer(x)) return clt_fail(error, CLT_E_FORMAT, "a message lacks the whole number '%s'", key);
  int64_t value = json_integer_value(x);
  if (value < min || value > max)
    return clt_fail(error, CLT_E_FORMAT, "in a message, '%s' has the invalid value %lld", key, (long long)value);
  *out = value;
  return CLT_OK;
}

/* The numbers of a struct, with their names. JSON has neither NaN nor infinity: these are null and "inf". */
typedef struct number_field {
  const char *key;
  size_t offset;
} number_field;

#define M(member) \
  { #member, offsetof(clt_measurement, member) }
#define P(member) \
  { #member, offsetof(clt_phases, member) }
#define T(member) \
  { #member, offsetof(clt_timing_policy, member) }
static const number_field measurement_numbers[] = {M(time_s), M(energy_J), M(max_abs_error), {NULL, 0}};
#define U(member) {#member, offsetof(clt_kernel_use, member)},
static const number_field use_numbers[] = {CLT_KERNEL_USE_TABLE(U){NULL, 0}};
#define S(member) {#member, offsetof(clt_device_state, member)},
static const number_field state_numbers[] = {CLT_DEVICE_STATE_TABLE(S){NULL, 0}};
static const number_field phase_numbers[] = {P(build_s),  P(first_launch_s), P(runs_s),
                                             P(verify_s), P(wait_s),         {NULL, 0}};
static const number_field timing_numbers[] = {T(max_total_s), T(steady_relative), T(best_s),       T(abandon_factor),
                                              T(energy_s),    T(launch_s),        T(usual_step_s), {NULL, 0}};

/* Takes over object. NULL when out of memory. */
static json_t *add_numbers(json_t *object, const void *from, const number_field *field) {
  for (; field->key; field++) {
    double x = *(const double *)((const char *)from + field->offset);
    clt_json_set(&object, field->key, isinf(x) ? json_string("inf") : clt_json_real(x));
  }
  return object;
}

/* Negative numbers are errors. */
static int get_numbers(void *to, const number_field *field, const json_t *object, clt_error *error) {
  for (; field->key; field++) {
    const json_t *x = json_object_get(object, field->key);
    bool infinite = json_is_string(x) && strcmp(json_string_value(x), "inf") == 0;
    if (!json_is_number(x) && !json_is_null(x) && !infinite)
      return clt_fail(error, CLT_E_FORMAT, "a message lacks the number '%s'", field->key);
    double value = json_is_number(x) ? json_number_value(x) : NAN;
    if (infinite) value = INFINITY;
    if (value < 0)
      return clt_fail(error, CLT_E_FORMAT, "in a message, '%s' has the invalid value %g", field->key, value);
    *(double *)((char *)to + field->offset) = value;
  }
  return CLT_OK;
}

/* --- measurements --- */

json_t *clt_message_from_measurement(const clt_measurement *m) {
  const char *clock = m->clock == CLT_CLOCK_DEVICE ? "device" : "host";
  json_t *log = m->log ? clt_json_text(m->log) : json_null();
  json_t *out = json_pack(
      "{s:I, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "config", (json_int_t)m->config, "reason",
      clt_reason_name(m->reason), "runs_s", clt_json_reals(m->runs_s, m->n_runs), "clock", clock, "phases",
      add_numbers(json_object(), &m->phases, phase_numbers), "use", add_numbers(json_object(), &m->use, use_numbers),
      "state", add_numbers(json_object(), &m->state, state_numbers), "log", log, "confirmed_alone", m->confirmed_alone);
  return add_numbers(out, m, measurement_numbers);
}

int clt_message_to_measurement(clt_measurement *out, const json_t *message, clt_error *error) {
  int64_t config;
  clt_reason reason;
  clt_measurement m;
  const json_t *runs = json_object_get(message, "runs_s");
  const char *name = clt_json_string(message, "reason"), *log = json_string_value(json_object_get(message, "log"));
  int rc = clt_message_integer(&config, message, "config", 0, INT64_MAX, error);
  if (rc) return rc;
  if (clt_reason_parse(&reason, name, NULL))
    return clt_fail(error, CLT_E_FORMAT, "in a message, 'reason' has the unknown value '%.32s'", name);
  if (!json_is_array(runs) || json_array_size(runs) > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_FORMAT, "in a message, 'runs_s' is not a list of at most %d numbers", CLT_MAX_RUNS);
  clt_measurement_init(&m, (clt_config)config);
  for (; m.n_runs < json_array_size(runs); m.n_runs++) {
    const json_t *run = json_array_get(runs, m.n_runs);
    if (!json_is_number(run) || json_number_value(run) < 0)
      return clt_fail(error, CLT_E_FORMAT, "in a message, 'runs_s[%zu]' is not a time", m.n_runs);
    m.runs_s[m.n_runs] = json_number_value(run);
  }
  rc = get_numbers(&m, measurement_numbers, message, error);
  if (rc == CLT_OK) rc = get_numbers(&m.phases, phase_numbers, json_object_get(message, "phases"), error);
  if (rc == CLT_OK) rc = get_numbers(&m.use, use_numbers, json_object_get(message, "use"), error);
  if (rc == CLT_OK) rc = get_numbers(&m.state, state_numbers, json_object_get(message, "state"), error);
  if (rc) return rc;
  m.clock = strcmp(clt_json_string(message, "clock"), "device") == 0 ? CLT_CLOCK_DEVICE : CLT_CLOCK_HOST;
  if (reason != CLT_REASON_NONE) clt_measurement_fail(&m, reason, log);
  m.confirmed_alone = reason != CLT_REASON_NONE && json_is_true(json_object_get(message, "confirmed_alone"));
  *out = m;
  return CLT_OK;
}

json_t *clt_message_from_timing(const clt_timing_policy *t) {
  json_t *out = json_pack("{s:i, s:i, s:b, s:b}", "min_runs", (int)t->min_runs, "max_runs", (int)t->max_runs, "warm_up",
                          t->warm_up, "cold", t->cold);
  return add_numbers(out, t, timing_numbers);
}

int clt_message_to_timing(clt_timing_policy *out, const json_t *message, clt_error *error) {
  clt_timing_policy t = {.warm_up = json_is_true(json_object_get(message, "warm_up")),
                         .cold = json_is_true(json_object_get(message, "cold"))};
  int64_t min_runs = 0, max_runs = 0;
  int rc = clt_message_integer(&max_runs, message, "max_runs", 1, CLT_MAX_RUNS, error);
  if (rc == CLT_OK) rc = clt_message_integer(&min_runs, message, "min_runs", 1, max_runs, error);
  if (rc == CLT_OK) rc = get_numbers(&t, timing_numbers, message, error);
  if (rc) return rc;
  t.min_runs = (unsigned)min_runs;
  t.max_runs = (unsigned)max_runs;
  *out = t;
  return CLT_OK;
}

json_t *clt_message_from_config(const clt_space *space, clt_config config) {
  char *text = space && clt_space_has_too_many(space) ? clt_config_string(space, config) : NULL;
  json_t *values = clt_json_text(text);
  free(text);
  return values;
}

int clt_message_to_config(clt_config *config, const json_t *values, const clt_space *space, clt_error *error) {
  return json_is_string(values) ? clt_config_parse(config, space, json_string_value(values), error) : CLT_OK;
}

json_t *clt_message_from_recipe(const clt_recipe *r, const clt_space *space) {
  return json_pack("{s:i, s:i, s:I, s:o, s:i, s:s?}", "inputs", (int)r->inputs, "variant", (int)r->variant, "judge",
                   r->judged ? (json_int_t)r->judge : -1, "judge_values",
                   clt_message_from_config(r->judged ? space : NULL, r->judge), "stays", (int)r->stays, "only",
                   r->only);
}

int clt_message_to_recipe(clt_recipe *out, const json_t *message, const clt_space *space, clt_error *error) {
  int64_t inputs, variant, stays, judge = -1;
  int rc = clt_message_integer(&inputs, message, "inputs", 0, CLT_INPUTS_OMITTED, error);
  int64_t most_variants = CLT_MAX_CHECKS;
  if (rc == CLT_OK && inputs == CLT_INPUTS_RANGE) most_variants = CLT_RANGE_SIGNED;
  if (rc == CLT_OK && inputs == CLT_INPUTS_SPECIAL) most_variants = CLT_SPECIAL_TIES;
  if (rc == CLT_OK) rc = clt_message_integer(&variant, message, "variant", 0, most_variants, error);
  if (rc == CLT_OK) rc = clt_message_integer(&stays, message, "stays", 0, CLT_STAYS_STATED, error);
  if (rc == CLT_OK) rc = clt_message_integer(&judge, message, "judge", -1, INT64_MAX, error);
  if (rc) return rc;
  *out = (clt_recipe){.inputs = (clt_inputs)inputs,
                      .variant = (unsigned)variant,
                      .judged = judge >= 0,
                      .judge = judge >= 0 ? (clt_config)judge : CLT_CONFIG_NONE,
                      .stays = (clt_stays)stays,
                      .only = json_string_value(json_object_get(message, "only"))};
  return clt_message_to_config(&out->judge, json_object_get(message, "judge_values"), space, error);
}

int clt_message_to_quality(double *out, const json_t *reply, clt_error *error) {
  const json_t *x = json_object_get(reply, "quality");
  if (x && !json_is_null(x) && !json_is_number(x))
    return clt_fail(error, CLT_E_FORMAT, "a message lacks the number 'quality'");
  *out = json_is_number(x) ? json_number_value(x) : NAN;
  return CLT_OK;
}

json_t *clt_message_from_error(const clt_error *error) {
  return json_pack("{s:s, s:i, s:o, s:o, s:i, s:o}", "reply", "error", "code", error->code, "message",
                   clt_json_text(error->message), "file", clt_json_text(error->file), "line", error->line, "key",
                   clt_json_text(error->key));
}

int clt_message_to_error(const json_t *message, clt_error *error) {
  int64_t code = CLT_E_WORKER, line = 0;
  if (clt_message_integer(&code, message, "code", CLT_E_UNSUPPORTED, -1, NULL)) code = CLT_E_WORKER;
  if (clt_message_integer(&line, message, "line", 0, INT32_MAX, NULL)) line = 0;
  const char *file = clt_json_string(message, "file"), *key = clt_json_string(message, "key");
  if (*file == '\0') file = NULL;
  if (*key == '\0') key = NULL;
  return clt_fail_at(error, (int)code, file, (int)line, key, "%s", clt_json_string(message, "message"));
}

/* --- kernels --- */

json_t *clt_message_from_kernels(const clt_kernel_info *kernels, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) {
    const clt_kernel_info *k = &kernels[i];
    json_t *arguments = json_array();
    for (const clt_kernel_argument *a = k->arguments; a < k->arguments + k->n_arguments; a++)
      clt_json_append(&arguments, json_pack("{s:o, s:o, s:i, s:b, s:b, s:b}", "name", clt_json_text(a->name), "type",
                                            clt_json_text(a->type), "address", (int)a->address, "const", a->is_const,
                                            "reads", a->reads_image, "writes", a->writes_image));
    clt_json_append(
        &list, json_pack("{s:o, s:[I,I,I], s:o}", "name", clt_json_text(k->name), "local", (json_int_t)k->local_size[0],
                         (json_int_t)k->local_size[1], (json_int_t)k->local_size[2], "arguments", arguments));
  }
  return list;
}

/* False: the message is invalid. */
static bool unpack_kernel(clt_kernel_info *out, json_t *message) {
  const char *name, *type;
  json_int_t local[3];
  json_t *arguments;
  if (json_unpack(message, "{s:s, s:[I,I,I], s:o}", "name", &name, "local", &local[0], &local[1], &local[2],
                  "arguments", &arguments) ||
      !clt_is_name(name) || strlen(name) >= sizeof out->name || json_array_size(arguments) > CLT_MAX_KERNEL_ARGUMENTS)
    return false;
  strcpy(out->name, name);
  for (size_t d = 0; d < 3; d++) out->local_size[d] = local[d] > 0 ? (uint64_t)local[d] : 0;
  for (; out->n_arguments < json_array_size(arguments); out->n_arguments++) {
    clt_kernel_argument *to = &out->arguments[out->n_arguments];
    int address, is_const, reads, writes;
    if (json_unpack(json_array_get(arguments, out->n_arguments), "{s:s, s:s, s:i, s:b, s:b, s:b}", "name", &name,
                    "type", &type, "address", &address, "const", &is_const, "reads", &reads, "writes", &writes) ||
        !clt_is_name(name) || strlen(name) >= sizeof to->name || strlen(type) >= sizeof to->type ||
        address < CLT_ADDRESS_GLOBAL || address > CLT_ADDRESS_PRIVATE)
      return false;
    strcpy(to->name, name);
    strcpy(to->type, type);
    to->address = (clt_address)address;
    to->is_const = is_const;
    to->reads_image = reads;
    to->writes_image = writes;
  }
  return true;
}

int clt_message_to_kernels(clt_kernel_info **out, size_t *n, const json_t *list, clt_error *error) {
  size_t count = json_array_size(list), i = 0;
  bool sound = json_is_array(list) && count <= MAX_KERNELS;
  clt_kernel_info *kernels = clt_new_array(sound ? count : 0, sizeof *kernels);
  if (kernels == NULL) return clt_fail_memory(error);
  while (sound && i < count) sound = unpack_kernel(&kernels[i], json_array_get(list, i)), i++;
  if (!sound) {
    free(kernels);
    return clt_fail(
        error, CLT_E_FORMAT,
        "the worker sent an invalid list of kernels; check that clatune and clatune-worker are from the same build");
  }
  *out = kernels;
  *n = count;
  return CLT_OK;
}

/* --- devices and problems --- */

/* The instance's key, and a hash of parameters and values. They show that a configuration means the same in both
 * processes. */
static int make_marks(const clt_instance *instance, char key[33], char space[33], clt_error *error) {
  int rc = clt_instance_key(key, instance, error);
  clt_hasher *hasher = rc ? NULL : clt_hasher_new();
  if (hasher == NULL) return rc ? rc : clt_fail_memory(error);
  clt_space_hash(hasher, clt_instance_space(instance));
  clt_hasher_hex(hasher, space);
  clt_hasher_free(hasher);
  return CLT_OK;
}

int clt_message_from_instance(json_t **out, const clt_instance *instance, clt_error *error) {
  char key[33], space[33];
  const clt_device_info *device = clt_instance_device(instance);
  const char *path = clt_problem_path(clt_instance_problem(instance));
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "measuring needs a device");
  int rc = make_marks(instance, key, space, error);
  if (rc) return rc;
  char *absolute = realpath(path, NULL);
  if (absolute == NULL) return clt_fail_errno(error, CLT_E_IO, "find", path);
  json_t *request =
      json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:b}", "request", "open", "problem", clt_json_text(absolute), "sizes",
                clt_json_sizes(instance), "device", clt_device_json(device), "key", key, "space", space, "cold",
                clt_problem_guidance(clt_instance_problem(instance))->cold_cache);
  free(absolute);
  if (request == NULL) return clt_fail_memory(error);
  *out = request;
  return CLT_OK;
}

int clt_message_to_instance(clt_instance **out, const json_t *request, clt_error *error) {
  clt_problem *p = NULL;
  clt_instance *i = NULL;
  char key[33], space[33];
  const char *name, *path = clt_json_string(request, "problem");
  json_t *value, *members = json_object_get(request, "sizes");
  size_t n_sizes = json_object_size(members), at = 0;
  if (n_sizes > MAX_SIZES) return clt_fail(error, CLT_E_FORMAT, "a message has too many sizes (%zu)", n_sizes);
  clt_size *sizes = clt_new_array(n_sizes, sizeof *sizes);
  clt_device_info *device = clt_new_array(1, sizeof *device);
  int rc = sizes && device ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    json_object_foreach(members, name, value) {
      sizes[at++] = (clt_size){.name = name, .value = json_integer_value(value)};
    }
    rc = clt_device_read(device, json_object_get(request, "device"), error);
  }
  if (rc == CLT_OK) rc = clt_problem_new(&p, path, error);
  if (rc == CLT_OK) clt_problem_set_cold_cache(p, json_is_true(json_object_get(request, "cold")));
  if (rc == CLT_OK) rc = clt_instance_new(&i, p, sizes, n_sizes, device, error);
  if (rc == CLT_OK) rc = make_marks(i, key, space, error);
  if (rc == CLT_OK &&
      (strcmp(key, clt_json_string(request, "key")) || strcmp(space, clt_json_string(request, "space"))))
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' or its kernel has changed since the tuning began; start the tuning again",
                  path);
  if (rc == CLT_OK && json_is_false(json_object_get(request, "reference"))) clt_problem_drop_reference(p);
  free(sizes);
  free(device);
  if (rc) {
    clt_instance_free(i);
    clt_problem_free(p);
    return rc;
  }
  *out = i;
  return CLT_OK;
}
