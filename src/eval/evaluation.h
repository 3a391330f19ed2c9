/* eval/evaluation.h - one configuration of a command on its way: scratch folder, build, runs, check. */
#ifndef CLT_EVAL_EVALUATION_H
#define CLT_EVAL_EVALUATION_H

#include <clatune/sys/evaluator.h>

#include "eval/figure.h"
#include "eval/scratch.h"

/* What all evaluations of an evaluator share. */
typedef struct clt_command_context {
  const clt_instance *instance;
  const clt_command *command;
  clt_run_folder run;
  char *worker_path;
  int64_t memory_limit_bytes;
  double compile_timeout_s, run_timeout_s, check_timeout_s;
  double run_timeout_factor, run_timeout_floor_s; /* of the best time so far; factor 0: run_timeout_s alone */
  int64_t min_runs, max_runs, warm_up;
  double max_total_s, steady, abandon_factor;
} clt_command_context;

typedef enum clt_evaluation_stage {
  CLT_EVALUATION_NONE,
  CLT_EVALUATION_BUILDING,
  CLT_EVALUATION_BUILT, /* may be run */
  CLT_EVALUATION_RUNNING,
  CLT_EVALUATION_CHECKING,
  CLT_EVALUATION_DONE /* measurement says how it went */
} clt_evaluation_stage;

typedef struct clt_evaluation {
  const clt_command_context *context;
  clt_program *program; /* free for it alone until the stage is BUILT or DONE */
  char name[32];        /* of its scratch folder */
  clt_evaluation_stage stage;
  clt_config config;
  double best_s; /* so far, of others; 0: none */
  bool single;   /* after each run it is BUILT again: others decide how often it runs */
  unsigned lost; /* times that the process that ran it was gone */
  char *scratch, **environment, **words;
  size_t step;  /* of the build */
  int64_t cold; /* runs that did not count */
  bool checked;
  clt_measurement measurement;
} clt_evaluation;

/* Makes the scratch folder and begins to build. A command that cannot be said for this configuration is a failure of
 * it. */
int clt_evaluation_begin(clt_evaluation *e, clt_config config, double best_s, clt_error *error);
int clt_evaluation_run(clt_evaluation *e, clt_error *error); /* of one that is BUILT */
/* Goes on where a program has ended. CLT_E_WORKER: the process that runs it is gone. */
int clt_evaluation_poll(clt_evaluation *e, clt_error *error);
bool clt_evaluation_active(const clt_evaluation *e); /* a program runs */

/* Leaves the measurement to the caller, or nobody; removes the scratch folder. */
void clt_evaluation_end(clt_evaluation *e, clt_measurement *out);

/* The limit of a run, given the best time so far. */
double clt_command_run_limit(const clt_command_context *context, double best_s);
clt_command_places clt_command_places_in(const clt_command_context *context, const char *scratch);

#endif
