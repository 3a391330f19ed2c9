/* report/draw.h - text drawn from a JSON document, so that the text of an answer says nothing that the document lacks.
 *
 * A form is a text with members of the document in braces, and parts in brackets that depend on them:
 *   {space.valid}            a member of a member: a text or a number; {.} is the item itself
 *   {wall_s:time}            in a format, see below
 *   [, {aliased} aliases]    left out if a member in it is missing, null or ""
 *   [a|b|c]                  the first alternative of which nothing is missing
 *   [*list:{name} {value}]   for each item of a list, with ", " in between
 *   {?stopped} {!stopped}    a test that prints nothing: something is missing if the member is (not) missing, null,
 *                            false, 0 or empty
 *   {?clock=device}          another test: a text or number is this one (=), another one (!=) or larger (>), or a text
 *                            contains this one (~); "$" before the right side: a member. The number of a list is its
 *                            length.
 *   \[                       the character itself
 * Members are looked up in the item, then in the document around it. "first" is true for the first item of a list.
 *
 * Formats: 7: an integer in 7 columns; .3g: significant digits; .3%: of a share in per cent; %: of it without
 * decimals; time: seconds in a suitable unit; bytes; n: the length of a list; s: "s" unless the number is 1; x: a list
 * with " x " in between; in PATH: a value whose unit is the member PATH (s: as a time); pm PATH: half an interval,
 * relative, with its confidence PATH; reason: a failure reason in words. "figure" and "median" are the figure of a
 * measurement, and the same with its interval. */
#pragma once

#include <jansson.h>

#include "base/text.h"

typedef struct clt_text_layout clt_text_layout;

/* A line of a text. */
typedef struct clt_line {
  const char *label;           /* a form; NULL: none */
  const char *form;            /* of the value; the line is left out if something of label or value is missing */
  const char *each;            /* a line for each item of the list with this path; NULL: only one */
  const clt_text_layout *item; /* instead of label and form: these lines for each item; NULL: none */
} clt_line;

struct clt_text_layout {
  int indent, width; /* columns before a label, and of it with the space that follows */
  size_t n;
  const clt_line *lines;
};

#define CLT_TEXT_LAYOUT(indent, width, lines) \
  { indent, width, sizeof(lines) / sizeof *(lines), lines }

/* Adds the lines that a document gives. */
void clt_draw_layout(clt_text *out, const json_t *document, const clt_text_layout *layout);

/* Adds one form; false: something is missing, and nothing was added. */
bool clt_draw_form(clt_text *out, const json_t *document, const char *form);

/* Lines on the device while an item was timed. of: the path of the item with a dot, or ""; when: a test before the time
 * of an empty launch, or "". */
#define CLT_STATE_LINES(of, when)                                                                      \
  {"launch", when "{" of "state.launch_s:time} for an empty one[{?" of "state.launch_share>0.1}, {" of \
                  "state.launch_share:%} of the time: use a larger size, or let one launch do more]"}, \
      {"clock", "{?" of "state.clock_share}[{" of "state.clock_mhz:.4g} MHz, ]{" of                    \
                "state.clock_share:%} of the usual clock[{?" of "state.throttled}, throttled]|{" of    \
                "state.clock_mhz:.4g} MHz"},                                                           \
  {                                                                                                    \
    "busy", "{" of "state.busy_share:%} of the time over which energy was measured"                    \
  }
