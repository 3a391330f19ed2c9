/* The family file: inputs, features and variants (docs/reference/family-file.md). */
#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "family/family.h"

#define MAX_FAMILY_BYTES ((size_t)16 << 20)
#define MAX_INPUTS 100000
#define MAX_VALUES 65536 /* of a parameter in one entry */
#define MAX_NAMES 64     /* parameters of an input, results of a function, functions */

/* Reads a list of names and adds them to `taken`, which must not have them yet. */
static const char **read_names(size_t *n, const clt_node *parent, const char *key, clt_words *taken) {
  clt_node list = clt_node_member(parent, key);
  const size_t count = clt_read_list(&list);
  const char **names = clt_node_new(&list, count + 1, sizeof *names);
  if (count > MAX_NAMES) clt_node_fail(&list, "has more than %d names", MAX_NAMES);
  for (size_t i = 0; i < count && clt_node_ok(parent); i++) {
    clt_node item = clt_node_item(&list, i);
    names[i] = json_string_value(item.json);
    if (names[i] == NULL || !clt_is_name(names[i])) {
      clt_node_fail(&item, "needs a name: letters, digits and '_'");
      continue;
    }
    for (size_t k = 0; taken && k < taken->n; k++)
      if (strcmp(taken->all[k], names[i]) == 0) clt_node_fail(&item, "\"%s\" is given twice", names[i]);
    if (taken && clt_words_add(taken, strdup(names[i]), NULL)) clt_node_fail_as(&item, CLT_E_MEMORY, "out of memory");
  }
  *n = clt_node_ok(parent) ? count : 0;
  return names;
}

static void read_function(clt_family_function *out, const clt_node *node, clt_words *taken) {
  clt_node names = clt_node_member(node, "Names");
  if (!clt_read_object(node, CLT_NAMES("Function", "Names"), true)) return;
  out->function = clt_read_required_text(node, "Function");
  out->names = read_names(&out->n, node, "Names", taken);
  if (out->n == 0) clt_node_fail(names.json ? &names : node, "needs \"Names\": the names of the function's results");
}

/* Whether an input is given twice. known: hash of the values -> input. */
static bool is_known(const clt_family *f, clt_map *known, size_t input) {
  const int64_t *values = f->inputs + input * f->n_parameters;
  const size_t bytes = f->n_parameters * sizeof *values;
  bool is_new = true;
  uint64_t *first = clt_map_add(known, clt_hash64(values, bytes) >> 1, &is_new); /* >> 1: a map takes not all keys */
  if (first && is_new) *first = input;
  return first && !is_new && memcmp(f->inputs + *first * f->n_parameters, values, bytes) == 0;
}

/* Adds all combinations of the values of each entry, the last parameter fastest. */
static void read_inputs(clt_family *f, const clt_node *inputs, const char *key, clt_map *known) {
  clt_node list = clt_node_member(inputs, key);
  const size_t n_entries = clt_read_list(&list);
  for (size_t e = 0; e < n_entries && clt_node_ok(inputs); e++) {
    clt_node entry = clt_node_item(&list, e);
    int64_t *values[MAX_NAMES] = {0};
    size_t counts[MAX_NAMES] = {0}, n = 1;
    if (!clt_read_object(&entry, f->parameters, true)) return;
    for (size_t i = 0; i < f->n_parameters && clt_node_ok(inputs); i++) {
      clt_node member = clt_node_member(&entry, f->parameters[i]);
      values[i] = clt_load_integers(&counts[i], &member, INT64_MIN, INT64_MAX, MAX_VALUES);
      if (member.json == NULL)
        clt_node_fail(&entry, "needs \"%s\"", f->parameters[i]);
      else if (clt_node_ok(inputs) && (n *= counts[i]) > MAX_INPUTS - f->n_inputs)
        clt_node_fail(&entry, "the family has more than %d inputs", MAX_INPUTS);
    }
    if (!clt_node_ok(inputs)) return;
    if (clt_grow(&f->inputs, &f->inputs_capacity, (f->n_inputs + n) * f->n_parameters, sizeof *f->inputs)) {
      clt_node_fail_as(&entry, CLT_E_MEMORY, "out of memory");
      return;
    }
    for (size_t k = 0; k < n && clt_node_ok(inputs); k++, f->n_inputs++) {
      for (size_t i = f->n_parameters, rest = k; i-- > 0; rest /= counts[i])
        f->inputs[f->n_inputs * f->n_parameters + i] = values[i][rest % counts[i]];
      if (!is_known(f, known, f->n_inputs)) continue;
      char *text = clt_family_input_text(f, f->inputs + f->n_inputs * f->n_parameters);
      clt_node_fail(&entry, "the input %s is given twice", text ? text : "");
      free(text);
    }
  }
}

