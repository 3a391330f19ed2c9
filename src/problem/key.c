/* The store's key of an instance. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/command.h"

#define MAX_DATA_BYTES ((size_t)1 << 40)

typedef struct key {
  const clt_instance *instance;
  const clt_problem *problem;
  clt_hasher *hasher;
  clt_error *error;
  bool sizes;
} key;

static void add_text(key *k, const char *text) { clt_hasher_add_text(k->hasher, text ? text : ""); }

static void add_expression(key *k, clt_expression_id id) {
  add_text(k, id == CLT_NO_EXPRESSION ? "" : k->problem->expressions[id].text);
}

static void add_extent(key *k, const clt_extent *extent) {
  clt_hasher_add(k->hasher, &extent->n, sizeof extent->n);
  for (size_t d = 0; d < extent->n; d++) add_expression(k, extent->id[d]);
}

static void add_integer(key *k, int64_t x) { clt_hasher_add(k->hasher, &x, sizeof x); }

static int add_kernel(key *k, const char *file) {
  char *text = NULL, *folder = NULL;
  int rc = clt_kernel_read(k->problem, file, &text, &folder, k->error);
  if (rc == CLT_OK)
    rc = clt_hash_with_includes(k->hasher, text, folder, k->problem->include_paths, k->problem->n_include_paths,
                                k->error);
  free(text);
  free(folder);
  return rc;
}

/* A module's text with what it includes. */
static int add_module(key *k, const char *path) {
  char *text = NULL, *folder = clt_path_folder(path);
  size_t n = 0;
  int rc = folder ? clt_file_read(&text, &n, path, CLT_MAX_TEXT_BYTES, k->error) : clt_fail_memory(k->error);
  if (rc == CLT_OK && memchr(text, 0, n)) {
    clt_hasher_add(k->hasher, text, n);
  } else if (rc == CLT_OK) {
    rc = clt_hash_with_includes(k->hasher, text, folder, NULL, 0, k->error);
  }
  free(text);
  free(folder);
  return rc;
}

static int add_data_file(key *k, const char *path) {
  char *bytes = NULL;
  size_t n = 0;
  int rc = clt_file_read(&bytes, &n, path, MAX_DATA_BYTES, k->error);
  if (rc == CLT_OK) clt_hasher_add(k->hasher, bytes, n);
  free(bytes);
  return rc;
}

static void add_options(key *k, const clt_compiler_option *options, size_t n) {
  for (size_t i = 0; i < n; i++) {
    add_text(k, options[i].text);
    add_expression(k, options[i].when);
  }
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

static int add_fill(key *k, const clt_fill *fill) {
  int rc = CLT_OK;
  add_integer(k, fill->kind);
  add_integer(k, fill->seed);
  add_expression(k, fill->value);
  add_text(k, fill->function);
  if (fill->module) rc = add_module(k, fill->module);
  if (rc == CLT_OK && fill->file) rc = add_data_file(k, fill->file);
  return rc;
}

static int add_argument(key *k, const clt_argument *argument) {
  add_text(k, argument->name);
  add_integer(k, argument->kind);
  add_integer(k, argument->access);
  add_integer(k, argument->element.base);
  add_integer(k, argument->element.components);
  add_extent(k, &argument->size);
  add_extent(k, &argument->border);
  add_expression(k, argument->when);
  add_integer(k, argument->border_mode);
  add_integer(k, argument->channel);
  add_integer(k, argument->sampler_normalised | argument->sampler_clamp_to_edge << 1 | argument->sampler_linear << 2);
  add_integer(k, argument->output);
  if (argument->output) { /* what was judged by other tolerances is another judgement */
    clt_hasher_add(k->hasher, &argument->absolute_tolerance, sizeof argument->absolute_tolerance);
    clt_hasher_add(k->hasher, &argument->relative_tolerance, sizeof argument->relative_tolerance);
  }
  return add_fill(k, &argument->fill);
}

/* Without a reference, the configuration whose result is taken for right. */
static int add_reference_configuration(key *k) {
  char *text = clt_config_string(clt_instance_space(k->instance), clt_instance_reference_configuration(k->instance));
  if (text == NULL) return clt_fail_memory(k->error);
  add_text(k, text);
  free(text);
  return CLT_OK;
}

static int add_reference(key *k) {
  const clt_reference *reference = &k->problem->reference;
  int rc = CLT_OK;
  add_integer(k, reference->kind);
  add_text(k, reference->function);
  if (reference->kind == CLT_REFERENCE_DEFAULT) rc = add_reference_configuration(k);
  if (reference->kind == CLT_REFERENCE_MODULE) rc = add_module(k, reference->module);
  if (reference->kind == CLT_REFERENCE_KERNEL) {
    add_launch(k, &reference->launch);
    add_options(k, reference->options, reference->n_options);
    rc = add_kernel(k, reference->kernel_file);
  }
  for (size_t i = 0; rc == CLT_OK && i < reference->n_arrays; i++) {
    add_text(k, reference->arrays[i].target);
    rc = add_fill(k, &reference->arrays[i].fill);
  }
  return rc;
}

static void add_sizes(key *k) {
  for (size_t i = 0; k->sizes && i < k->problem->n_sizes; i++) {
    add_text(k, k->problem->sizes[i].name);
    add_integer(k, k->instance->sizes[i]);
  }
}

static int add_everything(key *k) {
  const clt_problem *problem = k->problem;
  if (problem->command) return add_sizes(k), clt_command_hash(k->hasher, k->instance, k->error);
  add_text(k, "clatune instance 2");
  int rc = add_kernel(k, problem->kernel_file);
  for (size_t i = 0; i < problem->n_launches; i++) add_launch(k, &problem->launches[i]);
  add_options(k, problem->options, problem->n_options);
  add_text(k, problem->opencl_standard);
  add_sizes(k);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++) rc = add_argument(k, &problem->arguments[i]);
  return rc ? rc : add_reference(k);
}

static int make_key(const clt_instance *instance, bool sizes, char out[33], clt_error *error) {
  key k = {instance, instance->problem, clt_hasher_new(), error, sizes};
  if (k.hasher == NULL) return clt_fail_memory(error);
  int rc = add_everything(&k);
  if (rc == CLT_OK) clt_hasher_hex(k.hasher, out);
  clt_hasher_free(k.hasher);
  return rc;
}

int clt_instance_key(const clt_instance *instance, char out[33], clt_error *error) {
  return make_key(instance, true, out, error);
}

int clt_instance_kernel_key(const clt_instance *instance, char out[33], clt_error *error) {
  return make_key(instance, false, out, error);
}
