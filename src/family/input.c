/* The module's answers about an input: derived numbers, features, and how long functions and conversions take. It is
 * calculated once, in this process, and kept in the store as the output of a measurement of its own. */
#include "base/base.h"
#include "base/json.h"
#include "family/family.h"
#include "space/space.h"

#define SHORT_S 0.05 /* functions that take less are timed several times; the shortest time counts */
#define TIMES 3

void *clt_family_alloc(size_t n, size_t bytes) {
  void *memory = clt_new_array(n, bytes);
  if (memory) return memory;
  fputs("clatune: out of memory\n", stderr);
  exit(1);
}

void clt_family_input_release(clt_family_input *input) {
  free(input->sizes);
  free(input->features);
  *input = (clt_family_input){0};
}

static void new_input(clt_family_input *out, const clt_family *f, const int64_t *values) {
  *out = (clt_family_input){.n = f->n_parameters + f->derived.n};
  out->sizes = clt_family_alloc(out->n, sizeof *out->sizes);
  out->features = clt_family_alloc(f->n_features + f->n_functions + f->n_variants, sizeof *out->features);
  out->function_s = out->features + f->n_features;
  out->conversion_s = out->function_s + f->n_functions;
  for (size_t i = 0; i < out->n; i++)
    out->sizes[i] = i < f->n_parameters ? (clt_size){f->parameters[i], values[i]}
                                        : (clt_size){f->derived.names[i - f->n_parameters], 0};
}

char *clt_family_input_text(const clt_family *f, const int64_t *values) {
  clt_text text = {0};
  char *out = NULL;
  for (size_t i = 0; i < f->n_parameters; i++)
    clt_text_printf(&text, "%s%s=%lld", i ? " " : "", f->parameters[i], (long long)values[i]);
  return clt_text_take(&out, &text, NULL) ? NULL : out;
}

/* --- calling the module --- */

/* The arguments of the functions. */
typedef struct clt_family_call {
  const clt_family *family;
  const clt_family_input *input;
  size_t n_sizes;       /* of the input that are known */
  const clt_data *data; /* nullable */
} clt_family_call;

