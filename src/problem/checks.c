/* The check plan: which inputs, and which sizes. */
#include "problem/checks.h"
#include "base/base.h"
#include "problem/instance.h"

/* --- inputs --- */

enum { N_SPIKES = 10 }; /* variants of spikes: five elements dominate in turn, as maxima and as minima */

size_t clt_checks_list(clt_check out[CLT_MAX_CHECKS], const clt_problem *problem, bool finite) {
  /* Nudged inputs come first, after the run on the file's own: what remembers its results finds almost the same input.
   */
  static const clt_recipe recipes[] = {{CLT_INPUTS_NUDGED},
                                       {CLT_INPUTS_OTHER},
                                       {CLT_INPUTS_RANGE, CLT_RANGE_ENDS},
                                       {CLT_INPUTS_RANGE, CLT_RANGE_SIGNED},
                                       {CLT_INPUTS_RANGE, CLT_RANGE_TYPE},
                                       {CLT_INPUTS_SPECIAL, CLT_SPECIAL_TIES},
                                       {CLT_INPUTS_SPECIAL, CLT_SPECIAL_NAN},
                                       {CLT_INPUTS_SPECIAL, CLT_SPECIAL_INFINITY}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
    const bool special = recipes[i].inputs == CLT_INPUTS_SPECIAL && recipes[i].variant != CLT_SPECIAL_TIES;
    const bool always = recipes[i].inputs == CLT_INPUTS_OTHER; /* for the order of work-items */
    if (always || (clt_recipe_applies(problem, &recipes[i]) && !(special && finite)))
      out[n++] = (clt_check){recipes[i], true};
  }
  for (unsigned variant = 0; variant < N_SPIKES; variant++) {
    const clt_recipe spikes = {CLT_INPUTS_SPIKES, variant};
    if (clt_recipe_applies(problem, &spikes)) out[n++] = (clt_check){spikes, true};
  }
  return n;
}

const char *clt_instance_stays_finite(const clt_instance *instance, clt_config config) {
  const clt_reference_kind kind = instance->problem->reference.kind;
  char *options = NULL;
  if (kind != CLT_REFERENCE_KERNEL && kind != CLT_REFERENCE_MODULE)
    return "no reference kernel or function defines the result";
  if (clt_instance_options(&options, instance, config, NULL)) return NULL;
  const bool promised = strstr(options, "-cl-fast-relaxed-math") || strstr(options, "-cl-finite-math-only");
  free(options);
  return promised ? "a compiler option promises that there are none" : NULL;
}

const char *clt_check_purpose(const clt_check *check) {
  static const char *const ranges[] = {"negative numbers, zeros, denormals", "overflow, saturation, series",
                                       "shifts and remainders of negative numbers"},
                           *const specials[] = {"NaN in comparisons", "infinities",
                                                "ties, zeros of both signs, collisions"};
  switch (check->recipe.inputs) {
    case CLT_INPUTS_OWN: return "the result that the file describes";
    case CLT_INPUTS_OTHER: return "what takes constants, scalars or data files for fixed";
    case CLT_INPUTS_NUDGED: return "results remembered from the run before";
    case CLT_INPUTS_SPIKES:
      return check->recipe.variant % 2 ? "an element left out of a minimum" : "an element left out of a sum or maximum";
    case CLT_INPUTS_RANGE: return ranges[check->recipe.variant];
    case CLT_INPUTS_SPECIAL: return specials[check->recipe.variant];
    case CLT_INPUTS_OMITTED: return "a tolerance that hides a missing element";
  }
  return "";
}

/* --- sizes --- */

#define FEW_ELEMENTS 20000.0 /* of a ragged stage */
#define LEAST_GROUPS 12.0    /* so that there are groups at edges and corners, and others */
#define LONG 131101          /* a prime above 2^17 */
#define NEAR 64              /* how far to look for a prime that is allowed */
#define FAR 1024             /* and for any number */

typedef struct search {
  const clt_instance *instance;
  clt_config config;
  clt_size_tester *tester; /* NULL: only by making an instance */
  int64_t twice;           /* 2: sizes are twice a prime, 1: primes */
  int64_t *sizes;          /* chosen so far; those not chosen yet are the instance's */
  size_t n;
} search;

