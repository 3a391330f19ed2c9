#include "base/json.h"

#include <ctype.h>
#include <strings.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"

#define MAX_KNOWN 64 /* members of one object */

/* --- the file --- */

void clt_json_blank_mark(char *text, size_t n) {
  if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) memset(text, ' ', 3);
}

const char *clt_json_mistake(char out[300], const char *text, size_t n, const json_error_t *mistake) {
  if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
    return strcpy(out, "it is in UTF-16; save it as UTF-8");
  const char *at = text + clt_min((size_t)(mistake->position > 0 ? mistake->position : 0), n);
  while (at > text && strchr(" \t\r\n]}", at[-1])) at--;
  const char bracket = at[strspn(at, " \t\r\n")];
  const bool ends = clt_starts_with(mistake->text, "'}' expected") || clt_starts_with(mistake->text, "']' expected");
  if (at > text && at[-1] == ',' && bracket && strchr("]}", bracket)) /* the parser only mentions the bracket */
    snprintf(out, 300, "trailing comma: remove the ',' before the '%c'", bracket);
  else
    snprintf(out, 300, "%s%.250s", ends ? "',' or " : "", mistake->text);
  return out;
}

static int parse(clt_source *source, size_t n, clt_error *error) {
  json_error_t mistake;
  char what[300];
  clt_json_blank_mark(source->text, n);
  source->root = json_loadb(source->text, n, JSON_REJECT_DUPLICATES, &mistake);
  if (source->root == NULL && mistake.text[0] == '\0') return clt_fail_memory(error);
  if (source->root) return CLT_OK;
  return clt_fail_at(error, CLT_E_FORMAT, source->path, mistake.line, NULL, "%s",
                     clt_json_mistake(what, source->text, n, &mistake));
}

int clt_source_read(clt_source *source, const char *path, size_t max_bytes, clt_error *error) {
  size_t n;
  if ((source->path = strdup(path)) == NULL) return clt_fail_memory(error);
  int rc = clt_file_read(&source->text, &n, path, max_bytes, error);
  return rc ? rc : parse(source, n, error);
}

int clt_source_parse(clt_source *source, const char *name, const char *text, clt_error *error) {
  source->path = strdup(name);
  source->text = strdup(text);
  return source->path && source->text ? parse(source, strlen(text), error) : clt_fail_memory(error);
}

void clt_source_release(clt_source *source) {
  for (size_t i = 0; i < source->n_blocks; i++) free(source->blocks[i]);
  free(source->blocks);
  free(source->path);
  free(source->text);
  json_decref(source->root);
}

void *clt_source_keep(clt_source *source, void *block, clt_error *error) {
  if (block == NULL || clt_grow(&source->blocks, &source->blocks_capacity, source->n_blocks + 1, sizeof(void *))) {
    free(block);
    clt_fail_memory(error);
    return NULL;
  }
  return source->blocks[source->n_blocks++] = block;
}

/* --- lines: the parser says where a value ends --- */

static const char *skip_space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Reads the value that begins at *at, and moves *at after it. NULL: no value begins there. */
static json_t *take_value(const char **at) {
  json_error_t end;
  json_t *value = json_loads(*at, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &end);
  if (value) *at = skip_space(*at + end.position);
  return value;
}

/* Moves *at to the value of the first step of a path: a member of an object, or "[2]", an item of a list. *place is its
 * beginning; if the path ends here, that of its name. Returns the rest of the path; NULL: the step does not exist. */
static const char *enter(const char **at, const char **place, const char *path) {
  const bool is_item = *path == '[';
  char *end = NULL;
  const unsigned long index = is_item ? strtoul(path + 1, &end, 10) : 0;
  const char *here = skip_space(*at + 1), *rest = NULL;
  if (is_item && *end != ']') return NULL;
  for (unsigned long i = 0;; i++) {
    const char *begin = here;
    if (is_item && i == index) rest = end + 1;
    if (!is_item) {
      json_t *name = take_value(&here);
      const char *text = json_string_value(name);
      const size_t n = text ? strlen(text) : 0;
      const bool is_member = text && *here == ':';
      if (is_member && strncmp(path, text, n) == 0 && strchr(".[", path[n]))
        rest = path + n; /* or the end of the path */
      json_decref(name);
      if (!is_member) return NULL;
      here = skip_space(here + 1);
    }
    if (rest) {
      *at = here;
      *place = *rest ? here : begin;
      return rest + (*rest == '.');
    }
    json_decref(take_value(&here));
    if (*here != ',') return NULL;
    here = skip_space(here + 1);
  }
}

int clt_json_line(const char *text, const char *key) {
  const char *at = skip_space(text), *place = NULL;
  while (key && *key && *at == (*key == '[' ? '[' : '{')) {
    if (place == NULL) place = at;
    key = enter(&at, &place, key);
  }
  int line = place != NULL;
  for (const char *c = text; place && c < place; c++) line += *c == '\n';
  return line;
}

