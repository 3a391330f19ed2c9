#include "report/markup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LONG_VALUE 24 /* characters */
#define REPLACEMENT "\xef\xbf\xbd"

/* --- texts --- */

/* The bytes of the character at the start of a text, its number in *character; 0: no UTF-8. */
static int character_bytes(const unsigned char *text, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  int n = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
  if (n == 0) return 0;
  uint32_t c = n == 1 ? text[0] : text[0] & (0xffu >> (n + 1));
  for (int i = 1; i < n; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (text[i] & 0x3f);
  }
  if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
  *character = c;
  return n;
}

/* Controls, and what would turn the direction of the text behind it. */
static bool is_control(uint32_t c) {
  return c < 32 || (c >= 127 && c < 160) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static void put_character(FILE *out, const char *text, int n, uint32_t c) {
  static const struct {
    uint32_t character;
    const char *entity;
  } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
    if (entities[i].character == c) {
      fputs(entities[i].entity, out);
      return;
    }
  fwrite(text, 1, (size_t)n, out);
}

void clt_put_text(FILE *out, const char *text) {
  while (*text) {
    uint32_t c = 0;
    int n = character_bytes((const unsigned char *)text, &c);
    if (n == 0 || is_control(c))
      fputs(REPLACEMENT, out);
    else
      put_character(out, text, n, c);
    text += n ? n : 1;
  }
}

void clt_put_code(FILE *out, const char *text) {
  fputs("<code>", out);
  clt_put_text(out, text);
  fputs("</code>", out);
}

const char *clt_cell_class(const char *text) { return strlen(text) > LONG_VALUE ? " flow" : ""; }

/* --- numbers --- */

void clt_put_count(FILE *out, uint64_t n) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
  for (int i = 0; i < length; i++) fprintf(out, "%s%c", i && (length - i) % 3 == 0 ? "\u202f" : "", digits[i]);
}

static clt_value_form form_of_times(const clt_report *report, double least_s) {
  clt_value_form form = {.report = report, .unit = clt_report_view_unit_of(least_s)};
  double least = least_s / form.unit.seconds;
  form.name = strcmp(form.unit.name, "us") == 0 ? "\u00b5s" : form.unit.name;
  form.decimals = least >= 100 ? 1 : least >= 10 ? 2 : 3;
  return form;
}

clt_value_form clt_value_form_of(const clt_report *report, double best_cost) {
  clt_report_figure figure = clt_report_figure_of(report);
  if (figure.in_seconds) return form_of_times(report, clt_report_value(report, best_cost));
  return (clt_value_form){.report = report, .unit = {1, figure.unit}, .name = figure.unit, .decimals = -1};
}

void clt_put_cost(FILE *out, const clt_value_form *form, double cost) {
  double value = clt_report_value(form->report, cost) / form->unit.seconds;
  if (!isfinite(value))
    fputs("\u2013", out);
  else if (form->decimals < 0)
    fprintf(out, "%.4g", value);
  else
    fprintf(out, "%.*f", form->decimals, value);
}

void clt_put_cost_unit(FILE *out, const clt_value_form *form, double cost) {
  clt_put_cost(out, form, cost);
  if (!isfinite(cost) || form->name[0] == '\0') return;
  fputs("\u00a0", out);
  clt_put_text(out, form->name);
}

void clt_put_unit(FILE *out, const clt_value_form *form) {
  if (form->name[0]) fputs(", ", out);
  clt_put_text(out, form->name);
}

void clt_put_bar(FILE *out, double share) {
  fprintf(out, "<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></span>",
          100 * fmax(0, fmin(1, share)));
}