/* Calls a function for its results, all finite; a conversion has none. *seconds: nullable. */
static int call_function(double *out, double *seconds, const clt_family_call *c, const clt_family_function *f,
                         clt_error *error) {
  clt_module_function run;
  const size_t n = f->n;
  const size_t n_arrays = c->data ? c->data->n_arrays : 0;
  clt_module_array *arrays = clt_family_alloc(n_arrays, sizeof *arrays);
  clt_module_scalar *scalars = clt_family_alloc(c->n_sizes, sizeof *scalars);
  const clt_module_array target = {"result", "double", {n, 1, 1}, out, n * sizeof *out};
  int rc = clt_module_find_function(&run, c->family->module, f->function, error);
  for (size_t i = 0; i < n; i++) out[i] = NAN; /* shows elements that the function does not write */
  for (size_t i = 0; rc == CLT_OK && i < n_arrays; i++)
    arrays[i] = clt_module_array_of(&c->data->arrays[i], c->data->arrays[i].data);
  for (size_t i = 0; rc == CLT_OK && i < c->n_sizes; i++)
    scalars[i] = (clt_module_scalar){c->input->sizes[i].name, (double)c->input->sizes[i].value};
  const clt_module_call call = {.arrays = arrays,
                                .n_arrays = n_arrays,
                                .scalars = scalars,
                                .n_scalars = c->n_sizes,
                                .target = n ? &target : NULL,
                                .seed = 1};
  double least_s = INFINITY;
  for (int i = 0; rc == CLT_OK && i < (seconds && least_s < SHORT_S ? TIMES : 1); i++) {
    const double start_s = clt_now_s();
    if (run(&call) != 0)
      rc = clt_fail(error, CLT_E_VERIFY, "the function '%s' of the module '%s' returned an error", f->function,
                    c->family->module);
    least_s = fmin(least_s, clt_now_s() - start_s);
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (!isfinite(out[i]))
      rc = clt_fail(error, CLT_E_RANGE, "the function '%s' of the module '%s' gave no finite number for '%s'",
                    f->function, c->family->module, f->names[i]);
  if (seconds) *seconds = least_s;
  free(arrays);
  free(scalars);
  return rc;
}

/* The problem at those of the input's sizes that it declares. */
static int make_instance(clt_instance **out, const clt_problem *problem, const clt_family_input *input,
                         const clt_device_info *device, clt_error *error) {
  clt_size *sizes = clt_family_alloc(input->n, sizeof *sizes);
  size_t n = 0;
  for (size_t i = 0; i < input->n; i++)
    for (size_t k = 0; k < clt_problem_n_sizes(problem); k++)
      if (strcmp(clt_problem_size(problem, k).name, input->sizes[i].name) == 0) sizes[n++] = input->sizes[i];
  int rc = clt_instance_new(out, problem, sizes, n, device, error);
  free(sizes);
  return rc;
}

int clt_family_instance(clt_instance **out, const clt_family *family, size_t variant, const clt_family_input *input,
                        const clt_device_info *device, clt_error *error) {
  const clt_family_variant *v = &family->variants[variant];
  int rc = make_instance(out, v->problem, input, device, error);
  if (rc || !v->standard || clt_space_same_parameters(clt_instance_space(*out), clt_instance_space(v->standard)))
    return rc;
  const bool too_many = clt_space_has_too_many(clt_instance_space(*out));
  clt_instance_free(*out);
  *out = NULL; /* a configuration must mean the same on each input */
  if (too_many)
    return clt_fail(error, CLT_E_UNSUPPORTED,
                    "variant '%s': it has more than 2^63 valid configurations; list fewer values, or order fewer items",
                    v->name);
  return clt_fail(
      error, CLT_E_UNSUPPORTED,
      "variant '%s': the values of its tuning parameters depend on the input; list constant values, and exclude "
      "some of them with conditions",
      v->name);
}

static int calculate(clt_family_input *input, const clt_family *f, const clt_device_info *device, clt_error *error) {
  clt_family_call c = {f, input, f->n_parameters, NULL};
  double *derived = clt_family_alloc(f->derived.n, sizeof *derived), *at = input->features;
  clt_instance *instance = NULL;
  clt_data *data = NULL;
  int rc = f->derived.n ? call_function(derived, NULL, &c, &f->derived, error) : CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < f->derived.n; i++)
    if (derived[i] == floor(derived[i]) && fabs(derived[i]) < 0x1p53)
      input->sizes[f->n_parameters + i].value = (int64_t)derived[i];
    else
      rc = clt_fail(error, CLT_E_RANGE,
                    "the function '%s' of the module '%s' gave %g for '%s'; it must be a whole number",
                    f->derived.function, f->module, derived[i], f->derived.names[i]);
  c.n_sizes = input->n;
  if (rc == CLT_OK && f->from) rc = make_instance(&instance, f->from, input, device, error);
  if (rc == CLT_OK && f->from) rc = clt_data_new(&data, instance, &clt_own_inputs, error);
  c.data = data;
  for (size_t i = 0; i < f->n_numbers; i++) *at++ = (double)input->sizes[f->numbers[i]].value;
  for (size_t i = 0; rc == CLT_OK && i < f->n_functions; at += f->functions[i++].n)
    rc = call_function(at, &input->function_s[i], &c, &f->functions[i], error);
  for (size_t i = 0; rc == CLT_OK && i < f->n_variants; i++) {
    const clt_family_function convert = {.function = f->variants[i].conversion};
    if (convert.function && clt_family_holds(f->variants[i].where, input->features, f->n_features))
      rc = call_function(NULL, &input->conversion_s[i], &c, &convert, error);
  }
  clt_data_free(data);
  clt_instance_free(instance);
  free(derived);
  return rc;
}

/* --- in the store --- */

