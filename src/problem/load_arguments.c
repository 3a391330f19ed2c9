/* The kernel's arguments with the source of their content, and the reference. */
#include "problem/load.h"

/* --- content --- */

/* Whether "Type" is "custom", T1's name for elements of TypeSize bytes. */
static bool node_is_custom(const clt_node *node) {
  const char *type = json_string_value(json_object_get(node->json, "Type"));
  return type && strcmp(type, "custom") == 0;
}

static clt_fill load_fill(clt_problem *problem, const clt_node *node) {
  enum { CONSTANT, RANDOM, GENERATOR, BINARY_RAW, PGM, REPETITION, SCRIPT, BINARY_HDF, ABSENT };
  static const clt_fill_kind kinds[] = {CLT_FILL_CONSTANT, CLT_FILL_RANDOM, CLT_FILL_MODULE,
                                        CLT_FILL_RAW,      CLT_FILL_PGM,    CLT_FILL_REPETITION,
                                        CLT_FILL_NONE,     CLT_FILL_NONE,   CLT_FILL_NONE};
  const bool has_generator = clt_node_has(node, "Generator"), has_module = clt_node_has(node, "Module");
  int usual = has_generator ? GENERATOR : ABSENT;
  if (clt_node_has(node, "FillValue")) usual = CONSTANT;
  int type = clt_read_choice(
      node, "FillType",
      CLT_NAMES("Constant", "Random", "Generator", "BinaryRaw", "PGM", "Repetition", "Script", "BinaryHDF"), usual);
  clt_fill fill = {.kind = kinds[type],
                   .seed = clt_read_integer(node, "RandomSeed", 0),
                   .never_hostile = !clt_read_flag(node, "HostileData", true),
                   .stays = !clt_read_flag(node, "Vary", true) || node_is_custom(node)};
  if (!clt_node_ok(node)) return fill;
  if (type == CONSTANT || type == RANDOM) {
    fill.value = clt_load_expression(problem, node, "FillValue");
  } else if (type == GENERATOR && !has_generator && json_object_get(node->json, "DataSource")) {
    /* T1: an expression over the element's index */
    fill.kind = CLT_FILL_FORMULA;
    fill.value = clt_load_expression(problem, node, "DataSource");
    if (clt_node_ok(node)) problem->expressions[fill.value].of_index = true;
  } else if (type == GENERATOR) {
    fill.function = clt_read_required_text(node, "Generator");
    if (!clt_node_ok(node)) return fill;
    const json_t *shared = json_object_get(json_object_get(problem->source.root, "Reference"), "Module");
    const char *module = json_string_value(has_module ? json_object_get(node->json, "Module") : shared);
    bool built_in = strcmp(fill.function, "ramp") == 0 || strcmp(fill.function, "noise") == 0 ||
                    strcmp(fill.function, "image") == 0;
    if (!has_module && built_in)
      fill.kind = CLT_FILL_BUILT_IN;
    else if (module)
      fill.module = clt_load_path(problem, node, module);
    else if (has_module)
      clt_member_fail(node, "Module", "needs the name of a file");
    else
      clt_member_fail(
          node, "Generator",
          "unknown generator \"%s\"; use \"ramp\", \"noise\" or \"image\", or name the \"Module\" that contains it",
          fill.function);
  } else if (type == BINARY_RAW || type == PGM) {
    fill.file = clt_load_path(problem, node, clt_read_required_text(node, "DataSource"));
  } else if (type == SCRIPT || type == BINARY_HDF) {
    const clt_node place = clt_node_member(node, "FillType");
    clt_node_fail_as(&place, CLT_E_UNSUPPORTED, "%s",
                     type == SCRIPT
                         ? "FillType \"Script\" would execute code from the file; use \"Generator\" with a C "
                           "function, or \"BinaryRaw\""
                         : "FillType \"BinaryHDF\" is not supported; store the data as \"BinaryRaw\"");
  }
  return fill;
}

/* --- arguments --- */

