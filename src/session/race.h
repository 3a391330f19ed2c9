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
  bool set[CLT_OCLGRIND_VARIABLES];
  char *before[CLT_OCLGRIND_VARIABLES]; /* values of the environment variables before */
} clt_oclgrind;

/* Lets workers that start from now on use Oclgrind, with the limits of a device (nullable), until clt_oclgrind_end,
 * which also deletes the log. Changes this process's environment. uninitialised: Oclgrind also reports uninitialised
 * values. */
int clt_oclgrind_begin(clt_oclgrind *out, const clt_device_info *device, bool uninitialised, clt_error *error);
void clt_oclgrind_end(clt_oclgrind *oclgrind);
/* The *n findings so far, malloc'ed; "": none; NULL: the log cannot be read. */
char *clt_oclgrind_findings(size_t *n, const clt_oclgrind *oclgrind);

struct clt_session;

/* Checks a prospective winner as the setting `races` says, and sets the result's race_check. It fails if it has a fault
 * that the default configuration does not have, or, if the check is required, any fault. */
int clt_session_check_races(struct clt_session *session, clt_measurement *winner, clt_error *error);

#endif
