/* eval/command.h - the evaluator `command`: builds and runs programs, one configuration at a time or in batches.
 *
 * Files: command.c (options, scheduling, finalists), evaluation.c (one configuration, figures), batch.c (the batch
 * protocol). */
#pragma once

#include "base/file.h"
#include "eval/evaluators.h"
#include "problem/command.h"
#include "worker/process.h"

/* --- evaluation.c: one configuration: scratch folder, build, runs, check --- */

typedef enum clt_evaluation_stage {
  CLT_EVALUATION_NONE,
  CLT_EVALUATION_WAITING, /* has not begun yet */
  CLT_EVALUATION_BUILDING,
  CLT_EVALUATION_BUILT, /* ready to run */
  CLT_EVALUATION_RUNNING,
  CLT_EVALUATION_CHECKING,
  CLT_EVALUATION_DONE /* the measurement is complete */
} clt_evaluation_stage;

typedef struct clt_command_state clt_command_state;

typedef struct clt_evaluation {
  const clt_command_state *all; /* the evaluator, shared by all evaluations */
  clt_process *process;         /* runs its programs; not shared until the stage is BUILT or DONE */
  char name[32];                /* of its scratch folder */
  clt_evaluation_stage stage;
  clt_config config;
  double best_cost; /* the best cost so far (clt_figure_cost); 0: none */
  bool single;      /* a finalist: BUILT again after each run; the caller decides on the number of runs */
  bool was_late;    /* a program of it was repeated because the clock had jumped */
  unsigned lost;    /* how often its worker process was lost */
  char *scratch, **environment, **words;
  size_t step;    /* index of the current build command */
  double limit_s; /* of the current program; 0: none */
  int64_t cold;   /* warm-up runs made */
  bool checked;
  clt_measurement measurement;
} clt_evaluation;

/* Initialises an evaluation without runs, at the given stage. */
void clt_evaluation_init(clt_evaluation *e, const clt_command_state *all, clt_config config,
                         clt_evaluation_stage stage);
/* Makes the scratch folder and begins to build. Needs config and best_cost. A command that cannot be formed for this
 * configuration makes the configuration fail. */
int clt_evaluation_begin(clt_evaluation *e, clt_error *error);
int clt_evaluation_run(clt_evaluation *e, clt_error *error); /* begins a run; the stage must be BUILT */
/* Starts a command and enters the given stage. input: a file, or "". limit_s: time limit, 0 for none. A command that
 * cannot be formed for this configuration makes it fail (DONE). */
int clt_evaluation_start(clt_evaluation *e, const clt_command_line *line, const char *input, double limit_s,
                         clt_evaluation_stage stage, clt_error *error);
/* Takes the next step if the current program has ended. CLT_E_WORKER: its worker process was lost. */
int clt_evaluation_poll(clt_evaluation *e, clt_error *error);
bool clt_evaluation_active(const clt_evaluation *e); /* whether a program is running for it */
/* Adds a run, unless it is a warm-up. figure: scaled (clt_figure_scale); wall_s: NaN if unknown. */
void clt_evaluation_put_run(clt_evaluation *e, double figure, double wall_s);
bool clt_evaluation_has_enough(const clt_evaluation *e); /* whether it needs no further runs, given best_cost */
/* Moves the measurement to *out, or releases it if out is NULL, and removes the scratch folder. */
void clt_evaluation_end(clt_evaluation *e, clt_measurement *out);

/* The paths for a command's words, if it runs in the folder `scratch`; names of files in it need no path. */
clt_command_places clt_command_places_in(const clt_command_state *s, const char *scratch);

/* --- figures --- */

/* Reads the number in a text: the whole text, a member of its JSON, or the last match of a pattern, depending on
 * figure. Returns CLT_REASON_NONE, or a failure reason, with an explanation in why. */
clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity);
/* Scales a number to seconds, or leaves it in the figure's unit if larger is better. False: it is not positive and
 * finite. */
bool clt_figure_scale(double *out, const clt_figure *figure, double number);
double clt_figure_cost(const clt_figure *figure, double value); /* lower is better */
/* Adds a run to m: its figure and its seconds (NaN if unknown), and updates time_s and figure with the figure's
 * statistic. */
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
  char *folder; /* for temporary files of its programs */
} clt_command_slot;

/* The batch protocol. The program is the evaluation of the only slot: it has no configuration, is built once, and is
 * RUNNING during each batch. */
typedef struct clt_command_batch {
  size_t size;  /* maximum number of configurations in a batch; 0: not the batch protocol */
  size_t limit; /* the current maximum: lower while looking for the configuration that ends the program */
  bool streams; /* the program answers one by one, so a crash is due to the first configuration without an answer */
  bool interrupted;
  clt_evaluation *queue; /* the submitted configurations; BUILT: to be asked for (again), RUNNING: asked for, DONE */
  size_t n, n_answered;  /* of the current batch */
  double best_cost;      /* from the latest submission */
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
  bool overlap; /* several runs may take place at the same time */
  bool timing;  /* runs are exclusive, and now is the time for runs, not for builds */
  clt_device_lock lock;
  size_t n_submitted;
  clt_command_batch batch;
  clt_evaluation *kept; /* finalists; with the batch protocol, only config and measurement are used */
  size_t n_kept, n_named;
};

int clt_command_bring_up(clt_command_state *s, clt_command_slot *slot,
                         clt_error *error); /* Starts the slot's worker process if there is none. */
bool clt_command_lock(clt_command_state *s, clt_lock_state wanted);

/* batch.c: processes ended evaluations and begins those that can begin. */
int clt_batch_turn(clt_command_state *s, clt_error *error);

/* The question of the protocol (docs/reference/program-problems.md) for the RUNNING ones of n evaluations:
 * "n_configurations n_parameters", then one line of value positions per configuration. malloc'ed; NULL when out of
 * memory. */
char *clt_batch_question(const clt_space *space, const clt_evaluation *queue, size_t n);
/* Finds an answer in a line: the index of its evaluation, and its number (NaN if it is not a number). False: the
 * line has no answer. */
bool clt_batch_answer(const char *line, size_t length, const clt_space *space, const clt_evaluation *queue, size_t n,
                      size_t *index, double *number);
