/* benchmarks/pool.h - a recorded pool of measured configurations, as rows of the problem that it was recorded of. */
#ifndef CLT_BENCHMARKS_POOL_H
#define CLT_BENCHMARKS_POOL_H

#include <clatune/recording.h>

#include "../tests/model/row.h"

typedef struct pool {
  clt_problem *problem;
  clt_device_info *device; /* NULL: the recording has none */
  clt_instance *instance;  /* at the recording's sizes, on its device: the whole space */
  row *rows;           /* in the order of the recording */
  size_t n_rows;
} pool;

/* Reads a problem and a recording of it (clatune record). Configurations are matched by name and value; those that the
 * problem does not have any more are left out. Prints a message and returns false on failure. */
bool pool_open(pool *out, const char *problem_path, const char *recording_path);
void pool_close(pool *p);

/* The rows in a random order that depends on the seed alone; failed ones stay among them. */
void pool_shuffle(pool *p, uint64_t seed);

#endif
