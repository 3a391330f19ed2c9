/* Draws text from a document. Forms are constants of the program: they have no errors to report. */
#include "report/draw.h"
#include "measurement/measurement.h"

#define MOST_PATH 80
#define MOST_MEMBER 160

/* An item of a document, within the item or document around it. */
typedef struct scene {
  const struct scene *around; /* NULL: it is the document */
  const json_t *item;
  bool is_first;
} scene;

/* --- members --- */

/* NULL: missing. A path that begins with a member of the item goes on in the item. */
static const json_t *find_member(const scene *s, const char *path) {
  char names[MOST_PATH], *rest;
  if (strcmp(path, ".") == 0) return s->item;
  if (strcmp(path, "first") == 0) return json_boolean(s->is_first);
  const json_t *found = NULL;
  snprintf(names, sizeof names, "%s", path);
  const char *name = strtok_r(names, ".", &rest);
  for (; s && found == NULL; s = s->around) found = json_object_get(s->item, name);
  while (found && (name = strtok_r(NULL, ".", &rest))) found = json_object_get(found, name);
  return found;
}

/* A number, the length of a list or an object, 1 for true and a text, else 0. */
static double number_of(const json_t *member) {
  if (json_is_number(member)) return json_number_value(member);
  if (json_is_string(member)) return json_string_length(member) > 0;
  if (json_is_object(member)) return (double)json_object_size(member);
  return json_is_array(member) ? (double)json_array_size(member) : json_is_true(member);
}

/* A test without its mark: "stopped", "clock=device", "runs_s>1". */
static bool holds(const scene *s, const char *test) {
  char path[MOST_PATH];
  const size_t n = strcspn(test, "=!>~");
  snprintf(path, sizeof path, "%.*s", (int)n, test);
  const json_t *member = find_member(s, path);
  const char *right = test + n + strspn(test + n, "=!>~"), *text = json_string_value(member);
  if (test[n] == '\0') return number_of(member) != 0;
  if (test[n] == '>') return number_of(member) > clt_strtod(right, NULL);
  if (test[n] == '~') return text && strstr(text, right);
  if (*right == '$') right = json_string_value(find_member(s, right + 1));
  bool same = member && !json_is_null(member) && !text && number_of(member) == clt_strtod(right, NULL);
  if (text && right) same = strcmp(text, right) == 0;
  return same == (test[n] == '=');
}

/* --- formats --- */

static void put_value(clt_text *out, double value, const char *unit) {
  char time[32];
  if (strcmp(unit, "s") == 0)
    clt_text_add(out, clt_time_text(time, value));
  else
    clt_text_printf(out, "%.4g%s%s", value, unit[0] ? " " : "", unit);
}

static void put_plain(clt_text *out, const json_t *member) {
  if (json_is_string(member))
    clt_text_add(out, json_string_value(member));
  else if (json_is_integer(member) && json_integer_value(member) == INT64_MAX)
    clt_text_add(out, "over 2^63"); /* so many configurations are not counted */
  else if (json_is_integer(member))
    clt_text_printf(out, "%lld", (long long)json_integer_value(member));
  else if (json_is_boolean(member))
    clt_text_add(out, json_is_true(member) ? "true" : "false");
  else
    clt_text_printf(out, "%.6g", json_number_value(member));
}

static bool put_forms(clt_text *out, const scene *s, const char *form);

/* What a format gets: the item and its number, and what follows the format's name, as in "pm PATH". */
typedef struct formatted {
  const scene *around;
  const json_t *item;
  double x;
  const char *rest;
} formatted;

static void put_digits(clt_text *out, const formatted *f) {
  const bool is_share = f->rest[1] == '%';
  clt_text_printf(out, "%.*g", f->rest[0] - '0', is_share ? 100 * f->x : f->x);
  if (is_share) clt_text_add(out, " %");
}

static void put_columns(clt_text *out, const formatted *f) { clt_text_printf(out, "%7.0f", f->x); }

static void put_share(clt_text *out, const formatted *f) { clt_text_printf(out, "%.0f %%", 100 * f->x); }

