#include "cli/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Behind the text that begins at a quote. */
static const char *skip_text(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && at[1]) at++;
  return *at ? at + 1 : at;
}

/* Whether the list that begins here has nothing but numbers, texts and the like in it. */
static bool is_plain_list(const char *at) {
  if (*at++ != '[') return false;
  while (*at && *at != ']') {
    if (*at == '[' || *at == '{') return false;
    at = *at == '"' ? skip_text(at) : at + 1;
  }
  return *at == ']';
}

/* Line ends and what indents the next line go, behind a comma to one space. */
static char *put_list(char *out, const char **at) {
  while (**at && **at != ']') {
    const char *end = **at == '"' ? skip_text(*at) : *at + 1;
    if (**at == '\n') {
      end = *at + strspn(*at, "\n ");
      if (out[-1] == ',') *out++ = ' ';
    } else {
      memcpy(out, *at, (size_t)(end - *at));
      out += end - *at;
    }
    *at = end;
  }
  return out;
}

char *cli_json_readable(const json_t *json) {
  char *text = json_dumps(json, JSON_INDENT(2)), *readable = text ? malloc(strlen(text) + 1) : NULL, *out = readable;
  for (const char *at = text; readable && *at;) {
    if (is_plain_list(at)) out = put_list(out, &at);
    const char *end = *at == '"' ? skip_text(at) : at + 1;
    memcpy(out, at, (size_t)(end - at));
    out += end - at;
    at = end;
  }
  if (readable) *out = '\0';
  free(text);
  return readable;
}
