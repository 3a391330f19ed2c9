/* Instances: a problem at given sizes on a device, with compiled expressions and a space. */
#include "problem/instance.h"
#include "base/base.h"
#include "base/json.h"
#include "space/space.h"

/* --- sizes, values and expressions --- */

static int set_size(clt_instance *instance, clt_size size, clt_error *error) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_passed; i++) {
    const clt_problem_parameter *parameter = &problem->sizes[i];
    if (strcmp(parameter->name, size.name) != 0) continue;
    if (size.value < parameter->min)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at least %lld", size.name, (long long)parameter->min);
    if (size.value > parameter->max)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at most %lld", size.name, (long long)parameter->max);
    instance->sizes[i] = size.value;
    return CLT_OK;
  }
  if (problem->n_passed == 0)
    return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s': it has no problem parameters", size.name);
  const char *near = clt_nearest_among(size.name, problem->sizes, problem->n_passed, sizeof *problem->sizes);
  return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s'; did you mean '%s'?", size.name,
                  near ? near : problem->sizes[0].name);
}

/* The values of a tuning parameter: a T1 text, or a list. */
static int read_values(clt_instance *instance, size_t index, const clt_symbol *constants, size_t n, clt_error *error) {
  const clt_tuning_parameter *parameter = &instance->problem->parameters[index];
  size_t n_values = json_array_size(parameter->list);
  clt_value *values = NULL;
  int rc = CLT_OK;
  if (parameter->list == NULL)
    rc = clt_values_parse(&values, &n_values, parameter->values, parameter->type, constants, n, error);
  else if ((values = clt_new_array(n_values, sizeof *values)) == NULL)
    rc = clt_fail_memory(error);
  for (size_t v = 0; rc == CLT_OK && parameter->list && v < n_values; v++) {
    if (clt_json_to_value(&values[v], json_array_get(parameter->list, v)))
      rc = clt_value_fit(&values[v], parameter->type, error);
    else
      rc = clt_fail(error, CLT_E_FORMAT, "value %zu must be a number, true, false or a string", v + 1);
  }
  instance->parameters[index] = (clt_parameter){parameter->name, values, n_values};
  return rc;
}

/* Replaces "max(name)" and "min(name)" of a tuning parameter by the largest and smallest of its values. */
static const char *replace_value_limit(clt_text *out, const void *user, const char *name, size_t n) {
  const clt_instance *instance = user;
  const bool largest = n == 3 && strncmp(name, "max", n) == 0, smallest = n == 3 && strncmp(name, "min", n) == 0;
  const char *begin = name + n + strspn(name + n, " \t");
  if (!(largest || smallest) || *begin++ != '(') return NULL;
  begin += strspn(begin, " \t");
  for (size_t p = 0; p < instance->problem->n_parameters; p++) {
    const clt_parameter *parameter = &instance->parameters[p];
    const size_t length = strlen(parameter->name);
    const char *close = begin + length;
    if (strncmp(begin, parameter->name, length) != 0) continue;
    close += strspn(close, " \t");
    clt_value best = parameter->values[0];
    if (*close != ')' || best.type == CLT_STRING) continue;
    for (size_t i = 1; i < parameter->n_values; i++) {
      double difference = clt_value_number(parameter->values[i]) - clt_value_number(best);
      if (largest ? difference > 0 : difference < 0) best = parameter->values[i];
    }
    clt_text_add(out, "(");
    clt_text_add_value(out, best);
    clt_text_add(out, ")");
    return close + 1;
  }
  return NULL;
}

