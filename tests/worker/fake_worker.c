/* A worker without OpenCL that speaks the protocol and misbehaves on demand: the last two digits of a configuration say
 * how (see `deeds`), FAKE_START says how it starts; of the request "open", "slowness" is a factor of its times, and with
 * "holiday" it does nothing but configuration 0. Its actions and their times go to the file FAKE_LOG, one per line. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "fake_worker.h"
#include "worker/child/child.h"
#include "worker/message.h"

static clt_frame_reader reader;
static clt_config prepared[CLT_WORKER_SLOTS];
static double slowness = 1;
static bool holiday;

static void note(const char *what) {
  const char *path = getenv("FAKE_LOG");
  char line[100];
  int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  if (fd < 0) return;
  int n = snprintf(line, sizeof line, "%d %.6f %s\n", (int)getpid(), clt_now_s(), what);
  if (write(fd, line, (size_t)n) != n) _exit(9);
  close(fd);
}

static void say(json_t *message) {
  if (clt_frame_send(CLT_WORKER_FD, message, NULL)) _exit(0);
  json_decref(message);
}

static json_t *hear(void) {
  json_t *message = NULL;
  while (clt_frame_take(&reader, &message, NULL) == 0)
    if (clt_frame_receive(&reader, CLT_WORKER_FD, true) == CLT_FRAME_CLOSED) _exit(0);
  return message;
}

static void hang(void) {
  for (;;) pause();
}

static void work(int ms) { /* the time of a compiler or a kernel */
  struct timespec t = {.tv_nsec = ms * 1000000L};
  nanosleep(&t, NULL);
}

static void send_bytes(const void *bytes, size_t n) {
  if (send(CLT_WORKER_FD, bytes, n, MSG_NOSIGNAL) < 0) _exit(0);
}

static void send_garbage(void) {
  send_bytes("\0\0\0\5hello", 9);
  hang();
}

static void send_too_long(void) {
  send_bytes("\x7f\xff\xff\xff{}", 6);
  hang();
}

static void flood(void) {
  for (int i = 0; i < 200000; i++) printf("line %d of what nobody wants to read\n", i);
  fflush(stdout);
}

static void leave_child(void) {
  pid_t child = fork();
  if (child == 0) hang();
  char text[50];
  snprintf(text, sizeof text, "child %d", (int)child);
  note(text);
  abort();
}

static void crash_reference(void) {
  say(clt_message_phase(CLT_PHASE_BUILD));
  say(clt_message_phase(CLT_PHASE_RUNNING));
  flood();
  fprintf(stderr, "these are my last words\n\n");
  raise(SIGSEGV);
}

static void answer(clt_measurement *m) {
  say(json_pack("{s:s, s:o}", "reply", "measurement", "measurement", clt_message_from_measurement(m)));
  clt_measurement_release(m);
}

static void prepare(const json_t *request) {
  clt_config config = (clt_config)json_integer_value(json_object_get(request, "config"));
  int deed = holiday && config > 0 ? OWN_ERROR : (int)(config % 100);
  clt_measurement m;
  clt_measurement_init(&m, config);
  note("prepare begins");
  say(clt_message_phase(CLT_PHASE_BUILD));
  work(5 + (int)(config / 100 % 10));
  switch (deed) {
    case CRASH_BUILD:
      fprintf(stderr, "the compiler is unwell\n");
      raise(SIGSEGV);
      break;
    case HANG_BUILD: hang(); break;
    case GARBAGE: send_garbage(); break;
    case TOO_LONG: send_too_long(); break;
    case OWN_ERROR: {
      clt_error error = {.code = CLT_E_OPENCL, .message = "the device is on holiday"};
      note("prepare ends");
      say(clt_message_from_error(&error));
      return;
    }
    case FLOOD: flood(); break;
    case LEAVE_CHILD: leave_child(); break;
  }
  say(clt_message_phase(CLT_PHASE_LAUNCH));
  if (json_is_true(json_object_get(request, "gate"))) {
    note("waits for leave");
    json_decref(hear());
  }
  note("launch begins");
  if (deed == CRASH_LAUNCH) abort();
  say(clt_message_phase(CLT_PHASE_RUNNING));
  work(2);
  if (deed == CRASH_RUN) raise(SIGFPE);
  if (deed == HANG_RUN) hang();
  say(clt_message_phase(CLT_PHASE_VERIFY));
  note("launch ends");
  if (deed == COMPILE_ERROR) {
    printf("a remark of the compiler\n");
    fflush(stdout);
    clt_measurement_fail(&m, CLT_REASON_COMPILE_ERROR, "x.cl:1: no");
  }
  if (deed == OUT_OF_BOUNDS) clt_measurement_fail(&m, CLT_REASON_OUT_OF_BOUNDS, NULL);
  if (deed == OTHER_CONFIG) m.config = config + 1;
  prepared[json_integer_value(json_object_get(request, "slot"))] = config;
  m.phases.build_s = getenv("FAKE_BUILD_S") ? atof(getenv("FAKE_BUILD_S")) : 0.25;
  note("prepare ends");
  answer(&m);
  if (deed == DIE_IDLE) _exit(3);
}

