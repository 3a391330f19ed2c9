/* Structures that are passed by value: finds the declaration in the kernel's text, lays the fields out as C does, and
 * stores their values. */
#include <ctype.h>

#include "base/base.h"
#include "device/device.h"
#include "problem/instance.h"

#define MOST_FIELDS 64
#define MOST_TYPEDEFS 8 /* in a chain */

typedef struct field {
  char name[CLT_FIELD_BYTES], type[CLT_FIELD_BYTES];
  clt_element element;
  size_t count, offset; /* count: elements of an array; 1 for others */
} field;

typedef struct structure {
  char tag[CLT_FIELD_BYTES], name[CLT_FIELD_BYTES]; /* "": none */
  bool packed;
  field fields[MOST_FIELDS];
  size_t n, bytes;
  const char *unsupported; /* what it has that cannot be read; NULL: nothing */
} structure;

/* Takes the next word, or a single other character, from [*at, end). False: the end. */
static bool next_token(char out[CLT_FIELD_BYTES], const char **at, const char *end) {
  size_t n = 0;
  while (*at < end && isspace((unsigned char)**at)) ++*at;
  const char *first = *at;
  while (*at < end && clt_in_word(**at)) ++*at;
  if (*at < end && *at == first) ++*at;
  for (; first + n < *at && n + 1 < CLT_FIELD_BYTES; n++) out[n] = first[n];
  out[n] = '\0';
  return n > 0;
}

/* Adds a word to a type. C writes "unsigned long int", OpenCL "ulong". */
static void add_type_word(char type[CLT_FIELD_BYTES], const char *word) {
  char before[CLT_FIELD_BYTES];
  const bool is_unsigned = strcmp(word, "unsigned") == 0;
  if (strcmp(word, "const") == 0 || strcmp(word, "volatile") == 0) return;
  if (strcmp(word, "signed") == 0) word = "int";
  if (strcmp(word, "int") == 0 && type[0]) return;
  strcpy(before, type);
  if (is_unsigned)
    snprintf(type, CLT_FIELD_BYTES, "u%.*s", CLT_FIELD_BYTES - 2, before[0] ? before : "int");
  else
    snprintf(type, CLT_FIELD_BYTES, "%s%.*s", strcmp(before, "uint") == 0 ? "u" : "", CLT_FIELD_BYTES - 2, word);
}

/* Reads words up to another token: the last one is the name, the others are the type. */
static void read_typed_name(char type[CLT_FIELD_BYTES], char name[CLT_FIELD_BYTES], const char **at, const char *end) {
  char token[CLT_FIELD_BYTES];
  type[0] = name[0] = '\0';
  for (const char *next = *at; next_token(token, &next, end) && clt_in_word(token[0]); *at = next) {
    if (name[0]) add_type_word(type, name);
    strcpy(name, token);
  }
}

/* Reads "const unsigned int a, b[4]". */
static void read_declaration(structure *s, const char *at, const char *end) {
  char type[CLT_FIELD_BYTES], name[CLT_FIELD_BYTES], token[CLT_FIELD_BYTES], *rest;
  read_typed_name(type, name, &at, end);
  if (name[0] == '\0' && !next_token(token, &at, end)) return;
  for (bool more = true; more && !s->unsupported;) {
    field f = {.count = 1};
    strcpy(f.name, name);
    strcpy(f.type, type);
    more = next_token(token, &at, end);
    for (; more && token[0] == '['; more = next_token(token, &at, end)) {
      next_token(token, &at, end);
      f.count *= strtoul(token, &rest, 10);
      if (*rest || !next_token(token, &at, end) || token[0] != ']')
        s->unsupported = "an array whose length is no number";
    }
    if (!s->unsupported && (!type[0] || !name[0] || (more && token[0] != ',')))
      s->unsupported = "a field that is no number, vector or array of these";
    if (s->n == MOST_FIELDS) s->unsupported = "more than 64 fields";
    if (s->n < MOST_FIELDS) s->fields[s->n++] = f;
    if (more) more = next_token(name, &at, end);
  }
}