int clt_instance_new_compiled(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                              const clt_device_info *device, const clt_value *fixed, clt_error *error) {
  clt_instance *instance = clt_new_array(1, sizeof *instance);
  clt_symbol *symbols = NULL;
  size_t n = 0, n_constants = 0;
  if (instance == NULL) return clt_fail_memory(error);
  instance->problem = problem;
  instance->fixed = fixed;
  instance->has_device = device != NULL;
  if (device) instance->device = *device;
  instance->sizes = clt_arena_array(&instance->arena, problem->n_sizes, sizeof *instance->sizes);
  instance->compiled = clt_arena_array(&instance->arena, problem->n_expressions + 1, sizeof *instance->compiled);
  instance->parameters = clt_arena_array(&instance->arena, problem->n_parameters, sizeof *instance->parameters);
  int rc = clt_arena_check(&instance->arena, error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_sizes; i++)
    rc = clt_default_size(&instance->sizes[i], problem, &problem->sizes[i], device, error);
  for (size_t i = 0; rc == CLT_OK && i < n_sizes; i++) rc = set_size(instance, sizes[i], error);
  if (rc == CLT_OK) rc = clt_instance_symbols(instance, &symbols, &n, &n_constants, error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_parameters; i++) {
    clt_error cause = {0};
    rc = read_values(instance, i, symbols, n_constants, &cause);
    if (rc == CLT_E_EXPRESSION && fixed)
      rc = clt_fail(error, CLT_E_UNSUPPORTED, "the values of '%s' depend on sizes", problem->parameters[i].name);
    else if (rc)
      clt_key_wrap(&problem->source, problem->parameters[i].key, rc, error, &cause);
  }
  /* Expressions over the index of an element may only use the index and constants. There is always a symbol after the
   * constants, which can be replaced by the index: a parameter. */
  const clt_symbol index = {.name = "i", .slot = 0}, behind = rc == CLT_OK && !fixed ? symbols[n_constants] : index;
  for (clt_expression_id id = 1; rc == CLT_OK && id <= problem->n_expressions; id++) {
    const clt_expression *expression = &problem->expressions[id];
    const clt_place place = {&problem->source, expression->key};
    const char *text = expression->text;
    char *expanded = NULL;
    if (expression->of_index && fixed) continue;
    if (!fixed) symbols[n_constants] = expression->of_index ? index : behind;
    const size_t n_known = expression->of_index ? n_constants + 1 : n;
    if (expression->of_values) rc = clt_replace_names(&expanded, text, replace_value_limit, instance, error);
    if (expanded) text = expanded;
    if (rc == CLT_OK) rc = clt_expr_compile_at(&instance->compiled[id], text, &place, symbols, n_known, error);
    free(expanded);
  }
  free(symbols);
  if (rc == CLT_OK)
    *out = instance;
  else
    clt_instance_free(instance);
  return rc;
}

/* --- the space --- */

/* The position of a value; n_values: it is not listed. */
static size_t find_value(const clt_parameter *parameter, const json_t *json) {
  clt_value value;
  return clt_json_to_value(&value, json) ? clt_parameter_find(parameter, value) : parameter->n_values;
}

/* Omits conditions and aliases that use the device if there is none. */
int clt_instance_fill_builder(const clt_instance *instance, clt_space_builder *builder, const char **key,
                              clt_error *error) {
  const clt_problem *problem = instance->problem;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && instance->fixed && i < problem->n_passed; i++) {
    const clt_value size = {.type = CLT_INT, .integer = instance->sizes[i]};
    rc = clt_space_builder_parameter(builder, problem->sizes[i].name, &size, 1, error);
  }
  for (size_t i = 0; rc == CLT_OK && !instance->fixed && i < problem->n_parameters; i++) {
    *key = problem->parameters[i].key;
    const clt_parameter *parameter = &instance->parameters[i];
    rc = clt_space_builder_parameter(builder, parameter->name, parameter->values, parameter->n_values, error);
  }
  for (size_t i = 0; rc == CLT_OK && i < problem->n_conditions; i++) {
    clt_expression_id id = problem->conditions[i];
    if (!clt_needs_device(instance, id))
      rc = clt_space_builder_require(builder, clt_expr_share(instance->compiled[id]), CLT_CONDITION, NULL, error);
  }
  for (size_t i = 0; rc == CLT_OK && !instance->fixed && i < problem->n_aliases; i++) {
    const clt_stated_alias *alias = &problem->aliases[i];
    const int index = clt_problem_parameter_index(problem, alias->parameter);
    const clt_parameter *parameter = index < 0 ? NULL : &instance->parameters[index];
    const size_t position = parameter ? find_value(parameter, alias->value) : 0;
    *key = alias->key;
    if (clt_needs_device(instance, alias->when)) continue;
    const char *near =
        clt_nearest_among(alias->parameter, problem->parameters, problem->n_parameters, sizeof *problem->parameters);
    if (parameter == NULL)
      rc = clt_fail(error, CLT_E_NOT_FOUND, "there is no tuning parameter \"%s\"%s%s%s", alias->parameter,
                    CLT_DID_YOU_MEAN("\"", near));
    else if (position == parameter->n_values)
      rc = clt_fail(error, CLT_E_NOT_FOUND, "\"Value\" is not among the values of \"%s\"", alias->parameter);
    else
      rc = clt_space_builder_alias_when(builder, clt_expr_share(instance->compiled[alias->when]), alias->parameter,
                                        parameter->values[position], error);
  }
  if (rc) return rc;
  *key = "ConfigurationSpace";
  return clt_add_limits(instance, builder, error);
}