/* --- mistakes --- */

int clt_key_vfail(const clt_source *source, const char *key, int code, clt_error *error, const char *format,
                  va_list arguments) {
  if (error == NULL) return code;
  return clt_vfail_at(error, code, source->path, clt_json_line(source->text, key), key, format, arguments);
}

int clt_key_fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  clt_key_vfail(source, key, code, error, format, arguments);
  va_end(arguments);
  return code;
}

int clt_key_wrap(const clt_source *source, const char *key, int code, clt_error *error, const clt_error *cause) {
  if (error == NULL || error->code) return code;
  if (cause->file[0]) {
    *error = *cause;
    return code;
  }
  return clt_key_fail(source, key, code, error, "%s", cause->message[0] ? cause->message : clt_error_text(code));
}

bool clt_node_ok(const clt_node *node) { return node->reading->rc == CLT_OK; }

int clt_node_fail_as(const clt_node *node, int code, const char *format, ...) {
  clt_reading *reading = node->reading;
  va_list arguments;
  if (reading->rc) return reading->rc;
  va_start(arguments, format);
  reading->rc = clt_key_vfail(reading->source, node->key, code, reading->error, format, arguments);
  va_end(arguments);
  return code;
}

int clt_node_wrap(const clt_node *node, int code, const clt_error *cause) {
  clt_reading *reading = node->reading;
  if (reading->rc || code == CLT_OK) return reading->rc;
  return reading->rc = clt_key_wrap(reading->source, node->key, code, reading->error, cause);
}

int clt_node_fail_name(const clt_node *node, const char *kind, const char *name, const void *first, size_t n,
                       size_t bytes) {
  const char *near = clt_nearest_among(name, first, n, bytes);
  return clt_node_fail(node, "there is no %s \"%s\"%s%s%s", kind, name, CLT_DID_YOU_MEAN("\"", near));
}

void *clt_node_new(const clt_node *node, size_t n, size_t element_bytes) {
  return clt_node_keep(node, clt_new_array(n, element_bytes));
}

char *clt_node_keep(const clt_node *node, char *text) {
  char *kept = clt_source_keep(node->reading->source, text, node->reading->error);
  if (kept == NULL && clt_node_ok(node)) node->reading->rc = CLT_E_MEMORY;
  return kept;
}

/* --- nodes --- */

/* A node below another one; `more` is appended to the key. No printf, because this is called for every member. */
static clt_node node_below(const clt_node *parent, const json_t *json, const char *separator, const char *more) {
  clt_node node = {.json = json_is_null(json) ? NULL : json, .reading = parent->reading};
  const char *const parts[] = {parent->key, separator, more};
  size_t used = 0, room[] = {sizeof node.key / 2, 1, sizeof node.key / 2 - 2};
  for (size_t i = 0; i < 3; i++) {
    size_t n = strnlen(parts[i], room[i]);
    memcpy(node.key + used, parts[i], n);
    used += n;
  }
  node.key[used] = 0;
  return node;
}

clt_node clt_node_root(clt_reading *reading) { return (clt_node){.json = reading->source->root, .reading = reading}; }

clt_node clt_node_member(const clt_node *parent, const char *name) {
  return node_below(parent, json_object_get(parent->json, name), parent->key[0] ? "." : "", name);
}

size_t clt_node_count(const clt_node *node) {
  return json_is_array(node->json) ? json_array_size(node->json) : node->json != NULL;
}

clt_node clt_node_item(const clt_node *parent, size_t index) {
  char number[32];
  if (!json_is_array(parent->json)) return *parent;
  snprintf(number, sizeof number, "[%zu]", index);
  return node_below(parent, json_array_get(parent->json, index), "", number);
}

/* Other tuners' words: what a key means where another one is known. */
static const struct {
  const char *typed, *known, *meant;
} synonyms[] = {{"Constraints", "Conditions", "Conditions"},
                {"Restrictions", "Conditions", "Conditions"},
                {"Conditions", "ConfigurationSpace", "ConfigurationSpace.Conditions"},
                {"Constraints", "ConfigurationSpace", "ConfigurationSpace.Conditions"},
                {"Restrictions", "ConfigurationSpace", "ConfigurationSpace.Conditions"},
                {"Options", "CompilerOptions", "CompilerOptions"},
                {"Tolerance", "AbsoluteTolerance", "AbsoluteTolerance"},
                {"WorkGroupSize", "LocalSize", "LocalSize"},
                {"LocalMemory", "LocalMemoryBytes", "LocalMemoryBytes"}};

static const char *find_synonym(const char *typed, const char *const *known) {
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (strcasecmp(typed, synonyms[i].typed) == 0 && clt_is_one_of(synonyms[i].known, known)) return synonyms[i].meant;
  return NULL;
}

