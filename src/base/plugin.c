#include <clatune/sys/option.h>
#include <errno.h>

#include "base/base.h"
#include "base/plugin.h"
#include "base/text.h"

/* --- tables --- */

/* The first members of every type. */
typedef struct plugin_head {
  unsigned abi;
  const char *name, *summary;
} plugin_head;

static plugin_head head_of(const void *type) {
  plugin_head head;
  memcpy(&head, type, sizeof head);
  return head;
}

size_t clt_n_plugins(const clt_plugins *plugins) {
  size_t n = 0;
  while (plugins->types[n]) n++;
  return n;
}

const char *clt_plugin_name(const clt_plugins *plugins, size_t index) { return head_of(plugins->types[index]).name; }

const char *clt_plugin_summary(const clt_plugins *plugins, size_t index) {
  return head_of(plugins->types[index]).summary;
}

const char *clt_plugin_kind(const clt_plugins *plugins) { return strchr(plugins->kind, ' ') + 1; }

clt_option_table clt_plugin_table(const clt_plugins *plugins, size_t index) {
  clt_option_table table = {NULL, 0, 0};
  if (plugins->options) memcpy(&table, (const char *)plugins->types[index] + plugins->options, sizeof table);
  return table;
}

size_t clt_plugin_names(const char *names[CLT_MOST_PLUGINS], const clt_plugins *plugins) {
  size_t n = clt_n_plugins(plugins);
  for (size_t i = 0; i < n; i++) names[i] = clt_plugin_name(plugins, i);
  return n;
}

size_t clt_plugin_index(const clt_plugins *plugins, const char *name) {
  size_t i = 0;
  while (plugins->types[i] && strcmp(clt_plugin_name(plugins, i), name) != 0) i++;
  return i;
}

const void *clt_plugin_find(const clt_plugins *plugins, const char *name) {
  return plugins->types[clt_plugin_index(plugins, name)];
}

int clt_plugin_register(clt_plugins *plugins, const void *type, bool complete, clt_error *error) {
  const plugin_head head = head_of(type);
  const size_t n = clt_n_plugins(plugins);
  if (head.abi != plugins->abi)
    return clt_fail(error, CLT_E_ARGUMENT, "%s was built for version %u of the plug-in interface, not %u; rebuild it",
                    plugins->kind, head.abi, plugins->abi);
  if (!complete || !head.name)
    return clt_fail(error, CLT_E_ARGUMENT, "%s lacks its name, its summary or a required function", plugins->kind);
  if (clt_plugin_find(plugins, head.name))
    return clt_fail(error, CLT_E_ARGUMENT, "%s named '%.64s' is already registered; choose another name", plugins->kind,
                    head.name);
  if (n == CLT_MOST_PLUGINS)
    return clt_fail(error, CLT_E_RANGE, "cannot register %s: the maximum of %zu is reached", plugins->kind, n);
  plugins->types[n] = type;
  return CLT_OK;
}

/* --- options --- */

bool clt_yes_or_no(bool *out, const char *text) {
  static const char *const words[] = {"0", "false", "no", "off", "1", "true", "yes", "on"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(text, words[i]) != 0) continue;
    *out = i >= 4;
    return true;
  }
  return false;
}

static int assign_option(void *options, const clt_option *option, const char *text, clt_error *error) {
  void *slot = (char *)options + option->offset;
  const bool is_integer = option->type == CLT_OPTION_INT;
  int64_t integer = 0;
  double real = 0;
  const char *needed = is_integer ? "a whole number" : "a number";
  char *end = NULL;
  switch (option->type) {
    case CLT_OPTION_TEXT: *(const char **)slot = text; return CLT_OK;
    case CLT_OPTION_BOOL:
      if (clt_yes_or_no(slot, text)) return CLT_OK;
      return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs yes or no (also on, off, true, false, 1, 0), not '%s'",
                      option->name, text);
    case CLT_OPTION_INT:
      errno = 0;
      integer = strtoll(text, &end, 10);
      real = errno ? NAN : (double)integer;
      break;
    case CLT_OPTION_REAL: real = clt_strtod(text, &end); break;
    case CLT_OPTION_SECONDS:
      real = clt_seconds_parse(text);
      needed = CLT_SECONDS_FORMS;
      break;
    default: return clt_fail(error, CLT_E_ARGUMENT, "option '%s' has an unknown type", option->name);
  }
  if ((end && (end == text || *end)) || isnan(real))
    return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs %s, not '%s'", option->name, needed, text);
  if ((option->min != 0 || option->max != 0) && !(real >= option->min && real <= option->max))
    return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs a number from %.15g to %.15g, not '%s'", option->name,
                    option->min, option->max, text);
  if (is_integer)
    *(int64_t *)slot = integer;
  else
    *(double *)slot = real;
  return CLT_OK;
}

int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error) {
  if (options_size) memset(options, 0, options_size);
  for (size_t i = 0; i < n_table; i++) {
    int rc = assign_option(options, &table[i], table[i].default_text, error);
    if (rc) return rc;
  }
  for (size_t i = 0; i < n_settings; i++) {
    size_t at = 0;
    while (at < n_table && strcmp(table[at].name, settings[i].name) != 0) at++;
    if (at == n_table) {
      const char *near = clt_nearest_among(settings[i].name, table, n_table, sizeof *table);
      return clt_fail(error, CLT_E_ARGUMENT, "there is no option '%s'%s%s%s", settings[i].name,
                      CLT_DID_YOU_MEAN("'", near));
    }
    int rc = assign_option(options, &table[at], settings[i].value, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

int clt_copy_settings(void *out, size_t bytes, const void *settings, const char *type, clt_error *error) {
  size_t size = *(const size_t *)settings;
  if (size < sizeof size || size > bytes)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "%s.struct_size is %zu, but must be at most %zu; initialise the struct, or install a library as "
                    "new as the header",
                    type, size, bytes);
  memset(out, 0, bytes);
  memcpy(out, settings, size);
  return CLT_OK;
}
