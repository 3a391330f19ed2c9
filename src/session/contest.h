/* session/contest.h - interleaved rounds of finalists, until they can be told apart (rounds.c); the
 * winner's races (race.c). */
#pragma once

#include <clatune/device.h>
#include <clatune/sys/evaluator.h>

#include "measurement/measurement.h"

/* Rounds end when each other finalist is significantly slower than the leader (5 % in all tests together) or within the
 * tolerance of its median, or at a limit. The tests are after min_rounds, then each time after half as many again.
 */
typedef struct clt_contest_policy {
  unsigned min_rounds, max_rounds;
  double enough_s;                /* after so long only the first min_rounds begin; 0: no limit */
  double max_total_s;             /* after so long no round begins at all; 0: no limit */
  double tolerance;               /* relative */
  const clt_objective *objective; /* whose costs are compared; NULL: times */
  const double *waited_s; /* nullable: seconds of waiting for other tuners, which do not count for these limits */
  unsigned n_processes;   /* above 1: those near the fastest run in so many processes, which share the rounds */
} clt_contest_policy;

/* Runs configurations in rounds, with an open evaluator that has keep and time_again. out[i] belongs to configs[i] and
 * is the caller's. runs_s has the median of each of its rounds (of more than CLT_MAX_RUNS rounds that many, evenly
 * spread), time_s the median of all rounds, energy_J the median of the measured energies; one that fails has its
 * reason. After an error nothing is filled. */
int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error);

/* The probability that the one with more wins in paired rounds would win as often by chance (one-sided sign test
 * without ties). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* The costs of a finalist in each round so far; NULL: it is out. The k-th costs of all finalists are from the same
 * round; NaN: this one was left out of that round. */
typedef struct clt_contender {
  const double *costs;
  size_t n;
} clt_contender;

typedef enum clt_standing {
  CLT_STANDING_OUT,
  CLT_STANDING_LEADS,  /* the lowest median */
  CLT_STANDING_NEAR,   /* within the tolerance of the leader's median, and both medians are known accurately enough */
  CLT_STANDING_BEHIND, /* not within it, and significantly slower */
  CLT_STANDING_BEATEN, /* the same at a level of 0.1 %: it rests in further rounds */
  CLT_STANDING_OPEN
} clt_standing;

/* Judges all; true if none is open. chance: the level of significance. */
bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, double chance, clt_standing *out);

/* --- Oclgrind finds faults that guard bands miss: out-of-bounds reads, races, uninitialised values --- */

#define CLT_OCLGRIND_VARIABLES 7

/* Whether there is a driver of Oclgrind: in OCL_ICD_VENDORS, or next to the program in PATH. */
bool clt_oclgrind_installed(void);

typedef struct clt_oclgrind {
  char *log; /* path of a temporary file with the findings: Oclgrind's exit status is always 0. NULL: not begun */
  char *environment[CLT_OCLGRIND_VARIABLES + 1]; /* of the workers; the last is NULL */
} clt_oclgrind;

/* Lets workers that this thread starts from now on use Oclgrind, with the limits of a device (nullable), until
 * clt_oclgrind_end, which also deletes the log. *out must not move meanwhile. uninitialised: Oclgrind also reports
 * uninitialised values. */
int clt_oclgrind_begin(clt_oclgrind *out, const clt_device_info *device, bool uninitialised, clt_error *error);
void clt_oclgrind_end(clt_oclgrind *oclgrind);
/* The first findings, `most` of the *n so far, malloc'ed; "": none; NULL: the log cannot be read. */
char *clt_oclgrind_findings(size_t *n, size_t most, const clt_oclgrind *oclgrind);

struct clt_session;

/* Checks a prospective winner as the setting `races` says, in a thread of its own, while the caller goes on.
 * clt_session_end_races waits for it and sets the result's race_check; *winner fails if it has a fault that the default
 * configuration does not have, or, if the check is required, any fault. winner NULL: the check is stopped, and
 * forgotten. CLT_E_STOPPED if the user stops the session meanwhile. */
typedef struct clt_race_run clt_race_run;
int clt_session_begin_races(clt_race_run **out, struct clt_session *session, clt_config winner, clt_error *error);
int clt_session_end_races(clt_race_run *run, clt_measurement *winner, clt_error *error);
