/* clatune/sys/option.h - options of plug-ins.
 *
 * A searcher, model or evaluator lists its options in one table. The flags of the command line, the keys in JSON files
 * and the help texts come from it. The values are written into a struct of the plug-in. */
#ifndef CLATUNE_SYS_OPTION_H
#define CLATUNE_SYS_OPTION_H

#include <clatune/error.h>
#include <stddef.h>

CLT_BEGIN_C

/* The C type of the member: bool, int64_t, double, const char * (borrowed from the settings), and double for a time in
 * seconds, which is written as 90, 90s, 5m or 1h. */
typedef enum clt_option_type {
  CLT_OPTION_BOOL,
  CLT_OPTION_INT,
  CLT_OPTION_REAL,
  CLT_OPTION_TEXT,
  CLT_OPTION_SECONDS
} clt_option_type;

typedef struct clt_option {
  const char *name; /* as on the command line, without the dashes: "second-stage" */
  clt_option_type type;
  const char *default_text;
  double min, max;  /* inclusive range of numbers; both 0: any */
  size_t offset;    /* of the member in the options struct */
  const char *help; /* one sentence, with unit */
} clt_option;

/* An option that a caller sets. */
typedef struct clt_setting {
  const char *name;
  const char *value;
} clt_setting;

CLT_END_C
#endif
