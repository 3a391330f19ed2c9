/* clatune/online.h - tuning while an application works: it asks what to run next, runs it for real, and tells how long
 * it took. The searchers are those of the command line.
 *
 *     while (there is work) {
 *       clt_online_ask(&config, &exploring, online, &error);
 *       ... run the work with config, time it ...
 *       if (exploring) clt_online_tell(online, config, seconds, &error);
 *     }
 *
 * The application runs candidates in its own process, and must know itself whether a result is right (clt_online_fail):
 * nothing is isolated and nothing is verified here. Several threads may use one clt_online. */
#ifndef CLATUNE_ONLINE_H
#define CLATUNE_ONLINE_H

#include <clatune/store.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

typedef struct clt_online clt_online;

/* Borrowed until clt_online_free. */
typedef struct clt_online_settings {
  size_t struct_size;           /* sizeof(clt_online_settings) */
  const clt_instance *instance; /* what is tuned; NULL: then space */
  const clt_space *space;       /* used where instance is NULL */
  const char *searcher;         /* NULL: the default of clatune tune */
  const clt_setting *searcher_settings;
  size_t n_searcher_settings;
  clt_store *
      store; /* nullable; needs an instance with a device. What it knows is not asked for again, what is told is kept */
  int64_t budget;   /* configurations to try, known ones included; 0: CLT_DEFAULT_BUDGET (clatune/tune.h) */
  double tolerance; /* what counts as equally fast; 0: CLT_DEFAULT_TOLERANCE */
  uint64_t seed;
  unsigned threads;      /* of the model; 0: all */
  const char *objective; /* what is optimised, in the form of --objective (docs/objectives.md), but for energy,
                            which is not measured here. NULL: what the problem says, else time */
} clt_online_settings;

/* CLT_E_ARGUMENT where there is neither instance nor space, or struct_size is not that of a known version. */
int clt_online_new(clt_online **out, const clt_online_settings *settings, clt_error *error);
void clt_online_free(clt_online *online);

/* What to run next. *exploring: its time is wanted. Not exploring: the search is over, or waits for what others were
 * given; then *config is the best so far, the default configuration where there is none. Takes as long as the searcher
 * thinks: a few milliseconds in the mean with the default one. */
int clt_online_ask(clt_config *config, bool *exploring, clt_online *online, clt_error *error);

/* How long a configuration took that was asked for while exploring: seconds above 0, of one run or the least of
 * several. */
int clt_online_tell(clt_online *online, clt_config config, double time_s, clt_error *error);
/* It does not build, does not run, or gives a wrong result. reason is not CLT_REASON_NONE. */
int clt_online_fail(clt_online *online, clt_config config, clt_reason reason, clt_error *error);

/* The best so far; false: nothing was told yet that ran. *time_s nullable. */
bool clt_online_best(clt_config *config, double *time_s, clt_online *online);

CLT_END_C
#endif
