/* Macros that change how much a work-item computes: found by trying. With the captured global size another value of
 * such a macro gives an incorrect result, with a scaled one a correct result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "layer/programs/capture_problem.h"
#include "session/session.h"
#include "space/space.h"

#define PATIENCE_S 60 /* then the rest is not tried */

static const char *const axes[] = {"X", "Y", "Z"};

typedef enum trial_result { UNCLEAR, CORRECT, INCORRECT } trial_result;

/* The result of the problem's default configuration with a change, "NAME=8". */
static trial_result try_change(const captured *c, const json_t *json, const char *path, const char *change) {
  char *text = json_dumps(json, 0);
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_error error = {0};
  clt_tune_settings settings;
  clt_measurement m;
  bool given[CLT_MAX_PARAMETERS], quiet = c->quiet;
  trial_result out = UNCLEAR;
  clt_tune_settings_init(&settings);
  settings.log = cli_log;
  settings.user = &quiet;
  settings.finalists = 0;
  int rc = text ? clt_file_write(path, text, strlen(text), &error) : CLT_E_MEMORY; /* workers read the file */
  if (rc == CLT_OK) rc = clt_problem_new(&problem, path, &error);
  if (rc == CLT_OK) rc = clt_instance_new(&instance, problem, NULL, 0, &c->device, &error);
  if (rc == CLT_OK) {
    const clt_space *space = clt_instance_space(instance);
    clt_config config = clt_instance_default(instance);
    clt_measurement_init(&m, config);
    rc = clt_config_parse_onto(&config, given, space, change, &error);
    if (rc == CLT_OK && clt_space_violation(space, config, NULL) == NULL &&
        clt_verify_configs(&m, NULL, instance, &config, 1, NULL, &settings, &error) == CLT_OK) {
      if (clt_measurement_correct(&m)) out = CORRECT;
      if (m.reason == CLT_REASON_WRONG_OUTPUT || m.reason == CLT_REASON_OUT_OF_BOUNDS) out = INCORRECT;
    }
    clt_measurement_release(&m);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
  free(text);
  return out;
}

/* Replaces the global size along a dimension, also in the conditions on it. */
static void set_global(json_t *problem, const char *axis, const char *expression) {
  json_t *global = json_object_get(json_object_get(problem, "KernelSpecification"), "GlobalSize"), *condition;
  const json_t *now = json_object_get(global, axis);
  char *before = json_is_string(now) ? clt_format("(%s) %% ", json_string_value(now))
                                     : clt_format("%lld %% ", (long long)json_integer_value(now));
  size_t i;
  json_array_foreach(json_object_get(json_object_get(problem, "ConfigurationSpace"), "Conditions"), i, condition) {
    const char *text = clt_json_string(condition, "Expression");
    if (before && clt_starts_with(text, before))
      json_object_set_new(condition, "Expression", json_sprintf("(%s) %% %s", expression, text + strlen(before)));
  }
  free(before);
  json_object_set_new(global, axis, json_string(expression));
}

/* Tries to divide the global size along a dimension by a macro. True: the result is correct, and the problem changed.
 */
static bool scale(captured *c, json_t *problem, const char *path, const char *axis, const char *name, json_int_t value,
                  const char *change) {
  json_t *copy = json_deep_copy(problem);
  const json_t *now =
      json_object_get(json_object_get(json_object_get(problem, "KernelSpecification"), "GlobalSize"), axis);
  char *size = json_is_string(now) ? strdup(json_string_value(now)) : json_dumps(now, JSON_ENCODE_ANY), *scaled = NULL;
  bool passes = false;
  if (size)
    scaled =
        value == 1 ? clt_format("%s // %s", size, name) : clt_format("%s * %lld // %s", size, (long long)value, name);
  if (copy && scaled) {
    set_global(copy, axis, scaled);
    passes = try_change(c, copy, path, change) == CORRECT;
  }
  if (passes) {
    set_global(problem, axis, scaled);
    if (!c->quiet)
      cli_message(CLI_FOUND, "note: %s changes the work of a work-item, so the global size is now \"%s\": \"%s\"", name,
                  axis, scaled);
  }
  json_decref(copy);
  free(scaled);
  free(size);
  return passes;
}

/* Whether the launch already depends on a parameter. */
static bool is_in_launch(const json_t *problem, const char *name) {
  static const char *const keys[] = {"GlobalSize", "LocalSize"};
  const json_t *kernel = json_object_get(problem, "KernelSpecification"), *size;
  const char *key;
  bool found = false;
  for (size_t i = 0; i < 2; i++) json_object_foreach((json_t *)json_object_get(kernel, keys[i]), key, size) {
      const char *text = json_is_string(size) ? json_string_value(size) : "";
      found |= clt_next_word(text, text, name) != NULL;
    }
  return found;
}

void capture_scale(captured *c, json_t *problem, const char *path) {
  const json_t *list = json_object_get(json_object_get(problem, "ConfigurationSpace"), "TuningParameters"), *parameter,
               *other;
  const json_t *global = json_object_get(json_object_get(problem, "KernelSpecification"), "GlobalSize");
  const double end_s = clt_now_s() + PATIENCE_S;
  size_t i, k;
  json_array_foreach(list, i, parameter) {
    const char *name = clt_json_string(parameter, "Name");
    const json_int_t value = json_integer_value(json_object_get(parameter, "Default"));
    trial_result kept = UNCLEAR;
    char *change = NULL;
    if (value < 1 || is_in_launch(problem, name) || clt_now_s() > end_s) continue;
    json_array_foreach(json_object_get(parameter, "Values"), k, other) {
      if (json_integer_value(other) < 1 || json_integer_value(other) == value || kept != UNCLEAR) continue;
      free(change);
      change = clt_format("%s=%lld", name, (long long)json_integer_value(other));
      kept = change ? try_change(c, problem, path, change) : UNCLEAR;
    }
    for (k = 0; kept == INCORRECT && k < json_object_size(global) && clt_now_s() < end_s; k++)
      if (scale(c, problem, path, axes[k], name, value, change)) break;
    free(change);
  }
}
