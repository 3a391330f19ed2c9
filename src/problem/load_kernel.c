/* KernelSpecification: the kernel, its options, resources and launches. */
#include <ctype.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"
#include "problem/instance.h"
#include "problem/load.h"

/* --- options with expressions in braces --- */

void clt_load_holes(clt_problem *problem, clt_compiler_option *option, const clt_node *node) {
  size_t n_braces = 0;
  for (const char *at = option->text; *at; at++) n_braces += *at == '{';
  option->holes = clt_node_new(node, n_braces, sizeof *option->holes);
  for (const char *at = strchr(option->text, '{'); at && clt_node_ok(node); at = strchr(at, '{')) {
    if (at[1] == '{') {
      at += 2;
      continue;
    }
    const char *end = strchr(at, '}');
    if (end == NULL) {
      clt_node_fail(node, "a '}' is missing; write '{{' for a literal brace");
      return;
    }
    char *text = clt_node_keep(node, strndup(at + 1, (size_t)(end - at - 1)));
    if (text) option->holes[option->n_holes++] = clt_add_expression_text(problem, text, node);
    at = end;
  }
}

const char *clt_load_option(clt_problem *problem, clt_compiler_option *out, clt_node *place, const clt_node *node,
                            const char *name) {
  *place = *node;
  if (json_is_object(node->json)) {
    *place = clt_node_member(node, name);
    clt_read_object(node, CLT_NAMES(name, "When"), true);
    out->when = clt_load_expression(problem, node, "When");
  }
  const char *text = json_string_value(place->json);
  if (text == NULL) clt_node_fail(node, "needs a string, or {\"%s\": ..., \"When\": ...}", name);
  return clt_node_ok(node) ? text : NULL;
}

void clt_load_options(clt_problem *problem, clt_compiler_option **out, size_t *n_out, const clt_node *parent) {
  clt_node list = clt_node_member(parent, "CompilerOptions"), place;
  size_t n;
  *out = clt_load_list(&n, &list, sizeof **out);
  for (size_t i = 0; i < n && clt_node_ok(parent); i++) {
    clt_node node = clt_node_item(&list, i);
    clt_compiler_option *option = &(*out)[(*n_out)++];
    option->text = clt_load_option(problem, option, &place, &node, "Option");
    if (option->text) clt_load_holes(problem, option, &place);
  }
}

/* --- the generator --- */

static void load_generator(clt_problem *problem, const clt_node *kernel) {
  clt_generation *generation = &problem->generation;
  clt_node node = clt_node_member(kernel, "Generator"), words = node, place;
  const bool has_file = clt_node_has(kernel, "KernelFile");
  if (node.json == NULL) {
    if (!has_file) clt_node_fail(kernel, "needs a \"KernelFile\", or a \"Generator\" that writes the source");
    return;
  }
  if (has_file) clt_node_fail(&node, "conflicts with \"KernelFile\"; remove one of them");
  if (json_is_object(node.json)) {
    clt_node files = clt_node_member(&node, "Files");
    clt_read_object(&node, CLT_NAMES("Command", "Persistent", "Macros", "Files", "Version"), true);
    words = clt_node_member(&node, "Command");
    generation->persistent = clt_read_flag(&node, "Persistent", false);
    generation->macros = clt_read_flag(&node, "Macros", false);
    generation->version = clt_read_text(&node, "Version");
    clt_load_file_names(problem, &generation->files, &generation->n_files, &files);
    for (size_t i = 0; i < generation->n_files && clt_node_ok(kernel); i++) {
      clt_node item = clt_node_item(&files, i);
      struct stat status;
      if (stat(clt_load_path(problem, &item, generation->files[i]), &status) == 0 && !S_ISREG(status.st_mode))
        clt_node_fail(&item, "\"%s\" is no file; list the files in it", generation->files[i]);
    }
  }
  if (!json_is_array(words.json) || json_array_size(words.json) == 0)
    clt_node_fail(&node,
                  "needs a list of words such as [\"python3\", \"generate.py\"], or an object with such a \"Command\"");
  size_t n;
  generation->words = clt_load_list(&n, &words, sizeof *generation->words);
  for (size_t i = 0; i < n && clt_node_ok(kernel); i++) {
    clt_node item = clt_node_item(&words, i);
    clt_compiler_option *word = &generation->words[generation->n_words++];
    word->text = clt_load_option(problem, word, &place, &item, "Word");
    if (word->text) clt_load_holes(problem, word, &place);
    if (clt_node_ok(kernel) && generation->persistent && (word->n_holes > 0 || word->when))
      clt_node_fail(&item,
                    "depends on the configuration, but a \"Persistent\" program serves all; it reads the "
                    "configuration from its standard input");
  }
}

