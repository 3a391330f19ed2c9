#include "space/hash.h"

void clt_space_hash(clt_hasher *hasher, const clt_space *space) {
  char text[256];
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    clt_hasher_add_text(hasher, parameter->name);
    for (size_t v = 0; v < parameter->n_values; v++) {
      clt_value_print(parameter->values[v], text, sizeof text);
      clt_hasher_add_text(hasher, text);
    }
  }
}
