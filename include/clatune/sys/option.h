/* clatune/sys/option.h - option tables of plug-ins.
 *
 * A plug-in (searcher, model, evaluator, store) lists its options once; the table is the only source of the command
 * line's flags, of the JSON keys and of the manual's text. Options are parsed into a plain struct of the plug-in's own,
 * by offset. */
#ifndef CLATUNE_SYS_OPTION_H
#define CLATUNE_SYS_OPTION_H

#include <clatune/error.h>
#include <stddef.h>

CLT_BEGIN_C

/* The C type behind offset: bool, int64_t, double, const char * (borrowed from the caller of clt_options_parse), and
 * again double, of a time: in seconds, typed as 90, 90s, 5m or 1h. */
typedef enum clt_option_type {
  CLT_OPTION_BOOL,
  CLT_OPTION_INT,
  CLT_OPTION_REAL,
  CLT_OPTION_TEXT,
  CLT_OPTION_SECONDS
} clt_option_type;

typedef struct clt_option {
  const char *name; /* as on the command line without the dashes: "second-stage" */
  clt_option_type type;
  const char *standard; /* the default, as text */
  double min, max;      /* inclusive range of numbers; both 0: any */
  size_t offset;        /* into the options struct */
  const char *help;     /* one sentence, with unit */
} clt_option;

/* What a caller sets. */
typedef struct clt_setting {
  const char *name;
  const char *value;
} clt_setting;

CLT_END_C
#endif
