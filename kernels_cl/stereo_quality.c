/* stereo_quality.c - the figure of quality of the problem `stereo` (see stereo.json). A file of its own, so that the
 * store's key of what is measured, which the reference's module is part of, does not depend on how it is judged. */
#include "stereo.c"

/* Figure of quality: the mean absolute error of the disparity in pixels; none where no column is judged. */
int disparity_error(const clt_module_call *call) {
  const clt_module_array *result = clt_module_find(call, "disparity");
  const int disparities = (int)clt_module_value(call, "disparities", 32);
  double wrong_share;
  if (!result) return -1;
  return stereo_disparity_error(result->data, (int)result->extent[0], (int)result->extent[1], disparities, call->seed,
                                call->target->data, &wrong_share);
}
