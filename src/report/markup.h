/* report/markup.h - texts and numbers in a page. */
#ifndef CLT_REPORT_MARKUP_H
#define CLT_REPORT_MARKUP_H

#include "report/view.h"

/* A text as text: no markup, no control character, UTF-8 whatever it was. */
void clt_put_text(FILE *out, const char *text);

/* A text in <code> that may be broken at spaces. */
void clt_put_code(FILE *out, const char *text);

/* 2 359 296, with narrow spaces that do not break. */
void clt_put_count(FILE *out, uint64_t n);

/* How the values of a report are written: all in one unit, with as many digits behind the point. */
typedef struct clt_value_form {
  const clt_report *report;
  clt_report_view_unit unit;
  const char *name; /* of the unit, for a page; "": none */
  int decimals;     /* -1: four digits, wherever the point is */
} clt_value_form;
clt_value_form clt_value_form_of(const clt_report *report, double best_cost);
void clt_put_cost(FILE *out, const clt_value_form *form, double cost);      /* the number alone; a dash for NaN */
void clt_put_cost_unit(FILE *out, const clt_value_form *form, double cost); /* with its unit */
void clt_put_unit(FILE *out, const clt_value_form *form);                   /* ", ms" behind what it is the unit of */

/* What a cell with a text is of beside: " flow" where the text is so long that it has to be broken. */
const char *clt_cell_class(const char *text);

/* A share from 0 to 1 as a bar, for the eye alone. */
void clt_put_bar(FILE *out, double share);

/* The style of a page. */
void clt_put_style(FILE *out);

#endif