/* --- launches --- */

/* Reads "LocalSize". Without it, parameters with Kernel Tuner's names for the block size are the local size. */
static clt_extent load_local_size(clt_problem *problem, const clt_node *kernel) {
  clt_extent local = {0};
  const bool tuner = problem->problem_size.n > 0;
  size_t n = tuner;
  if (json_object_get(kernel->json, "LocalSize")) return clt_load_extent(problem, kernel, "LocalSize");
  for (size_t d = 0; d < 3; d++)
    if (clt_problem_parameter_index(problem, clt_block_sizes[d]) >= 0) n = d + 1;
  for (; local.n < n && clt_node_ok(kernel); local.n++) {
    bool known = tuner || clt_problem_parameter_index(problem, clt_block_sizes[local.n]) >= 0;
    local.id[local.n] = clt_add_expression_text(problem, known ? clt_block_sizes[local.n] : "1", kernel);
  }
  return local;
}

/* Reads the grid divisors: expressions or lists of factors. The default is the block size, as in Kernel Tuner. */
static clt_extent load_divisors(clt_problem *problem, const clt_node *kernel) {
  static const char *const names[] = {"GridDivX", "GridDivY", "GridDivZ"};
  clt_extent divisor = {.n = problem->problem_size.n};
  for (size_t d = 0; d < divisor.n && d < 3 && clt_node_ok(kernel); d++) {
    clt_node node = clt_node_member(kernel, names[d]);
    size_t n = json_array_size(node.json);
    clt_text product = {0};
    char *text = NULL;
    if (node.json && !json_is_array(node.json)) {
      divisor.id[d] = clt_add_expression(problem, &node);
    } else if (n == 0) {
      if (clt_problem_parameter_index(problem, clt_block_sizes[d]) >= 0)
        divisor.id[d] = clt_add_expression_text(problem, clt_block_sizes[d], kernel);
    } else {
      for (size_t i = 0; i < n; i++) {
        clt_node item = clt_node_item(&node, i);
        clt_value factor = {CLT_INT, .integer = 1};
        if (!(json_is_string(item.json) || json_is_integer(item.json)) || !clt_json_to_value(&factor, item.json))
          clt_node_fail(&item, "needs a number or an expression in quotes");
        clt_text_add(&product, i ? " * (" : "(");
        clt_text_add_value(&product, factor);
        clt_text_add(&product, ")");
      }
      clt_text_take(&text, &product, kernel->reading->error);
      text = clt_node_keep(&node, text);
      if (clt_node_ok(kernel)) divisor.id[d] = clt_add_expression_text(problem, text, &node);
    }
  }
  return divisor;
}

/* The unit of "GlobalSize" according to "GlobalSizeType"; without it, the unit is `before`. */
static clt_grid_kind load_grid_kind(const clt_node *node, clt_grid_kind before) {
  int grid = clt_read_choice(node, "GlobalSizeType", CLT_NAMES("OpenCL", "CUDA", "Vulkan"), before == CLT_GRID_GROUPS);
  return grid == 0 ? CLT_GRID_ITEMS : CLT_GRID_GROUPS;
}

/* generated: the generator may state what the file leaves out. */
static void check_launch_sizes(const clt_launch *launch, bool generated, const clt_node *node) {
  if (launch->global.n == 0 && !generated) clt_node_fail(node, "needs a \"GlobalSize\"");
  if (launch->grid == CLT_GRID_GROUPS && launch->local.n == 0)
    clt_node_fail(node, "needs a \"LocalSize\", because the global size counts work-groups");
}

void clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *defaults, const clt_node *node) {
  clt_node args = clt_node_member(node, "Arguments");
  clt_launch launch = *defaults;
  launch.key = clt_load_key(node);
  const char *kernel = launch.kernel ? clt_read_text(node, "KernelName") : clt_read_required_text(node, "KernelName");
  const clt_extent global = clt_load_extent(problem, node, "GlobalSize");
  if (kernel) launch.kernel = kernel;
  launch.stated = load_grid_kind(node, launch.stated);
  if (global.n) launch.global = global;
  if (global.n || launch.grid != CLT_GRID_DIVIDED) launch.grid = launch.stated;
  if (json_object_get(node->json, "LocalSize")) launch.local = clt_load_extent(problem, node, "LocalSize");
  check_launch_sizes(&launch, false, node);
  size_t n;
  const char **names = clt_load_list(&n, &args, sizeof *names);
  if (args.json) launch.all_args = false, launch.args = names;
  for (size_t i = 0; i < n && clt_node_ok(node); i++) {
    clt_node item = clt_node_item(&args, i);
    const char *name = json_string_value(item.json);
    if (name == NULL) {
      clt_node_fail(&item, "needs the name of an argument");
    } else if (clt_problem_entries(problem, name).n == 0) {
      clt_node_fail_name(&item, "argument", name, problem->arguments, problem->n_arguments, sizeof *problem->arguments);
    } else {
      names[launch.n_args++] = name;
    }
  }
  const clt_expression_id repeat = clt_load_expression(problem, node, "Repeat");
  if (repeat) launch.repeat = repeat;
  launch.when = clt_load_expression(problem, node, "When");
  *out = launch;
}

/* Launches that are repeated together are stored as consecutive launches with the same group number and "Repeat".
 * Within a group, both come from defaults. */
static void load_launches(clt_problem *problem, const clt_launch *defaults, const clt_node *list) {
  size_t n = clt_read_list(list);
  if (n == 0) clt_node_fail(list, "needs a launch");
  for (size_t i = 0; i < n && clt_node_ok(list); i++) {
    clt_node node = clt_node_item(list, i), group = clt_node_member(&node, "Launches"),
             repeat = clt_node_member(&node, "Repeat");
    if (!clt_read_object(&node, NULL, false)) return;
    if (defaults->group > 0 && (repeat.json || group.json))
      clt_node_fail(repeat.json ? &repeat : &group,
                    "is not allowed within a group of launches; the group is repeated as a whole");
    if (group.json) {
      clt_launch shared = *defaults;
      clt_read_object(&node, CLT_NAMES("Launches", "Repeat"), true);
      shared.repeat = clt_load_expression(problem, &node, "Repeat");
      shared.group = problem->n_launches + 1;
      load_launches(problem, &shared, &group);
    } else if (clt_read_object(
                   &node,
                   CLT_NAMES("KernelName", "GlobalSize", "GlobalSizeType", "LocalSize", "Arguments", "Repeat", "When"),
                   true)) {
      clt_load_launch(problem, &problem->launches[problem->n_launches++], defaults, &node);
    }
  }
}

/* --- the section --- */

static const char *const limit[] = {"LocalMemoryBytes", NULL}; /* other names are free */

void clt_load_hints(clt_problem *problem, const clt_node *section) {
  clt_node object = clt_node_member(section, "Resources");
  const char *name;
  json_t *value;
  if (object.json && clt_read_object(&object, limit, false)) {
    problem->resources = clt_node_new(&object, json_object_size(object.json), sizeof *problem->resources);
    json_object_foreach((json_t *)object.json, name, value) if (!json_is_null(value) &&
                                                                isalpha((unsigned char)name[0]) &&
                                                                clt_node_ok(section)) /* other keys are comments */
        problem->resources[problem->n_resources++] = (clt_resource){name, clt_load_expression(problem, &object, name)};
  }
  problem->desirability = clt_load_expression(problem, section, "Desirability");
}

clt_node clt_node_of_run(clt_problem *problem, const clt_node *node) {
  clt_node same = *node;
  problem->reading_of_run.source = &problem->source;
  problem->reading_of_run.error = &problem->not_run;
  same.reading = &problem->reading_of_run;
  return same;
}