int clt_instance_new(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                     const clt_device_info *device, clt_error *error) {
  clt_instance *instance = NULL;
  int rc = clt_instance_new_compiled(&instance, problem, sizes, n_sizes, device, NULL, error);
  if (rc) return rc;
  clt_space_builder *builder = NULL;
  clt_error cause = {0};
  const char *key = "ConfigurationSpace";
  rc = clt_space_builder_new(&builder, &cause);
  if (rc == CLT_OK) rc = clt_instance_fill_builder(instance, builder, &key, &cause);
  if (rc == CLT_OK) rc = clt_space_new(&instance->space, builder, &cause);
  clt_space_builder_free(builder);
  if (rc) clt_key_wrap(&problem->source, key, rc, error, &cause);
  if (rc == CLT_OK)
    *out = instance;
  else
    clt_instance_free(instance);
  return rc;
}

void clt_instance_free(clt_instance *instance) {
  if (instance == NULL) return;
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; instance->compiled && i <= problem->n_expressions; i++) clt_expr_free(instance->compiled[i]);
  for (size_t i = 0; instance->parameters && i < problem->n_parameters; i++)
    free((void *)(uintptr_t)instance->parameters[i].values);
  clt_arena_release(&instance->arena);
  clt_space_free(instance->space);
  free(instance);
}

/* --- properties of an instance --- */

const clt_problem *clt_instance_problem(const clt_instance *instance) { return instance->problem; }
const clt_space *clt_instance_space(const clt_instance *instance) { return instance->space; }
size_t clt_instance_n_sizes(const clt_instance *instance) { return instance->problem->n_passed; }
size_t clt_instance_n_resources(const clt_instance *instance) { return instance->problem->n_resources; }

const clt_device_info *clt_instance_device(const clt_instance *instance) {
  return instance->has_device ? &instance->device : NULL;
}

clt_size clt_instance_size(const clt_instance *instance, size_t index) {
  return (clt_size){instance->problem->sizes[index].name, instance->sizes[index]};
}

char *clt_instance_sizes_text(const clt_instance *instance) {
  clt_text text = {0};
  char *taken = NULL;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    clt_text_printf(&text, "%s%s=%lld", i ? " " : "", size.name, (long long)size.value);
  }
  clt_text_take(&taken, &text, NULL);
  return taken;
}

/* --- configurations --- */

/* Some published T1 files have defaults that are not among the values; the first value is used instead. */
clt_config clt_instance_default(const clt_instance *instance) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < instance->problem->n_parameters; i++) {
    const size_t position = find_value(&instance->parameters[i], instance->problem->parameters[i].default_value);
    positions[i] = position < instance->parameters[i].n_values ? (uint32_t)position : 0;
  }
  return clt_space_from_positions(instance->space, positions);
}

/* NaN: the expression cannot be evaluated. */
static double number_or_nan(const clt_instance *instance, clt_expression_id id, const clt_value *slots) {
  clt_value value;
  bool known =
      id && !clt_needs_device(instance, id) && clt_expr_eval(instance->compiled[id], slots, &value, NULL) == CLT_OK;
  return known ? clt_value_number(value) : NAN;
}

