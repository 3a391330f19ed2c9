/* report/report.h - a report, shared by the files of this room. */
#ifndef CLT_REPORT_REPORT_H
#define CLT_REPORT_REPORT_H

#include <clatune/report.h>

typedef struct clt_report_rows {
  clt_report_row *items;
  size_t n, capacity;
} clt_report_rows;

struct clt_report {
  const clt_space *space;
  clt_space *own_space; /* NULL: space is borrowed */
  const clt_instance *instance; /* of these two one at most; NULL: neither */
  const clt_recording *recording;
  clt_objective *objective;
  char *title, *device, *sizes;
  clt_device_info *device_info; /* NULL: not known */
  clt_report_rows rows, finalists;
  size_t n_correct;
};

#endif
