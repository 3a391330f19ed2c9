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

/* How the times of a report are written: all in one unit, with as many digits behind the point. */
typedef struct clt_time_form {
  clt_report_view_unit unit;
  const char *name; /* of the unit, for a page */
  int decimals;
} clt_time_form;
clt_time_form clt_time_form_of(double least_s);
void clt_put_time(FILE *out, const clt_time_form *form, double time_s);      /* the number alone; a dash for NaN */
void clt_put_time_unit(FILE *out, const clt_time_form *form, double time_s); /* with its unit */

/* What a cell with a text is of beside: " flow" where the text is so long that it has to be broken. */
const char *clt_cell_class(const char *text);

/* A share from 0 to 1 as a bar, for the eye alone. */
void clt_put_bar(FILE *out, double share);

/* The style of a page. */
void clt_put_style(FILE *out);

#endif