/* Reads a declaration from behind the word "struct" on. *next: behind it. False: it is none. */
static bool read_structure(structure *out, const char *text, const char *at, const char **next) {
  static const char attribute[] = "__attribute";
  const char *open = strpbrk(at, "{;()"), *begin = at - strlen("struct");
  char token[CLT_FIELD_BYTES];
  if (open && *open == '(' && memmem(at, (size_t)(open - at), attribute, strlen(attribute)))
    open = (open = strstr(open, "))")) ? strpbrk(open + 2, "{;()") : NULL;
  const char *close = open && *open == '{' ? strchr(open, '}') : NULL, *end = close ? strchr(close, ';') : NULL;
  if (end == NULL) return false;
  *next = end;
  *out = (structure){.bytes = 0};
  const size_t n_before = (size_t)(open - at), n_inside = (size_t)(close - open), n_behind = (size_t)(end - close);
  out->packed = memmem(at, n_before, "packed", 6) || memmem(close, n_behind, "packed", 6);
  if (memmem(at, n_before, "aligned", 7) || memmem(close, n_behind, "aligned", 7))
    out->unsupported = "an alignment of its own";
  for (const char *from = at; next_token(token, &from, open);) /* the tag follows the attributes */
    strcpy(out->tag, clt_in_word(token[0]) ? token : "");
  while (begin > text && isspace((unsigned char)begin[-1])) begin--;
  const bool is_type = begin - text >= 7 && strncmp(begin - 7, "typedef", 7) == 0;
  for (const char *from = close + 1; is_type && out->name[0] == '\0' && next_token(token, &from, end);) {
    const char *parentheses = strncmp(token, attribute, strlen(attribute)) == 0 ? strstr(from, "))") : NULL;
    if (parentheses && parentheses < end)
      from = parentheses + 2;
    else if (clt_in_word(token[0]))
      strcpy(out->name, token);
  }
  for (const char *from = open + 1, *stop; (stop = memchr(from, ';', (size_t)(close - from))) != NULL; from = stop + 1)
    read_declaration(out, from, stop);
  if (memchr(open, '#', n_inside)) out->unsupported = "preprocessor lines";
  if (memchr(open + 1, '{', n_inside - 1)) out->unsupported = "a structure of its own";
  if (memmem(open, n_inside, attribute, strlen(attribute))) out->unsupported = "fields with attributes";
  return true;
}

/* The element of a type: OpenCL's own, of a typedef, or of a parameter or macro with the name of a type. */
static bool find_element(clt_element *out, const clt_calculation *c, const char *text, const char *type) {
  char name[CLT_FIELD_BYTES], token[CLT_FIELD_BYTES], found[CLT_FIELD_BYTES] = "";
  snprintf(name, sizeof name, "%s", type);
  for (int i = 0; i < MOST_TYPEDEFS; i++) {
    const int parameter = clt_problem_parameter_index(c->instance->problem, name);
    if (clt_element_parse(out, name) == CLT_OK) return true;
    found[0] = '\0';
    if (parameter >= 0 && c->slots && c->slots[parameter].type == CLT_STRING)
      snprintf(found, sizeof found, "%s", c->slots[parameter].text);
    for (const char *at = text; !found[0] && (at = clt_next_word(text, at, "typedef")) != NULL; at++) {
      const char *from = at + strlen("typedef"), *end = strchr(from, ';');
      char of[CLT_FIELD_BYTES], last[CLT_FIELD_BYTES];
      if (end == NULL) break;
      read_typed_name(of, last, &from, end);
      if (strcmp(last, name) == 0 && !next_token(token, &from, end)) strcpy(found, of);
    }
    clt_define *defines = NULL;
    size_t n = 0, n_same = 0;
    if (!found[0] && clt_defines(&defines, &n, text, NULL) == CLT_OK)
      for (size_t d = 0; d < n; d++)
        if (strcmp(defines[d].name, name) == 0 && n_same++ == 0) {
          const char *from = defines[d].value, *end = from + strlen(from);
          while (next_token(token, &from, end)) add_type_word(found, token);
        }
    free(defines);
    if (!found[0] || n_same > 1) return false;
    strcpy(name, found);
  }
  return false;
}

static const field *find_field(const structure *s, const char *name) {
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->fields[i].name, name) == 0) return &s->fields[i];
  return NULL;
}

static size_t count_common(const structure *s, const clt_argument *argument) {
  size_t n = 0;
  for (size_t i = 0; i < argument->n_fields; i++) n += find_field(s, argument->fields[i].name) != NULL;
  return n;
}

/* The structure of the argument's type, or without one the structure that has the most of its fields. */
static bool find_structure(structure *out, const char *text, const clt_argument *argument) {
  const char *wanted = argument->structure;
  bool found = false;
  structure s;
  if (wanted && strncmp(wanted, "struct ", 7) == 0) wanted += 7;
  for (const char *at = text; (at = clt_next_word(text, at, "struct")) != NULL;) {
    at += strlen("struct");
    if (!read_structure(&s, text, at, &at)) continue;
    const size_t n_common = count_common(&s, argument);
    const bool is_wanted = wanted ? strcmp(s.tag, wanted) == 0 || strcmp(s.name, wanted) == 0 : n_common > 0;
    if (!is_wanted || (found && n_common <= count_common(out, argument))) continue;
    *out = s;
    found = true;
  }
  return found;
}

bool clt_structure_field(char name[CLT_FIELD_BYTES], char type[CLT_FIELD_BYTES], const char *text, const char *of,
                         size_t i) {
  structure s;
  if (!find_structure(&s, text, &(clt_argument){.structure = of}) || s.unsupported || i >= s.n) return false;
  strcpy(name, s.fields[i].name);
  strcpy(type, s.fields[i].type);
  return true;
}