/* "Fields" of a structure that is passed by value. */
static void load_fields(clt_problem *problem, clt_argument *argument, const clt_node *node) {
  clt_node object = clt_node_member(node, "Fields");
  const char *name, *type = clt_read_text(node, "Type");
  json_t *json;
  if (object.json == NULL || !clt_read_object(&object, NULL, false)) return;
  if (argument->plan.kind != CLT_ARG_SCALAR)
    clt_node_fail(&object, "is for a structure: an argument of the \"MemoryType\" \"Scalar\"");
  else if (argument->fill.kind != CLT_FILL_NONE)
    clt_node_fail(&object, "conflicts with \"%s\"; remove one of them",
                  clt_node_has(node, "FillType") ? "FillType" : "FillValue");
  argument->structure = type && strcmp(type, "custom") != 0 ? type : NULL;
  argument->fill = (clt_fill){.kind = CLT_FILL_FIELDS, .stays = true};
  argument->fields = clt_node_new(&object, json_object_size(object.json), sizeof *argument->fields);
  json_object_foreach((json_t *)object.json, name, json) {
    clt_node member = clt_node_member(&object, name);
    if (!clt_node_ok(&object)) return;
    clt_stated_field *f = &argument->fields[argument->n_fields++];
    *f = (clt_stated_field){name, clt_load_key(&member), NULL, clt_node_count(&member)};
    f->values = clt_node_new(&member, f->n_values, sizeof *f->values);
    for (size_t i = 0; i < f->n_values && clt_node_ok(&object); i++) {
      const clt_node item = clt_node_item(&member, i);
      f->values[i] = clt_add_expression(problem, &item);
    }
    if (f->n_values == 0) clt_node_fail(&member, "needs a value");
  }
  if (argument->n_fields == 0) clt_node_fail(&object, "needs a field");
  if (problem->generation.n_words > 0)
    clt_node_fail(&object,
                  "needs a \"KernelFile\" with the structure's declaration; the source of a generated kernel is "
                  "not known here, so store the content in a file as \"BinaryRaw\"");
}

/* "MemoryType", "MemType", "Type". */
static void load_argument_type(clt_argument *argument, const clt_node *node) {
  enum { SCALAR, VECTOR, IMAGE2D, IMAGE3D, IMAGE1D_BUFFER, SAMPLER, LOCAL, SYMBOL };
  static const clt_arg_kind kinds[] = {CLT_ARG_SCALAR,         CLT_ARG_BUFFER,  CLT_ARG_IMAGE2D, CLT_ARG_IMAGE3D,
                                       CLT_ARG_IMAGE1D_BUFFER, CLT_ARG_SAMPLER, CLT_ARG_LOCAL,   CLT_ARG_BUFFER};
  static const clt_arg_kind memories[] = {CLT_ARG_BUFFER, CLT_ARG_CONSTANT, CLT_ARG_LOCAL};
  /* T1's names of element types, and OpenCL's. A bool is a byte, because kernels cannot have bool arguments. */
  static const char *const pairs[][2] = {{"bool", "uchar"},    {"int8", "char"},      {"uint8", "uchar"},
                                         {"int16", "short"},   {"uint16", "ushort"},  {"int32", "int"},
                                         {"uint32", "uint"},   {"int64", "long"},     {"uint64", "ulong"},
                                         {"float32", "float"}, {"float64", "double"}, {"custom", "uchar"}};
  int kind = clt_read_choice(
      node, "MemoryType",
      CLT_NAMES("Scalar", "Vector", "Image2D", "Image3D", "Image1DBuffer", "Sampler", "Local", "Symbol"), -1);
  int memory = clt_read_choice(node, "MemType", CLT_NAMES("Global", "Constant", "Local"), 0);
  if (kind < 0) {
    clt_node_fail(node, "needs a \"MemoryType\"");
  } else if (kind == SYMBOL) {
    const clt_node place = clt_node_member(node, "MemoryType");
    clt_node_fail_as(&place, CLT_E_UNSUPPORTED,
                     "OpenCL does not have symbols; use \"Vector\" with \"MemType\": \"Constant\"");
  } else {
    argument->plan.kind = kind == VECTOR ? memories[memory] : kinds[kind];
  }
  if (argument->plan.kind == CLT_ARG_SAMPLER) return;
  if (clt_node_has(node, "Fields")) { /* the kernel says how many bytes it has */
    argument->plan.element = (clt_element){CLT_ELEMENT_UCHAR, 1, 0};
    return;
  }
  const char *type = clt_read_required_text(node, "Type"), *name = type;
  if (!clt_node_ok(node)) return;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(type, pairs[i][0]) == 0) name = pairs[i][1];
  if (clt_element_parse(&argument->plan.element, name) != CLT_OK)
    clt_member_fail(node, "Type", "\"%s\" is not an OpenCL type; use one such as float, uchar4 or int", type);
}

