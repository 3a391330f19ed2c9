/* The kernel's arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

static const char *const known_keys[] = {
    "Name",       "Type",       "MemoryType", "MemType",           "AccessType",       "Size",
    "TypeSize",   "FillType",   "FillValue",  "DataSource",        "RandomSeed",       "Generator",
    "Module",     "When",       "Border",     "BorderMode",        "ChannelType",      "Output",
    "Normalised", "Addressing", "Filter",     "AbsoluteTolerance", "RelativeTolerance"};

enum { SCALAR, VECTOR, IMAGE2D, IMAGE3D, IMAGE1D_BUFFER, SAMPLER, LOCAL, SYMBOL };
enum { GLOBAL_MEMORY, CONSTANT_MEMORY, LOCAL_MEMORY };

static int load_kind(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  static const char *const types[] = {"Scalar",        "Vector",  "Image2D", "Image3D",
                                      "Image1DBuffer", "Sampler", "Local",   "Symbol"};
  static const char *const memories[] = {"Global", "Constant", "Local"};
  static const clt_arg_kind kinds[] = {CLT_ARG_SCALAR,         CLT_ARG_BUFFER,  CLT_ARG_IMAGE2D, CLT_ARG_IMAGE3D,
                                       CLT_ARG_IMAGE1D_BUFFER, CLT_ARG_SAMPLER, CLT_ARG_LOCAL,   CLT_ARG_BUFFER};
  int type = -1, memory = GLOBAL_MEMORY;
  int rc = clt_node_choice(&type, &problem->source, node, "MemoryType", types, 8, error);
  if (rc == CLT_OK) rc = clt_node_choice(&memory, &problem->source, node, "MemType", memories, 3, error);
  if (rc) return rc;
  clt_node place = clt_node_member(node, "MemoryType");
  if (type < 0) return clt_node_fail(&problem->source, node, error, "needs a \"MemoryType\"");
  if (type == SYMBOL)
    return clt_key_fail(&problem->source, place.key, CLT_E_UNSUPPORTED, error,
                        "OpenCL has no symbols; use \"Vector\" with \"MemType\": \"Constant\"");
  argument->kind = kinds[type];
  if (type == VECTOR && memory == CONSTANT_MEMORY) argument->kind = CLT_ARG_CONSTANT;
  if (type == VECTOR && memory == LOCAL_MEMORY) argument->kind = CLT_ARG_LOCAL;
  return CLT_OK;
}

/* T1's names of element types, and OpenCL's. A bool is a byte, as kernels cannot take one. */
static const char *opencl_type(const char *type) {
  static const char *const pairs[][2] = {{"bool", "uchar"},    {"int8", "char"},      {"uint8", "uchar"},
                                         {"int16", "short"},   {"uint16", "ushort"},  {"int32", "int"},
                                         {"uint32", "uint"},   {"int64", "long"},     {"uint64", "ulong"},
                                         {"float32", "float"}, {"float64", "double"}, {"custom", "uchar"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(type, pairs[i][0]) == 0) return pairs[i][1];
  return type;
}

static int load_element(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  char *type = NULL;
  clt_node place = clt_node_member(node, "Type");
  if (argument->kind == CLT_ARG_SAMPLER) return CLT_OK;
  int rc = clt_node_text(&type, &problem->source, node, "Type", true, error);
  if (rc) return rc;
  if (clt_element_parse(&argument->element, opencl_type(type)) != CLT_OK)
    rc = clt_node_fail(&problem->source, &place, error, "\"%s\" is no type of OpenCL, such as float, uchar4 or int",
                       type);
  free(type);
  return rc;
}

/* Elements of T1's type "custom" have TypeSize bytes. */
static int multiply_by_type_size(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  const char *type = json_string_value(json_object_get(node->json, "Type"));
  int64_t bytes = 0;
  if (type == NULL || strcmp(type, "custom") != 0 || argument->size.n == 0) return CLT_OK;
  int rc = clt_node_integer(&bytes, &problem->source, node, "TypeSize", error);
  if (rc) return rc;
  if (bytes < 1) return clt_node_fail(&problem->source, node, error, "needs a \"TypeSize\" for the type \"custom\"");
  clt_expression *size = &problem->expressions[argument->size.id[0]];
  char *text = clt_format("(%s) * %lld", size->text, (long long)bytes);
  if (text == NULL) return clt_fail_memory(error);
  free(size->text);
  size->text = text;
  return CLT_OK;
}

static int check_dimensions(const clt_problem *problem, const clt_argument *argument, const clt_node *node,
                            clt_error *error) {
  clt_node size = clt_node_member(node, "Size");
  size_t wanted = argument->kind == CLT_ARG_IMAGE2D ? 2 : argument->kind == CLT_ARG_IMAGE3D ? 3 : argument->size.n;
  if (argument->size.n == 0) return clt_node_fail(&problem->source, node, error, "needs a \"Size\"");
  if (argument->size.n != wanted)
    return clt_node_fail(&problem->source, &size, error, "needs %zu sizes, x first, as the image has", wanted);
  if (argument->border.n > argument->size.n)
    return clt_node_fail(&problem->source, node, error, "has a \"Border\" of more dimensions than the \"Size\"");
  return CLT_OK;
}

static int load_extents(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  static const char *const modes[] = {"Zero", "Clamp"};
  clt_node size = clt_node_member(node, "Size"), border = clt_node_member(node, "Border");
  int mode = 0;
  if (argument->kind == CLT_ARG_SCALAR || argument->kind == CLT_ARG_SAMPLER) return CLT_OK;
  int rc = clt_add_extent(problem, &argument->size, &size, error);
  if (rc == CLT_OK) rc = clt_add_extent(problem, &argument->border, &border, error);
  if (rc == CLT_OK) rc = clt_node_choice(&mode, &problem->source, node, "BorderMode", modes, 2, error);
  if (rc == CLT_OK) rc = check_dimensions(problem, argument, node, error);
  if (rc == CLT_OK) rc = multiply_by_type_size(problem, argument, node, error);
  for (size_t d = 0; rc == CLT_OK && d < argument->size.n; d++)
    problem->expressions[argument->size.id[d]].of_values = argument->kind != CLT_ARG_LOCAL;
  argument->border_mode = mode == 0 ? CLT_BORDER_ZERO : CLT_BORDER_CLAMP;
  return rc;
}

static bool is_integer_up_to_16_bits(clt_element element) { return element.base <= CLT_ELEMENT_USHORT; }

static int load_image(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  static const char *const channels[] = {"Native", "Normalised"};
  clt_element element = argument->element;
  clt_node type = clt_node_member(node, "Type"), place = clt_node_member(node, "ChannelType");
  int channel = 0;
  if (!clt_arg_is_image(argument->kind)) return CLT_OK;
  if (element.components != 1 && element.components != 2 && element.components != 4)
    return clt_node_fail(&problem->source, &type, error, "the texels of an image have 1, 2 or 4 components");
  if (element.base == CLT_ELEMENT_LONG || element.base == CLT_ELEMENT_ULONG || element.base == CLT_ELEMENT_DOUBLE)
    return clt_node_fail(&problem->source, &type, error, "an image cannot hold components of 64 bits");
  int rc = clt_node_choice(&channel, &problem->source, node, "ChannelType", channels, 2, error);
  if (rc == CLT_OK && channel == 1 && !is_integer_up_to_16_bits(element))
    rc = clt_node_fail(&problem->source, &place, error, "only integers of 8 or 16 bits can be normalised");
  argument->channel = channel == 0 ? CLT_CHANNEL_NATIVE : CLT_CHANNEL_NORMALISED;
  return rc;
}

static int load_sampler(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  static const char *const addressing[] = {"Clamp", "ClampToEdge"}, *const filters[] = {"Nearest", "Linear"};
  int clamp_to_edge = 0, linear = 0;
  if (argument->kind != CLT_ARG_SAMPLER) return CLT_OK;
  int rc = clt_node_flag(&argument->sampler_normalised, &problem->source, node, "Normalised", error);
  if (rc == CLT_OK) rc = clt_node_choice(&clamp_to_edge, &problem->source, node, "Addressing", addressing, 2, error);
  if (rc == CLT_OK) rc = clt_node_choice(&linear, &problem->source, node, "Filter", filters, 2, error);
  argument->sampler_clamp_to_edge = clamp_to_edge;
  argument->sampler_linear = linear;
  return rc;
}

static int load_access(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
  int access = argument->kind == CLT_ARG_BUFFER ? CLT_READ_WRITE : CLT_READ_ONLY;
  int rc = clt_node_choice(&access, &problem->source, node, "AccessType", accesses, 3, error);
  argument->access = (clt_access)access;
  argument->output = clt_holds_data(argument) && argument->access != CLT_READ_ONLY;
  if (rc == CLT_OK) rc = clt_node_flag(&argument->output, &problem->source, node, "Output", error);
  argument->output = argument->output && clt_holds_data(argument);
  return rc;
}

static int load_tolerances(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  clt_element_base base = argument->element.base;
  bool real = base >= CLT_ELEMENT_HALF, half = base == CLT_ELEMENT_HALF;
  argument->absolute_is_stated = clt_node_member(node, "AbsoluteTolerance").json != NULL;
  argument->absolute_tolerance = !real ? 0 : half ? 1e-3 : 1e-6;
  argument->relative_tolerance = !real ? 0 : half ? 1e-2 : 1e-4;
  int rc = clt_node_number(&argument->absolute_tolerance, &problem->source, node, "AbsoluteTolerance", error);
  if (rc == CLT_OK)
    rc = clt_node_number(&argument->relative_tolerance, &problem->source, node, "RelativeTolerance", error);
  if (rc == CLT_OK && !(argument->absolute_tolerance >= 0 && argument->relative_tolerance >= 0))
    rc = clt_node_fail(&problem->source, node, error, "has a tolerance below 0");
  return rc;
}

static int load_content(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  int rc = clt_load_fill(problem, &argument->fill, node, error);
  if (rc) return rc;
  bool repetition = argument->fill.kind == CLT_FILL_REPETITION;
  if (repetition && (argument->kind != CLT_ARG_SCALAR || argument->element.base >= CLT_ELEMENT_HALF))
    return clt_node_fail(&problem->source, node, error,
                         "has the \"FillType\" \"Repetition\", which only whole scalars have");
  if (repetition) return CLT_OK;
  if (argument->kind == CLT_ARG_SCALAR && argument->fill.kind != CLT_FILL_CONSTANT)
    return clt_node_fail(&problem->source, node, error, "needs a \"FillValue\", as scalars do");
  if (argument->kind == CLT_ARG_SCALAR && argument->fill.value == CLT_NO_EXPRESSION)
    return clt_node_fail(&problem->source, node, error, "needs a \"FillValue\"");
  return CLT_OK;
}

static int load_argument(clt_problem *problem, clt_argument *argument, const clt_node *node, clt_error *error) {
  clt_node when = clt_node_member(node, "When");
  int rc = clt_node_text(&argument->name, &problem->source, node, "Name", false, error);
  if (rc == CLT_OK && argument->name == NULL &&
      (argument->name = clt_format("argument%zu", problem->n_arguments - 1)) == NULL)
    rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_add_expression(problem, &argument->when, &when, error);
  if (rc == CLT_OK) rc = load_kind(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_element(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_extents(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_image(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_sampler(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_access(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_tolerances(problem, argument, node, error);
  if (rc == CLT_OK) rc = load_content(problem, argument, node, error);
  return rc;
}

static bool same_text(const clt_problem *problem, const clt_extent *a, const clt_extent *b) {
  for (size_t d = 0; d < a->n && d < b->n; d++)
    if (strcmp(problem->expressions[a->id[d]].text, problem->expressions[b->id[d]].text) != 0) return false;
  return a->n == b->n;
}

/* Entries of one name are the same data in different places. */
static int check_entries(const clt_problem *problem, clt_error *error) {
  for (size_t i = 1; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i], *first = clt_problem_argument(problem, argument->name);
    if (first == argument) continue;
    if (!clt_holds_data(first) || !clt_holds_data(argument))
      return clt_key_fail(&problem->source, argument->key, CLT_E_FORMAT, error,
                          "\"%s\" stands twice; only vectors and images may have several entries", argument->name);
    if (first->element.base != argument->element.base || first->element.components != argument->element.components ||
        !same_text(problem, &first->size, &argument->size))
      return clt_key_fail(&problem->source, argument->key, CLT_E_FORMAT, error,
                          "the entries of \"%s\" need the same \"Type\" and \"Size\"", argument->name);
  }
  return CLT_OK;
}

/* What a kernel reads must come from somewhere; scratch memory (read-write, not verified) need not. */
static int check_content(const clt_problem *problem, clt_error *error) {
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    bool read = argument->access == CLT_READ_ONLY || (argument->access == CLT_READ_WRITE && argument->output);
    if (!clt_holds_data(argument) || !read || clt_problem_fill(problem, argument->name)) continue;
    return clt_key_fail(&problem->source, argument->key, CLT_E_FORMAT, error,
                        "\"%s\" is read and needs a \"FillType\"; for memory that is only scratch say \"AccessType\": "
                        "\"ReadWrite\", \"Output\": 0",
                        argument->name);
  }
  return CLT_OK;
}

int clt_load_arguments(clt_problem *problem, const clt_node *kernel, clt_error *error) {
  clt_node list = clt_node_member(kernel, "Arguments");
  size_t n = json_array_size(list.json);
  int rc = list.json ? clt_node_list(&problem->source, &list, error) : CLT_OK;
  if (rc) return rc;
  problem->arguments = clt_new_array(n, sizeof *problem->arguments);
  if (problem->arguments == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node node = clt_node_item(&list, i);
    clt_argument *argument = &problem->arguments[problem->n_arguments++];
    if ((argument->key = strdup(node.key)) == NULL) return clt_fail_memory(error);
    rc = clt_node_object(&problem->source, &node, error);
    if (rc == CLT_OK)
      rc = clt_node_known(&problem->source, &node, known_keys, sizeof known_keys / sizeof *known_keys, false, error);
    if (rc == CLT_OK) rc = load_argument(problem, argument, &node, error);
  }
  if (rc == CLT_OK) rc = check_entries(problem, error);
  if (rc == CLT_OK) rc = check_content(problem, error);
  return rc;
}
