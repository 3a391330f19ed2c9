/* Spaces whose valid configurations are listed: recordings. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "space/parts.h"

static int check_listed(const clt_space *space, clt_error *error) {
  for (size_t i = 0; i < space->valid; i++) {
    if (space->configs[i] >= space->cartesian)
      return clt_fail(error, CLT_E_ARGUMENT, "a listed configuration is outside of the cartesian product");
    if (i > 0 && space->configs[i] == space->configs[i - 1]) {
      char text[400];
      clt_config_print(space, space->configs[i], text, sizeof text);
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration is listed twice: %s", text);
    }
  }
  return CLT_OK;
}

static int list(clt_space *space, const clt_config *configs, size_t n, clt_error *error) {
  space->listed = true;
  space->valid = n;
  space->n_groups = 0;
  space->configs = clt_new_array(n, sizeof *space->configs);
  if (space->configs == NULL) return clt_fail_memory(error);
  if (n) memcpy(space->configs, configs, n * sizeof *configs);
  clt_sort_u64(space->configs, n);
  return check_listed(space, error);
}

int clt_space_new_explicit(clt_space **out, const clt_space_builder *builder, const clt_config *configs, size_t n,
                           clt_error *error) {
  double start_s = clt_now_s();
  clt_space *space = NULL;
  int rc = clt_space_new_bare(&space, builder, error);
  if (rc == CLT_OK) rc = list(space, configs, n, error);
  if (rc) {
    clt_space_free(space);
    return rc;
  }
  space->build_s = clt_now_s() - start_s;
  *out = space;
  return CLT_OK;
}