/* Reads "Size" and "Border", and checks the element type of images. */
static void load_argument_shape(clt_problem *problem, clt_argument *argument, const clt_node *node) {
  const clt_element element = argument->plan.element;
  const bool custom = node_is_custom(node);
  if (argument->plan.kind == CLT_ARG_SCALAR && custom) { /* a structure */
    const int64_t bytes = clt_read_integer(node, "TypeSize", 0);
    if ((bytes < 1 && !clt_node_has(node, "Fields")) || bytes > (int64_t)sizeof argument->plan.scalar)
      clt_node_fail(node, "needs a \"TypeSize\" from 1 to %zu for the type \"custom\"", sizeof argument->plan.scalar);
    argument->plan.element.bytes = (size_t)bytes;
  }
  if (argument->plan.kind == CLT_ARG_SCALAR || argument->plan.kind == CLT_ARG_SAMPLER) return;
  argument->size = clt_load_extent(problem, node, "Size");
  argument->border = clt_load_extent(problem, node, "Border");
  argument->plan.border_mode = (clt_border_mode)clt_read_choice(node, "BorderMode", CLT_NAMES("Zero", "Clamp"), 0);
  size_t n = argument->size.n, wanted = n;
  if (argument->plan.kind == CLT_ARG_IMAGE2D || argument->plan.kind == CLT_ARG_IMAGE3D)
    wanted = argument->plan.kind == CLT_ARG_IMAGE2D ? 2 : 3;
  const clt_node of_run = clt_node_of_run(problem, node);
  if (n == 0) clt_node_fail(&of_run, "needs a \"Size\"");
  if (n > 0 && n != wanted)
    clt_member_fail(node, "Size", "needs %zu sizes, in the order x, y, z, because the argument is an image", wanted);
  if (argument->border.n > n) clt_node_fail(node, "has a \"Border\" with more dimensions than the \"Size\"");
  if (n > 0 && custom) { /* elements have TypeSize bytes */
    int64_t bytes = clt_read_integer(node, "TypeSize", 0);
    if (bytes < 1) clt_node_fail(node, "needs a \"TypeSize\" for the type \"custom\"");
    if (!clt_node_ok(node)) return;
    clt_expression *first = &problem->expressions[argument->size.id[0]];
    first->text = clt_node_keep(node, clt_format("(%s) * %lld", first->text, (long long)bytes));
  }
  for (size_t d = 0; d < n && clt_node_ok(node); d++)
    problem->expressions[argument->size.id[d]].of_values = argument->plan.kind != CLT_ARG_LOCAL;
  if (!clt_arg_is_image(argument->plan.kind)) return;
  if (element.components != 1 && element.components != 2 && element.components != 4)
    clt_member_fail(node, "Type", "an image must have 1, 2 or 4 components per pixel");
  if (element.base == CLT_ELEMENT_LONG || element.base == CLT_ELEMENT_ULONG || element.base == CLT_ELEMENT_DOUBLE)
    clt_member_fail(node, "Type", "an image cannot have components of 64 bits; use a vector");
  argument->plan.channel =
      (clt_image_channel)clt_read_choice(node, "ChannelType", CLT_NAMES("Native", "Normalised"), 0);
  if (argument->plan.channel == CLT_CHANNEL_NORMALISED && element.base > CLT_ELEMENT_USHORT)
    clt_member_fail(node, "ChannelType", "only integers of 8 or 16 bits can be normalised");
}

