/* The keys of instances in stores. */
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "problem/command.h"

#define ALWAYS_HASHED ((size_t)1 << 30) /* of a data file; takes less than a second */

/* After the first failure (rc is not 0), the hash is undefined. Existing stores depend on the order of the added data
 * and on the types of numbers. */
typedef struct key {
  const clt_instance *instance;
  const clt_problem *problem;
  clt_hasher *hasher;
  clt_error *error;
  int rc;
  bool stated; /* add the default configuration as the file states it */
} key;

static void add_text(key *k, const char *text) { clt_hasher_add_text(k->hasher, text ? text : ""); }

static void add_integer(key *k, int64_t x) { clt_hasher_add(k->hasher, &x, sizeof x); }

static void add_expression(key *k, clt_expression_id id) { add_text(k, !id ? "" : k->problem->expressions[id].text); }

static void add_extent(key *k, const clt_extent *extent) {
  clt_hasher_add(k->hasher, &extent->n, sizeof extent->n);
  for (size_t d = 0; d < extent->n; d++) add_expression(k, extent->id[d]);
}

static void add_kernel(key *k, const char *name, const char *file, const clt_compiler_option *more, size_t n_more) {
  clt_error why = {0};
  if (k->rc == CLT_OK && (k->rc = clt_hash_kernel(k->hasher, k->instance, file, more, n_more, &why)))
    clt_key_wrap(&k->problem->source, name, k->rc, k->error, &why);
}

static void add_options(key *k, const clt_compiler_option *options, size_t n) {
  for (size_t i = 0; i < n; i++) {
    add_text(k, options[i].text);
    add_expression(k, options[i].when);
  }
}

/* A look-up must not need the generator. So what a source depends on is added, and not the source. */
static void add_generator(key *k) {
  const clt_generation *generation = &k->problem->generation;
  add_text(k, "generator");
  add_options(k, generation->words, generation->n_words);
  add_text(k, generation->version);
  add_text(k, generation->macros ? "macros" : NULL);
  if (k->rc == CLT_OK) k->rc = clt_hash_generator(k->hasher, k->problem, k->error);
}

/* path NULL: none. */
static void add_module(key *k, const char *path) {
  if (k->rc == CLT_OK && path) k->rc = clt_hash_with_includes(k->hasher, path, NULL, k->error);
}

/* Adds the first `most` bytes of a file, and its size if it has more. */
static int hash_bytes(clt_hasher *hasher, const char *path, size_t most, clt_error *error) {
  char chunk[1 << 16];
  size_t size = 0, left = most;
  ssize_t got = 1;
  int fd, rc = clt_file_open(&fd, &size, path, error);
  if (rc) return rc;
  for (; left > 0 && got > 0; left -= got > 0 ? (size_t)got : 0) {
    got = read(fd, chunk, clt_min(left, sizeof chunk));
    if (got > 0) clt_hasher_add(hasher, chunk, (size_t)got);
  }
  if (got < 0) rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  if (size > most) clt_hasher_add(hasher, &size, sizeof size);
  close(fd);
  return rc;
}

/* The bytes of a data file that can matter: those of the largest argument. Shorter files are read to their end also if
 * they do not fit these sizes, because the file is the same at the sizes that it fits. */
static size_t most_data(const clt_instance *instance) {
  const clt_problem *problem = instance->problem;
  size_t most = ALWAYS_HASHED, extent[3];
  for (size_t i = 0; i < problem->n_arguments; i++) {
    clt_calculation c = {instance, NULL, NULL, CLT_OK};
    size_t bytes = problem->arguments[i].plan.element.bytes;
    clt_evaluate_extent(&c, &problem->arguments[i].size, 1, 1, extent);
    for (size_t d = 0; c.rc == CLT_OK && d < 3; d++)
      if (!clt_size_multiply(&bytes, bytes, extent[d])) c.rc = CLT_E_RANGE;
    if (c.rc == CLT_OK && bytes > most) most = bytes;
  }
  return most;
}

