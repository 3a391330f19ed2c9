/* One problem for several kernels of a file, which are launched in turn. */
#include "base/json.h"
#include "init/init.h"

static bool writes(const clt_kernel_argument *a) {
  return a->writes_image || (a->address == CLT_ADDRESS_GLOBAL && strchr(a->type, '*') && !a->is_const);
}

bool clt_draft_passes_data(const clt_kernel_info *from, const clt_kernel_info *to) {
  for (const clt_kernel_argument *a = from->arguments; a < from->arguments + from->n_arguments; a++)
    for (const clt_kernel_argument *b = to->arguments; b < to->arguments + to->n_arguments; b++) {
      const bool only_reads = (b->reads_image && !b->writes_image) || (strchr(b->type, '*') && b->is_const);
      if (writes(a) && only_reads && strcmp(a->name, b->name) == 0) return true;
    }
  return false;
}

static json_t *find_named(const json_t *list, const char *key, const json_t *name) {
  json_t *item;
  size_t i;
  json_array_foreach(list, i, item) if (json_equal(json_object_get(item, key), name)) return item;
  return NULL;
}

/* Adds the entries that the list lacks. */
static void join_lists(json_t *list, const json_t *more, const char *key) {
  json_t *item;
  size_t i;
  json_array_foreach(more, i, item) if (find_named(list, key, json_object_get(item, key)) == NULL)
      json_array_append(list, item);
}

/* What one launch writes and a later one only reads is scratch memory. */
static void join_arguments(json_t *list, const json_t *more) {
  json_t *item;
  size_t i;
  json_array_foreach(more, i, item) {
    json_t *known = find_named(list, "Name", json_object_get(item, "Name"));
    if (known == NULL) continue;
    const char *before = clt_json_string(known, "AccessType"), *access = clt_json_string(item, "AccessType");
    if (clt_starts_with(clt_json_string(known, "Size"), "TODO"))
      json_object_set(known, "Size", json_object_get(item, "Size"));
    if (strcmp(access, "ReadOnly") == 0 && before[0] && strcmp(before, "ReadOnly") != 0) {
      json_object_set_new(known, "AccessType", json_string("ReadWrite"));
      json_object_set_new(known, "Output", json_integer(0));
      json_object_set_new(known, "// access", json_string("passes data between the launches"));
      json_object_del(known, "FillType");
      json_object_del(known, "FillValue");
    } else if (strcmp(before, "ReadOnly") == 0 && strcmp(access, "ReadOnly") != 0) {
      json_object_set(known, "AccessType", json_object_get(item, "AccessType"));
    }
  }
  join_lists(list, more, "Name");
}

/* Adds build options, and removes those that define what is a tuning parameter of another launch. */
static void join_options(json_t *kernel, json_t *more, const json_t *parameters) {
  json_t *list = json_array(), *all = json_array(), *item;
  size_t i;
  json_array_extend(all, json_object_get(kernel, "CompilerOptions"));
  json_array_extend(all, more);
  json_array_foreach(all, i, item) {
    const char *option = json_string_value(item), *name = option + strlen("-D");
    json_t *defined = clt_starts_with(option, "-D") ? json_stringn(name, strcspn(name, "=")) : NULL;
    bool known = defined && find_named(parameters, "Name", defined);
    for (size_t k = 0; k < json_array_size(list); k++) known |= json_equal(json_array_get(list, k), item);
    if (!known) json_array_append(list, item);
    json_decref(defined);
  }
  if (json_array_size(list))
    json_object_set(kernel, "CompilerOptions", list);
  else
    json_object_del(kernel, "CompilerOptions");
  json_decref(list);
  json_decref(all);
}

/* Moves the kernel and its sizes to a launch. */
static json_t *take_launch(json_t *kernel) {
  static const char *const keys[] = {"KernelName", "GlobalSize", "LocalSize"};
  json_t *launch = json_object(), *names = json_array(), *argument;
  size_t i;
  for (i = 0; i < sizeof keys / sizeof *keys; i++) {
    json_object_set(launch, keys[i], json_object_get(kernel, keys[i]));
    json_object_del(kernel, keys[i]);
  }
  json_array_foreach(json_object_get(kernel, "Arguments"), i, argument)
      json_array_append(names, json_object_get(argument, "Name"));
  json_object_set_new(launch, "Arguments", names);
  json_object_del(kernel, "// LocalSize");
  return launch;
}

json_t *clt_draft_join(json_t *const *problems, size_t n) {
  json_t *out = problems[0], *kernel = json_object_get(out, "KernelSpecification"), *launches = json_array();
  json_t *space = json_object_get(out, "ConfigurationSpace");
  for (size_t i = 0; i < n; i++) {
    json_t *other = json_object_get(problems[i], "KernelSpecification");
    const json_t *from = json_object_get(problems[i], "ConfigurationSpace");
    json_array_append_new(launches, take_launch(other));
    if (i == 0) continue;
    join_lists(json_object_get(out, "ProblemParameters"), json_object_get(problems[i], "ProblemParameters"), "Name");
    join_lists(json_object_get(space, "TuningParameters"), json_object_get(from, "TuningParameters"), "Name");
    join_lists(json_object_get(space, "Conditions"), json_object_get(from, "Conditions"), "Expression");
    join_arguments(json_object_get(kernel, "Arguments"), json_object_get(other, "Arguments"));
    join_options(kernel, json_object_get(other, "CompilerOptions"), json_object_get(space, "TuningParameters"));
  }
  json_object_set_new(kernel, "Launches", launches);
  return out;
}