void clt_load_kernel(clt_problem *problem, const clt_node *root) {
  clt_node kernel = clt_node_member(root, "KernelSpecification"), language = clt_node_member(&kernel, "Language"),
           paths = clt_node_member(&kernel, "IncludePaths"), launches = clt_node_member(&kernel, "Launches");
  if (kernel.json == NULL) clt_node_fail(root, "needs a \"KernelSpecification\", or a \"Command\"");
  if (!clt_read_object(
          &kernel,
          CLT_NAMES("Language", "KernelFile", "Generator", "KernelName", "CompilerOptions", "IncludePaths",
                    "OpenCLStandard", "GlobalSize", "LocalSize", "GlobalSizeType", "ProblemSize", "GridDivX",
                    "GridDivY", "GridDivZ", "Arguments", "Launches", "Resources", "Desirability", "ReferenceArguments",
                    /* keys of T1 that are ignored: */ "BenchmarkName", "Device", "Profiling", "SharedMemory",
                    "SimulationInput", "KernelTypeNames", "Stream", "Misc"),
          false))
    return;
  const char *name = clt_read_text(&kernel, "Language");
  if (clt_node_has(&kernel, "Modifiers")) {
    const clt_node modifiers = clt_node_member(&kernel, "Modifiers");
    clt_node_fail(&modifiers, "of KTT are not supported; write expressions as \"GlobalSize\" and \"LocalSize\"");
  }
  load_generator(problem, &kernel);
  if (clt_node_has(&kernel, "KernelFile")) problem->kernel_file = clt_read_required_text(&kernel, "KernelFile");
  problem->kernel_name = clt_read_text(&kernel, "KernelName");
  if (name && strcasecmp(name, "OpenCL") != 0) {
    /* The rest is not needed for the space or for imported measurements. */
    const clt_node place = clt_node_of_run(problem, &language);
    clt_node_fail_as(
        &place, CLT_E_UNSUPPORTED,
        "cannot run a kernel in \"%s\", only in \"OpenCL\"; 'clatune space', 'report' and 'store import' work "
        "without running it",
        name);
    problem->language = name;
    return;
  }
  problem->opencl_standard = clt_read_text(&kernel, "OpenCLStandard");
  clt_load_options(problem, &problem->options, &problem->n_options, &kernel);
  size_t n_paths;
  problem->include_paths = clt_load_list(&n_paths, &paths, sizeof *problem->include_paths);
  for (size_t i = 0; i < n_paths && clt_node_ok(root); i++) {
    clt_node node = clt_node_item(&paths, i);
    if (!json_is_string(node.json)) clt_node_fail(&node, "needs the path of a folder");
    problem->include_paths[problem->n_include_paths++] = clt_load_path(problem, &node, json_string_value(node.json));
  }
  clt_load_arguments(problem, &kernel);

  /* The launch that KernelSpecification itself describes. */
  clt_launch defaults = {.kernel = problem->kernel_name, .key = clt_load_key(&kernel), .all_args = true};
  defaults.grid = defaults.stated = load_grid_kind(&kernel, CLT_GRID_ITEMS);
  defaults.local = load_local_size(problem, &kernel);
  if (problem->problem_size.n > 0) {
    defaults.grid = CLT_GRID_DIVIDED;
    defaults.global = problem->problem_size;
    defaults.divisor = load_divisors(problem, &kernel);
  } else {
    defaults.global = clt_load_extent(problem, &kernel, "GlobalSize");
  }
  size_t n_launches = launches.json ? json_array_size(launches.json) : 1;
  for (size_t i = 0; i < json_array_size(launches.json); i++)
    n_launches += json_array_size(json_object_get(json_array_get(launches.json, i), "Launches"));
  problem->launches = clt_node_new(&kernel, n_launches, sizeof *problem->launches);
  if (launches.json) {
    load_launches(problem, &defaults, &launches);
  } else {
    const bool generated = problem->generation.n_words > 0;
    if (defaults.kernel == NULL && !generated) clt_node_fail(&kernel, "needs a \"KernelName\"");
    check_launch_sizes(&defaults, generated, &kernel);
    if (clt_node_ok(root)) problem->launches[problem->n_launches++] = defaults;
  }
  clt_load_hints(problem, &kernel);
}
