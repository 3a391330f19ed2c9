#include "eval/batch_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_TOKENS 1024
#define MAX_TOKEN_BYTES 40

char *clt_batch_question(const clt_space *space, const clt_config *configs, size_t n) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n_parameters = clt_space_n_parameters(space), bytes = 0;
  char *text = NULL;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  fprintf(out, "%zu %zu\n", n, n_parameters);
  for (size_t i = 0; i < n; i++) {
    clt_space_positions(space, configs[i], positions);
    for (size_t p = 0; p < n_parameters; p++) fprintf(out, "%s%u", p ? " " : "", (unsigned)positions[p]);
    fputc('\n', out);
  }
  return fclose(out) == 0 ? text : (free(text), NULL);
}

/* A piece of a line between spaces, commas and the like. */
typedef struct token {
  bool is_position; /* digits alone */
  bool is_number;   /* any */
  uint32_t position;
  double number;
} token;

static bool separates(char c) { return isspace((unsigned char)c) || c == ',' || c == ';' || c == ':' || c == '='; }

static token read_token(const char *text, size_t n) {
  char copy[MAX_TOKEN_BYTES + 1], *end;
  token t = {.number = NAN};
  if (n > MAX_TOKEN_BYTES) return t;
  memcpy(copy, text, n);
  copy[n] = 0;
  t.is_position = copy[strspn(copy, "0123456789")] == 0 && n < 10;
  if (t.is_position) t.position = (uint32_t)strtoul(copy, NULL, 10);
  double x = strtod(copy, &end);
  t.is_number = end != copy && *end == 0;
  if (t.is_number) t.number = x;
  return t;
}

static size_t split(token *out, const char *line, size_t length) {
  size_t n = 0;
  for (size_t at = 0; at < length && n < MAX_TOKENS;) {
    size_t begin = at;
    while (at < length && !separates(line[at])) at++;
    if (at > begin)
      out[n++] = read_token(line + begin, at - begin);
    else
      at++;
  }
  return n;
}

/* The configuration whose positions stand at the tokens, or n. */
static size_t find(const token *tokens, const clt_space *space, const clt_config *configs, const bool *answered,
                   size_t n) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n_parameters = clt_space_n_parameters(space);
  for (size_t p = 0; p < n_parameters; p++) {
    if (!tokens[p].is_position || tokens[p].position >= clt_space_parameter(space, p)->n_values) return n;
    positions[p] = tokens[p].position;
  }
  clt_config config = clt_space_from_positions(space, positions);
  for (size_t i = 0; i < n; i++)
    if (configs[i] == config && !answered[i]) return i;
  return n;
}

static bool take(const token *tokens, size_t n_tokens, size_t at, const clt_space *space, const clt_config *configs,
                 const bool *answered, size_t n, size_t *index, double *number) {
  size_t n_parameters = clt_space_n_parameters(space);
  if (at + n_parameters >= n_tokens) return false;
  *index = find(tokens + at, space, configs, answered, n);
  *number = tokens[at + n_parameters].number;
  return *index < n;
}

/* A line that is an answer and nothing else comes first; one in other text needs a number behind it, so that a mere
 * mention of a configuration is none. Where a line begins with other numbers, the last fit counts: the time ends it. */
bool clt_batch_answer(const char *line, size_t length, const clt_space *space, const clt_config *configs,
                      const bool *answered, size_t n, size_t *index, double *number) {
  token tokens[MAX_TOKENS];
  size_t n_tokens = split(tokens, line, length), n_parameters = clt_space_n_parameters(space);
  if (n_tokens == n_parameters + 1) return take(tokens, n_tokens, 0, space, configs, answered, n, index, number);
  for (size_t at = n_tokens; at-- > 0;)
    if (take(tokens, n_tokens, at, space, configs, answered, n, index, number) && tokens[at + n_parameters].is_number)
      return true;
  return false;
}