static bool is_prime(int64_t x) {
  for (int64_t d = 2; d * d <= x; d++)
    if (x % d == 0) return false;
  return x > 1;
}

static bool is_allowed(const search *s) {
  if (s->tester) return clt_size_tester_holds(s->tester, s->sizes);
  clt_instance *made = NULL;
  clt_config there;
  const bool allowed = clt_problem_allows(s->instance->problem, s->sizes) &&
                       clt_instance_new_at(&made, &there, s->instance, s->config, s->sizes, NULL) == CLT_OK;
  clt_instance_free(made);
  return allowed;
}

/* Whether a size has no factor in common with a tuning parameter's value, and differs from the other sizes. */
static bool is_ragged(const search *s, size_t index, int64_t size) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(s->instance, s->config, slots);
  if (size % s->twice || !is_prime(size / s->twice)) return false;
  for (size_t i = 0; i < s->instance->problem->n_parameters; i++)
    if (slots[i].type == CLT_INT && slots[i].integer > 1 && slots[i].integer % (size / s->twice) == 0) return false;
  for (size_t i = 0; i < s->n; i++)
    if (i != index && s->sizes[i] == size) return false;
  return true;
}

static bool try_size(search *s, size_t index, int64_t size) {
  const int64_t before = s->sizes[index];
  if (size < 1) return false;
  s->sizes[index] = size;
  if (is_allowed(s)) return true;
  s->sizes[index] = before;
  return false;
}

/* Sets a size to the allowed one that is nearest to the target: a ragged one, else any, else a multiple of a power of
 * two or a power of two. False: it stays as it was. */
static bool set_nearest(search *s, size_t index, int64_t target) {
  if (!s->tester) return try_size(s, index, target);
  if (target <= CLT_SMALL_SIZE + 1 && try_size(s, index, target)) return true;
  for (int64_t d = 0; d <= NEAR; d++)
    for (int side = 0; side < 2; side++) {
      const int64_t size = side ? target + d : target - d;
      if (is_ragged(s, index, size) && try_size(s, index, size)) return true;
    }
  for (int64_t d = 0; d <= FAR; d++)
    if (try_size(s, index, target - d) || try_size(s, index, target + d)) return true;
  for (int64_t step = 8; step <= 4096; step *= 2) {
    const int64_t size = (target + step - 1) / step * step;
    if (try_size(s, index, size) || try_size(s, index, size + step) || try_size(s, index, size - step)) return true;
  }
  int64_t power = 1;
  while (power < target && power < INT64_MAX / 4) power *= 2;
  return try_size(s, index, power / 2) || try_size(s, index, power) || try_size(s, index, power * 2);
}

/* Sets all sizes near to targets: each alone, or, where conditions tie them together, all to the same number. */
static void set_all(search *s, const int64_t *targets) {
  const int64_t *own = s->instance->sizes;
  bool any = false, equal = true;
  for (size_t i = 0; i < s->n; i++) {
    s->sizes[i] = own[i];
    equal = equal && own[i] == own[0];
  }
  /* Shrinking changes come first, so that growing ones fit into memory. */
  for (int grows = 0; grows < 2; grows++)
    for (size_t i = 0; i < s->n; i++)
      if ((targets[i] > own[i]) == grows) any |= set_nearest(s, i, targets[i]) && s->sizes[i] != own[i];
  if (any || !equal || s->n < 2 || !s->tester) return;
  for (int64_t d = 0; d <= FAR; d++) {
    for (size_t i = 0; i < s->n; i++) s->sizes[i] = targets[0] - d > 0 ? targets[0] - d : own[i];
    if (is_allowed(s)) return;
  }
  for (size_t i = 0; i < s->n; i++) s->sizes[i] = own[i];
}

static int64_t small_step(int64_t size, int64_t least) { return size > 1 && size - 1 >= least ? size - 1 : size + 1; }

static int begin(search *s, const clt_instance *instance, clt_config config, clt_error *error) {
  *s = (search){instance, config, clt_size_tester_new(instance, config), 1, NULL, instance->problem->n_passed};
  s->sizes = clt_new_array(s->n, sizeof *s->sizes);
  return s->sizes ? CLT_OK : clt_fail_memory(error);
}

static void end(search *s) {
  clt_size_tester_free(s->tester);
  free(s->sizes);
}

static bool differs(const search *s) { return memcmp(s->sizes, s->instance->sizes, s->n * sizeof *s->sizes) != 0; }

