/* The instance that a store's key was measured at. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/lookup.h"

/* "a=1 b=2" is cut in place; names are borrowed. */
static size_t read_sizes(char *text, clt_size *out, size_t capacity) {
  size_t n = 0;
  char *rest = NULL;
  for (char *part = strtok_r(text, " ", &rest); part && n < capacity; part = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(part, '=');
    if (equals == NULL) continue;
    *equals = '\0';
    out[n++] = (clt_size){part, strtoll(equals + 1, NULL, 10)};
  }
  return n;
}

int clt_stored_instance(clt_instance **out, const clt_problem *problem, const clt_device_info *device,
                        const clt_store_key *key, const char *stored_sizes, clt_error *error) {
  size_t capacity = clt_problem_n_sizes(problem) + 1;
  clt_size *sizes = clt_new_array(capacity, sizeof *sizes);
  char *text = strdup(stored_sizes);
  clt_error why = {0};
  char today[33];
  *out = NULL;
  int rc = sizes && text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    size_t n = read_sizes(text, sizes, capacity);
    if (clt_instance_new(out, problem, sizes, n, device, &why)) *out = NULL;
    if (*out && (clt_instance_key(*out, today, &why) || strcmp(today, key->problem) != 0)) {
      clt_instance_free(*out);
      *out = NULL;
    }
  }
  free(sizes);
  free(text);
  return rc ? rc : why.code == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
}
