/* The best configurations as a C header, and as CMake variables. */
#include "export/export.h"

#include <ctype.h>

#include "base/base.h"
#include "device/device.h"
#include "export/texts.h"
#include "lookup/portable.h"
#include "problem/command.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "space/expr.h"
#include "space/space.h"
#include "store/best.h"

/* --- collecting --- */

/* One entry of a header: a device and size. */
typedef struct export_entry {
  char *device, *driver; /* CL_DEVICE_NAME and CL_DRIVER_VERSION */
  char *configuration;   /* "a=1 b=2", in the space's order */
  char *options;         /* without the problem parameters */
  char *source;          /* if it is generated; else NULL */
  int64_t *sizes;        /* in the problem's order */
  double time_s;
  bool unchecked;          /* CLT_UNCHECKED */
  clt_c_formulas formulas; /* its launches and validity at other sizes */
} export_entry;

typedef struct exported {
  clt_text *out;
  const clt_problem *problem;
  char **size_names; /* names in C; NULL: sizes are left out */
  export_entry *entries;
  size_t n, capacity;
  clt_value_type types[CLT_MAX_PARAMETERS]; /* of tuning parameters: CLT_INT, CLT_REAL or CLT_STRING, for all entries */
  const clt_portable *portable;             /* one configuration for all devices and sizes; NULL: each one's best */
  bool generated;                           /* entries have the kernel's source */
  clt_error *error;
} exported;

static bool is_place(const clt_portable *portable, const clt_instance *instance) {
  const clt_device_info *device = clt_instance_device(instance);
  char key[512], *sizes = clt_instance_sizes_text(instance);
  bool found = false;
  clt_device_key(key, sizeof key, device);
  for (size_t i = 0; sizes && i < portable->n_places && !found; i++)
    found = strcmp(portable->places[i].device, key) == 0 && strcmp(portable->places[i].sizes, sizes) == 0 &&
            strcmp(portable->places[i].driver, device->driver_version) == 0;
  free(sizes);
  return found;
}

/* Sets what the generator of a kernel makes. */
static int generate_entry(export_entry *e, const clt_instance *instance, clt_config config, clt_error *error) {
  clt_plan *plan = NULL;
  int rc = clt_plan_new_with_source(&plan, instance, config, error);
  if (rc == CLT_OK) rc = clt_plan_write_c(&e->formulas, plan, error);
  if (rc == CLT_OK) {
    e->source = plan->source;
    e->options = plan->options;
    plan->source = plan->options = NULL;
  }
  clt_plan_free(plan);
  return rc;
}

static int collect_entry(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  exported *export = user;
  const clt_space *space = clt_instance_space(instance);
  const clt_device_info *device = clt_instance_device(instance);
  size_t n_sizes = clt_instance_n_sizes(instance);
  const clt_portable *portable = export->portable;
  const double time_s = portable || isnan(found->expected_time_s) ? 0 : found->expected_time_s;
  clt_config config;
  if (portable && !is_place(portable, instance)) return CLT_OK;
  if (clt_grow(&export->entries, &export->capacity, export->n + 1, sizeof *export->entries)) return CLT_E_MEMORY;
  export_entry *e = &export->entries[export->n++];
  *e = (export_entry){.device = strdup(device->name),
                      .driver = strdup(device->driver_version),
                      .configuration = strdup(portable ? portable->configuration : found->configuration),
                      .sizes = calloc(n_sizes + 1, sizeof *e->sizes),
                      .time_s = time_s,
                      .unchecked = !portable && found->unchecked};
  if (!e->device || !e->driver || !e->configuration || !e->sizes) return CLT_E_MEMORY;
  int rc = clt_config_parse(&config, space, e->configuration, NULL);
  if (rc == CLT_OK && export->generated) rc = generate_entry(e, instance, config, export->error);
  if (rc == CLT_OK && !export->generated) rc = clt_instance_options_without_sizes(&e->options, instance, config, NULL);
  if (rc == CLT_OK && !export->generated)
    rc = clt_instance_write_c(&e->formulas, instance, config, (const char *const *)export->size_names, NULL);
  if (rc) return rc;
  for (size_t i = 0; i < n_sizes; i++) e->sizes[i] = clt_instance_size(instance, i).value;
  /* Values may depend on sizes, so a parameter may be whole at one size and a fraction at another. */
  for (size_t p = 0; p < clt_space_n_parameters(space); p++)
    for (size_t i = 0; i < clt_space_parameter(space, p)->n_values; i++) {
      clt_value_type type = clt_space_parameter(space, p)->values[i].type;
      if (type == CLT_STRING || (type == CLT_REAL && export->types[p] == CLT_INT)) export->types[p] = type;
    }
  return CLT_OK;
}