bool clt_read_object(const clt_node *node, const char *const *known, bool strict) {
  const char *name;
  json_t *value;
  if (clt_node_ok(node) && !json_is_object(node->json)) clt_node_fail(node, "needs an object: { ... }");
  if (known == NULL) return clt_node_ok(node);
  json_object_foreach((json_t *)node->json, name, value) {
    const char *absent[MAX_KNOWN];
    size_t n_absent = 0, i = 0;
    while (known[i] && strcmp(known[i], name) != 0) i++;
    if (known[i] || !isalpha((unsigned char)name[0])) continue; /* other keys are comments */
    for (i = 0; known[i] && n_absent < MAX_KNOWN; i++)
      if (json_object_get(node->json, known[i]) == NULL) absent[n_absent++] = known[i];
    clt_node here = clt_node_member(node, name);
    const char *synonym = find_synonym(name, known);
    const char *near = synonym ? synonym : clt_nearest_name(name, absent, n_absent);
    clt_text others = {0};
    for (i = 0; strict && !near && known[i]; i++)
      clt_text_printf(&others, "%s%s", i ? ", " : "; known keys: ", known[i]);
    if (strict && !near)
      clt_node_fail(&here, "there is no key \"%s\"%s", name, others.bytes ? others.bytes : "");
    else if (near)
      clt_node_fail(&here, "there is no key \"%s\"%s%s%s", name, CLT_DID_YOU_MEAN("\"", near));
    clt_text_release(&others);
  }
  return clt_node_ok(node);
}

size_t clt_read_list(const clt_node *node) {
  if (!clt_node_ok(node) || node->json == NULL) return 0;
  if (!json_is_array(node->json)) clt_node_fail(node, "needs a list: [ ... ]");
  return json_array_size(node->json);
}

bool clt_node_has(const clt_node *parent, const char *name) {
  const json_t *json = json_object_get(parent->json, name);
  return json && !json_is_null(json);
}

/* The member; NULL: it is missing, or there was a mistake before. */
static const json_t *find_member(const clt_node *parent, const char *name) {
  const json_t *json = clt_node_ok(parent) ? json_object_get(parent->json, name) : NULL;
  return json_is_null(json) ? NULL : json;
}

const char *clt_read_text(const clt_node *parent, const char *name) {
  const json_t *json = find_member(parent, name);
  if (json && !json_is_string(json)) clt_member_fail(parent, name, "needs a string");
  return json_string_value(json);
}

const char *clt_read_required_text(const clt_node *parent, const char *name) {
  const char *text = clt_read_text(parent, name);
  if (text == NULL) clt_node_fail(parent, "needs a \"%s\"", name);
  if (text && text[0] == 0) clt_member_fail(parent, name, "must not be empty");
  return text;
}

bool clt_read_flag(const clt_node *parent, const char *name, bool otherwise) {
  const json_t *json = find_member(parent, name);
  json_int_t number = json_integer_value(json);
  if (json == NULL) return otherwise;
  if (!json_is_boolean(json) && !(json_is_integer(json) && (number == 0 || number == 1)))
    clt_member_fail(parent, name, "needs true or false, or 1 or 0");
  return json_is_true(json) || number == 1;
}

bool clt_json_integer(int64_t *out, const json_t *json) {
  const double number = json_number_value(json);
  if (!json_is_number(json)) return false;
  if (json_is_real(json) && (!(fabs(number) <= 0x1p53) || number != floor(number))) return false;
  *out = json_is_real(json) ? (int64_t)number : json_integer_value(json);
  return true;
}

int64_t clt_read_integer(const clt_node *parent, const char *name, int64_t otherwise) {
  const json_t *json = find_member(parent, name);
  int64_t number = otherwise;
  if (json && !clt_json_integer(&number, json)) clt_member_fail(parent, name, "needs a whole number");
  return number;
}

int64_t clt_read_integer_within(const clt_node *parent, const char *name, int64_t otherwise, int64_t min, int64_t max) {
  int64_t number = clt_read_integer(parent, name, otherwise);
  if (find_member(parent, name) && (number < min || number > max))
    clt_member_fail(parent, name, "needs a whole number from %lld to %lld", (long long)min, (long long)max);
  return number;
}

double clt_read_number(const clt_node *parent, const char *name, double otherwise) {
  const json_t *json = find_member(parent, name);
  if (json && !json_is_number(json)) clt_member_fail(parent, name, "needs a number");
  return json ? json_number_value(json) : otherwise;
}

int clt_read_choice(const clt_node *parent, const char *name, const char *const *choices, int otherwise) {
  char list[400] = "";
  const char *text = clt_read_text(parent, name);
  if (text == NULL) return otherwise;
  for (int i = 0; choices[i]; i++)
    if (strcasecmp(text, choices[i]) == 0) return i;
  for (size_t i = 0, used = 0; choices[i] && used < sizeof list; i++) {
    const char *separator = choices[i + 1] ? ", " : " or ";
    used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? separator : "", choices[i]);
  }
  clt_member_fail(parent, name, "needs %s, not \"%s\"", list, text);
  return otherwise;
}