static void load_argument(clt_problem *problem, clt_argument *argument, const clt_node *node) {
  argument->name = clt_read_text(node, "Name");
  if (argument->name == NULL) argument->name = clt_node_keep(node, clt_format("argument%zu", problem->n_arguments - 1));
  argument->key = clt_load_key(node);
  argument->when = clt_load_expression(problem, node, "When");
  load_argument_type(argument, node);
  load_argument_shape(problem, argument, node);
  if (argument->plan.kind == CLT_ARG_SAMPLER) {
    argument->plan.sampler_normalised = clt_read_flag(node, "Normalised", false);
    argument->plan.sampler_clamp_to_edge = clt_read_choice(node, "Addressing", CLT_NAMES("Clamp", "ClampToEdge"), 0);
    argument->plan.sampler_linear = clt_read_choice(node, "Filter", CLT_NAMES("Nearest", "Linear"), 0);
  }
  argument->plan.access =
      (clt_access)clt_read_choice(node, "AccessType", CLT_NAMES("ReadOnly", "WriteOnly", "ReadWrite"),
                                  argument->plan.kind == CLT_ARG_BUFFER ? CLT_READ_WRITE : CLT_READ_ONLY);
  argument->output = clt_read_flag(node, "Output", argument->plan.access != CLT_READ_ONLY) && clt_holds_data(argument);
  const clt_element_base element = argument->plan.element.base;
  const bool is_integer = element < CLT_ELEMENT_HALF;
  double relative = element == CLT_ELEMENT_HALF ? 1e-2 : 1e-4;
  if (is_integer) relative = 0;
  argument->absolute_is_stated = clt_node_has(node, "AbsoluteTolerance");
  argument->absolute_tolerance = clt_read_number(node, "AbsoluteTolerance", clt_default_tolerance(element));
  argument->relative_tolerance = clt_read_number(node, "RelativeTolerance", relative);
  if (!(argument->absolute_tolerance >= 0 && argument->relative_tolerance >= 0))
    clt_node_fail(node, "has a negative tolerance");
  argument->fill = load_fill(problem, node);
  load_fields(problem, argument, node);
  const clt_node of_run = clt_node_of_run(problem, node);
  bool scalar = argument->plan.kind == CLT_ARG_SCALAR, repetition = argument->fill.kind == CLT_FILL_REPETITION;
  const bool raw = argument->fill.kind == CLT_FILL_RAW, structure = scalar && node_is_custom(node);
  if (argument->n_fields > 0) return;
  if (structure && !raw)
    clt_node_fail(node, "needs \"Fields\", or the \"FillType\" \"BinaryRaw\", because it is a structure");
  else if (repetition && !(scalar && is_integer))
    clt_node_fail(node, "has the \"FillType\" \"Repetition\", which is for integer scalars only");
  else if (scalar && !repetition && !raw && argument->fill.kind > CLT_FILL_CONSTANT)
    clt_node_fail(node, "needs a \"FillValue\", because it is a scalar");
  else if (scalar && !repetition && !raw && !argument->fill.value)
    clt_node_fail(&of_run, "needs a \"FillValue\"");
}

/* Entries with one name are the same data in different kinds of memory. An input needs content, except scratch memory
 * (read-write, not verified). */
