#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "sweep/sweep.h"

/* As the command line has them. */
static char *as_text(const json_t *value) {
  if (json_is_string(value)) return strdup(json_string_value(value));
  if (json_is_boolean(value)) return strdup(json_is_true(value) ? "yes" : "no");
  if (json_is_integer(value)) return clt_format("%lld", (long long)json_integer_value(value));
  return clt_format("%.17g", json_real_value(value));
}

int clt_sweep_read_options(clt_sweep_options *out, const clt_source *source, const clt_node *node, clt_error *error) {
  const char *name;
  json_t *value;
  if (node->json == NULL) return CLT_OK;
  int rc = clt_node_object(source, node, error);
  if (rc) return rc;
  out->settings = clt_new_array(json_object_size(node->json), sizeof *out->settings);
  if (out->settings == NULL) return clt_fail_memory(error);
  json_object_foreach((json_t *)node->json, name, value) {
    clt_node here = clt_node_member(node, name);
    if (!json_is_string(value) && !json_is_boolean(value) && !json_is_number(value))
      return clt_node_fail(source, &here, error, "needs a number, a text, true or false");
    char *text = as_text(value);
    if (text == NULL) return clt_fail_memory(error);
    out->settings[out->n++] = (clt_setting){name, text};
  }
  return CLT_OK;
}

void clt_sweep_options_release(clt_sweep_options *options) {
  for (size_t i = 0; i < options->n; i++) free((char *)options->settings[i].value);
  free(options->settings);
  *options = (clt_sweep_options){0};
}
