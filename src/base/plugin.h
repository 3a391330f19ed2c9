/* base/plugin.h - plug-ins (searchers, models, evaluators, stores): the table of each kind, and reading options. */
#pragma once

#include <clatune/sys/option.h>
#include <stdbool.h>

#define CLT_MOST_PLUGINS 64 /* of a kind */

/* The options of a plug-in, and the size in bytes of the struct that they are parsed into. */
typedef struct clt_option_table {
  const clt_option *options;
  size_t n, size;
} clt_option_table;

/* The members of a type that describe its options: a table for a struct. */
#define CLT_OPTIONS(TABLE, STRUCT) \
  .options = TABLE, .n_options = sizeof TABLE / sizeof *TABLE, .options_size = sizeof(STRUCT)

/* The table of one kind of plug-in. Each plug-in is described by a struct (its type) that begins with its ABI version
 * (unsigned), its name and its summary. */
typedef struct clt_plugins {
  const char *kind; /* for messages, with its article */
  unsigned abi;
  size_t options; /* offset in a type of the three members of its clt_option_table; 0: types of this kind have no
                     options */
  const void *types[CLT_MOST_PLUGINS + 1]; /* first the built-in types, then the registered ones, then NULL */
} clt_plugins;

size_t clt_n_plugins(const clt_plugins *plugins);
const char *clt_plugin_name(const clt_plugins *plugins, size_t index);

const char *clt_plugin_summary(const clt_plugins *plugins, size_t index);
const char *clt_plugin_kind(const clt_plugins *plugins); /* without the article */
clt_option_table clt_plugin_table(const clt_plugins *plugins, size_t index);
/* The index of the plug-in of this name; clt_n_plugins if there is none. */
size_t clt_plugin_index(const clt_plugins *plugins, const char *name);

/* Writes the names of all plug-ins of the kind. Returns their number. */
size_t clt_plugin_names(const char *names[CLT_MOST_PLUGINS], const clt_plugins *plugins);

const void *clt_plugin_find(const clt_plugins *plugins, const char *name); /* NULL: none */

/* Registers a type, which must exist until the process ends. complete: the caller found all members that this
 * kind requires. CLT_E_ARGUMENT: it is not complete, has another ABI version, or its name is taken. CLT_E_RANGE: the
 * table is full. */
int clt_plugin_register(clt_plugins *plugins, const void *type, bool complete, clt_error *error);

/* Reads 0, false, no, off, 1, true, yes or on; false: it is another text. */
bool clt_yes_or_no(bool *out, const char *text);

/* Zeroes *options (options_size bytes), then fills it with the defaults and the settings. CLT_E_ARGUMENT: a setting is
 * not in the table, or out of range; the message names the nearest option, or the range. */
int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error);

/* Copies a settings struct from a caller that may have been compiled with fewer members. CLT_E_ARGUMENT if its first
 * member, struct_size, is 0 or more than `bytes`. */
int clt_copy_settings(void *out, size_t bytes, const void *settings, const char *type, clt_error *error);