bool clt_next_parameter(clt_named_value *p, const char **at) {
  p->name = *at + strspn(*at, " ");
  p->name_length = (int)strcspn(p->name, "=");
  if (p->name[p->name_length] == '\0') return false;
  *at = p->name + p->name_length + 1;
  int length = (int)strcspn(*at, " ");
  clt_snprintf(p->value, sizeof p->value, "%.*s", length, *at);
  p->is_spelled = strchr(p->value, '%') != NULL;
  clt_value_unspell(p->value);
  *at += length;
  return true;
}

/* --- names and texts --- */

/* Keywords of C11 and C++17; likely macro names of compilers, <stdio.h> and <math.h>; an entry's members and the names
 * in the generated functions. */
static const char reserved[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const "
    "const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int linux long mutable namespace new noexcept not not_eq nullptr operator "
    "or or_eq private protected public register reinterpret_cast restrict return short signed sizeof static "
    "static_assert static_cast stderr stdin stdout struct switch template this thread_local throw true try typedef "
    "typeid typename typeof union unix unsigned using virtual void volatile wchar_t while xor xor_eq BUFSIZ EOF NULL "
    "INFINITY NAN HUGE_VAL ";
static const char taken[] =
    " device driver configuration options values time_s entry best least ratio e i out size_t out_bytes strcmp "
    "snprintf capacity failed ";

/* A name in C. Reserved names (and for sizes the taken ones) get a '_' at the end. So do these names when they already
 * end in '_', so that different names stay different. */
static char *new_c_name(const char *name, int length, bool of_size) {
  char word[300];
  int stem = length;
  while (stem > 0 && name[stem - 1] == '_') stem--;
  clt_snprintf(word, sizeof word, " %.*s ", stem, name);
  return clt_format("%.*s%s", length, name, strstr(reserved, word) || (of_size && strstr(taken, word)) ? "_" : "");
}

/* A problem's or parameter's name as part of an identifier. */
static void add_identifier(clt_text *out, const char *name, int length, bool upper) {
  for (int i = 0; i < length; i++) {
    const char x = clt_in_word(name[i]) ? name[i] : '_';
    clt_text_printf(out, "%c", upper ? toupper(x) : x);
  }
}

/* A C string; bytes with a special meaning are written in octal (no trigraphs, no line ends). */
static void add_string(clt_text *out, const char *text) {
  clt_text_add(out, "\"");
  for (; *text; text++)
    clt_text_printf(out, clt_in_word(*text) || strchr(" .,:;|()[]@+-=/", *text) ? "%c" : "\\%03o",
                    (unsigned char)*text);
  clt_text_add(out, "\"");
}

/* The same, with a line of C for each line of the text. */
static void add_string_lines(clt_text *out, const char *text) {
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n"), whole = n + (line[n] == '\n');
    char *one = strndup(line, whole);
    if (one == NULL) out->rc = CLT_E_MEMORY;
    if (line > text) clt_text_add(out, "\n     ");
    add_string(out, one ? one : "");
    free(one);
    line += whole;
  }
}

/* Prints text. '@' is replaced by the prefix of the header's names, '$' by that of its macros. Text between two '`' is
 * repeated for each size, with '#' replaced by its name in C and '~' by its own name. Comments must not quote with
 * '`'. */
