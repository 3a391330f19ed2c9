/* cli/report_sources.h - what 'clatune report' is given: stores, recordings, problem files. */
#ifndef CLT_CLI_REPORT_SOURCES_H
#define CLT_CLI_REPORT_SOURCES_H

#include <clatune/report.h>

#include "cli/subject.h"

#define CLI_MAX_REPORTS 64

typedef struct cli_report_sources {
  clt_report *reports[CLI_MAX_REPORTS];
  size_t n;
  clt_recording *recordings[CLI_MAX_REPORTS]; /* what reports borrow from */
  cli_subject subjects[CLI_MAX_REPORTS];
  size_t n_recordings, n_subjects;
} cli_report_sources; /* zeroed: nothing */

/* Reads all positional arguments. Returns 0, or an exit code after a message; release in either case. */
int cli_report_sources_init(cli_report_sources *out, const cli_arguments *arguments);
void cli_report_sources_release(cli_report_sources *sources);

#endif
