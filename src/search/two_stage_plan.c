/* How the two-stage search divides its budget. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "search/two_stage.h"

#define SAMPLES_WITHOUT_BUDGET 200

typedef enum second_stage_mode { FIXED, CHOSEN, REST } second_stage_mode;

static int parse_mode(second_stage_mode *mode, int64_t *count, const char *text, clt_error *error) {
  *count = 0;
  if (strcmp(text, "rest") == 0) return *mode = REST, CLT_OK;
  if (strcmp(text, "auto") == 0) return *mode = CHOSEN, CLT_OK;
  char *end;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  if (end == text || *end || errno || n < 0 || n > INT32_MAX)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'second-stage' needs a whole number, auto or rest, not '%s'", text);
  *count = n;
  *mode = n == 0 ? CHOSEN : FIXED;
  return CLT_OK;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t samples_of(const clt_two_stage_options *options, second_stage_mode mode, int64_t count,
                          int64_t allowance) {
  if (options->samples > 0) return least(options->samples, allowance);
  if (allowance == INT64_MAX) return SAMPLES_WITHOUT_BUDGET;
  if (mode == FIXED && count < allowance) return allowance - count;
  return allowance / 2 + allowance % 2;
}

int clt_two_stage_plan_make(clt_two_stage_plan *out, const clt_two_stage_options *options, int64_t allowance,
                            clt_error *error) {
  second_stage_mode mode;
  int64_t count;
  int rc = parse_mode(&mode, &count, options->second_stage, error);
  if (rc) return rc;
  int64_t samples = samples_of(options, mode, count, allowance);
  int64_t left = allowance == INT64_MAX ? INT64_MAX : allowance - samples;
  if (mode == FIXED) left = least(left, count);
  if (mode == CHOSEN) left = least(left, options->second_stage_max);
  *out = (clt_two_stage_plan){.samples = samples, .second_stage = left, .chosen = mode == CHOSEN};
  return CLT_OK;
}

int64_t clt_two_stage_own_budget(const void *opaque) {
  const clt_two_stage_options *options = opaque;
  second_stage_mode mode;
  int64_t count;
  if (parse_mode(&mode, &count, options->second_stage, NULL)) return 0; /* init will say what is wrong */
  if (options->samples == 0 && mode != FIXED) return 0;
  if (mode == CHOSEN) return options->samples + options->second_stage_max;
  if (mode == REST) return 2 * options->samples;
  return (options->samples ? options->samples : count) + count;
}