static void add_text(const exported *export, const char *text) {
  clt_text *const out = export->out;
  const char *name = clt_problem_name(export->problem), *begin = NULL; /* of a part that is repeated for each size */
  const bool cold = clt_problem_guidance(export->problem)->cold_cache; /* keep the names that programs already use */
  const int n_name = (int)(strlen(name) - (cold ? strlen(CLT_COLD_NAME) : 0));
  for (size_t i = 0; *text; text++) {
    if (*text == '@' || *text == '$') {
      clt_text_add(out, *text == '@' ? "clatune_" : "CLATUNE_");
      add_identifier(out, name, n_name, *text == '$');
      clt_text_add(out, "_");
    } else if (*text == '`') {
      i = begin ? i + 1 : 0;
      const char *const after = begin ? text : strchr(text + 1, '`');
      if (begin == NULL) begin = text;
      text = i < clt_problem_n_sizes(export->problem) ? begin : after;
      if (text == after) begin = NULL;
    } else if (begin && (*text == '#' || *text == '~')) {
      clt_text_add(out, *text == '#' ? export->size_names[i] : clt_problem_size(export->problem, i).name);
    } else {
      clt_text_add_bytes(out, text, 1);
    }
  }
}

/* The text of a macro: line ends become continued lines. */
static void add_macro(clt_text *out, const char *text) {
  clt_text_add(out, " ");
  for (; *text; text++)
    if (*text == '\n')
      clt_text_add(out, " \\\n");
    else
      clt_text_add_bytes(out, text, 1);
  clt_text_add(out, "\n");
}

/* CMake takes a bracket argument literally, except for a line end at its beginning. Its closing bracket needs more '='
 * than the text contains. */
static void add_bracket(clt_text *out, const char *text) {
  char end[64] = "]==";
  for (size_t n = strlen(end); strstr(text, end) && n < sizeof end - 1; n++) end[n] = '=';
  clt_text_printf(out, " [%s[%s%s%s])\n", end + 1, text[0] == '\n' ? "\n" : "", text, end);
}

/* Prints each parameter of a configuration: "<before><name>", then its value with `add`. */
static void add_each_parameter(const exported *export, const char *configuration, const char *before,
                               void (*add)(clt_text *out, const char *text)) {
  clt_named_value p;
  for (const char *at = configuration; clt_next_parameter(&p, &at);) {
    add_text(export, before);
    add_identifier(export->out, p.name, p.name_length, false);
    add(export->out, p.value);
  }
}

void clt_export_cmake(clt_text *out, const clt_problem *problem, const char *from, const char *configuration,
                      const char *options) {
  const exported export = {.out = out, .problem = problem};
  clt_text_printf(out, "# Made by 'clatune lookup%s\n", from);
  add_text(&export, "set($OPTIONS");
  add_bracket(out, options);
  add_each_parameter(&export, configuration, "set($", add_bracket);
}

/* --- the header --- */

static void add_entry(const exported *export, const export_entry *e) {
  clt_text *const out = export->out;
  clt_named_value p;
  size_t n = 0;
  if (e->unchecked) clt_text_add(out, "    /* " CLT_UNCHECKED " */\n");
  clt_text_add(out, "    {");
  add_string(out, e->device);
  clt_text_add(out, ", ");
  add_string(out, e->driver);
  for (size_t i = 0; i < clt_problem_n_sizes(export->problem); i++)
    clt_text_printf(out, ", %lld", (long long)e->sizes[i]);
  clt_text_add(out, ",\n     ");
  add_string(out, e->configuration);
  clt_text_add(out, ",\n     ");
  add_string(out, e->options);
  if (export->generated) {
    clt_text_add(out, ",\n     ");
    add_string_lines(out, e->source);
  }
  clt_text_printf(out, ", %.6g, %zu", e->time_s, (size_t)(e - export->entries));
  for (const char *at = e->configuration; clt_next_parameter(&p, &at); n++) {
    clt_text_add(out, n ? ", " : ",\n     {");
    /* The compiler converts numbers to the member's type. The smallest integer has no literal in C. */
    if (export->types[n] == CLT_STRING)
      add_string(out, p.value);
    else
      clt_text_add(out, strcmp(p.value, "-9223372036854775808") ? p.value : "-9223372036854775807 - 1");
  }
  clt_text_add(out, n ? "}},\n" : "},\n");
}

