/* clatune-parse: which macros change the code that a kernel reaches. It tries: libclang reads the source with other
 * values, and prints the kernel and all that it refers to with macros replaced; a macro that never changes this text is
 * not the kernel's. A program of its own, because the driver's LLVM may be another, and libclang may crash.
 *
 * Standard input: {"source", "kernel", "options" (a list), "macros": [{"name", "value" (null: the source defines it),
 * "others" (a list of values), "asked" (whether an #if tests it)}]}. Standard output: {"reached": [NAME, ...]}. Exit
 * code 1: libclang cannot read the kernel; the output says why. */
#include <clang-c/Index.h>
#include <glob.h>
#include <jansson.h>
#include <libgen.h>

#include "base/base.h"
#include "base/json.h"
#include "base/text.h"

#define MOST_OPTIONS 512
#define MOST_READINGS 600   /* macros that are undecided then count as reached */
#define MOST_CONTEXTS 64    /* likewise */
#define N_LINES (1UL << 16) /* lines are hashed with their file */

static const char *source, *kernel;
static const json_t *options, *macros;
static const char *standard; /* "-cl-std=..."; NULL: the options have one */
static char *headers;        /* the folder of clang's own, with OpenCL's types; NULL: not found */
static bool hidden[N_LINES]; /* lines that no reading so far has compiled */
static size_t n_readings;

static void fail(const char *why) {
  puts(why);
  exit(EXIT_FAILURE);
}

/* --- what the kernel reaches --- */

typedef struct reached {
  CXCursor *all; /* the kernel, and the declarations that it refers to */
  size_t n, capacity;
} reached;

static void reach(reached *r, CXCursor declaration) {
  const CXCursor definition = clang_getCursorDefinition(declaration);
  if (!clang_Cursor_isNull(definition)) declaration = definition;
  for (size_t i = 0; i < r->n; i++)
    if (clang_equalCursors(r->all[i], declaration)) return;
  if (clt_grow(&r->all, &r->capacity, r->n + 1, sizeof *r->all)) fail("out of memory");
  r->all[r->n++] = declaration;
}

/* Follows references to what the file and its headers declare outside of functions. */
static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data) {
  CXCursor to = clang_getCursorReferenced(cursor);
  while (!clang_Cursor_isNull(to) && !clang_isInvalid(clang_getCursorKind(to))) {
    const CXCursor in = clang_getCursorSemanticParent(to);
    if (clang_getCursorKind(in) == CXCursor_TranslationUnit) {
      if (!clang_Location_isInSystemHeader(clang_getCursorLocation(to))) reach(data, to);
      break;
    }
    to = in; /* a field's structure, an enumerator's type; a variable's function is the kernel or reached already */
  }
  return CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_kernel(CXCursor cursor, CXCursor parent, CXClientData data) {
  if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl || !clang_isCursorDefinition(cursor))
    return CXChildVisit_Continue;
  CXString name = clang_getCursorSpelling(cursor);
  if (strcmp(clang_getCString(name), kernel) == 0) reach(data, cursor);
  clang_disposeString(name);
  return CXChildVisit_Continue;
}

/* The code that the kernel reaches, with all macros replaced. malloc'ed; NULL: there is no such kernel. */
static char *print_reached(CXTranslationUnit unit) {
  reached r = {0};
  clt_text out = {0};
  char *text = NULL;
  clang_visitChildren(clang_getTranslationUnitCursor(unit), find_kernel, &r);
  for (size_t i = 0; i < r.n; i++) {
    CXPrintingPolicy policy = clang_getCursorPrintingPolicy(r.all[i]);
    CXString printed = clang_getCursorPrettyPrinted(r.all[i], policy);
    clt_text_printf(&out, "%s\n", clang_getCString(printed));
    clang_disposeString(printed);
    clang_PrintingPolicy_dispose(policy);
    clang_visitChildren(r.all[i], visit, &r);
  }
  free(r.all);
  if (out.n && clt_text_take(&text, &out, NULL)) fail("out of memory");
  return text;
}

/* --- a reading: the source with values of the macros --- */

/* Sets skipped[] for all lines that are left out by #if. */
static void mark_skipped(bool skipped[N_LINES], CXTranslationUnit unit) {
  CXSourceRangeList *list = clang_getAllSkippedRanges(unit);
  for (unsigned i = 0; list && i < list->count; i++) {
    CXFile file;
    unsigned first, last;
    size_t key = 0;
    clang_getSpellingLocation(clang_getRangeStart(list->ranges[i]), &file, &first, NULL, NULL);
    clang_getSpellingLocation(clang_getRangeEnd(list->ranges[i]), NULL, &last, NULL, NULL);
    CXString name = clang_getFileName(file);
    for (const char *c = clang_getCString(name); c && *c; c++) key = 31 * key + (unsigned char)*c;
    clang_disposeString(name);
    for (unsigned line = first + 1; line < last; line++) skipped[(key + line) % N_LINES] = true;
  }
  clang_disposeSourceRangeList(list);
}