static void check_argument(clt_problem *problem, const clt_argument *argument, const clt_node *node) {
  const clt_entries entries = clt_problem_entries(problem, argument->name);
  const clt_argument *first = entries.first;
  const clt_extent *a = &first->size, *b = &argument->size;
  const char *name = argument->name;
  bool alike = first->plan.element.base == argument->plan.element.base &&
               first->plan.element.components == argument->plan.element.components && a->n == b->n;
  for (size_t d = 0; alike && d < a->n; d++)
    alike = strcmp(problem->expressions[a->id[d]].text, problem->expressions[b->id[d]].text) == 0;
  if (first != argument && (!clt_holds_data(first) || !clt_holds_data(argument)))
    clt_node_fail(node, "there are two arguments named \"%s\"; only vectors and images may have several entries", name);
  if (!alike) clt_node_fail(node, "all entries of \"%s\" must have the same \"Type\" and \"Size\"", name);
  bool read = argument->plan.access == CLT_READ_ONLY || (argument->plan.access == CLT_READ_WRITE && argument->output);
  const clt_node of_run = clt_node_of_run(problem, node);
  if (clt_holds_data(argument) && read && entries.fill == NULL)
    clt_node_fail(&of_run,
                  "\"%s\" is an input and needs a \"FillType\"; if it is only scratch memory, set \"AccessType\": "
                  "\"ReadWrite\", \"Output\": 0",
                  name);
}

void clt_load_arguments(clt_problem *problem, const clt_node *kernel) {
  clt_node list = clt_node_member(kernel, "Arguments");
  size_t n;
  problem->arguments = clt_load_list(&n, &list, sizeof *problem->arguments);
  for (size_t i = 0; i < n && clt_node_ok(kernel); i++) {
    clt_node node = clt_node_item(&list, i);
    if (!clt_read_object(&node,
                         CLT_NAMES("Name", "Type", "MemoryType", "MemType", "AccessType", "Size", "TypeSize", "Fields",
                                   "FillType", "FillValue", "DataSource", "RandomSeed", "HostileData", "Vary",
                                   "Generator", "Module", "When", "Border", "BorderMode", "ChannelType", "Output",
                                   "Normalised", "Addressing", "Filter", "AbsoluteTolerance", "RelativeTolerance"),
                         false))
      return;
    problem->n_arguments++;
    load_argument(problem, &problem->arguments[i], &node);
  }
  for (size_t i = 0; i < n && clt_node_ok(kernel); i++) {
    clt_node node = clt_node_item(&list, i);
    check_argument(problem, &problem->arguments[i], &node);
  }
}

/* --- reference --- */

/* ReferenceArguments: correct results from files. */
static void load_reference_arrays(clt_problem *problem, const clt_node *list) {
  clt_reference *reference = &problem->reference;
  size_t n;
  reference->arrays = clt_load_list(&n, list, sizeof *reference->arrays);
  if (n) reference->kind = CLT_REFERENCE_FILE;
  for (size_t i = 0; n && i < problem->n_arguments; i++)
    problem->arguments[i].output = false; /* only arguments with a reference are verified */
  for (size_t i = 0; i < n && clt_node_ok(list); i++) {
    clt_node node = clt_node_item(list, i);
    clt_reference_array *array = &reference->arrays[reference->n_arrays++];
    if (!clt_read_object(&node,
                         CLT_NAMES("Name", "TargetName", "FillType", "FillValue", "DataSource", "RandomSeed",
                                   "ValidationMethod", "ValidationThreshold", "Generator", "Module"),
                         false))
      return;
    array->target = clt_read_required_text(&node, "TargetName");
    if (!clt_node_ok(&node)) return;
    const clt_node place = clt_node_member(&node, "TargetName");
    const clt_argument *target = clt_problem_entries(problem, array->target).first;
    if (target == NULL || target->plan.kind == CLT_ARG_SCALAR || target->plan.kind == CLT_ARG_LOCAL)
      clt_node_fail_name(&place, "vector or image", array->target, problem->arguments, problem->n_arguments,
                         sizeof *problem->arguments);
    array->fill = load_fill(problem, &node);
    if (array->fill.kind == CLT_FILL_NONE || array->fill.kind == CLT_FILL_RANDOM)
      clt_node_fail(&node, "needs the correct result; use the \"FillType\" \"BinaryRaw\"");
    bool relative = clt_read_choice(&node, "ValidationMethod",
                                    CLT_NAMES("AbsoluteDifference", "SideBySideComparison", "RelativeDifference",
                                              "SideBySideRelativeComparison"),
                                    0) >= 2;
    double threshold = clt_read_number(&node, "ValidationThreshold", -1);
    for (size_t k = 0; k < problem->n_arguments; k++) {
      clt_argument *argument = &problem->arguments[k];
      if (strcmp(argument->name, array->target) != 0) continue;
      argument->output = true;
      if (!(threshold >= 0)) continue;
      argument->relative_tolerance = relative ? threshold : 0;
      if (!relative || !argument->absolute_is_stated) argument->absolute_tolerance = relative ? 0 : threshold;
      argument->absolute_is_stated = true;
    }
  }
}

