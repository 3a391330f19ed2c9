/* report/report.h - a report, shared by the files of this room. */
#ifndef CLT_REPORT_REPORT_H
#define CLT_REPORT_REPORT_H

#include <clatune/report.h>

struct clt_report {
  const clt_space *space;
  char *title, *device;
  clt_report_row *rows;
  size_t n, capacity, n_correct;
};

#endif
