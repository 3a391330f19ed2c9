/* eval/command.h - the evaluator `command`: programs are built and run for every configuration.
 *
 * Files: command.c (options, what is begun when, finalists), evaluation.c (one configuration, figures of merit),
 * batch.c (the batch protocol). */
#ifndef CLT_EVAL_COMMAND_H
#define CLT_EVAL_COMMAND_H

#include "base/file.h"
#include "eval/evaluators.h"
#include "problem/command.h"
#include "worker/lock.h"
#include "worker/process.h"

/* --- one configuration on its way: scratch folder, build, runs, check --- */

typedef enum clt_evaluation_stage {
  CLT_EVALUATION_NONE,
  CLT_EVALUATION_WAITING, /* to be begun */
  CLT_EVALUATION_BUILDING,
  CLT_EVALUATION_BUILT, /* may be run */
  CLT_EVALUATION_RUNNING,
  CLT_EVALUATION_CHECKING,
  CLT_EVALUATION_DONE /* measurement says how it went */
} clt_evaluation_stage;

typedef struct clt_command_state clt_command_state;

typedef struct clt_evaluation {
  const clt_command_state *all; /* what it shares with the others */
  clt_process *process;         /* free for it alone until the stage is BUILT or DONE */
  char name[32];                /* of its scratch folder */
  clt_evaluation_stage stage;
  clt_config config;
  double best_cost; /* so far, of others (clt_figure_cost); 0: none */
  bool single;      /* after each run it is BUILT again: others decide how often it runs */
  unsigned lost;    /* times that the process that ran it was gone */
  char *scratch, **environment, **words;
  size_t step;  /* of the build */
  int64_t cold; /* runs that did not count */
  bool checked;
  clt_measurement measurement;
} clt_evaluation;

/* Begins as one whose configuration has not been run yet, at the given stage. */
void clt_evaluation_init(clt_evaluation *e, const clt_command_state *all, clt_config config,
                         clt_evaluation_stage stage);
/* Of what its config and best_cost say: makes the scratch folder and begins to build. A command that cannot be said for
 * this configuration is a failure of it. */
int clt_evaluation_begin(clt_evaluation *e, clt_error *error);
int clt_evaluation_run(clt_evaluation *e, clt_error *error); /* of one that is BUILT */
/* Starts a command of it, which is the stage that follows; input: a file, "" for none. */
int clt_evaluation_start(clt_evaluation *e, const clt_command_line *line, const char *input, double limit_s,
                         clt_evaluation_stage stage, clt_error *error);
/* Goes on where a program has ended. CLT_E_WORKER: the process that runs it is gone. */
int clt_evaluation_poll(clt_evaluation *e, clt_error *error);
bool clt_evaluation_active(const clt_evaluation *e); /* a program runs */
/* Adds a run, unless it is one to warm up; wall_s: NaN where nobody knows. */
void clt_evaluation_put_run(clt_evaluation *e, double figure, double wall_s);
bool clt_evaluation_has_enough(const clt_evaluation *e); /* runs, in view of best_cost */
/* Leaves the measurement to the caller, or nobody; removes the scratch folder. */
void clt_evaluation_end(clt_evaluation *e, clt_measurement *out);

/* Programs run in the scratch folder, so names in it need no path. */
clt_command_places clt_command_places_in(const clt_command_state *s, const char *scratch);

/* --- figures --- */

/* The number in a text: the whole of it, a member of its JSON, or the last match of a pattern (figure says which). */
clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity);
/* Scaled as the figure says; false where the number is not positive. */
bool clt_figure_scale(double *out, const clt_figure *figure, double number);
double clt_figure_cost(const clt_figure *figure, double value); /* the less the better */
/* Adds a run: its figure, the seconds it took (NaN: nobody knows), and what both come to by the figure's statistic. */
void clt_figure_put_run(clt_measurement *m, const clt_figure *figure, double value, double wall_s);

/* --- the evaluator --- */

typedef struct clt_command_options {
  clt_run_options runs;
  int64_t parallel, builds, batch_size, warm_up, memory_limit_mib;
  double compile_timeout_s, run_timeout_s, check_timeout_s, run_timeout_factor, run_timeout_floor_s;
  bool lock;
} clt_command_options;

typedef struct clt_command_slot {
  clt_process process;
  clt_evaluation evaluation;
  char *folder; /* temporary files of its programs */
} clt_command_slot;

/* The batch protocol: what is under way, and what is known of the program, which is the evaluation of the only slot: of
 * no configuration, built once, and RUNNING with each batch. */
typedef struct clt_command_batch {
  size_t size;  /* configurations at once, at most; 0: this is not the batch protocol */
  size_t limit; /* fewer where it is to be found out which of them ends the program */
  bool streams; /* the program was seen to answer one by one: it dies at the first without an answer */
  bool interrupted;
  clt_evaluation *queue; /* what is submitted: BUILT: to be asked for, once more perhaps; RUNNING: asked for; DONE */
  size_t n, n_answered;  /* of the batch that runs */
  double best_cost;      /* as submitted last */
  double deadline_s;
} clt_command_batch;

struct clt_command_state {
  clt_evaluator_setup setup;
  const clt_command *command;
  clt_command_options options;
  clt_timing_policy policy;
  clt_run_folder run;
  char *worker_path;
  clt_command_slot *slots;
  size_t n_slots, capacity;
  bool overlap; /* runs may be under way at the same time */
  bool timing;  /* runs are exclusive, and it is their turn */
  clt_device_lock lock;
  size_t n_submitted;
  clt_command_batch batch;
  clt_evaluation *kept; /* finalists; of a batch, only config and measurement count */
  size_t n_kept, n_named;
};

int clt_command_bring_up(clt_command_state *s, clt_command_slot *slot, clt_error *error); /* unless its process is up */
bool clt_command_lock(clt_command_state *s, clt_lock_state wanted);

/* batch.c: one turn takes what has ended and begins what can be begun. */
int clt_batch_turn(clt_command_state *s, clt_error *error);

/* The texts of the protocol (docs/commands.md), about those of the n evaluations that are RUNNING:
 * "n_configurations n_parameters", then a line of value positions for each. malloc'ed; NULL when out of memory. */
char *clt_batch_question(const clt_space *space, const clt_evaluation *queue, size_t n);
/* An answer in a line: to which of them (index), and its number (NaN where what stands there is none). False for lines
 * without an answer. */
bool clt_batch_answer(const char *line, size_t length, const clt_space *space, const clt_evaluation *queue, size_t n,
                      size_t *index, double *number);

#endif
