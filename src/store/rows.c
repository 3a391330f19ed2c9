#include "store/rows.h"

#include <math.h>
#include <string.h>

#include "measurement/measurement.h"

/* Stored in the order of their members. */
#define N_USE (sizeof(clt_kernel_use) / sizeof(double))
#define N_STATE (sizeof(clt_device_state) / sizeof(double))

static const char *const kind_names[] = {[CLT_RECORD_SEARCH] = "search",
                                         [CLT_RECORD_FINALIST] = "finalist",
                                         [CLT_RECORD_ATTEMPT] = "attempt",
                                         [CLT_RECORD_COMPARED] = "compared"};
static const char *const clock_names[] = {[CLT_CLOCK_DEVICE] = "device", [CLT_CLOCK_HOST] = "host"};

/* NULL if none of n numbers is known. */
static const double *known_numbers(const void *numbers, size_t n) {
  const double *all = numbers;
  for (size_t i = 0; i < n; i++)
    if (!isnan(all[i])) return all;
  return NULL;
}

void clt_record_row_make(clt_record_row *out, const clt_store_record *record) {
  const clt_measurement *m = record->measurement;
  const bool has_figures = !isnan(m->figure);
  out->figures[0] = m->figure;
  memcpy(out->figures + 1, m->figures, m->n_runs * sizeof *m->figures);
  const double *figures = has_figures ? out->figures : NULL;
#define VALUE(field, letter, ...) out->fields[CLT_FIELD_##field] = (clt_field){#field, letter, __VA_ARGS__}
  VALUE(origin, 't', .text = record->origin);
  VALUE(number, 'w', .whole = record->sequence);
  VALUE(kind, 't', .text = kind_names[record->kind]);
  VALUE(configuration, 't', .text = record->configuration);
  VALUE(reason, 't', .text = clt_reason_name(m->reason));
  VALUE(time_s, 'n', .number = m->time_s);
  VALUE(clock, 't', .text = clock_names[m->clock == CLT_CLOCK_HOST]);
  VALUE(build_s, 'n', .number = m->phases.build_s);
  VALUE(first_launch_s, 'n', .number = m->phases.first_launch_s);
  VALUE(runs_s, 'n', .number = m->phases.runs_s);
  VALUE(verify_s, 'n', .number = m->phases.verify_s);
  VALUE(wait_s, 'n', .number = m->phases.wait_s);
  VALUE(max_abs_error, 'n', .number = m->max_abs_error);
  VALUE(log, 't', .text = m->log);
  VALUE(created_s, 'w', .whole = record->created_s);
  VALUE(runs, 'a', .numbers = m->runs_s, .n = m->n_runs);
  VALUE(energy_j, 'n', .number = m->energy_J > 0 ? m->energy_J : NAN);
  VALUE(figures, 'a', .numbers = figures, .n = 1 + m->n_runs);
  VALUE(use, 'a', .numbers = known_numbers(&m->use, N_USE), .n = N_USE);
  VALUE(confirmed, 'w', .whole = m->confirmed_alone);
  VALUE(comparison, 'w', .whole = record->comparison);
  VALUE(state, 'a', .numbers = known_numbers(&m->state, N_STATE), .n = N_STATE);
#undef VALUE
}

/* --- reading --- */

static const char *text_or_none(const clt_row_type *type, const void *row, int column) {
  const char *text = type->text(row, column);
  return text ? text : "";
}

static double number_or_0(const clt_row_type *type, const void *row, int column) {
  const double number = type->number(row, column);
  return isnan(number) ? 0 : number;
}

static void copy_text(char *out, size_t capacity, const char *text) {
  const size_t n = strnlen(text, capacity - 1);
  memcpy(out, text, n);
  out[n] = '\0';
}

clt_store_description clt_row_key(const clt_row_type *type, const void *row, int first) {
  clt_store_description d = {.problem_name = text_or_none(type, row, first + 3),
                             .problem_path = text_or_none(type, row, first + 4),
                             .sizes = text_or_none(type, row, first + 5),
                             .device_json = text_or_none(type, row, first + 6),
                             .tuning_json = text_or_none(type, row, first + 7),
                             .kernel = text_or_none(type, row, first + 8)};
  copy_text(d.key.problem, sizeof d.key.problem, text_or_none(type, row, first));
  copy_text(d.key.device, sizeof d.key.device, text_or_none(type, row, first + 1));
  copy_text(d.key.driver, sizeof d.key.driver, text_or_none(type, row, first + 2));
  return d;
}

int clt_row_visit(const clt_row_type *type, const void *row, int first, clt_store_record record, bool with_key,
                  clt_store_walk_visit visit, void *user) {
#define TEXT(field) text_or_none(type, row, first + CLT_FIELD_##field)
#define NUMBER(field) type->number(row, first + CLT_FIELD_##field)
#define PHASE(field) number_or_0(type, row, first + CLT_FIELD_##field)
#define WHOLE(field) type->whole(row, first + CLT_FIELD_##field)
#define NUMBERS(field, out, most) type->numbers(row, first + CLT_FIELD_##field, out, most)
  clt_measurement m;
  double figures[1 + CLT_MAX_RUNS] = {NAN};
  clt_measurement_init(&m, CLT_CONFIG_NONE);
  m.reason = CLT_REASON_UNKNOWN;
  clt_reason_parse(&m.reason, TEXT(reason), NULL);
  m.clock = strcmp(TEXT(clock), clock_names[CLT_CLOCK_HOST]) == 0 ? CLT_CLOCK_HOST : CLT_CLOCK_DEVICE;
  m.time_s = NUMBER(time_s);
  m.phases = (clt_phases){PHASE(build_s), PHASE(first_launch_s), PHASE(runs_s), PHASE(verify_s), PHASE(wait_s)};
  m.max_abs_error = NUMBER(max_abs_error);
  m.log = (char *)type->text(row, first + CLT_FIELD_log);
  m.n_runs = NUMBERS(runs, m.runs_s, CLT_MAX_RUNS);
  const bool correct = m.reason == CLT_REASON_NONE;
  if (correct) m.energy_J = NUMBER(energy_j);
  const size_t n_figures = correct ? NUMBERS(figures, figures, 1 + CLT_MAX_RUNS) : 0;
  if (n_figures > 0) m.figure = figures[0];
  for (size_t i = 0; n_figures > 0 && i < CLT_MAX_RUNS; i++) m.figures[i] = i + 1 < n_figures ? figures[i + 1] : NAN;
  NUMBERS(use, (double *)&m.use, N_USE);
  NUMBERS(state, (double *)&m.state, N_STATE);
  m.confirmed_alone = !correct && WHOLE(confirmed) > 0;
  record.created_s = WHOLE(created_s);
  record.origin = TEXT(origin);
  record.sequence = WHOLE(number);
  record.comparison = WHOLE(comparison);
  record.measurement = &m;
  for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
    if (strcmp(kind_names[i], TEXT(kind)) != 0) continue;
    record.kind = (clt_record_kind)i;
    record.configuration = TEXT(configuration);
  }
  if (!with_key) return visit(user, NULL, &record);
  const clt_store_description d = clt_row_key(type, row, first + CLT_N_FIELDS);
  return visit(user, &d, &record);
}