static void add_launch(key *k, const clt_launch *launch) {
  add_text(k, launch->kernel);
  add_integer(k, launch->grid);
  add_extent(k, &launch->global);
  add_extent(k, &launch->divisor);
  add_extent(k, &launch->local);
  add_expression(k, launch->repeat);
  add_expression(k, launch->when);
  if (launch->group > 0) add_integer(k, (int64_t)launch->group);
  add_integer(k, launch->all_args ? -1 : (int64_t)launch->n_args);
  for (size_t i = 0; i < launch->n_args; i++) add_text(k, launch->args[i]);
}

static void add_fill(key *k, const clt_fill *fill) {
  add_integer(k, fill->kind);
  add_integer(k, fill->seed);
  add_expression(k, fill->value);
  add_text(k, fill->function);
  add_module(k, fill->module);
  if (k->rc == CLT_OK && fill->file) k->rc = hash_bytes(k->hasher, fill->file, most_data(k->instance), k->error);
}

/* Adds the arguments and the reference. */
static void add_data(key *k) {
  const clt_problem *problem = k->problem;
  const clt_reference *reference = &problem->reference;
  for (size_t i = 0; k->rc == CLT_OK && i < problem->n_arguments; i++) {
    const clt_argument *a = &problem->arguments[i];
    add_text(k, a->name);
    add_integer(k, a->plan.kind);
    add_integer(k, a->plan.access);
    add_integer(k, a->plan.element.base);
    add_integer(k, a->plan.element.components);
    add_extent(k, &a->size);
    add_extent(k, &a->border);
    add_expression(k, a->when);
    add_integer(k, a->plan.border_mode);
    add_integer(k, a->plan.channel);
    add_integer(k, a->plan.sampler_normalised | a->plan.sampler_clamp_to_edge << 1 | a->plan.sampler_linear << 2);
    add_integer(k, a->output);
    if (a->output) { /* results that were checked with other tolerances are not comparable */
      clt_hasher_add(k->hasher, &a->absolute_tolerance, sizeof a->absolute_tolerance);
      clt_hasher_add(k->hasher, &a->relative_tolerance, sizeof a->relative_tolerance);
      /* The default is not added, because it is scaled to the reference. */
      if (a->absolute_is_stated && a->absolute_tolerance > 0 &&
          a->absolute_tolerance == clt_default_tolerance(a->plan.element.base))
        add_text(k, "stated");
    }
    add_fill(k, &a->fill);
    for (const clt_stated_field *f = a->fields; f < a->fields + a->n_fields; f++) {
      add_text(k, f->name);
      for (size_t v = 0; v < f->n_values; v++) add_expression(k, f->values[v]);
    }
  }
  if (k->rc) return;
  add_integer(k, reference->kind);
  add_text(k, reference->function);
  for (size_t p = 0; k->stated && reference->kind == CLT_REFERENCE_DEFAULT && p < problem->n_parameters; p++) {
    char *text = json_dumps(problem->parameters[p].default_value, JSON_ENCODE_ANY); /* NULL: none */
    add_text(k, problem->parameters[p].name);
    add_text(k, text);
    free(text);
  }
  if (reference->kind == CLT_REFERENCE_DEFAULT && !k->stated) { /* the configuration whose result is taken as correct */
    clt_config config = clt_instance_reference_configuration(k->instance);
    const clt_space *space = k->instance->space;
    clt_text text = {0};
    char *taken = NULL;
    for (size_t p = 0; p < clt_space_n_parameters(space);
         p++) { /* without %XX, for compatibility with existing stores */
      clt_text_printf(&text, "%s%s=", p ? " " : "", clt_space_parameter(space, p)->name);
      clt_text_add_value(&text, clt_space_value(space, config, p));
    }
    k->rc = clt_text_take(&taken, &text, k->error);
    add_text(k, taken);
    free(taken);
  }
  if (reference->kind == CLT_REFERENCE_MODULE) add_module(k, reference->module);
  if (reference->kind == CLT_REFERENCE_KERNEL) {
    add_launch(k, &reference->launch);
    add_options(k, reference->options, reference->n_options);
    add_kernel(k, "Reference.KernelFile", reference->kernel_file, reference->options, reference->n_options);
  }
  if (reference->verify_function) {
    add_text(k, reference->verify_function);
    add_module(k, reference->verify_module);
  }
  for (size_t i = 0; k->rc == CLT_OK && i < reference->n_arrays; i++) {
    add_text(k, reference->arrays[i].target);
    add_fill(k, &reference->arrays[i].fill);
  }
}

