#include "base/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

#define MAX_KNOWN 64

int clt_source_read(clt_source *source, json_t **root, size_t max_bytes, clt_error *error) {
  json_error_t mistake;
  size_t n;
  int rc = clt_file_read(&source->text, &n, source->path, max_bytes, error);
  if (rc) return rc;
  *root = json_loadb(source->text, n, JSON_REJECT_DUPLICATES, &mistake);
  if (*root == NULL && mistake.text[0] == '\0') return clt_fail_memory(error);
  if (*root == NULL) return clt_fail_at(error, CLT_E_FORMAT, source->path, mistake.line, NULL, "%s", mistake.text);
  return CLT_OK;
}

static clt_node place(const json_t *json) { return (clt_node){.json = json_is_null(json) ? NULL : json}; }

clt_node clt_node_member(const clt_node *parent, const char *name) {
  clt_node node = place(json_object_get(parent->json, name));
  snprintf(node.key, sizeof node.key, "%.*s%s%s", (int)sizeof node.key / 2, parent->key, parent->key[0] ? "." : "",
           name);
  return node;
}

clt_node clt_node_item(const clt_node *parent, size_t index) {
  clt_node node = place(json_array_get(parent->json, index));
  snprintf(node.key, sizeof node.key, "%.*s[%zu]", (int)sizeof node.key / 2, parent->key, index);
  return node;
}

/* The line of a key, or of the longest part of it that has one. */
static int line_of(const clt_source *source, const char *key) {
  size_t longest = 0;
  int line = 0;
  if (source->lines == NULL) return clt_json_line(source->text, key);
  for (size_t i = 0; i < source->n_lines; i++) {
    size_t n = strlen(source->lines[i].key);
    bool above = strncmp(key, source->lines[i].key, n) == 0 && (key[n] == 0 || key[n] == '.' || key[n] == '[');
    if (!above || n < longest) continue;
    longest = n;
    line = source->lines[i].line;
  }
  return line;
}

static int fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format,
                va_list arguments) {
  char message[sizeof error->message];
  if (error == NULL) return code;
  vsnprintf(message, sizeof message, format, arguments);
  return clt_fail_at(error, code, source->path, line_of(source, key), key, "%s", message);
}

int clt_node_fail(const clt_source *source, const clt_node *node, clt_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(source, node->key, CLT_E_FORMAT, error, format, arguments);
  va_end(arguments);
  return CLT_E_FORMAT;
}

int clt_key_fail(const clt_source *source, const char *key, int code, clt_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(source, key, code, error, format, arguments);
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

int clt_node_object(const clt_source *source, const clt_node *node, clt_error *error) {
  return json_is_object(node->json) ? CLT_OK : clt_node_fail(source, node, error, "needs an object: { ... }");
}

int clt_node_list(const clt_source *source, const clt_node *node, clt_error *error) {
  return json_is_array(node->json) ? CLT_OK : clt_node_fail(source, node, error, "needs a list: [ ... ]");
}

int clt_node_text(char **out, const clt_source *source, const clt_node *parent, const char *name, bool required,
                  clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  if (node.json == NULL) return required ? clt_node_fail(source, parent, error, "needs a \"%s\"", name) : CLT_OK;
  const char *text = json_string_value(node.json);
  if (text == NULL) return clt_node_fail(source, &node, error, "needs a string");
  if (required && text[0] == 0) return clt_node_fail(source, &node, error, "must not be empty");
  char *copy = strdup(text);
  if (copy == NULL) return clt_fail_memory(error);
  free(*out);
  *out = copy;
  return CLT_OK;
}

int clt_node_flag(bool *out, const clt_source *source, const clt_node *parent, const char *name, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  if (node.json == NULL) return CLT_OK;
  json_int_t number = json_integer_value(node.json);
  if (!json_is_boolean(node.json) && !(json_is_integer(node.json) && (number == 0 || number == 1)))
    return clt_node_fail(source, &node, error, "needs true or false, or 1 or 0");
  *out = json_is_true(node.json) || number == 1;
  return CLT_OK;
}

int clt_node_integer(int64_t *out, const clt_source *source, const clt_node *parent, const char *name,
                     clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  if (node.json == NULL) return CLT_OK;
  double real = json_real_value(node.json);
  bool whole = json_is_real(node.json) && real >= -0x1p53 && real <= 0x1p53 && real == (double)(int64_t)real;
  if (!json_is_integer(node.json) && !whole) return clt_node_fail(source, &node, error, "needs a whole number");
  *out = whole ? (int64_t)real : json_integer_value(node.json);
  return CLT_OK;
}

int clt_node_number(double *out, const clt_source *source, const clt_node *parent, const char *name, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  if (node.json == NULL) return CLT_OK;
  if (!json_is_number(node.json)) return clt_node_fail(source, &node, error, "needs a number");
  *out = json_number_value(node.json);
  return CLT_OK;
}

static int no_such_choice(const clt_source *source, const clt_node *node, const char *text, const char *const *choices,
                          size_t n, clt_error *error) {
  char list[400];
  size_t used = 0;
  for (size_t i = 0; i < n && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"",
                             i == 0      ? ""
                             : i + 1 < n ? ", "
                                         : " or ",
                             choices[i]);
  return clt_node_fail(source, node, error, "needs %s, not \"%s\"", list, text);
}

int clt_node_choice(int *out, const clt_source *source, const clt_node *parent, const char *name,
                    const char *const *choices, size_t n, clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  if (node.json == NULL) return CLT_OK;
  const char *text = json_string_value(node.json);
  if (text == NULL) return clt_node_fail(source, &node, error, "needs a string");
  for (size_t i = 0; i < n; i++)
    if (strcasecmp(text, choices[i]) == 0) return *out = (int)i, CLT_OK;
  return no_such_choice(source, &node, text, choices, n, error);
}

static bool is_known(const char *name, const char *const *known, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(name, known[i]) == 0) return true;
  return false;
}

/* The known name that is missing in the object and that `name` may stand for. */
static const char *meant(const clt_node *node, const char *name, const char *const *known, size_t n) {
  const char *absent[MAX_KNOWN];
  size_t n_absent = 0;
  for (size_t i = 0; i < n && n_absent < MAX_KNOWN; i++)
    if (json_object_get(node->json, known[i]) == NULL) absent[n_absent++] = known[i];
  return isalpha((unsigned char)name[0]) ? clt_nearest_name(name, absent, n_absent) : NULL;
}

int clt_node_known(const clt_source *source, const clt_node *node, const char *const *known, size_t n, bool strict,
                   clt_error *error) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)node->json, name, value) {
    if (is_known(name, known, n)) continue;
    const char *near = meant(node, name, known, n);
    clt_node here = clt_node_member(node, name);
    if (near) return clt_node_fail(source, &here, error, "there is no key \"%s\"; did you mean \"%s\"?", name, near);
    if (strict && isalpha((unsigned char)name[0]))
      return clt_node_fail(source, &here, error, "there is no key \"%s\"", name);
  }
  return CLT_OK;
}
