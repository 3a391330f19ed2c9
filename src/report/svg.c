/* From a drawing of gnuplot's SVG terminal to a figure that wears the page's colours. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/gnuplot.h"

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Behind the next `end`, or at the end of the text. */
static const char *behind(const char *text, const char *end) {
  const char *found = strstr(text, end);
  return found ? found + strlen(end) : text + strlen(text);
}

/* Texts that are left out, up to and with their ends. */
static const char *skip(const char *text) {
  static const struct {
    const char *begin, *end;
  } parts[] = {{"<title>", "</title>"},           {"<desc>", "</desc>"},       {"<filter ", "</filter>"},
               {" font-family=\"", "\""},         {" class=\"gridline\"", ""}, {" stroke-linecap=\"butt\"", ""},
               {" stroke-linejoin=\"miter\"", ""}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (begins(text, parts[i].begin)) return behind(text + strlen(parts[i].begin), parts[i].end);
  return text;
}

/* gnuplot sets groups for colours that it then does not use. */
static const char *skip_empty_group(const char *text) {
  const char *at = begins(text, "<g fill=") ? strchr(text, '>') : NULL;
  if (at == NULL) return text;
  for (at++; isspace((unsigned char)*at); at++)
    ;
  return begins(at, "</g>") ? at + 4 : text;
}

/* A colour of the page's, or any other: returns what is behind it. */
static const char *put_colour(FILE *out, const char *text) {
  unsigned long parts[3] = {0};
  char *at = (char *)(uintptr_t)text + 4;
  if (!begins(text, "rgb(")) return text;
  for (size_t i = 0; i < 3; i++) {
    parts[i] = strtoul(at, &at, 10) & 255;
    if (*at++ != (i < 2 ? ',' : ')')) return text;
  }
  if (parts[0] == 1 && parts[1] == 0) {
    fprintf(out, "var(--p%lu)", parts[2]);
  } else if (parts[0] + parts[1] + parts[2] == 0) {
    fputs("currentColor", out);
  } else {
    fprintf(out, "#%02lx%02lx%02lx", parts[0], parts[1], parts[2]);
  }
  return at;
}

/* Texts that are written otherwise. */
static const char *put_other(FILE *out, const char *text, size_t number) {
  const struct {
    const char *from, *to;
    bool numbered;
  } parts[] = {{"id='gp", "id='p%zu-gp", true},      {"xlink:href='#gp", "href='#p%zu-gp", true},
               {"url(#gp", "url(#p%zu-gp", true},    {"\"black\"", "\"currentColor\"", false},
               {"'black'", "'currentColor'", false}, {"id=\"gnuplot_", "id=\"p%zu-", true}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (!begins(text, parts[i].from)) continue;
    const char *place = strstr(parts[i].to, "%zu");
    if (parts[i].numbered)
      fprintf(out, "%.*s%zu%s", (int)(place - parts[i].to), parts[i].to, number, place + 3);
    else
      fputs(parts[i].to, out);
    return text + strlen(parts[i].from);
  }
  return text;
}

static void clean(FILE *out, const char *text, size_t number) {
  while (*text) {
    const char *next = skip_empty_group(text);
    if (next == text) next = skip(text);
    if (next == text && *text == 'r') next = put_colour(out, text);
    if (next == text) next = put_other(out, text, number);
    if (next == text && isspace((unsigned char)*text)) {
      while (isspace((unsigned char)*next)) next++;
      fputc(memchr(text, '\n', (size_t)(next - text)) ? '\n' : ' ', out);
    }
    if (next == text) fputc(*next++, out);
    text = next;
  }
}

int clt_svg_clean(char **out, const char *svg, size_t number, clt_error *error) {
  const char *tag = strstr(svg, "<svg"), *body = tag ? strchr(tag, '>') : NULL;
  const char *box = tag ? strstr(tag, "viewBox=\"") : NULL, *end = body ? strstr(body, "</svg>") : NULL;
  if (end == NULL || box == NULL || box > body)
    return clt_fail(error, CLT_E_FORMAT, "what gnuplot wrote is not the SVG that is expected");
  char *text = NULL, *inner = strndup(body + 1, (size_t)(end - body - 1));
  size_t bytes;
  FILE *file = inner ? open_memstream(&text, &bytes) : NULL;
  if (file == NULL) {
    free(inner);
    return clt_fail_memory(error);
  }
  fprintf(file, "%.*s\">", (int)strcspn(box + 9, "\"") + 9, box);
  clean(file, inner, number);
  fputs("</svg>", file);
  free(inner);
  bool failed = ferror(file) != 0;
  if (fclose(file) || failed) {
    free(text);
    return clt_fail_memory(error);
  }
  *out = text;
  return CLT_OK;
}
