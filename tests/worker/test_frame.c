/* Frames and messages: received bytes are bounded and checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/message.h"

static void feed(clt_frame_reader *reader, const void *bytes, size_t n) {
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  assert_int_equal(send(ends[0], bytes, n, 0), n);
  assert_int_equal(clt_frame_receive(reader, ends[1], false), CLT_FRAME_BYTES);
  assert_int_equal(clt_frame_receive(reader, ends[1], false), CLT_FRAME_NOTHING);
  close(ends[0]);
  assert_int_equal(clt_frame_receive(reader, ends[1], false), CLT_FRAME_CLOSED);
  close(ends[1]);
}

static void messages_arrive_whole_however_they_are_cut(void **state) {
  (void)state;
  clt_frame_reader reader = {0};
  json_t *message = NULL;
  const char bytes[] = "\0\0\0\7{\"a\":1}\0\0\0\7{\"a\":2}";
  for (size_t cut = 1; cut < 21; cut++) {
    feed(&reader, bytes, cut);
    int64_t n_taken = 0, value = 0;
    for (int rest = 0; rest < 2; rest++) {
      if (rest) feed(&reader, bytes + cut, 22 - cut);
      while (clt_frame_take(&reader, &message, NULL) == 1) {
        n_taken++;
        assert_int_equal(clt_message_integer(&value, message, "a", 0, 9, NULL), 0);
        assert_int_equal(value, n_taken);
        json_decref(message);
      }
    }
    assert_int_equal(n_taken, 2);
    assert_int_equal(reader.n, 0);
  }
  clt_frame_reader_release(&reader);
}

static void refuse(const void *bytes, size_t n) {
  clt_frame_reader reader = {0};
  json_t *message = NULL;
  clt_error error = {0};
  feed(&reader, bytes, n);
  assert_int_equal(clt_frame_take(&reader, &message, &error), CLT_E_FORMAT);
  assert_int_equal(error.code, CLT_E_FORMAT);
  assert_null(message);
  clt_frame_reader_release(&reader);
}

static void bad_frames_are_refused(void **state) {
  (void)state;
  refuse("\0\x10\0\1{}", 6); /* a byte over the limit, before anything is read */
  refuse("\xff\xff\xff\xff", 4);
  refuse("\0\0\0\0", 4);
  refuse("\0\0\0\2[]", 6);
  refuse("\0\0\0\3{}x", 7);
  refuse("\0\0\0\15{\"a\":1,\"a\":2}", 17);
}

static void what_is_too_long_is_not_sent(void **state) {
  (void)state;
  clt_error error = {0};
  char *text = malloc(CLT_MAX_FRAME_BYTES + 1);
  memset(text, 'x', CLT_MAX_FRAME_BYTES);
  text[CLT_MAX_FRAME_BYTES] = 0;
  json_t *message = json_pack("{s:s}", "a", text);
  assert_int_equal(clt_frame_send(-1, message, &error), CLT_E_RANGE);
  json_decref(message);
  free(text);
}

static void a_dead_listener_is_an_error_and_no_signal(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[1]);
  json_t *message = json_pack("{s:i}", "a", 1);
  assert_int_equal(clt_frame_send(ends[0], message, NULL), CLT_E_WORKER);
  json_decref(message);
  close(ends[0]);
}

static void measurements_survive_the_journey(void **state) {
  (void)state;
  clt_measurement m, back;
  clt_measurement_init(&m, 123456789012345ull);
  m.runs_s[0] = 0.1;
  m.runs_s[1] = 1.0 / 3;
  m.n_runs = 2;
  m.time_s = 0.1;
  m.clock = CLT_CLOCK_HOST;
  m.phases.build_s = 0.7;
  m.max_abs_error = INFINITY;
  json_t *message = clt_message_from_measurement(&m);
  assert_int_equal(clt_message_to_measurement(&back, message, NULL), 0);
  assert_true(back.config == m.config && back.n_runs == 2 && back.runs_s[1] == 1.0 / 3 && back.time_s == 0.1);
  assert_true(back.clock == CLT_CLOCK_HOST && back.phases.build_s == 0.7 && isinf(back.max_abs_error));
  json_decref(message);
  clt_measurement_release(&back);
  clt_measurement_fail(&m, CLT_REASON_COMPILE_ERROR, "bad byte \xff here");
  message = clt_message_from_measurement(&m);
  assert_int_equal(clt_message_to_measurement(&back, message, NULL), 0);
  assert_true(back.reason == CLT_REASON_COMPILE_ERROR && isnan(back.time_s));
  assert_string_equal(back.log, "bad byte ? here");
  json_decref(message);
  clt_measurement_release(&back);
  clt_measurement_release(&m);
}

