#include "common/description.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

void description_wrong(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("instrument: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(97);
}

static void find_folder(char *folder, const char *path) {
  char whole[PATH_MAX];
  if (folder == NULL) return;
  if (realpath(path, whole) == NULL) description_wrong("cannot find '%s'", path);
  char *slash = strrchr(whole, '/');
  *(slash == whole ? slash + 1 : slash) = '\0';
  memcpy(folder, whole, strlen(whole) + 1);
}

json_t *description_read(const char *variable, const char *beside, char *folder) {
  json_error_t error;
  const char *text = beside && access(beside, R_OK) == 0 ? beside : getenv(variable);
  if (text == NULL || *text == '\0') return NULL;
  bool inline_json = *text == '{' || *text == '[';
  json_t *root = inline_json ? json_loads(text, JSON_REJECT_DUPLICATES, &error)
                             : json_load_file(text, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) description_wrong("%s: %s:%d: %s", variable, error.source, error.line, error.text);
  if (inline_json && folder) memcpy(folder, ".", 2);
  if (!inline_json) find_folder(folder, text);
  return root;
}

double description_number(const json_t *object, const char *key, double standard) {
  const json_t *item = json_object_get(object, key);
  if (item == NULL) return standard;
  if (!json_is_number(item)) description_wrong("'%s' has to be a number", key);
  return json_number_value(item);
}

const char *description_text(const json_t *object, const char *key, const char *standard) {
  const json_t *item = json_object_get(object, key);
  if (item == NULL) return standard;
  if (!json_is_string(item)) description_wrong("'%s' has to be a text", key);
  return json_string_value(item);
}

const char *description_formula(const json_t *object, const char *key, const char *standard) {
  const json_t *item = json_object_get(object, key);
  if (!json_is_number(item)) return description_text(object, key, standard);
  char *text = clt_format("%.17g", json_number_value(item));
  if (text == NULL) description_wrong("out of memory");
  return text;
}

void description_keys(const json_t *object, const char *const *known, const char *what) {
  const char *key;
  json_t *item;
  json_object_foreach((json_t *)(uintptr_t)object, key, item) {
    size_t i = 0;
    while (known[i] && strcmp(known[i], key) != 0) i++;
    if (known[i] == NULL) description_wrong("%s has no key '%s'", what, key);
  }
}