static void put_time(clt_text *out, const formatted *f) { put_value(out, f->x, "s"); }

static void put_bytes(clt_text *out, const formatted *f) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double bytes = f->x;
  size_t i = 0;
  for (; bytes >= 1024 && i < 4; i++) bytes /= 1024;
  clt_text_printf(out, "%.4g %s", bytes, units[i]);
}

static void put_count(clt_text *out, const formatted *f) { clt_text_printf(out, "%.0f", f->x); }

static void put_plural(clt_text *out, const formatted *f) { clt_text_add(out, f->x == 1 ? "" : "s"); }

static void put_reason(clt_text *out, const formatted *f) {
  clt_reason reason;
  if (clt_reason_parse(&reason, json_string_value(f->item), NULL) == CLT_OK) clt_text_add(out, clt_reason_text(reason));
}

static void put_confidence(clt_text *out, const formatted *f) {
  clt_text_printf(out, "%.3g %%", 100 * fmin(f->x, CLT_USUAL_CONFIDENCE));
}

static void put_in_unit(clt_text *out, const formatted *f) {
  const char *unit = json_string_value(find_member(f->around, f->rest));
  put_value(out, f->x, unit ? unit : "");
}

static void put_half_interval(clt_text *out, const formatted *f) {
  char text[64];
  clt_text_add(out, clt_interval_text(text, f->x, number_of(find_member(f->around, f->rest))));
}

static void put_product(clt_text *out, const formatted *f) {
  const json_t *factor;
  size_t i;
  json_array_foreach(f->item, i, factor) {
    clt_text_add(out, i ? " x " : "");
    put_plain(out, factor);
  }
}

static void put_figure(clt_text *out, const formatted *f) {
  put_forms(out, &(scene){.around = f->around, .item = f->item}, "[{figure.value:.5g}[ {figure.unit}]|{time_s:time}]");
}

static void put_median(clt_text *out, const formatted *f) {
  put_forms(out, &(scene){.around = f->around, .item = f->item},
            "{.:figure}[{!interval>0.5}{interval:pm interval_confidence}"
            "|, [{?figure}{interval_low:.5g}[ {figure.unit}] to {interval_high:.5g}[ {figure.unit}]"
            "|{interval_low:time} to {interval_high:time}] ({interval_confidence:confidence})]");
}

/* A name that ends with " " or "." is followed by more. */
static const struct {
  const char *name;
  void (*put)(clt_text *out, const formatted *f);
} formats[] = {{".", put_digits},      {"7", put_columns},         {"%", put_share},
               {"time", put_time},     {"bytes", put_bytes},       {"n", put_count},
               {"s", put_plural},      {"reason", put_reason},     {"confidence", put_confidence},
               {"in ", put_in_unit},   {"pm ", put_half_interval}, {"x", put_product},
               {"figure", put_figure}, {"median", put_median}};

static void put_formatted(clt_text *out, const scene *s, const json_t *item, const char *format) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    const char *name = formats[i].name, *rest = format + strlen(name);
    if (!clt_starts_with(format, name) || (*rest && !strchr(" .", rest[-1]))) continue;
    formats[i].put(out, &(formatted){s, item, number_of(item), rest});
    return;
  }
}

/* --- forms --- */

/* at: behind a brace. Returns behind the other one; clears *there if something is missing. */
static const char *put_member(clt_text *out, const scene *s, const char *at, bool *there) {
  char what[MOST_MEMBER];
  const char *end = at + strcspn(at, "}");
  snprintf(what, sizeof what, "%.*s", (int)(end - at), at);
  end += *end != '\0';
  if (what[0] == '?' || what[0] == '!') {
    if (holds(s, what + 1) != (what[0] == '?')) *there = false;
    return end;
  }
  char *format = strchr(what, ':');
  if (format) *format++ = '\0';
  const json_t *member = find_member(s, what);
  if (member == NULL || json_is_null(member) || (json_is_string(member) && json_string_length(member) == 0))
    *there = false;
  else if (format)
    put_formatted(out, s, member, format);
  else
    put_plain(out, member);
  return end;
}