void clt_instance_warn(const clt_instance *instance, clt_log_fn log, void *log_user) {
  const clt_problem *problem = instance->problem;
  clt_value slots[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < problem->n_parameters; i++) {
    const clt_parameter *parameter = &instance->parameters[i];
    const json_t *stated = problem->parameters[i].default_value;
    char *typed = stated ? json_dumps(stated, JSON_ENCODE_ANY) : NULL;
    clt_text text = {0};
    if (typed && find_value(parameter, stated) == parameter->n_values) {
      clt_text_printf(&text, "the \"Default\" of '%s', %.100s, is not among its values; using ", parameter->name,
                      typed);
      clt_value_spell(&text, parameter, 0);
      clt_text_add(&text, " instead");
    }
    if (text.bytes) log(log_user, CLT_LOG_WARNING, text.bytes);
    free(typed);
    clt_text_release(&text);
  }
  clt_instance_slots(instance, clt_instance_reference_configuration(instance), slots);
  for (size_t i = 0; i < problem->n_launches; i++) {
    const clt_extent *global = &problem->launches[i].global;
    for (size_t d = 0; d < global->n; d++) {
      const clt_expression *expression = &problem->expressions[global->id[d]];
      const double number = number_or_nan(instance, global->id[d], slots);
      if (isnan(number) || number == floor(number)) continue;
      clt_log(log, log_user, CLT_LOG_INFO, "%s: %s is %.10g for the default configuration and is rounded up to %.10g",
              expression->key, expression->text, number, ceil(number));
    }
  }
}

clt_config clt_instance_reference_configuration(const clt_instance *instance) {
  clt_config config = clt_instance_default(instance);
  bool usable = clt_space_contains(instance->space, config) || clt_space_valid(instance->space) == 0;
  return usable ? config : clt_space_at(instance->space, 0);
}

clt_reference_kind clt_instance_reference_kind(const clt_instance *instance) {
  return instance->problem->reference.kind;
}

void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, instance->space, config);
  for (size_t i = 0; i < instance->problem->n_parameters; i++)
    slots[i] = clt_space_parameter(instance->space, i)->values[positions[i]];
}

const char *clt_instance_resource_name(const clt_instance *instance, size_t index) {
  return instance->problem->resources[index].name;
}

void clt_instance_resources(const clt_instance *instance, clt_config config, double *out) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(instance, config, slots);
  for (size_t i = 0; i < instance->problem->n_resources; i++)
    out[i] = number_or_nan(instance, instance->problem->resources[i].value, slots);
}

static bool expression_uses(const clt_instance *instance, clt_expression_id id, size_t parameter) {
  const clt_expr *expr = instance->compiled[id];
  for (size_t i = 0; !clt_needs_device(instance, id) && i < clt_expr_n_slots(expr); i++)
    if (clt_expr_slot(expr, i) == parameter) return true;
  return false;
}

bool clt_instance_resource_uses(const clt_instance *instance, size_t resource, size_t parameter) {
  return expression_uses(instance, instance->problem->resources[resource].value, parameter);
}

bool clt_instance_launch_uses(const clt_instance *instance, size_t parameter) {
  const clt_problem *problem = instance->problem;
  bool uses = false;
  for (const clt_launch *l = problem->launches; l < problem->launches + problem->n_launches; l++) {
    const clt_extent *const extents[] = {&l->global, &l->divisor, &l->local};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
      for (size_t k = 0; k < extents[i]->n; k++)
        uses |= extents[i]->id[k] && expression_uses(instance, extents[i]->id[k], parameter);
  }
  return uses;
}

bool clt_instance_has_desirability(const clt_instance *instance) {
  clt_expression_id id = instance->problem->desirability;
  return id && !clt_needs_device(instance, id);
}

double clt_instance_desirability(const clt_instance *instance, clt_config config) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(instance, config, slots);
  return number_or_nan(instance, instance->problem->desirability, slots);
}
