/* From what was measured to a value, and from that to a cost. */
#include <math.h>

#include "objective/objective.h"

static void set_real(clt_value *slot, double x) { *slot = (clt_value){.type = CLT_REAL, .real = x}; }

/* Metrics below that the expression of `last` may speak of come first. Those of a device that was not chosen are NaN.
 */
static double evaluate(const clt_objective *o, size_t last, clt_config config, double time_s, double energy_J) {
  const clt_metric_slots places = clt_metric_slots_of();
  clt_value slots[CLT_MAX_PARAMETERS + 512] = {{0}}, value;
  double out = NAN;
  for (size_t i = CLT_MAX_PARAMETERS; i < places.n; i++) set_real(&slots[i], NAN);
  for (size_t i = 0; config != CLT_CONFIG_NONE && i < clt_space_n_parameters(o->space); i++)
    slots[i] = clt_space_value(o->space, config, i);
  set_real(&slots[places.time], time_s);
  set_real(&slots[places.energy], energy_J);
  for (size_t k = CLT_BUILT_IN_METRICS; k <= last; k++) {
    const clt_compiled_metric *m = &o->metrics[k];
    bool known = m->expr && clt_expr_eval(m->expr, slots, &value, NULL) == CLT_OK;
    out = known ? clt_value_number(value) : NAN;
    if (k < last) set_real(&slots[places.metrics + k - CLT_BUILT_IN_METRICS], out);
  }
  return out;
}

static double value_of(const clt_objective *o, size_t metric, clt_config config, double time_s, double energy_J) {
  if (metric == CLT_METRIC_TIME) return time_s;
  if (metric == CLT_METRIC_ENERGY) return energy_J;
  if (o->metrics[metric].reads_energy && isnan(energy_J)) return NAN;
  return evaluate(o, metric, config, time_s, energy_J);
}

double clt_objective_metric_value(const clt_objective *o, size_t index, const clt_measurement *m) {
  if (!clt_measurement_correct(m)) return NAN;
  return value_of(o, index, m->config, m->time_s, m->energy_J);
}

double clt_objective_value(const clt_objective *o, const clt_measurement *m) {
  return clt_objective_metric_value(o, o->chosen, m);
}

double clt_objective_exchange(const clt_objective *o, double x) {
  if (!(x > 0) || isinf(x)) return NAN;
  return o->goal == CLT_MAXIMISE ? 1 / x : x;
}

double clt_objective_cost_of(const clt_objective *o, clt_config config, double time_s, double energy_J) {
  return clt_objective_exchange(o, value_of(o, o->chosen, config, time_s, energy_J));
}

double clt_objective_cost(const clt_objective *o, const clt_measurement *m) {
  return clt_objective_exchange(o, clt_objective_value(o, m));
}