static int hash_file(void *hasher, const char *relative, const char *path, bool folder, clt_error *error) {
  clt_hasher_add_text(hasher, relative);
  return folder ? CLT_OK : hash_bytes(hasher, path, CLT_MAX_COMMAND_FILE_BYTES, error);
}

/* Adds everything that the measurements of a command depend on. */
static void add_command(key *k) {
  const clt_command *command = k->problem->command;
  const clt_figure *figure = &command->figure;
  const int kinds[] = {command->shell, (int)command->parameters_form, command->batch.used};
  const int figure_kinds[] = {(int)figure->source, figure->larger_is_better, (int)figure->statistic};
  const char *const texts[] = {
      command->environment, command->parameters_file, command->batch.input, command->batch.output,
      figure->file,         figure->member,           figure->pattern,      figure->unit};
  add_text(k, "clatune command 1");
  clt_hasher_add(k->hasher, kinds, sizeof kinds);
  for (size_t i = 0; i < clt_command_n_lines(command); i++) {
    const clt_command_line *line = clt_command_line_at(command, i);
    clt_hasher_add(k->hasher, &line->n, sizeof line->n);
    add_options(k, line->words, line->n);
  }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (i == 4) { /* words of the figure */
      clt_hasher_add(k->hasher, figure_kinds, sizeof figure_kinds);
      clt_hasher_add(k->hasher, &figure->scale, sizeof figure->scale);
    }
    add_text(k, texts[i] ? "there" : "none");
    add_text(k, texts[i]);
  }
  for (size_t i = 0; i < command->n_links; i++) add_text(k, command->links[i]);
  k->rc = clt_command_each_file(k->instance, hash_file, k->hasher, k->error);
}

static int make_key(const clt_instance *instance, bool with_sizes, bool stated, char out[33], clt_error *error) {
  const clt_problem *problem = instance->problem;
  key k = {instance, problem, clt_hasher_new(), error, .stated = stated};
  if (k.hasher == NULL) return clt_fail_memory(error);
  if (problem->command == NULL) {
    add_text(&k, "clatune instance 2");
    char *path = problem->language && problem->kernel_file ? clt_kernel_path(problem, problem->kernel_file) : NULL;
    if (problem->kernel_file == NULL)
      add_generator(&k);
    else if (path && access(path, R_OK) != 0) /* replaying a recording needs no kernel file */
      add_text(&k, problem->kernel_file);
    else
      add_kernel(&k, "KernelSpecification.KernelFile", problem->kernel_file, NULL, 0);
    free(path);
    if (problem->language) add_text(&k, problem->kernel_name);
    for (size_t i = 0; i < problem->n_launches; i++) add_launch(&k, &problem->launches[i]);
    add_options(&k, problem->options, problem->n_options);
    add_text(&k, problem->opencl_standard);
  }
  for (size_t i = 0; with_sizes && i < problem->n_sizes; i++) {
    add_text(&k, problem->sizes[i].name);
    add_integer(&k, instance->sizes[i]);
  }
  if (problem->command)
    add_command(&k);
  else
    add_data(&k);
  if (problem->guidance.cold_cache) add_text(&k, "cold cache"); /* for compatibility, warm caches add nothing */
  for (size_t i = 0; i < problem->n_sizes; i++) {
    if (!problem->sizes[i].no_macro) continue;
    add_text(&k, "no macro");
    add_text(&k, problem->sizes[i].name);
  }
  if (k.rc == CLT_OK) clt_hasher_hex(k.hasher, out);
  clt_hasher_free(k.hasher);
  return k.rc;
}

int clt_instance_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, true, false, out, error);
}

int clt_instance_kernel_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, false, true, out, error);
}

int clt_instance_model_key(char out[33], const clt_instance *instance, clt_error *error) {
  return make_key(instance, false, false, out, error);
}