/* The index of a name among the input's parameters and derived numbers; an unknown name is an error. */
static size_t find_number(const clt_family *f, const clt_node *node, const char *name) {
  const char *all[2 * MAX_NAMES];
  const size_t n = f->n_parameters + f->derived.n;
  for (size_t i = 0; i < n; i++) {
    all[i] = i < f->n_parameters ? f->parameters[i] : f->derived.names[i - f->n_parameters];
    if (strcmp(all[i], name) == 0) return i;
  }
  clt_node_fail_name(node, "input parameter or derived number", name, all, n, sizeof *all);
  return 0;
}

static void read_features(clt_family *f, const clt_node *node, clt_words *taken) {
  clt_node numbers = clt_node_member(node, "Numbers"), functions = clt_node_member(node, "Functions");
  if (node->json == NULL || !clt_read_object(node, CLT_NAMES("From", "Numbers", "Functions"), true)) {
    clt_node_fail(node, "needs \"Features\"");
    return;
  }
  const char **names = read_names(&f->n_numbers, node, "Numbers", NULL);
  f->numbers = clt_node_new(node, f->n_numbers, sizeof *f->numbers);
  f->functions = clt_load_list(&f->n_functions, &functions, sizeof *f->functions);
  if (f->n_functions > MAX_NAMES) clt_node_fail(&functions, "has more than %d functions", MAX_NAMES);
  f->n_features = f->n_numbers;
  for (size_t i = 0; i < f->n_functions && clt_node_ok(node); i++) {
    clt_node item = clt_node_item(&functions, i);
    read_function(&f->functions[i], &item, taken);
    f->n_features += f->functions[i].n;
  }
  if (f->n_features == 0 || f->n_features > CLT_MAX_FEATURES)
    clt_node_fail(node, "needs 1 to %d features", CLT_MAX_FEATURES);
  f->features = clt_node_new(node, f->n_features, sizeof *f->features);
  for (size_t i = 0; i < f->n_numbers && clt_node_ok(node); i++) {
    clt_node item = clt_node_item(&numbers, i);
    f->numbers[i] = find_number(f, &item, names[i]);
    f->features[i] = names[i];
    for (size_t k = 0; k < i; k++)
      if (f->numbers[k] == f->numbers[i]) clt_node_fail(&item, "\"%s\" is given twice", names[i]);
  }
  for (size_t i = 0, at = f->n_numbers; i < f->n_functions && clt_node_ok(node); i++)
    for (size_t k = 0; k < f->functions[i].n; k++) f->features[at++] = f->functions[i].names[k];
}

static clt_problem *read_problem(const clt_family *f, const clt_node *node, const char *name) {
  clt_problem *problem = NULL;
  clt_error cause = {0};
  char *path = clt_node_ok(node) ? clt_node_keep(node, clt_path_join(f->folder, name)) : NULL;
  if (path) clt_node_wrap(node, clt_problem_new(&problem, path, &cause), &cause);
  if (problem && clt_problem_is_command(problem))
    clt_node_fail(node, "this problem has a \"Command\"; a variant must be an OpenCL kernel");
  return problem;
}

static void read_variants(clt_family *f, const clt_node *list, const clt_node *from) {
  const char *origin = json_string_value(from->json);
  bool always = false;
  clt_symbol symbols[CLT_MAX_FEATURES];
  for (size_t i = 0; i < f->n_features; i++) symbols[i] = (clt_symbol){.name = f->features[i], .slot = (uint32_t)i};
  f->variants = clt_load_list(&f->n_variants, list, sizeof *f->variants);
  if (f->n_variants == 0 || f->n_variants > CLT_MAX_ARMS) clt_node_fail(list, "needs 1 to %d variants", CLT_MAX_ARMS);
  for (size_t i = 0; i < f->n_variants && clt_node_ok(list); i++) {
    clt_node item = clt_node_item(list, i), where = clt_node_member(&item, "Where"),
             place = clt_node_member(&item, "Problem"), named = clt_node_member(&item, "Name");
    clt_family_variant *v = &f->variants[i];
    clt_error cause = {0};
    if (!clt_read_object(&item, CLT_NAMES("Name", "Problem", "Where", "Conversion"), true)) return;
    v->name = clt_read_required_text(&item, "Name");
    v->conversion = clt_read_text(&item, "Conversion");
    const char *path = clt_read_required_text(&item, "Problem");
    if (!clt_node_ok(list)) return;
    if (!clt_family_is_name(v->name)) clt_node_fail(&named, "needs letters, digits, '_' and '-' only");
    for (size_t k = 0; k < i; k++)
      if (strcmp(f->variants[k].name, v->name) == 0) clt_node_fail(&named, "\"%s\" is given twice", v->name);
    v->problem = read_problem(f, &place, path);
    if (v->problem && clt_instance_new(&v->standard, v->problem, NULL, 0, NULL, NULL)) v->standard = NULL;
    if (origin && f->from == NULL && strcmp(origin, v->name) == 0) {
      f->from = read_problem(f, &place, path);
      if (f->from) clt_problem_drop_reference(f->from);
    }
    const char *condition = clt_read_text(&item, "Where");
    always |= condition == NULL;
    if (condition == NULL || !clt_node_ok(list)) continue;
    const clt_place at = {item.reading->source, clt_node_keep(&where, strdup(where.key))};
    clt_node_wrap(&where, clt_expr_compile_at(&v->where, condition, &at, symbols, f->n_features, &cause), &cause);
  }
  if (!always)
    clt_node_fail(list, "needs at least one variant without a \"Where\", for inputs on which no other may run");
  if (origin && f->from == NULL && clt_node_ok(list))
    clt_node_fail_name(from, "variant", origin, f->variants, f->n_variants, sizeof *f->variants);
}