/* The key of an input's record. It covers everything that the result depends on. */
static int make_key(clt_family_records *r, const clt_family *f, const int64_t *values, clt_error *error) {
  clt_hasher *hasher = clt_hasher_copy(r->up_to_it);
  if (hasher == NULL) return clt_fail_memory(error);
  clt_hasher_add(hasher, values, f->n_parameters * sizeof *values);
  for (size_t i = 0; i < f->n_functions + 1; i++) {
    const clt_family_function *function = i ? &f->functions[i - 1] : &f->derived;
    clt_hasher_add_text(hasher, function->n ? function->function : "");
    for (size_t k = 0; k < function->n; k++) clt_hasher_add_text(hasher, function->names[k]);
  }
  for (size_t i = 0; i < f->n_variants; i++) {
    const clt_family_variant *v = &f->variants[i];
    if (v->conversion == NULL) continue;
    clt_hasher_add_text(hasher, v->conversion);
    clt_hasher_add_text(hasher, v->where ? clt_expr_text(v->where) : "");
  }
  clt_hasher_hex(hasher, r->key.problem);
  clt_hasher_free(hasher);
  return CLT_OK;
}

int clt_family_records_init(clt_family_records *out, const clt_family *f, clt_store *store,
                            const clt_device_info *device, clt_error *error) {
  char kernel[33] = "";
  clt_instance *instance = NULL;
  clt_space_builder *builder = NULL;
  const clt_value one = {.type = CLT_INT, .integer = 1};
  *out = (clt_family_records){.store = store, .up_to_it = clt_hasher_new()};
  if (out->up_to_it == NULL) return clt_fail_memory(error);
  const clt_problem *any = f->from ? f->from : f->variants[0].problem;
  int rc = clt_instance_new(&instance, any, NULL, 0, device, error);
  if (rc == CLT_OK) rc = clt_store_key_device(&out->key, instance, error);
  if (rc == CLT_OK && f->from) rc = clt_instance_kernel_key(kernel, instance, error);
  if (rc == CLT_OK) rc = clt_hash_with_includes(out->up_to_it, f->module, NULL, error);
  if (rc == CLT_OK) {
    clt_hasher_add_text(out->up_to_it, kernel);
    for (size_t i = 0; i < f->n_parameters; i++) clt_hasher_add_text(out->up_to_it, f->parameters[i]);
    rc = clt_space_builder_new(&builder, error);
  }
  /* The space of such records has a single configuration. */
  if (rc == CLT_OK) rc = clt_space_builder_parameter(builder, "features", &one, 1, error);
  if (rc == CLT_OK) rc = clt_space_new(&out->space, builder, error);
  clt_space_builder_free(builder);
  clt_instance_free(instance);
  return rc;
}

void clt_family_records_release(clt_family_records *records) {
  if (records->up_to_it) clt_hasher_free(records->up_to_it);
  clt_space_free(records->space);
}

/* What a record holds, in order: derived numbers, what the functions give, their seconds, those of conversions. A
 * variant's place is that among the variants with one. */
static double *number_at(const clt_family *f, clt_family_input *input, size_t i) {
  const size_t n_given = f->n_features - f->n_numbers;
  if (i < n_given) return &input->features[f->n_numbers + i];
  i -= n_given;
  if (i < f->n_functions) return &input->function_s[i];
  i -= f->n_functions;
  for (size_t v = 0; v < f->n_variants; v++)
    if (f->variants[v].conversion && i-- == 0) return &input->conversion_s[v];
  return NULL;
}

static char *write_record(const clt_family *f, clt_family_input *input) {
  json_t *list = json_array();
  double *number;
  for (size_t i = 0; i < f->derived.n; i++)
    json_array_append_new(list, json_integer(input->sizes[f->n_parameters + i].value));
  for (size_t i = 0; (number = number_at(f, input, i)) != NULL; i++)
    json_array_append_new(list, clt_json_real(*number));
  char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(list);
  return text;
}

/* Whether two records agree on all but the seconds. */
static bool agree(const void *family, const void *what, const void *other) {
  const clt_family *f = family;
  bool same = true;
  for (size_t i = 0; i < f->derived.n + f->n_features - f->n_numbers && same; i++)
    same = json_equal(json_array_get(what, i), json_array_get(other, i));
  return same;
}

