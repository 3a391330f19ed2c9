/* session/race.h - Oclgrind finds faults that guard bands miss: out-of-bounds reads, races, uninitialised values. */
#ifndef CLT_SESSION_RACE_H
#define CLT_SESSION_RACE_H

#include <clatune/device.h>
#include <clatune/tune.h>

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

#endif