static int read_sections(clt_family *f, clt_error *error) {
  clt_reading reading = {&f->source, error, CLT_OK};
  clt_node root = clt_node_root(&reading), inputs = clt_node_member(&root, "Inputs"),
           features = clt_node_member(&root, "Features"), variants = clt_node_member(&root, "Variants"),
           derived = clt_node_member(&inputs, "Derived"), from = clt_node_member(&features, "From"),
           named = clt_node_member(&root, "Family");
  if (json_object_get(root.json, "ConfigurationSpace"))
    clt_node_fail(&root,
                  "this is a problem file; a family file names such files as the \"Problem\" of its \"Variants\"");
  clt_words taken = {0}; /* parameters, derived numbers, and functions' results: names of an input */
  if (!clt_read_object(&root, CLT_NAMES("Family", "Module", "Inputs", "Features", "Variants"), true)) return reading.rc;
  f->name = clt_read_required_text(&root, "Family");
  if (f->name && !clt_is_name(f->name)) clt_node_fail(&named, "needs a name: letters, digits and '_'");
  const char *module = clt_read_required_text(&root, "Module");
  if (module) f->module = clt_node_keep(&root, clt_path_join(f->folder, module));
  if (inputs.json == NULL) clt_node_fail(&root, "needs \"Inputs\"");
  if (clt_node_ok(&root) && clt_read_object(&inputs, CLT_NAMES("Parameters", "Derived", "Train", "Test"), true)) {
    f->parameters = read_names(&f->n_parameters, &inputs, "Parameters", &taken);
    if (f->n_parameters == 0)
      clt_node_fail(&inputs, "needs \"Parameters\": the names of the numbers that define an input");
    if (derived.json) read_function(&f->derived, &derived, &taken);
    clt_map known = {0};
    read_inputs(f, &inputs, "Train", &known);
    f->n_train = f->n_inputs;
    if (f->n_train == 0) clt_node_fail(&inputs, "needs \"Train\": the inputs for training");
    read_inputs(f, &inputs, "Test", &known);
    clt_map_release(&known);
  }
  if (clt_node_ok(&root)) read_features(f, &features, &taken);
  if (clt_node_ok(&root)) read_variants(f, &variants, &from);
  clt_words_free(taken.all);
  return reading.rc;
}

int clt_family_load(clt_family **out, const char *path, clt_error *error) {
  clt_family *f = calloc(1, sizeof *f);
  if (f == NULL) return clt_fail_memory(error);
  int rc = clt_source_read(&f->source, path, MAX_FAMILY_BYTES, error);
  if (rc == CLT_OK && (f->folder = clt_source_keep(&f->source, clt_path_folder(path), error)) == NULL)
    rc = CLT_E_MEMORY;
  if (rc == CLT_OK) rc = read_sections(f, error);
  if (rc == CLT_OK)
    *out = f;
  else
    clt_family_free(f);
  return rc;
}

void clt_family_free(clt_family *f) {
  if (f == NULL) return;
  for (size_t i = 0; f->variants && i < f->n_variants; i++) {
    clt_instance_free(f->variants[i].standard);
    clt_problem_free(f->variants[i].problem);
    clt_expr_free(f->variants[i].where);
  }
  clt_problem_free(f->from);
  free(f->inputs);
  clt_source_release(&f->source);
  free(f);
}
