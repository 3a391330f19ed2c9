/* base/plugin.h - plug-ins (searchers, models, evaluators, stores): the table of each kind, and reading options. */
#ifndef CLT_BASE_PLUGIN_H
#define CLT_BASE_PLUGIN_H

#include <clatune/sys/option.h>
#include <stdbool.h>

#define CLT_MOST_PLUGINS 64 /* of a kind */

/* The options of a type, and the size of the struct that they are parsed into. */
typedef struct clt_option_table {
  const clt_option *options;
  size_t n, size;
} clt_option_table;

/* A kind of plug-in. A type is a struct that begins with its ABI version (unsigned), its name and its summary. */
typedef struct clt_plugins {
  const char *kind; /* for messages, with its article */
  unsigned abi;
  size_t options;                          /* where a type has its clt_option_table, in three members; 0: it has none */
  const void *types[CLT_MOST_PLUGINS + 1]; /* the built-in ones, those that were registered, NULL */
} clt_plugins;

size_t clt_n_plugins(const clt_plugins *plugins);
const char *clt_plugin_name(const clt_plugins *plugins, size_t index);

const char *clt_plugin_summary(const clt_plugins *plugins, size_t index);
const char *clt_plugin_kind(const clt_plugins *plugins); /* without the article */
clt_option_table clt_plugin_table(const clt_plugins *plugins, size_t index);
/* Its number; that of all where there is none of the name. */
size_t clt_plugin_index(const clt_plugins *plugins, const char *name);

/* The names of all; returns how many. */
size_t clt_plugin_names(const char *names[CLT_MOST_PLUGINS], const clt_plugins *plugins);

const void *clt_plugin_find(const clt_plugins *plugins, const char *name); /* NULL: none */

/* Adds a type, borrowed for good. whole: it has all that its kind needs. CLT_E_ARGUMENT where it has not, its ABI is
 * another one or its name is taken; CLT_E_RANGE where there are too many. */
int clt_plugin_register(clt_plugins *plugins, const void *type, bool whole, clt_error *error);

/* Fills *options (options_size bytes, zeroed first) with the defaults, then with the settings. A setting that is not in
 * the table, or out of range, is CLT_E_ARGUMENT with a message that names it and the range or the nearest names. */
int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error);

#endif
