/* format/columns.h - the tuning parameters of a file that lists results one by one, each with its configuration as an
 * object {name: value}. */
#ifndef CLT_FORMAT_COLUMNS_H
#define CLT_FORMAT_COLUMNS_H

#include <clatune/space.h>
#include <jansson.h>

#include "format/value_index.h"

typedef struct clt_column {
  const char *name;  /* borrowed from the JSON, as the texts of values are */
  clt_value *values; /* different ones, in their order */
  size_t n_values;
  clt_value_index *index;
} clt_column;

/* key: what mistakes are reported under. Zero the rest; clt_columns_release in any case. */
typedef struct clt_columns {
  const char *path, *key;
  clt_column column[CLT_MAX_PARAMETERS];
  size_t n;
} clt_columns;

/* Those of the first configuration, whose values are the ones that occur in any, ascending. All configurations must
 * have the same parameters. */
int clt_columns_occurring(clt_columns *columns, json_t *const *configurations, size_t n, clt_error *error);

/* One more column with the values of a JSON list, in its order. where: the key of mistakes in it. */
int clt_columns_add_listed(clt_columns *columns, const char *where, const char *name, const json_t *values,
                           clt_error *error);

/* Gives the parameters to a builder; CLT_E_RANGE where the space has more than 2^63 configurations. */
int clt_columns_build(const clt_columns *columns, clt_space_builder *builder, clt_error *error);

/* The number of configuration `index` of the file; what it lacks, and values that are not listed, are mistakes. */
int clt_columns_config(clt_config *out, const clt_columns *columns, const json_t *configuration, size_t index,
                       clt_error *error);

void clt_columns_release(clt_columns *columns);

#endif