static void senseless_measurements_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *key, *value;
  } changes[] = {{"config", "-1"},      {"config", "\"7\""},     {"reason", "\"boredom\""}, {"runs_s", "[-1]"},
                 {"runs_s", "[\"x\"]"}, {"runs_s", "{}"},        {"time_s", "-2"},          {"phases", "{}"},
                 {"phases", "null"},    {"max_abs_error", "[]"}, {"time_s", "\"nan\""}};
  clt_measurement m, back;
  clt_measurement_init(&m, 7);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    json_t *message = clt_message_from_measurement(&m);
    json_object_set_new(message, changes[i].key, json_loads(changes[i].value, JSON_DECODE_ANY, NULL));
    assert_int_equal(clt_message_to_measurement(&back, message, NULL), CLT_E_FORMAT);
    json_decref(message);
  }
  json_t *message = clt_message_from_measurement(&m), *runs = json_array();
  for (int i = 0; i <= CLT_MAX_RUNS; i++) json_array_append_new(runs, json_real(1));
  json_object_set_new(message, "runs_s", runs);
  assert_int_equal(clt_message_to_measurement(&back, message, NULL), CLT_E_FORMAT);
  json_decref(message);
  clt_measurement_release(&m);
}

static void qualities_are_finite_or_none(void **state) {
  (void)state;
  static const char *const bad[] = {"\"inf\"", "\"1\"", "[]", "true"};
  double quality = 7;
  json_t *reply = json_pack("{s:s}", "reply", "ok");
  assert_int_equal(clt_message_to_quality(&quality, reply, NULL), 0);
  assert_true(isnan(quality));
  assert_int_equal(json_object_set_new(reply, "quality", clt_json_real(-1.0 / 3)), 0);
  assert_int_equal(clt_message_to_quality(&quality, reply, NULL), 0);
  assert_true(quality == -1.0 / 3);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    json_object_set_new(reply, "quality", json_loads(bad[i], JSON_DECODE_ANY, NULL));
    assert_int_equal(clt_message_to_quality(&quality, reply, NULL), CLT_E_FORMAT);
  }
  assert_true(quality == -1.0 / 3);
  assert_int_equal(json_object_set_new(reply, "quality", clt_json_real(NAN)), 0);
  assert_int_equal(clt_message_to_quality(&quality, reply, NULL), 0);
  assert_true(isnan(quality));
  json_decref(reply);
}

static void errors_survive_the_journey(void **state) {
  (void)state;
  clt_error error = {.code = CLT_E_FORMAT, .line = 7, .file = "a.json", .key = "b", .message = "c"}, back = {0};
  json_t *message = clt_message_from_error(&error);
  assert_int_equal(clt_message_to_error(message, &back), CLT_E_FORMAT);
  assert_true(back.line == 7 && !strcmp(back.file, "a.json") && !strcmp(back.key, "b") && !strcmp(back.message, "c"));
  json_object_set_new(message, "code", json_integer(0)); /* "no error" is none of the answers */
  assert_int_equal(clt_message_to_error(message, NULL), CLT_E_WORKER);
  json_decref(message);
}

/* A number that a space gave out at first sight means nothing to the worker's own space. */
static void configurations_without_numbers_of_their_own_travel_as_values(void **state) {
  (void)state;
  clt_space_builder *builder;
  clt_space *here, *there;
  clt_config config;
  clt_recipe back, recipe = {.judged = true};
  char name[8];
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  for (int i = 0; i < 64; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_int_equal(clt_space_builder_parameter_text(builder, name, NULL, "[0, 1]", NULL), 0);
    if (i != 7 && i != 63) continue;
    assert_int_equal(clt_space_new(&here, builder, NULL), 0);
    assert_int_equal(clt_space_new(&there, builder, NULL), 0);
    const clt_config sent = recipe.judge = clt_space_at(here, 40);
    const bool own = i == 63;
    clt_space_at(there, 1); /* its first */
    json_t *values = clt_message_from_config(here, sent), *message = clt_message_from_recipe(&recipe, here);
    assert_true(json_is_string(values) == own);
    config = sent;
    assert_int_equal(clt_message_to_config(&config, values, there, NULL), 0);
    assert_int_equal(clt_message_to_recipe(&back, message, there, NULL), 0);
    assert_true(back.judge == config && (config == sent) != own);
    char *a = clt_config_string(here, sent), *b = clt_config_string(there, config);
    assert_string_equal(a, b);
    free(a);
    free(b);
    json_decref(values);
    json_decref(message);
    clt_space_free(here);
    clt_space_free(there);
  }
  clt_space_builder_free(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_arrive_whole_however_they_are_cut),
      cmocka_unit_test(bad_frames_are_refused),
      cmocka_unit_test(configurations_without_numbers_of_their_own_travel_as_values),
      cmocka_unit_test(what_is_too_long_is_not_sent),
      cmocka_unit_test(a_dead_listener_is_an_error_and_no_signal),
      cmocka_unit_test(measurements_survive_the_journey),
      cmocka_unit_test(senseless_measurements_are_refused),
      cmocka_unit_test(qualities_are_finite_or_none),
      cmocka_unit_test(errors_survive_the_journey),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
