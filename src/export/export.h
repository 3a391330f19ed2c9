/* export/export.h - the best configurations for other builds, as text. */
#pragma once

#include "base/text.h"
#include "lookup/lookup.h"
#include "lookup/portable.h"
#include "store/store.h"

/* A parameter in a text such as "a=1 b=2". */
typedef struct clt_named_value {
  const char *name; /* name_length bytes, borrowed from the text */
  int name_length;
  bool is_spelled; /* the value is a text that was written with escapes, never a number */
  char value[CLT_MAX_CONFIG_TEXT];
} clt_named_value;
bool clt_next_parameter(clt_named_value *out, const char **at); /* moves *at behind it; false: none is left */

/* Adds a C header with all stored results of a problem: a table to select from at run time (clatune_<name>_find), the
 * build options of an entry at any sizes (clatune_<name>_options), and macros for the entry selected at compile time
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none can end its string or comment. portable (nullable): one
 * configuration, with an entry for each of its places, a macro for each parameter, and CLATUNE_<NAME>_OPTIONS.
 * CLT_E_NOT_FOUND: nothing is stored. */
int clt_export_header(clt_text *out, clt_catalog *catalog, const clt_problem *problem, const clt_portable *portable,
                      clt_error *error);

/* Adds CMake variables: CLATUNE_<NAME>_OPTIONS and one per parameter. from: a comment on the origin. */
void clt_export_cmake(clt_text *out, const clt_problem *problem, const char *from, const char *configuration,
                      const char *options);