/* Adds "case" for all entries with the same text as this one. False: an earlier entry has it, so it is done. */
static bool add_cases(const exported *export, size_t entry, const char *(*text_of)(const export_entry *entry)) {
  const char *text = text_of(&export->entries[entry]);
  for (size_t i = 0; i < export->n; i++) {
    const char *other = text_of(&export->entries[i]);
    if (other == NULL || strcmp(other, text) != 0) continue;
    if (i < entry) return false;
    clt_text_printf(export->out, "    case %zu:\n", i);
  }
  return true;
}

static const char *valid_of(const export_entry *entry) { return entry->formulas.valid; }
static const char *launches_of(const export_entry *entry) { return entry->formulas.launches; }

/* Text inside a comment: without anything that begins or ends one. */
static void add_comment(clt_text *out, const char *text) {
  for (char before = ' '; *text; before = *text++) {
    const bool ends = (before == '*' && *text == '/') || (before == '/' && *text == '*');
    clt_text_add_bytes(out, ends || !isprint((unsigned char)*text) || strchr("?\\", *text) ? " " : text, 1);
  }
}

static void add_valid(const exported *export) {
  clt_text *const out = export->out;
  const size_t n = clt_problem_n_sizes(export->problem);
  add_text(export, valid_head);
  for (size_t i = 0; i < n; i++)
    clt_text_printf(out, "%sentry->%s == %s", i ? " && " : "  if (", export->size_names[i], export->size_names[i]);
  if (n) clt_text_add(out, ") return 1; /* measured at these sizes */\n");
  clt_text_add(out, "  switch (entry->entry) {\n");
  for (size_t i = 0; i < export->n; i++) {
    const clt_c_formulas *f = &export->entries[i].formulas;
    if (f->valid == NULL) {
      clt_text_printf(out, "    case %zu: /* ", i);
      add_comment(out, f->why_not ? f->why_not : "");
      clt_text_printf(out, " */\n      return %d;\n", n == 0);
    } else if (add_cases(export, i, valid_of)) {
      clt_text_add(out, "      return ");
      add_text(export, f->valid);
      clt_text_add(out, f->valid[0] ? " &&\n             !failed;\n" : "1;\n");
    }
  }
  clt_text_add(out, "    default: break;\n  }\n  return failed;\n}\n\n");
}

static void add_launches(const exported *export) {
  bool any = false, shares = false;
  for (size_t i = 0; i < export->n; i++) {
    any |= launches_of(&export->entries[i])[0] != '\0';
    shares |= strstr(launches_of(&export->entries[i]), "@share(") != NULL;
  }
  if (!any) return; /* of a program problem */
  add_text(export, launch_type);
  if (shares) add_text(export, share_function);
  add_text(export, launch_functions);
  for (size_t i = 0; i < export->n; i++) {
    if (!add_cases(export, i, launches_of)) continue;
    add_text(export, launches_of(&export->entries[i]));
    clt_text_add(export->out, "      break;\n");
  }
  clt_text_add(export->out, "    default: break;\n  }\n  return failed ? 0 : i;\n}\n");
}

