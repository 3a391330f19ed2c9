/* clatune/report.h - what was measured, as people look at it: the best so far, the ten best, what each parameter does, what
 * fails. From a store or a recording. */
#ifndef CLATUNE_REPORT_H
#define CLATUNE_REPORT_H

#include <clatune/recording.h>
#include <clatune/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clt_report clt_report;

/* One configuration, in the order in which they were measured; of a recording, in that of their numbers. */
typedef struct clt_report_row {
  clt_config config;
  clt_reason reason;
  double time_s;  /* NaN if not correct */
  double spread;  /* of its runs: median absolute deviation / median; NaN where there are fewer than two */
} clt_report_row;

/* From what a store holds of an instance (with a device): of several measurements of a configuration the newest. The instance
 * must outlive the report. */
int clt_report_from_store(clt_report **out, clt_store *store, const clt_instance *instance, clt_error *error);
/* From a recording, which must outlive the report. */
int clt_report_from_recording(clt_report **out, const clt_recording *recording, clt_error *error);
void clt_report_free(clt_report *report);

const clt_space *clt_report_space(const clt_report *report);
const char *clt_report_title(const clt_report *report);  /* the problem's name, or the recording's */
const char *clt_report_device(const clt_report *report); /* for people */
size_t clt_report_n_rows(const clt_report *report);
const clt_report_row *clt_report_row_at(const clt_report *report, size_t index);
size_t clt_report_n_correct(const clt_report *report);

/* The indices of the n fastest rows, fastest first; returns how many there are. */
size_t clt_report_fastest(const clt_report *report, size_t *out, size_t n);

/* What the rows with one value of a parameter come to. */
typedef struct clt_effect_value {
  size_t n, n_failed;
  double median_s, least_s; /* of the correct ones; NaN where there are none */
} clt_effect_value;

/* A parameter's effect. values has n_values entries, those of the parameter, owned: free with clt_effect_release. importance: the
 * share of the variance of log time that the parameter alone explains, 0 to 1 (the correlation ratio eta squared: Pearson,
 * "Mathematical contributions to the theory of evolution XIV", 1905, section 2). NaN for fewer than two correct rows. What two
 * parameters do together is in neither's share. */
typedef struct clt_effect {
  double importance;
  size_t n_values;
  clt_effect_value *values;
} clt_effect;
int clt_report_effect(clt_effect *out, const clt_report *report, size_t parameter, clt_error *error);
void clt_effect_release(clt_effect *effect);

/* All of it as text for a terminal of `width` columns (at least 60). *out is malloc'ed and owned by the caller. */
int clt_report_text(char **out, const clt_report *report, int width, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
