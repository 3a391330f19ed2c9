#include <math.h>

#include "format/recording.h"

int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error) {
  return clt_objective_new_for(out, clt_recording_space(recording), recording->sizes, recording->n_sizes, text, error);
}

double clt_recording_least_cost(const clt_recording *recording, const clt_objective *objective) {
  double least = NAN;
  for (size_t i = 0; i < clt_recording_size(recording); i++)
    least = fmin(least, clt_objective_cost(objective, clt_recording_at(recording, i)));
  return least;
}
