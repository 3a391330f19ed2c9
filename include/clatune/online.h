/* clatune/online.h - tuning while an application works: it asks which configuration to run next, does its work with it,
 * and reports how long that took.
 *
 *     while (there is work) {
 *       clt_online_ask(&config, &exploring, online, &error);
 *       ... run the work with config, time it ...
 *       if (exploring) clt_online_tell(online, config, seconds, &error);
 *     }
 *
 * Nothing is isolated or verified: the application runs the candidates in its own process, and reports incorrect
 * results itself (clt_online_fail). Several threads may use one clt_online at the same time. */
#ifndef CLATUNE_ONLINE_H
#define CLATUNE_ONLINE_H

#include <clatune/store.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

typedef struct clt_online clt_online;

/* Pointers are borrowed until clt_online_free. */
typedef struct clt_online_settings {
  size_t struct_size;           /* sizeof(clt_online_settings) */
  const clt_instance *instance; /* the problem to tune; NULL: use space */
  const clt_space *space;       /* used if instance is NULL */
  const char *searcher;         /* NULL: CLT_DEFAULT_SEARCHER (clatune/tune.h) */
  const clt_setting *searcher_settings;
  size_t n_searcher_settings;
  clt_store *store; /* stored measurements are not asked for again, and new ones are added; needs an instance with a
                       device. NULL: none */
  int64_t budget;   /* evaluations, known configurations included; 0: CLT_DEFAULT_BUDGET */
  double tolerance; /* relative difference that counts as equally fast; 0: CLT_DEFAULT_TOLERANCE */
  uint64_t seed;
  unsigned threads;      /* for the searcher's model; 0: one per processor */
  const char *objective; /* in the form of --objective (docs/reference/objectives.md), without energy; NULL: the
                            objective of the problem, else time */
} clt_online_settings;

/* Starts a search. CLT_E_ARGUMENT: neither instance nor space is given, a store without a device, or an unknown
 * struct_size. CLT_E_NO_VALID: no configuration is valid. CLT_E_UNSUPPORTED: the objective needs energy. Free *out with
 * clt_online_free (NULL is allowed). */
int clt_online_new(clt_online **out, const clt_online_settings *settings, clt_error *error);
void clt_online_free(clt_online *online);

/* The configuration to run next. If *exploring is true, report its result with clt_online_tell or clt_online_fail.
 * Otherwise the search is over, or waits for configurations that other threads are running; *config is then the best so
 * far, or the default configuration. The call takes as long as the searcher computes: on average a few milliseconds for
 * the default searcher. */
int clt_online_ask(clt_config *config, bool *exploring, clt_online *online, clt_error *error);

/* Reports the run time of a configuration that clt_online_ask gave out with *exploring: seconds above 0, of one run or
 * the shortest of several. CLT_E_ARGUMENT: it was not given out, was reported before, or time_s is not such a number.
 */
int clt_online_tell(clt_online *online, clt_config config, double time_s, clt_error *error);

/* Reports that it did not build or run, or that its result was incorrect. reason is not CLT_REASON_NONE. */
int clt_online_fail(clt_online *online, clt_config config, clt_reason reason, clt_error *error);

/* The best configuration so far and its seconds (time_s may be NULL). False: none has run yet. */
bool clt_online_best(clt_config *config, double *time_s, clt_online *online);

CLT_END_C
#endif