bool clt_problem_has_fixed_structure(const clt_problem *problem) {
  bool has = false;
  for (const clt_argument *a = problem->arguments; a < problem->arguments + problem->n_arguments; a++)
    has = has || (a->plan.kind == CLT_ARG_SCALAR && a->fill.kind == CLT_FILL_RAW);
  return has;
}

/* Data files have one size: whether an argument from a file would have another number of bytes in the stage. */
static bool breaks_files(const clt_instance *instance, clt_config config, const clt_check_stage *stage) {
  const clt_problem *problem = instance->problem;
  clt_plan *here = NULL, *there = NULL;
  bool breaks =
      clt_plan_new(&here, instance, config, NULL) || clt_plan_new(&there, stage->instance, stage->config, NULL);
  for (size_t i = 0; !breaks && i < here->n_args && i < there->n_args; i++) {
    const clt_entries entries = clt_problem_entries(problem, here->args[i].name);
    const bool of_file = entries.fill && (entries.fill->kind == CLT_FILL_RAW || entries.fill->kind == CLT_FILL_PGM);
    breaks = of_file && memcmp(here->args[i].extent, there->args[i].extent, sizeof here->args[i].extent) != 0;
  }
  clt_plan_free(here);
  clt_plan_free(there);
  return breaks;
}

/* Makes the instance of the sizes that were found, and says which targets were not allowed. */
static int finish(clt_check_stage *out, search *s, const int64_t *targets, clt_error *error) {
  const char *none = NULL;
  clt_text note = {0};
  int rc = CLT_OK;
  if (s->n == 0)
    none = "the problem has no sizes";
  else if (!differs(s))
    none = "the problem allows no other sizes";
  else
    rc = clt_instance_new_at(&out->instance, &out->config, s->instance, s->config, s->sizes, NULL);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
  if (rc) none = "the configuration is not valid at other sizes";
  if (out->instance && breaks_files(s->instance, s->config, out)) {
    none = "the data files have one size";
    clt_instance_free(out->instance);
    out->instance = NULL;
  }
  if (none) clt_text_add(&note, none);
  for (size_t i = 0; out->instance && i < s->n; i++) {
    const int64_t far = llabs(s->sizes[i] - targets[i]);
    if (far <= NEAR) continue;
    clt_text_printf(&note, "%s%s=%lld instead of %lld, which a condition excludes", note.n ? ", " : "",
                    s->instance->problem->sizes[i].name, (long long)s->sizes[i], (long long)targets[i]);
  }
  if (note.n == 0) {
    clt_text_release(&note);
    return CLT_OK;
  }
  return clt_text_take(&out->note, &note, error);
}

/* A share of a size, a bit less for each further one so that equal sizes get different ones. */
static int64_t shrunk_size(const clt_instance *instance, size_t index, double share) {
  const int64_t own = instance->sizes[index];
  if (own <= CLT_SMALL_SIZE) return small_step(own, instance->problem->sizes[index].min);
  const int64_t shrunk = (int64_t)((double)own * share * (1 - 0.07 * (double)(index % 5)));
  const int64_t size = shrunk < CLT_SMALL_SIZE ? CLT_SMALL_SIZE + 3 : shrunk;
  return size < own ? size : own - 1;
}

