/* What `clatune capture` finds by running the problem: outputs that the kernel writes whatever they contain, values
 * that have results of their own, and macros that change how much a work-item computes. */
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "layer/programs/programs.h"
#include "session/session.h"
#include "space/space.h"
#include "worker/pool.h"

#define PATIENCE_S 60 /* then the rest is not tried */
#define MOST_KEPT 0.5 /* an output of which the launch changed a smaller share may have held the result before it */

static const char *const axes[] = {"X", "Y", "Z"};

typedef enum trial_result { UNCLEAR, CORRECT, INCORRECT } trial_result;

/* The result of the problem's default configuration, or with a change, "NAME=8". */
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
    if (change) rc = clt_config_parse_onto(&config, given, space, change, &error);
    if (rc == CLT_OK && clt_space_violation(space, config, NULL) == NULL &&
        clt_verify_configs(&m, NULL, instance, &config, 1, NULL, &settings, &error) == CLT_OK) {
      if (clt_measurement_correct(&m)) out = CORRECT;
      if (m.reason == CLT_REASON_WRONG_OUTPUT || m.reason == CLT_REASON_OUT_OF_BOUNDS ||
          m.reason == CLT_REASON_RUN_CRASH)
        out = INCORRECT;
    }
    clt_measurement_release(&m);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
  free(text);
  return out;
}

/* --- outputs --- */

/* Where an output holds the result before the launch, a kernel that does nothing would pass. If the kernel's result
 * does not depend on that content, it becomes poison. */
static int poison_outputs(const captured *c, json_t *problem, const char *path, clt_error *error) {
  const json_t *list = json_object_get(json_object_get(problem, "KernelSpecification"), "Arguments"), *seen;
  const json_int_t launch = clt_json_count(c->capture, "launch"), n_launches = clt_json_count(c->kernel, "launches");
  bool any = false;
  size_t i;
  json_array_foreach(json_object_get(c->capture, "arguments"), i, seen) {
    json_t *argument = json_array_get(list, i), *before = json_copy(argument);
    char *data = clt_format("%s/%s.bin", c->folder, clt_json_string(argument, "Name"));
    const json_t *changed = json_object_get(seen, "changed");
    if (changed && json_real_value(changed) < MOST_KEPT) {
      json_object_set_new(argument, "AccessType", json_string("WriteOnly"));
      json_object_del(argument, "FillType");
      json_object_del(argument, "DataSource");
      const bool passes = try_change(c, problem, path, NULL) == CORRECT;
      if (passes && data) unlink(data);
      if (!passes) json_object_update(argument, before);
      any |= passes;
    }
    json_decref(before);
    free(data);
  }
  if (any || !json_is_true(json_object_get(c->capture, "unchanged"))) return CLT_OK;
  return clt_fail(error, CLT_E_UNSUPPORTED,
                  "launch %lld (of %lld) leaves all memory as it was: it writes nothing, or what was there before it, "
                  "so wrong results could not be detected; clear its output before the launch%s",
                  (long long)launch, (long long)n_launches,
                  n_launches > launch ? ", or try a later one with --launch" : "");
}

/* --- values --- */

/* The results with the next smaller and the next larger value of a parameter. */
static trial_result try_neighbours(const captured *c, const json_t *problem, const char *path,
                                   const json_t *parameter) {
  const json_int_t own = json_integer_value(json_object_get(parameter, "Default"));
  json_int_t neighbours[2] = {own, own};
  trial_result out = UNCLEAR;
  const json_t *value;
  size_t i;
  json_array_foreach(json_object_get(parameter, "Values"), i, value) {
    const json_int_t v = json_integer_value(value);
    if (v < own && (neighbours[0] == own || v > neighbours[0])) neighbours[0] = v;
    if (v > own && (neighbours[1] == own || v < neighbours[1])) neighbours[1] = v;
  }
  for (i = 0; i < 2 && out != CORRECT; i++) {
    if (neighbours[i] == own) continue;
    char *change = clt_format("%s=%lld", clt_json_string(parameter, "Name"), (long long)neighbours[i]);
    const trial_result found = change ? try_change(c, problem, path, change) : UNCLEAR;
    if (found != UNCLEAR) out = found;
    free(change);
  }
  return out;
}

/* Keeps a value if its neighbours give incorrect results, as where each work-group writes a result of its own, or a
 * macro is part of the computation. */
static void keep_value(const captured *c, const json_t *problem, const char *path, json_t *parameter) {
  const json_int_t own = json_integer_value(json_object_get(parameter, "Default"));
  if (try_neighbours(c, problem, path, parameter) != INCORRECT || try_change(c, problem, path, NULL) != CORRECT) return;
  json_object_set_new(parameter, "Values", json_pack("[I]", own));
  if (!c->quiet)
    cli_message(CLI_FOUND, "note: kernel '%s': other values of %s give other results, so it stays %lld",
                clt_json_string(c->kernel, "name"), clt_json_string(parameter, "Name"), (long long)own);
}

/* --- the work of an item --- */

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

/* Whether the work-group's size depends on a parameter. */
static bool is_of_group(const json_t *problem, const char *name) {
  json_t *local = json_object_get(json_object_get(problem, "KernelSpecification"), "LocalSize"), *size;
  const char *key;
  bool found = false;
  json_object_foreach(local, key, size) {
    const char *text = json_is_string(size) ? json_string_value(size) : "";
    found |= clt_next_word(text, text, name) != NULL;
  }
  return found;
}

int capture_try(captured *c, json_t *problem, const char *path, clt_error *error) {
  const json_t *list = json_object_get(json_object_get(problem, "ConfigurationSpace"), "TuningParameters"), *other;
  const json_t *global = json_object_get(json_object_get(problem, "KernelSpecification"), "GlobalSize");
  const double end_s = clt_now_s() + PATIENCE_S;
  if (!c->quiet)
    cli_message(CLI_FOUND, "trying other values of the macros of kernel '%s'; this may take a minute",
                clt_json_string(c->kernel, "name"));
  clt_workers_reserve(true, true); /* the times of these builds mean nothing */
  const int rc = poison_outputs(c, problem, path, error);
  json_t *parameter;
  size_t i, k;
  json_array_foreach(list, i, parameter) {
    if (rc || clt_now_s() > end_s) break;
    const char *name = clt_json_string(parameter, "Name");
    const json_int_t value = json_integer_value(json_object_get(parameter, "Default"));
    trial_result kept = UNCLEAR;
    char *change = NULL;
    const bool of_group = is_of_group(problem, name);
    if (value < 1 || (of_group && c->draft->uses_groups)) keep_value(c, problem, path, parameter);
    if (value < 1 || of_group) continue;
    json_array_foreach(json_object_get(parameter, "Values"), k, other) {
      if (json_integer_value(other) < 1 || json_integer_value(other) == value || kept != UNCLEAR) continue;
      free(change);
      change = clt_format("%s=%lld", name, (long long)json_integer_value(other));
      kept = change ? try_change(c, problem, path, change) : UNCLEAR;
    }
    for (k = 0; kept == INCORRECT && k < json_object_size(global) && clt_now_s() < end_s; k++)
      if (scale(c, problem, path, axes[k], name, value, change)) kept = CORRECT;
    if (kept == INCORRECT) keep_value(c, problem, path, parameter);
    free(change);
  }
  clt_workers_reserve(false, false);
  return rc;
}