/* Reads a function of a C module; the default module is `shared`. */
static void load_function(clt_problem *problem, const clt_node *section, const char *shared, const char **module,
                          const char **function) {
  *function = clt_read_required_text(section, "Function");
  const char *name = shared ? clt_read_text(section, "Module") : clt_read_required_text(section, "Module");
  *module = name ? clt_load_path(problem, section, name) : shared;
}

void clt_load_reference(clt_problem *problem, const clt_node *root) {
  clt_node node = clt_node_member(root, "Reference"), list = clt_node_member(root, "ReferenceArguments"),
           kernel = clt_node_member(root, "KernelSpecification"), quality = clt_node_member(&node, "Quality"),
           verify = clt_node_member(&node, "Verify");
  clt_reference *reference = &problem->reference;
  if (list.json == NULL) list = clt_node_member(&kernel, "ReferenceArguments");
  reference->kind = CLT_REFERENCE_DEFAULT;
  if (node.json && json_array_size(list.json) > 0)
    clt_node_fail(&node, "conflicts with \"ReferenceArguments\"; remove one of them");
  if (node.json == NULL) {
    load_reference_arrays(problem, &list);
  } else if (json_object_get(node.json, "KernelName") || json_object_get(node.json, "KernelFile")) {
    reference->kind = CLT_REFERENCE_KERNEL;
    clt_read_object(&node,
                    CLT_NAMES("KernelFile", "KernelName", "GlobalSize", "GlobalSizeType", "LocalSize", "Arguments",
                              "CompilerOptions", "Quality", "Verify"),
                    true);
    const char *file = clt_read_text(&node, "KernelFile");
    reference->kernel_file = file ? file : problem->kernel_file;
    if (reference->kernel_file == NULL)
      clt_node_fail(&node, "needs a \"KernelFile\", because the tuned kernel is generated");
    clt_load_options(problem, &reference->options, &reference->n_options, &node);
    clt_load_launch(problem, &reference->launch, &(clt_launch){.all_args = true}, &node);
  } else if (clt_read_object(&node, CLT_NAMES("Module", "Function", "Quality", "Verify"), true)) {
    reference->kind = CLT_REFERENCE_MODULE;
    load_function(problem, &node, NULL, &reference->module, &reference->function);
  }
  if (verify.json && clt_read_object(&verify, CLT_NAMES("Module", "Function"), true))
    load_function(problem, &verify, reference->module, &reference->verify_module, &reference->verify_function);
  if (quality.json && clt_read_object(&quality, CLT_NAMES("Module", "Function", "Name", "Unit"), true)) {
    load_function(problem, &quality, reference->module, &reference->quality.module, &reference->quality.function);
    reference->quality.name = clt_read_required_text(&quality, "Name");
    reference->quality.unit = clt_read_text(&quality, "Unit");
  }
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (problem->arguments[i].output) return;
  reference->kind = CLT_REFERENCE_NONE;
  if (reference->quality.name)
    clt_node_fail(&node, "has a \"Quality\", but no output to judge; set \"Output\": 1 on an argument");
}