typedef struct record_reading {
  const clt_family *family;
  clt_family_input *input;
  clt_saying said[CLT_MOST_VOICES + 1]; /* JSON, owned; one's own has a place in any case */
  size_t n;
} record_reading;

/* Keeps the newest of one's own, and the first of each other voice. Texts in another format are skipped. */
static int read_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  record_reading *r = user;
  const clt_family *f = r->family;
  json_t *list = m->log ? json_loads(m->log, 0, NULL) : NULL;
  size_t n = f->derived.n, k = 0;
  bool good = record->kind == CLT_RECORD_SEARCH && json_is_array(list);
  while (number_at(f, r->input, n - f->derived.n)) n++;
  good = good && json_array_size(list) == n;
  for (size_t i = 0; good && i < n; i++) {
    double number;
    good = i < f->derived.n ? json_is_integer(json_array_get(list, i))
                            : clt_json_read_number(&number, json_array_get(list, i));
  }
  while (k < r->n && r->said[k].voice != record->voice) k++;
  const bool is_new = k == r->n;
  if (good && (record->voice == 0 || (is_new && k < CLT_MOST_VOICES))) {
    if (!is_new) json_decref((json_t *)r->said[k].what);
    r->said[k] = (clt_saying){record->voice, list};
    r->n += is_new;
    list = NULL;
  }
  json_decref(list);
  return 0;
}

/* Takes the record that counts: one's own, else the first, until two others agree. Returns whether there is one. */
static bool take_record(record_reading *r) {
  const clt_family *f = r->family;
  uint64_t weight = UINT64_MAX;
  const json_t *list =
      r->n ? r->said[clt_sayings_judge(&weight, r->said, r->n, r->said[0].voice, agree, f)].what : NULL;
  const bool found = list != NULL;
  r->input->by_one_other = weight <= CLT_WEIGHT_OF_FIRST;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    if (i < f->derived.n)
      r->input->sizes[f->n_parameters + i].value = json_integer_value(item);
    else
      *number_at(f, r->input, i - f->derived.n) = json_number_value(item);
  }
  for (size_t i = 0; found && i < f->n_numbers; i++)
    r->input->features[i] = (double)r->input->sizes[f->numbers[i]].value;
  while (r->n > 0) json_decref((json_t *)r->said[--r->n].what);
  return found;
}

int clt_family_input_get(clt_family_input *out, const clt_family *f, const int64_t *values, clt_family_records *records,
                         const clt_device_info *device, bool only_stored, clt_error *error) {
  record_reading reading = {.family = f, .input = out};
  clt_error cause = {0};
  new_input(out, f, values);
  int rc = records ? make_key(records, f, values, error) : CLT_OK;
  if (rc == CLT_OK && records)
    rc = clt_store_walk(records->store, CLT_STORE_OLDEST_FIRST, &records->key, records->space, read_record, &reading,
                        error);
  const bool found = take_record(&reading) && (only_stored || !out->by_one_other);
  char *text = clt_family_input_text(f, values);
  if (rc == CLT_OK && !found && only_stored)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the store has no features of the input %s; 'clatune family measure' calculates them",
                  text ? text : "");
  if (rc == CLT_OK && !found) {
    const double start_s = clt_now_s();
    clt_family_input_release(out);
    new_input(out, f, values);
    rc = calculate(out, f, device, &cause);
    if (rc) clt_fail(error, rc, "input %s: %s", text ? text : "", cause.message);
    clt_measurement m;
    clt_measurement_init(&m, 0);
    m.time_s = fmax(clt_now_s() - start_s, 1e-9);
    m.log = rc == CLT_OK && records ? write_record(f, out) : NULL;
    if (rc == CLT_OK && records)
      rc = clt_store_add(records->store, &records->key, records->space, CLT_RECORD_SEARCH, &m, error);
    char *name = clt_format("%s features", f->name);
    clt_store_description description = {.problem_name = name, .sizes = text};
    if (records) description.key = records->key;
    if (rc == CLT_OK && records && name) rc = clt_store_describe(records->store, &description, error);
    clt_measurement_release(&m);
    free(name);
  }
  free(text);
  return rc;
}
