/* Model files, against the space that the corpus's models were fitted on. */
#include <clatune/model.h>

#include "fuzz.h"

static clt_space *make_space(void) {
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  int rc = clt_space_builder_new(&b, NULL);
  if (!rc) rc = clt_space_builder_parameter_text(b, "a", "int", "[1, 2, 4, 8]", NULL);
  if (!rc) rc = clt_space_builder_parameter_text(b, "b", "int", "list(range(6))", NULL);
  if (!rc) rc = clt_space_builder_parameter_text(b, "c", "string", "['x', 'y']", NULL);
  if (!rc) rc = clt_space_new(&space, b, NULL);
  clt_space_builder_free(b);
  if (rc) abort();
  return space;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static clt_space *space;
  if (space == NULL) space = make_space();
  int fd;
  clt_model *model = NULL;
  clt_prediction out;
  clt_config config = clt_space_at(space, 3);
  if (clt_model_new_saved(&model, space, NULL, fuzz_file(&fd, data, size), NULL) == 0)
    clt_model_predict(&out, model, &config, 1, NULL);
  clt_model_free(model);
  close(fd);
  return 0;
}