/* libclang does not find its headers through Debian's links, nor for the target SPIR. */
static void find_headers(void) {
  static const char *const places[] = {"/usr/lib/llvm-%d/lib/clang/*/include/opencl-c-base.h",
                                       "/usr/lib*/clang/%d*/include/opencl-c-base.h"};
  CXString name = clang_getClangVersion(); /* "Debian clang version 14.0.6" */
  const char *version = strstr(clang_getCString(name), "version ");
  glob_t found = {0};
  for (size_t i = 0; version && headers == NULL && i < sizeof places / sizeof *places; i++) {
    char *pattern = clt_format(places[i], (int)strtol(version + strlen("version "), NULL, 10));
    if (pattern && glob(pattern, 0, NULL, &found) == 0) headers = strdup(dirname(found.gl_pathv[0]));
    globfree(&found);
    free(pattern);
  }
  clang_disposeString(name);
}

/* The first error; NULL: there is none. */
static char *find_error(CXTranslationUnit unit) {
  char *out = NULL;
  for (unsigned i = 0; out == NULL && i < clang_getNumDiagnostics(unit); i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      CXString text = clang_getDiagnosticSpelling(diagnostic), file;
      unsigned line;
      clang_getPresumedLocation(clang_getDiagnosticLocation(diagnostic), &file, &line, NULL);
      out = clt_format("%s:%u: %s", clang_getCString(file), line, clang_getCString(text));
      clang_disposeString(text);
      clang_disposeString(file);
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return out;
}

/* Reads the source with a value per macro. Returns what the kernel reaches, malloc'ed; NULL: there is no such kernel.
 * *opens: whether it compiles lines that no other such reading has compiled. *error: the first error. Both may be NULL.
 */
static char *read_source(bool *opens, char **error, const char *const *values) {
  bool skipped[N_LINES];
  const char *arguments[MOST_OPTIONS + 16] = {"-xcl", "-target", "spir64-unknown-unknown", "-w"};
  struct CXUnsavedFile file = {"clatune-kernel.cl", source, strlen(source)};
  CXTranslationUnit unit;
  const json_t *item;
  size_t i, first_define;
  int n = 4;
  if (headers) arguments[n++] = "-isystem", arguments[n++] = headers;
  if (standard) arguments[n++] = standard;
  json_array_foreach(options, i, item) arguments[n++] = json_string_value(item);
  first_define = (size_t)n;
  json_array_foreach(macros, i, item) if (values[i]) {
    char *define = clt_format("-D%s=%s", clt_json_string(item, "name"), values[i]);
    if (define == NULL) fail("out of memory");
    arguments[n++] = define;
  }
  CXIndex index = clang_createIndex(0, 0);
  const enum CXErrorCode code = clang_parseTranslationUnit2(index, file.Filename, arguments, n, &file, 1,
                                                            CXTranslationUnit_DetailedPreprocessingRecord, &unit);
  if (code) fail("libclang does not take the options");
  char *out = print_reached(unit);
  if (error) *error = find_error(unit);
  if (opens) {
    memset(skipped, 0, sizeof skipped);
    mark_skipped(skipped, unit);
    *opens = false;
    for (i = 0; i < N_LINES; i++) {
      *opens |= hidden[i] && !skipped[i];
      hidden[i] = hidden[i] && skipped[i];
    }
  }
  clang_disposeTranslationUnit(unit);
  clang_disposeIndex(index);
  for (i = first_define; i < (size_t)n; i++) free((char *)arguments[i]);
  n_readings++;
  return out;
}

/* --- trying --- */

/* Values of the macros that compile other lines than those of the contexts before. */
typedef struct context {
  const char **values;
  char *reached;
} context;

static context contexts[MOST_CONTEXTS];
static size_t n_contexts, n_macros;
static enum { UNDECIDED, REACHED, FIXED } * states; /* FIXED: with other values there is no such kernel */

static void add_context(const char *const *values, char *text) {
  contexts[n_contexts] = (context){malloc((n_macros + 1) * sizeof *values), text};
  if (contexts[n_contexts].values == NULL) fail("out of memory");
  memcpy(contexts[n_contexts++].values, values, n_macros * sizeof *values);
}

static const char *other_value(size_t macro, size_t nth) {
  return json_string_value(json_array_get(json_object_get(json_array_get(macros, macro), "others"), nth));
}

static void read_default(void) {
  const char **values = calloc(n_macros + 1, sizeof *values);
  const json_t *item;
  size_t i;
  bool opens;
  char *error = NULL, *text;
  if (values == NULL) fail("out of memory");
  json_array_foreach(macros, i, item) values[i] = json_string_value(json_object_get(item, "value"));
  standard = "-cl-std=CL1.2"; /* what drivers take by default */
  json_array_foreach(options, i, item) if (clt_starts_with(json_string_value(item), "-cl-std")) standard = NULL;
  memset(hidden, true, sizeof hidden);
  text = read_source(&opens, &error, values);
  if (error && standard) {
    standard = "-cl-std=CL2.0";
    text = read_source(&opens, &error, values);
  }
  if (error) fail(error);
  if (text == NULL) fail("libclang finds no such kernel");
  add_context(values, text);
  free(values);
}

/* Whether the text changes with the nth other values of the undecided macros from first to last - 1. *vanishes: there
 * is no kernel then. */
static bool differs(bool *vanishes, const context *c, size_t first, size_t last, size_t nth) {
  const char **values = malloc((n_macros + 1) * sizeof *values);
  bool any = false;
  if (values == NULL) fail("out of memory");
  memcpy(values, c->values, n_macros * sizeof *values);
  *vanishes = false;
  for (size_t i = first; i < last; i++) {
    const char *other = states[i] == UNDECIDED ? other_value(i, nth) : NULL;
    if (other == NULL) continue;
    values[i] = other;
    any = true;
  }
  char *text = any ? read_source(NULL, NULL, values) : NULL;
  *vanishes = any && text == NULL;
  any = any && (text == NULL || strcmp(text, c->reached) != 0);
  free(text);
  free(values);
  return any;
}

/* Decides on macros in a context: changes all at once, and halves their number while the text changes. */
static void find_reached(const context *c, size_t nth) {
  bool vanishes;
  while (n_readings < MOST_READINGS && differs(&vanishes, c, 0, n_macros, nth)) {
    size_t first = 0, last = n_macros;
    while (last - first > 1) {
      const size_t middle = (first + last) / 2;
      if (differs(&vanishes, c, first, middle, nth))
        last = middle;
      else
        first = middle;
    }
    differs(&vanishes, c, first, last, nth);
    states[first] = vanishes ? FIXED : REACHED;
  }
}

/* Adds contexts: those in which a reached macro has other values and other lines are compiled. */
static void add_contexts(size_t current) {
  for (size_t i = 0; i < n_macros; i++) {
    const context *c = &contexts[current];
    if (states[i] != REACHED || !json_is_true(json_object_get(json_array_get(macros, i), "asked"))) continue;
    const char *own = c->values[i], *other;
    for (size_t nth = 0; (other = other_value(i, nth)) != NULL; nth++) {
      bool opens = false;
      if (n_readings >= MOST_READINGS || n_contexts == MOST_CONTEXTS) return;
      c->values[i] = other;
      char *text = read_source(&opens, NULL, c->values);
      if (text && opens && strcmp(text, c->reached) != 0)
        add_context(c->values, text);
      else
        free(text);
    }
    c->values[i] = own;
  }
}

int main(void) {
  json_error_t why;
  json_t *request = json_loadf(stdin, 0, &why), *names = json_array();
  size_t most_others = 0;
  source = clt_json_string(request, "source");
  kernel = clt_json_string(request, "kernel");
  options = json_object_get(request, "options");
  macros = json_object_get(request, "macros");
  n_macros = json_array_size(macros);
  states = calloc(n_macros + 1, sizeof *states);
  if (states == NULL || names == NULL) fail("out of memory");
  if (json_array_size(options) + n_macros > MOST_OPTIONS) fail("there are too many options");
  for (size_t i = 0; i < n_macros; i++) {
    const size_t n = json_array_size(json_object_get(json_array_get(macros, i), "others"));
    if (n > most_others) most_others = n;
  }
  find_headers();
  read_default();
  for (size_t current = 0; current < n_contexts; current++) {
    for (size_t nth = 0; nth < most_others; nth++) find_reached(&contexts[current], nth);
    add_contexts(current);
  }
  const bool complete = n_readings < MOST_READINGS && n_contexts < MOST_CONTEXTS;
  for (size_t i = 0; i < n_macros; i++)
    if (states[i] == REACHED || (states[i] == UNDECIDED && !complete))
      json_array_append(names, json_object_get(json_array_get(macros, i), "name"));
  json_t *answer = json_pack("{s:o, s:I}", "reached", names, "readings", (json_int_t)n_readings);
  json_dumpf(answer, stdout, JSON_COMPACT);
  return EXIT_SUCCESS;
}