int clt_stage_new_ragged(clt_check_stage *out, const clt_instance *instance, clt_config config, double most_items,
                         clt_error *error) {
  search s;
  *out = (clt_check_stage){.kind = CLT_SIZES_RAGGED, .config = config};
  int rc = begin(&s, instance, config, error);
  int64_t *targets = clt_new_array(s.n, sizeof *targets);
  if (rc == CLT_OK && targets == NULL) rc = clt_fail_memory(error);
  int64_t *kept = clt_new_array(2 * s.n, sizeof *kept); /* the sizes and targets of the step before */
  if (rc == CLT_OK && kept == NULL) rc = clt_fail_memory(error);
  double groups = 0;
  bool back = false; /* to what was kept */
  /* Halves the targets until there are few work-items and elements, but not less than some groups. */
  for (double share = 0.75; rc == CLT_OK && s.n > 0; share /= 2) {
    const bool is_first = share == 0.75;
    clt_instance *made = NULL;
    clt_config there;
    for (size_t i = 0; i < s.n; i++) targets[i] = shrunk_size(instance, i, share);
    set_all(&s, targets);
    if (!differs(&s) || clt_instance_new_at(&made, &there, instance, config, s.sizes, NULL)) {
      back = !is_first;
      break;
    }
    const clt_plan_extent extent = clt_instance_extent(made, there);
    const double elements = clt_instance_elements(made);
    clt_instance_free(made);
    back = !is_first && extent.groups > 0 && extent.groups < LEAST_GROUPS && extent.groups < groups;
    if (back || (extent.items <= most_items && elements <= FEW_ELEMENTS) || share < 1e-6) break;
    groups = extent.groups;
    memcpy(kept, s.sizes, s.n * sizeof *kept);
    memcpy(kept + s.n, targets, s.n * sizeof *kept);
  }
  if (back) {
    memcpy(s.sizes, kept, s.n * sizeof *kept);
    memcpy(targets, kept + s.n, s.n * sizeof *kept);
  }
  free(kept);
  if (rc == CLT_OK) rc = finish(out, &s, targets, error);
  free(targets);
  end(&s);
  return rc;
}

double clt_instance_elements(const clt_instance *instance) {
  double n = 1;
  for (size_t i = 0; i < instance->problem->n_passed; i++)
    if (instance->sizes[i] > CLT_SMALL_SIZE) n *= (double)instance->sizes[i];
  return n;
}

/* The largest power of two that divides a size at least four times, at most 1024. */
static int64_t step_of(int64_t size) {
  int64_t step = 1;
  while (step < 1024 && size % (2 * step) == 0 && size / (2 * step) >= 4) step *= 2;
  return step;
}

int clt_stage_new_even(clt_check_stage *out, const clt_instance *instance, clt_config config, clt_error *error) {
  search s;
  int64_t odd = 3;
  *out = (clt_check_stage){.kind = CLT_SIZES_EVEN, .config = config};
  int rc = begin(&s, instance, config, error);
  int64_t *targets = clt_new_array(s.n, sizeof *targets);
  if (rc == CLT_OK && targets == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < s.n; i++) {
    const int64_t own = instance->sizes[i], step = step_of(own);
    targets[i] = own <= CLT_SMALL_SIZE ? own : step == 1 ? own - 1 : step * odd;
    odd += 2 * (own > CLT_SMALL_SIZE);
    s.sizes[i] = own;
  }
  for (size_t i = 0; rc == CLT_OK && i < s.n; i++)
    if (!try_size(&s, i, targets[i])) set_nearest(&s, i, targets[i]);
  if (rc == CLT_OK) rc = finish(out, &s, targets, error);
  free(targets);
  end(&s);
  return rc;
}

static void choose_large(int64_t *targets, const search *s, double most_elements, clt_size_growth growth, size_t turn,
                         bool even) {
  const clt_instance *instance = s->instance;
  size_t n_extents = 0, n = 0;
  for (size_t i = 0; i < s->n; i++) n_extents += instance->sizes[i] > CLT_SMALL_SIZE;
  /* The long size above 2^17 and the others such that the product is as large as allowed. */
  const double others = n_extents > 1 ? pow(most_elements / LONG, 1 / (double)(n_extents - 1)) : 1;
  for (size_t i = 0; i < s->n; i++) {
    static const double long_factors[] = {[CLT_GROWS_4] = 4, [CLT_GROWS_HALF] = 1.5, [CLT_GROWS_OTHERS] = 0.25},
                        other_factors[] = {[CLT_GROWS_4] = 0.5, [CLT_GROWS_HALF] = 0.5, [CLT_GROWS_OTHERS] = 2};
    const double own = (double)instance->sizes[i];
    const bool is_long = own > CLT_SMALL_SIZE && n++ == turn % n_extents;
    double target = own;
    if (growth != CLT_GROWS_FULLY)
      target = fmax(own * (is_long ? long_factors : other_factors)[growth], CLT_SMALL_SIZE + 3);
    else if (is_long && n_extents == 1)
      target = fmax(most_elements, 1.5 * own);
    else
      target = is_long ? fmax(LONG, 1.5 * own) : fmax(CLT_SMALL_SIZE + 3, others);
    const int64_t step = step_of(instance->sizes[i]), least = (int64_t)target;
    targets[i] = own <= CLT_SMALL_SIZE ? instance->sizes[i] + !even : even ? (least + step - 1) / step * step : least;
    if (targets[i] > instance->problem->sizes[i].max) targets[i] = instance->problem->sizes[i].max;
  }
}

