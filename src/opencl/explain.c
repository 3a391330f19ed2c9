/* Why a program does not build, where the compiler's own words do not say it. */
#include "base/text.h"
#include "device/device.h"
#include "opencl/internal.h"
#include "problem/load.h"

/* What a kernel uses that needs an extension: a type, alone or as a vector, or functions, if its end is open. */
static const struct {
  const char *word, *extension;
  bool is_open;
} features[] = {{"sub_group_", "cl_khr_subgroups", true}, {"half", "cl_khr_fp16"}, {"double", "cl_khr_fp64"}};
#define N_FEATURES (sizeof features / sizeof *features)

/* Whether a word of the text is `start`, a number may follow; is_open: whether one begins with it. */
static bool has_word(const char *text, const char *start, bool is_open) {
  for (const char *at = text; (at = strstr(at, start)) != NULL; at++) {
    const char *end = at + strlen(start);
    if ((at == text || !clt_in_word(at[-1])) && (is_open || !clt_in_word(end[strspn(end, "0123456789")]))) return true;
  }
  return false;
}

/* Whether the code asks for an extension in an #if, and so has another way. */
static bool is_tested(const char *plain, const char *extension) {
  for (const char *at = plain; (at = clt_next_word(plain, at, extension)) != NULL; at++)
    if (!clt_reads_macro_at(plain, at)) return true;
  return false;
}

/* The line of a declaration of the name as an argument or a variable; 0: none. A type is before it, on the same line
 * but no directive, and the declaration goes on after it. */
static size_t find_declaration(const char *plain, const char *name) {
  static const char *const no_types[] = {"return", "case", "goto", "else", "sizeof"};
  for (const char *at = plain; (at = clt_next_word(plain, at, name)) != NULL; at++) {
    const char *line = at, *before = at, *after = at + strlen(name);
    while (line > plain && line[-1] != '\n') line--;
    while (before > line && (before[-1] == ' ' || before[-1] == '*')) before--;
    after += strspn(after, " ");
    const char *type = before;
    while (type > line && clt_in_word(type[-1])) type--;
    bool is_type = type < before && (*type < '0' || *type > '9') && *after && strchr(",);=[\r\n", *after);
    /* A product, unless it begins a statement or a qualifier comes first. */
    const char *earlier = type;
    while (earlier > line && strchr(" \t", earlier[-1])) earlier--;
    const char last = earlier > line ? earlier[-1] : ';';
    if (memchr(before, '*', (size_t)(at - before))) is_type = is_type && (clt_in_word(last) || strchr(";{}", last));
    while (earlier > line && clt_in_word(earlier[-1])) earlier--;
    for (size_t i = 0; i < sizeof no_types / sizeof *no_types; i++)
      is_type = is_type && strncmp(type, no_types[i], strlen(no_types[i])) != 0 &&
                strncmp(earlier, no_types[i], strlen(no_types[i])) != 0;
    if (!is_type || line[strspn(line, " \t")] == '#') continue;
    size_t number = 1;
    for (const char *c = plain; c < at; c++) number += *c == '\n';
    return number;
  }
  return 0;
}

static void explain_features(clt_text *out, const clt_executor *executor, const char *plain, const char *log) {
  for (size_t i = 0; i < N_FEATURES; i++) {
    const char *word = features[i].word, *extension = features[i].extension;
    const bool is_open = features[i].is_open;
    const bool is_used = has_word(plain, word, is_open) && !find_declaration(plain, word); /* unless it is a variable */
    const bool is_named = strstr(log, extension) || has_word(log, word, is_open) || !is_tested(plain, extension);
    if (is_used && is_named && !clt_cl_has_extension(&executor->info, extension))
      clt_text_printf(out, "error: needs %s, which this device does not have\n", extension);
  }
  if (!executor->info.images && (has_word(plain, "image2d", true) || has_word(plain, "image3d", true)))
    clt_text_add(out, "error: needs images, which this device does not have\n");
}

static void explain_names(clt_text *out, const clt_plan *plan, const char *plain) {
  const clt_problem *problem = plan->problem;
  const char *file = plan->source_file;
  for (size_t i = 0; i < problem->n_passed; i++) {
    const char *name = problem->sizes[i].name;
    const size_t line = problem->sizes[i].no_macro ? 0 : find_declaration(plain, name);
    if (line)
      clt_text_printf(out,
                      "error: %s:%zu declares '%s', and the macro of the problem parameter '%s' replaces it there; add "
                      "\"Macro\": false to the problem parameter, or rename it\n",
                      file, line, name, name);
  }
  for (size_t i = 0; i < problem->n_parameters; i++) {
    const char *name = problem->parameters[i].name;
    const size_t line = find_declaration(plain, name);
    if (line)
      clt_text_printf(out,
                      "error: %s:%zu declares '%s', and the macro of the tuning parameter '%s' replaces it there; "
                      "rename the tuning parameter\n",
                      file, line, name, name);
  }
}

/* Explanations say "error", so that messages with one line of the log have the first of them. */
char *clt_explain_build(const clt_executor *executor, const clt_plan *plan, const char *source, const char *log) {
  clt_text out = {0};
  char *taken = NULL, *plain = clt_plain_source(source);
  if (plain) {
    explain_features(&out, executor, plain, log);
    if (plan && plan->problem && plan->source_file) explain_names(&out, plan, plain);
  }
  clt_text_add(&out, log);
  free(plain);
  return clt_text_take(&taken, &out, NULL) == CLT_OK ? taken : NULL;
}