static void add_header(const exported *export, const char *helpers, bool math) {
  static const char *const c_types[] = {
      [CLT_INT] = "long long ", [CLT_REAL] = "double ", [CLT_STRING] = "const char *"};
  clt_text *const out = export->out;
  clt_named_value p;
  size_t n = 0;
  add_text(export, head);
  if (math) clt_text_add(out, "#include <math.h>\n");
  add_text(export, entry_head);
  if (export->generated) add_text(export, entry_source);
  add_text(export, entry_tail);
  for (const char *at = export->entries[0].configuration; clt_next_parameter(&p, &at); n++) {
    char *name = new_c_name(p.name, p.name_length, false);
    if (n == 0) clt_text_add(out, "  struct {\n");
    clt_text_printf(out, "    %s%s;\n", c_types[export->types[n]], name ? name : "");
    free(name);
  }
  if (n) clt_text_add(out, "  } values; /* of the tuning parameters */\n");
  add_text(export, "} @entry;\n\nstatic const @entry @entries[] = {\n");
  for (size_t i = 0; i < export->n; i++) add_entry(export, &export->entries[i]);
  clt_text_add(out, "};\n\n");
  if (helpers[0])
    clt_text_add(out, "/* The arithmetic of the problem's expressions: on integer overflow `failed` is set. */\n");
  add_text(export, helpers);
  add_valid(export);
  add_text(export, functions);
  add_text(export, export->generated ? options_of_source : options_function);
  add_launches(export);
  add_text(export,
           "#endif\n\n/* At compile time: -D$ENTRY=N defines the parameters of entry N. */\n"
           "#ifdef $ENTRY\n");
  for (size_t i = 0; i < export->n; i++) {
    add_text(export, i ? "#elif $ENTRY" : "#if $ENTRY");
    clt_text_printf(out, " == %zu\n", i);
    add_each_parameter(export, export->entries[i].configuration, "#define $", add_macro);
  }
  clt_text_add(out, "#else\n#error \"there is no such entry\"\n#endif\n#endif\n\n#endif\n");
}

static void add_portable_macros(const exported *export) {
  add_text(export,
           "/* Made by 'clatune lookup --portable --format header': one configuration for all devices and sizes. */\n"
           "#ifndef $PORTABLE_H\n"
           "#define $PORTABLE_H\n\n"
           "#define $OPTIONS ");
  add_string(export->out, export->portable->options);
  clt_text_add(export->out, "\n");
  add_each_parameter(export, export->portable->configuration, "#define $", add_macro);
  clt_text_add(export->out, "\n#endif\n\n");
}

static void release_entries(exported *export) {
  for (size_t i = 0; i < export->n; i++) {
    free(export->entries[i].device);
    free(export->entries[i].driver);
    free(export->entries[i].configuration);
    free(export->entries[i].options);
    free(export->entries[i].source);
    free(export->entries[i].sizes);
    clt_c_formulas_release(&export->entries[i].formulas);
  }
  free(export->entries);
  clt_words_free(export->size_names);
}

int clt_export_header(clt_text *out, clt_catalog *catalog, const clt_problem *problem, const clt_portable *portable,
                      clt_error *error) {
  clt_words names = {0};
  clt_text formulas = {0}, helpers = {0};
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < clt_problem_n_sizes(problem); i++) {
    const char *own = clt_problem_size(problem, i).name;
    rc = clt_words_add(&names, new_c_name(own, (int)strlen(own), true), error);
  }
  exported export = {.out = out,
                     .problem = problem,
                     .size_names = names.all,
                     .portable = portable,
                     .generated = clt_problem_generates(problem),
                     .error = error};
  if (rc == CLT_OK) rc = clt_catalog_each(catalog, problem, portable == NULL, collect_entry, &export, error);
  if (rc == CLT_OK && export.n == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "the store has no measurements of '%s'; run 'clatune tune' first",
                  clt_problem_name(problem));
  for (size_t i = 0; i < export.n; i++) {
    const clt_c_formulas *f = &export.entries[i].formulas;
    clt_text_printf(&formulas, "%s %s ", f->valid ? f->valid : "", f->launches ? f->launches : "");
  }
  const bool math = rc == CLT_OK && formulas.rc == CLT_OK && clt_write_c_functions(&helpers, formulas.bytes);
  if (rc == CLT_OK && portable) add_portable_macros(&export);
  if (rc == CLT_OK) add_header(&export, helpers.n ? helpers.bytes : "", math);
  if (rc == CLT_OK && (out->rc || formulas.rc || helpers.rc)) rc = clt_fail_memory(error);
  clt_text_release(&formulas);
  clt_text_release(&helpers);
  release_entries(&export);
  return rc;
}