int clt_stage_new_large(clt_check_stage *out, const clt_instance *instance, clt_config config, clt_stage_limits limits,
                        clt_size_growth growth, size_t turn, bool even, clt_error *error) {
  search s;
  *out = (clt_check_stage){.kind = CLT_SIZES_LARGE, .config = config};
  int rc = begin(&s, instance, config, error);
  int64_t *targets = clt_new_array(s.n, sizeof *targets);
  if (rc == CLT_OK && targets == NULL) rc = clt_fail_memory(error);
  const double most_items = 4 * limits.elements;
  s.twice = 2; /* a remainder that the ragged sizes do not have */
  /* Work and memory may grow faster than the sizes: then fewer elements are tried. */
  for (bool fits = false; rc == CLT_OK && s.n > 0 && !fits; limits.elements /= 4) {
    clt_stage_release(out);
    *out = (clt_check_stage){.kind = CLT_SIZES_LARGE, .config = config};
    choose_large(targets, &s, limits.elements, growth, turn, even);
    for (size_t i = 0; i < s.n; i++) s.sizes[i] = instance->sizes[i];
    if (!even) set_all(&s, targets);
    for (size_t i = 0; even && i < 2 * s.n; i++) {
      const size_t k = i % s.n;
      if ((targets[k] > instance->sizes[k]) == (i >= s.n)) try_size(&s, k, targets[k]);
    }
    rc = finish(out, &s, targets, error);
    const clt_plan_extent extent =
        out->instance ? clt_instance_extent(out->instance, out->config) : (clt_plan_extent){0};
    fits = out->instance && extent.bytes <= fmin(limits.bytes, limits.quick_bytes) && extent.items <= most_items;
    if (rc || growth != CLT_GROWS_FULLY || limits.elements < 4 * clt_instance_elements(instance)) {
      if (fits || out->instance == NULL || (growth != CLT_GROWS_FULLY && extent.bytes <= limits.bytes)) break;
      const char *why = extent.bytes > limits.bytes ? "it needs too much memory" : "it takes too long";
      clt_stage_release(out);
      *out = (clt_check_stage){.kind = CLT_SIZES_LARGE, .config = config, .note = strdup(why)};
      break;
    }
  }
  free(targets);
  end(&s);
  return rc;
}

size_t clt_instance_inputs(const char **out, size_t most, const clt_instance *instance) {
  const clt_problem *problem = instance->problem;
  size_t n = 0;
  for (size_t i = 0; i < problem->n_arguments && n < most; i++) {
    const clt_entries entries = clt_problem_entries(problem, problem->arguments[i].name);
    const bool reads = clt_holds_data(&problem->arguments[i]) && entries.fill && !entries.fill->stays;
    if (reads && entries.first == &problem->arguments[i]) out[n++] = problem->arguments[i].name;
  }
  return n;
}

size_t clt_instance_varying(const char **out, size_t most, const clt_instance *instance) {
  const clt_problem *problem = instance->problem;
  size_t n = 0;
  for (size_t i = 0; i < problem->n_arguments && n < most; i++) {
    const clt_recipe alone = {.inputs = CLT_INPUTS_OTHER, .only = problem->arguments[i].name};
    const clt_entries entries = clt_problem_entries(problem, problem->arguments[i].name);
    const bool drawn = entries.fill && clt_fill_is_drawn(entries.fill);
    const bool first = !clt_holds_data(&problem->arguments[i]) || entries.first == &problem->arguments[i];
    if (!drawn && first && clt_recipe_applies(problem, &alone)) out[n++] = problem->arguments[i].name;
  }
  return n;
}

double clt_instance_relative_tolerance(const clt_instance *instance) {
  double most = 0;
  for (size_t i = 0; i < instance->problem->n_arguments; i++)
    if (instance->problem->arguments[i].output) most = fmax(most, instance->problem->arguments[i].relative_tolerance);
  return most;
}

void clt_stage_release(clt_check_stage *stage) {
  clt_instance_free(stage->instance);
  free(stage->note);
  *stage = (clt_check_stage){0};
}