static void store_fields(clt_calculation *c, const clt_argument *argument, const structure *s, clt_plan_arg *out) {
  const clt_source *source = &c->instance->problem->source;
  for (size_t i = 0; i < argument->n_fields && c->rc == CLT_OK; i++) {
    const clt_stated_field *stated = &argument->fields[i];
    const field *f = find_field(s, stated->name);
    const size_t step = clt_element_base_bytes(f->element.base), n = (size_t)f->element.components * f->count;
    if (stated->n_values != 1 && stated->n_values != n)
      c->rc = clt_key_fail(source, stated->key, CLT_E_FORMAT, c->error, "needs one value, or a list of %zu", n);
    for (size_t k = 0; k < n && c->rc == CLT_OK; k++) {
      const size_t element = k / (size_t)f->element.components, component = k % (size_t)f->element.components;
      clt_evaluate_component(c, stated->values[stated->n_values == 1 ? 0 : k],
                             out->scalar + f->offset + element * f->element.bytes + component * step, f->element.base,
                             1);
    }
  }
}

static void lay_out(clt_calculation *c, const clt_argument *argument, structure *s, const char *text,
                    clt_plan_arg *out) {
  const clt_source *source = &c->instance->problem->source;
  const size_t stated_bytes = out->element.bytes;
  size_t alignment = 1;
  for (size_t i = 0; i < s->n && c->rc == CLT_OK; i++) {
    field *f = &s->fields[i];
    if (!find_element(&f->element, c, text, f->type)) {
      c->rc = clt_key_fail(source, argument->key, CLT_E_UNSUPPORTED, c->error,
                           "the field '%s' has the type '%s', which is neither one of OpenCL's numbers and vectors nor "
                           "a single typedef of one; store the content in a file as \"BinaryRaw\"",
                           f->name, f->type);
      return;
    }
    const size_t own = s->packed ? 1 : f->element.bytes;
    f->offset = (s->bytes + own - 1) / own * own;
    if (!clt_size_multiply(&s->bytes, f->element.bytes, f->count)) s->bytes = SIZE_MAX / 2;
    s->bytes += f->offset;
    if (own > alignment) alignment = own;
  }
  s->bytes = (s->bytes + alignment - 1) / alignment * alignment;
  if (c->rc == CLT_OK && s->bytes > sizeof out->scalar)
    c->rc = clt_key_fail(source, argument->key, CLT_E_UNSUPPORTED, c->error,
                         "the structure has %zu bytes; at most %zu are possible", s->bytes, sizeof out->scalar);
  if (c->rc == CLT_OK && stated_bytes && stated_bytes != s->bytes)
    c->rc = clt_key_fail(source, argument->key, CLT_E_FORMAT, c->error,
                         "\"TypeSize\" is %zu, but the structure in the kernel has %zu bytes", stated_bytes, s->bytes);
  out->bytes = out->element.bytes = s->bytes;
}

void clt_plan_structure(clt_calculation *c, const clt_argument *argument, const char *file, clt_plan_arg *out) {
  const clt_problem *problem = c->instance->problem;
  const clt_source *source = &problem->source;
  const char *const files[] = {file, problem->kernel_file}; /* a reference need not declare it */
  structure s = {.bytes = 0};
  char *text = NULL;
  bool found = false;
  for (size_t i = 0; c->rc == CLT_OK && !found && i < 2; i++) {
    char *written = NULL;
    free(text);
    text = NULL;
    c->rc = clt_kernel_text(&written, c->instance, files[i], c->error);
    if (c->rc == CLT_OK && (text = clt_plain_source(written)) == NULL) c->rc = clt_fail_memory(c->error);
    if (c->rc == CLT_OK) found = find_structure(&s, text, argument);
    free(written);
  }
  const char *type = argument->structure ? argument->structure : "with these fields";
  if (c->rc == CLT_OK && !found) {
    c->rc = clt_key_fail(source, argument->key, CLT_E_FORMAT, c->error,
                         "'%s' and the files that it includes declare no structure %s", file, type);
  } else if (c->rc == CLT_OK && s.unsupported) {
    c->rc = clt_key_fail(source, argument->key, CLT_E_UNSUPPORTED, c->error,
                         "the structure '%s' has %s; store the content in a file as \"BinaryRaw\"",
                         s.name[0] ? s.name : s.tag, s.unsupported);
  }
  const char *names[MOST_FIELDS];
  for (size_t i = 0; i < s.n; i++) names[i] = s.fields[i].name;
  for (size_t i = 0; c->rc == CLT_OK && i < argument->n_fields; i++) {
    const char *name = argument->fields[i].name, *near = clt_nearest_name(name, names, s.n);
    if (find_field(&s, name) == NULL)
      c->rc = clt_key_fail(source, argument->fields[i].key, CLT_E_FORMAT, c->error,
                           "the structure has no field of this name%s%s%s", CLT_DID_YOU_MEAN("'", near));
  }
  for (size_t i = 0; c->rc == CLT_OK && i < s.n; i++) {
    bool stated = false;
    for (size_t k = 0; k < argument->n_fields; k++) stated |= strcmp(argument->fields[k].name, s.fields[i].name) == 0;
    if (!stated)
      c->rc = clt_key_fail(source, argument->key, CLT_E_FORMAT, c->error, "\"Fields\" lacks the field '%s'",
                           s.fields[i].name);
  }
  if (c->rc == CLT_OK) lay_out(c, argument, &s, text, out);
  if (c->rc == CLT_OK) store_fields(c, argument, &s, out);
  free(text);
}
