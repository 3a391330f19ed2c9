/* eval/command.h - the evaluator `command`: programs are built and run for every configuration.
 *
 * Files: command.c (options, opening), command_schedule.c (what is begun when), command_kept.c (finalists),
 * command_batch.c (the batch protocol), evaluation.c (one configuration), program.c (one process). */
#ifndef CLT_EVAL_COMMAND_H
#define CLT_EVAL_COMMAND_H

#include "eval/evaluation.h"
#include "worker/lock.h"

#define CLT_COMMAND_MAX_SLOTS 256
#define CLT_COMMAND_MAX_BATCH 4096

typedef struct clt_command_job {
  clt_config config;
  double best_s;
} clt_command_job;

typedef struct clt_command_slot {
  clt_program program;
  clt_evaluation evaluation;
  char *folder; /* temporary files of its programs */
} clt_command_slot;

/* The batch protocol: what is under way, and what is known of the program. */
typedef struct clt_command_batch {
  size_t size;  /* configurations at once, at most; 0: this is not the batch protocol */
  size_t limit; /* fewer where it is to be found out which of them ends the program */
  bool streams; /* the program was seen to answer one by one: it dies at the first without an answer */
  bool running, interrupted;
  size_t step; /* of the build, which is done once */
  char *scratch, **words;
  clt_config *configs;
  bool *answered;
  size_t n, n_answered;
  double deadline_s;
} clt_command_batch;

typedef struct clt_command_state {
  clt_command_context context;
  clt_evaluator_setup setup;
  clt_command_slot *slots;
  size_t n_slots, capacity;
  bool overlap; /* runs may be under way at the same time */
  bool timing;  /* runs are exclusive, and it is their turn */
  clt_device_lock lock;
  clt_command_job *queue;
  size_t n_queue;
  clt_measurement *results;
  size_t n_results, n_submitted;
  clt_command_batch batch; /* size 0: not the batch protocol */
  clt_evaluation *kept;    /* finalists; of a batch, only config and measurement count */
  size_t n_kept, n_named;
} clt_command_state;

/* A process of the slot, if there is none. */
int clt_command_bring_up(clt_command_state *s, clt_command_slot *slot, clt_error *error);
bool clt_command_lock(clt_command_state *s, clt_lock_state wanted);
void clt_command_put_result(clt_command_state *s, clt_measurement *m); /* moves it */
void clt_command_wait_for_events(clt_command_state *s, double timeout_s);
/* What slot does is lost with its process: begun once more, or a crash. */
int clt_command_lost(clt_command_state *s, clt_command_slot *slot, const clt_error *why, clt_error *error);

/* One turn: takes what has ended, begins what can be begun. */
int clt_command_turn(clt_command_state *s, clt_error *error);

/* command_kept.c: finalists, of clt_evaluator_type's keep and time_again. */
int clt_command_keep(clt_command_state *s, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_command_time_again(clt_command_state *s, const size_t *indices, size_t n, clt_measurement *out,
                           clt_error *error);
void clt_command_give_up_kept(clt_command_state *s);

/* command_batch.c */
int clt_batch_turn(clt_command_state *s, clt_error *error);
int clt_batch_keep(clt_command_state *s, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_batch_time_again(clt_command_state *s, const size_t *indices, size_t n, clt_measurement *out, clt_error *error);
void clt_batch_release(clt_command_batch *batch);

#endif