static void run(const json_t *request) {
  clt_config config = prepared[json_integer_value(json_object_get(request, "slot"))];
  const json_t *timing = json_object_get(request, "timing");
  clt_measurement m;
  clt_measurement_init(&m, config);
  note("time begins");
  if (json_is_true(json_object_get(request, "unbound"))) note("unbound");
  say(clt_message_phase(CLT_PHASE_RUNNING));
  work(3);
  if (config % 100 == CRASH_TIME) abort();
  if (config % 100 == HANG_TIME) hang();
  m.n_runs = (size_t)json_integer_value(json_object_get(timing, "min_runs"));
  for (size_t i = 0; i < m.n_runs; i++) m.runs_s[i] = slowness * FAKE_TIME_S(config);
  m.time_s = slowness * FAKE_TIME_S(config);
  m.phases.build_s = 0.25;
  note("time ends");
  answer(&m);
}

static void verify(const json_t *request) {
  clt_measurement m;
  clt_measurement_init(&m, prepared[json_integer_value(json_object_get(request, "slot"))]);
  m.max_abs_error = 0;
  if (m.config % 100 == WRONG_ON_OTHER_DATA) clt_measurement_fail(&m, CLT_REASON_WRONG_OUTPUT, NULL);
  note("verify");
  answer(&m);
}

static void serve(const json_t *request) {
  const char *what = clt_json_string(request, "request"), *start = getenv("FAKE_START");
  if (strcmp(what, "prepare") == 0) {
    prepare(request);
    return;
  }
  if (strcmp(what, "time") == 0) {
    run(request);
    return;
  }
  if (strcmp(what, "verify") == 0) {
    verify(request);
    return;
  }
  if (json_object_get(request, "slowness")) slowness = json_number_value(json_object_get(request, "slowness"));
  holiday = holiday || json_is_true(json_object_get(request, "holiday"));
  note(strcmp(what, "data") == 0 && json_is_true(json_object_get(request, "make")) ? "make data" : what);
  if (start && strcmp(start, "crash-data") == 0 && strcmp(what, "data") == 0) abort();
  if (start && strcmp(start, "crash-reference") == 0 && strcmp(what, "data") == 0) crash_reference();
  if (strcmp(what, "close") == 0) {
    say(clt_message_hello());
    return;
  }
  json_t *reply = json_pack("{s:s}", "reply", "ok");
  if (start && strcmp(start, "quality") == 0) json_object_set_new(reply, "quality", json_real(0.375));
  if (start && strcmp(start, "warnings") == 0 && strcmp(what, "data") == 0)
    json_object_set_new(reply, "warnings", json_pack("[s, i, s]", "the reference is odd", 7, "so is the tolerance %s"));
  if (start && strcmp(start, "bad-quality") == 0) json_object_set_new(reply, "quality", json_string("good"));
  say(reply);
}

static void start(void) {
  const char *how = getenv("FAKE_START");
  note("start");
  if (how == NULL) return;
  if (strcmp(how, "exit") == 0) {
    fprintf(stderr, "no driver today\n");
    _exit(5);
  }
  if (strcmp(how, "hang") == 0) hang();
  if (strcmp(how, "garbage") == 0) send_garbage();
  if (strcmp(how, "other") == 0) {
    say(json_pack("{s:s, s:i, s:s}", "reply", "hello", "protocol", 999, "version", "9.9"));
    hang();
  }
}

int main(int n, char **arguments) {
  const int faults[] = {SIGSEGV, SIGFPE, SIGABRT}; /* which a sanitizer would catch */
  for (int i = 0; i < 3; i++) signal(faults[i], SIG_DFL);
  clt_worker_limit(0);
  if (n < 2 || !clt_worker_follow((pid_t)atoi(arguments[1] + strlen("--parent=")))) return 1;
  start();
  say(json_pack("{s:s, s:i, s:s}", "reply", "hello", "protocol", CLT_PROTOCOL_VERSION, "version", CLT_VERSION));
  for (json_t *request; (request = hear()); json_decref(request)) serve(request);
  return 0;
}
