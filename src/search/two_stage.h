/* search/two_stage.h - how the two-stage search divides its budget, and how deep its second stage must go. */
#ifndef CLT_SEARCH_TWO_STAGE_H
#define CLT_SEARCH_TWO_STAGE_H

#include <clatune/model.h>

typedef struct clt_two_stage_options {
  int64_t samples;          /* 0: from the budget */
  const char *second_stage; /* "rest", "auto" or a number */
  int64_t second_stage_max; /* with "auto" */
  bool validity;            /* what will probably fail comes last */
} clt_two_stage_options;

typedef struct clt_two_stage_plan {
  int64_t samples, second_stage; /* upper limits; second_stage INT64_MAX: none */
  bool chosen;                   /* the second stage ends where the confidence is reached */
} clt_two_stage_plan;

/* allowance: evaluations that may be asked for, INT64_MAX: no limit. */
int clt_two_stage_plan_make(clt_two_stage_plan *out, const clt_two_stage_options *options, int64_t allowance,
                            clt_error *error);

/* What the options ask for without a budget; 0: nothing. */
int64_t clt_two_stage_own_budget(const void *options);

#endif
