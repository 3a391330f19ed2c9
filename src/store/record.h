/* store/record.h - a store as the files of this room see it. */
#ifndef CLT_STORE_RECORD_H
#define CLT_STORE_RECORD_H

#include <clatune/sys/store.h>

struct clt_store {
  const clt_store_type *type;
  char *path;
  void *state;
};

/* Whether a record can be right, on its way in and on its way out. */
bool clt_record_plausible(clt_record_kind kind, const clt_measurement *m);

#endif