static const char *put_alternatives(clt_text *out, const scene *s, const char *at, bool *there);

/* Up to the end of the alternative. */
static const char *put_alternative(clt_text *out, const scene *s, const char *at, bool *there) {
  *there = true;
  while (*at && *at != '|' && *at != ']') {
    bool optional;
    if (*at == '[') {
      at = put_alternatives(out, s, at + 1, &optional);
    } else if (*at == '{') {
      at = put_member(out, s, at + 1, there);
    } else {
      at += *at == '\\';
      clt_text_add_bytes(out, at++, 1);
    }
  }
  return at;
}

static void cut_back(clt_text *out, size_t n) {
  if (out->rc == CLT_OK && out->bytes) out->bytes[out->n = n] = '\0';
}

/* at: behind the asterisk. */
static const char *put_items(clt_text *out, const scene *s, const char *at, bool *there) {
  char path[MOST_PATH];
  const size_t n = strcspn(at, ":"), start = out->n;
  scene inner = {.around = s};
  size_t i;
  bool complete;
  snprintf(path, sizeof path, "%.*s", (int)n, at);
  const char *end = put_alternative(out, s, at + n + 1, &complete); /* only to find its end */
  cut_back(out, start);
  json_array_foreach(find_member(s, path), i, inner.item) {
    const size_t before = out->n;
    if (before > start) clt_text_add(out, ", ");
    put_alternative(out, &inner, at + n + 1, &complete);
    if (!complete) cut_back(out, before);
  }
  *there = out->n > start;
  return end + (*end == ']');
}

/* at: behind a bracket, or a form. Returns behind the other bracket, or at the end. */
static const char *put_alternatives(clt_text *out, const scene *s, const char *at, bool *there) {
  if (*at == '*') return put_items(out, s, at + 1, there);
  *there = false;
  for (;; at++) {
    const size_t before = out->n;
    bool complete;
    at = put_alternative(out, s, at, &complete);
    if (*there || !complete) cut_back(out, before);
    *there = *there || complete;
    if (*at != '|') return at + (*at == ']');
  }
}

static bool put_forms(clt_text *out, const scene *s, const char *form) {
  bool there;
  put_alternatives(out, s, form, &there);
  return there;
}

bool clt_draw_form(clt_text *out, const json_t *document, const char *form) {
  return put_forms(out, &(scene){.item = document}, form);
}

/* --- lines --- */

static void put_line(clt_text *out, const scene *s, const clt_line *line, const clt_text_layout *layout) {
  clt_text label = {0}, value = {0};
  const bool labelled = line->label == NULL || put_forms(&label, s, line->label);
  if (labelled && put_forms(&value, s, line->form)) {
    if (line->label)
      clt_text_printf(out, "%*s%-*s ", layout->indent, "", layout->width - 1, label.bytes ? label.bytes : "");
    clt_text_add(out, value.bytes ? value.bytes : "");
    if (value.n == 0 || value.bytes[value.n - 1] != '\n') clt_text_add(out, "\n");
  }
  if (label.rc || value.rc) out->rc = CLT_E_MEMORY;
  clt_text_release(&label);
  clt_text_release(&value);
}

static void put_layout(clt_text *out, const scene *s, const clt_text_layout *layout) {
  for (const clt_line *line = layout->lines; line < layout->lines + layout->n; line++) {
    scene inner = {.around = s};
    const json_t *list = line->each ? find_member(s, line->each) : NULL;
    size_t i;
    if (line->each == NULL) put_line(out, s, line, layout);
    json_array_foreach(list, i, inner.item) {
      inner.is_first = i == 0;
      if (line->item)
        put_layout(out, &inner, line->item);
      else
        put_line(out, &inner, line, layout);
    }
  }
}

void clt_draw_layout(clt_text *out, const json_t *document, const clt_text_layout *layout) {
  put_layout(out, &(scene){.item = document}, layout);
}
