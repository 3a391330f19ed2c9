/* "Sizes" of a problem: a list, or all or some combinations of values that satisfy conditions. The combinations are a
 * space like that of tuning parameters, so counting and drawing never enumerate the product. */
#include <ctype.h>

#include "base/base.h"
#include "base/hash.h"
#include "farm/plan.h"
#include "problem/instance.h"
#include "problem/load.h"
#include "space/space.h"

#define MAX_VALUES 65536                   /* of one size */
#define MAX_COMBINATIONS ((size_t)1 << 24) /* of sizes with values, if there are conditions */
#define MAX_CONDITIONS 64
#define CHECKS 16 /* of combinations: as much work as a value */

/* One size: its values, or the index of the size that it equals. n = 0 and no alias: its default. */
typedef struct axis {
  const char *name;
  int64_t *values;
  size_t n;
  int same_as; /* -1: none */
} axis;

typedef struct axes {
  const clt_problem *problem;
  clt_sweep *sweep;
  axis *axis; /* n */
  size_t n;
} axes;

/* -1: there is none. Reports that as a mistake, unless the member is a comment (does not begin with a letter). */
static int find_size(const axes *a, const char *name, bool is_member, const clt_node *node) {
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->axis[i].name, name) == 0) return (int)i;
  bool is_comment = is_member && !isalpha((unsigned char)name[0]);
  if (!is_comment) clt_node_fail_name(node, "size", name, a->axis, a->n, sizeof *a->axis);
  return -1;
}

static void check_range(const axes *a, const clt_node *node, size_t i, int64_t value) {
  const clt_problem_parameter *p = &a->problem->sizes[i];
  if (value < p->min) clt_node_fail(node, "%lld: must be at least %lld", (long long)value, (long long)p->min);
  if (value > p->max) clt_node_fail(node, "%lld: must be at most %lld", (long long)value, (long long)p->max);
}

/* Allocates n_sets sets of sizes, filled with the defaults. */
static void make_sets(clt_sweep_problem *out, clt_sweep *sweep, size_t n_sets, const clt_node *node) {
  clt_sweep_count_values(sweep, node, n_sets * out->n_sizes);
  if (!clt_node_ok(node)) return;
  out->sizes = clt_new_array(n_sets * out->n_sizes, sizeof *out->sizes);
  if (out->sizes == NULL) clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  out->n_sets = n_sets;
  for (size_t i = 0; out->sizes && i < n_sets * out->n_sizes; i++)
    out->sizes[i] = clt_problem_size(out->problem, i % out->n_sizes);
}

/* A set of sizes is the same for all devices, so it must name sizes whose default depends on the device. */
static void check_named(const axes *a, const clt_node *set) {
  for (size_t i = 0; i < a->n; i++)
    if (a->problem->sizes[i].rule && !clt_node_has(set, a->axis[i].name))
      clt_node_fail(set, "needs \"%s\", because its default depends on the device", a->axis[i].name);
}

static void read_list(clt_sweep_problem *out, const axes *a, const clt_node *list) {
  size_t n = json_array_size(list->json);
  const char *name;
  json_t *value;
  if (n == 0 || n > CLT_MAX_SWEEP_SIZES) clt_node_fail(list, "needs 1 to %d sizes", CLT_MAX_SWEEP_SIZES);
  if (clt_node_ok(list)) make_sets(out, a->sweep, n, list);
  for (size_t set = 0; set < n && clt_node_ok(list); set++) {
    clt_node item = clt_node_item(list, set);
    if (!clt_read_object(&item, NULL, false)) return;
    check_named(a, &item);
    json_object_foreach((json_t *)item.json, name, value) {
      clt_node here = clt_node_member(&item, name);
      int i = find_size(a, name, true, &here);
      if (i < 0 || !clt_node_ok(list)) continue;
      clt_size *size = &out->sizes[set * out->n_sizes + (size_t)i];
      size->value = clt_read_integer(&item, name, size->value);
      check_range(a, &here, (size_t)i, size->value);
    }
  }
}

/* --- combinations --- */

static void read_values(axes *a, const clt_node *values) {
  const char *name;
  json_t *value;
  if (!clt_read_object(values, NULL, false)) return;
  check_named(a, values);
  json_object_foreach((json_t *)values->json, name, value) {
    clt_node here = clt_node_member(values, name);
    int i = find_size(a, name, true, &here);
    if (i < 0 || here.json == NULL || !clt_node_ok(values)) continue;
    axis *x = &a->axis[i];
    const char *text = json_string_value(here.json);
    if (text && clt_is_name(text)) {
      x->same_as = find_size(a, text, false, &here);
      continue;
    }
    x->values = clt_load_integers(&x->n, &here, INT64_MIN, INT64_MAX, MAX_VALUES);
    clt_sweep_count_values(a->sweep, &here, x->n);
    for (size_t v = 0; v < x->n && clt_node_ok(values); v++) check_range(a, &here, (size_t)i, x->values[v]);
  }
  for (size_t i = 0; i < a->n && clt_node_ok(values); i++) {
    int other = a->axis[i].same_as;
    clt_node here = clt_node_member(values, a->axis[i].name);
    if (other >= 0 && a->axis[other].n == 0)
      clt_node_fail(&here, "\"%s\" needs its own values to be referred to", a->axis[other].name);
  }
}

/* Replaces a size that equals another one by that one's name. */
static const char *replace_alias(clt_text *out, const void *user, const char *name, size_t n) {
  const axes *a = user;
  for (size_t i = 0; i < a->n; i++) {
    if (a->axis[i].same_as < 0 || strlen(a->axis[i].name) != n || strncmp(a->axis[i].name, name, n) != 0) continue;
    clt_text_add(out, a->axis[a->axis[i].same_as].name);
    return name + n;
  }
  return NULL;
}

static clt_space *make_space(const axes *a, const clt_node *node) {
  clt_node where = clt_node_member(node, "Where");
  size_t n = clt_node_count(&where), product = 1;
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  clt_error cause = {0};
  clt_node_wrap(node, clt_space_builder_new(&builder, &cause), &cause);
  for (size_t i = 0; i < a->n && clt_node_ok(node); i++) {
    const axis *x = &a->axis[i];
    const clt_value standard = {.type = CLT_INT, .integer = a->problem->sizes[i].default_value};
    int rc = CLT_OK;
    if (x->same_as >= 0) continue;
    if (x->n == 0) {
      rc = clt_space_builder_constant(builder, x->name, standard, &cause);
    } else {
      clt_value *values = clt_node_new(node, x->n, sizeof *values);
      for (size_t v = 0; values && v < x->n; v++) values[v] = (clt_value){.type = CLT_INT, .integer = x->values[v]};
      if (values) rc = clt_space_builder_parameter(builder, x->name, values, x->n, &cause);
      if (n && clt_node_ok(node) && (product *= x->n) > MAX_COMBINATIONS)
        clt_node_fail(&where, "there are more than %zu combinations to check; list fewer values", MAX_COMBINATIONS);
    }
    clt_node_wrap(node, rc, &cause);
  }
  clt_sweep_count_values(a->sweep, &where, product * n / CHECKS);
  if (n > MAX_CONDITIONS) clt_node_fail(&where, "has more than %d conditions; combine some with 'and'", MAX_CONDITIONS);
  for (size_t i = 0; i < n && clt_node_ok(node); i++) {
    clt_node item = clt_node_item(&where, i);
    const char *text = json_string_value(item.json);
    if (text == NULL) {
      clt_node_fail(&item, "needs a condition, such as \"width <= height\"");
      break;
    }
    const clt_place place = {item.reading->source, clt_node_keep(&item, strdup(item.key))};
    clt_expr *expr = NULL;
    char *replaced = NULL;
    int rc = clt_replace_names(&replaced, text, replace_alias, a, &cause);
    if (rc == CLT_OK) rc = clt_space_builder_compile(&expr, builder, replaced, &place, &cause);
    if (rc == CLT_OK) rc = clt_space_builder_require(builder, expr, CLT_CONDITION, text, &cause);
    clt_node_wrap(&item, rc, &cause);
    free(replaced);
  }
  if (clt_node_ok(node)) clt_node_wrap(node, clt_space_new(&space, builder, &cause), &cause);
  clt_space_builder_free(builder);
  return space;
}

/* --- which of the combinations --- */

/* All in ascending order, or "Count" random ones after skipping "Skip". Draws are sequential: a smaller count draws the
 * first ones of a larger count, and a plan can skip the draws of another. */
static void read_combinations(clt_sweep_problem *out, axes *a, const clt_node *node) {
  static const char *const beside_count[] = {"Skip", "Seed"};
  clt_node values = clt_node_member(node, "Values"), counted = clt_node_member(node, "Count");
  clt_read_object(node, CLT_NAMES("Values", "Where", "Count", "Skip", "Seed"), true);
  if (values.json == NULL) clt_node_fail(node, "needs \"Values\"");
  read_values(a, &values);
  size_t count = (size_t)clt_read_integer_within(node, "Count", 0, 1, CLT_MAX_SWEEP_SIZES);
  for (size_t i = 0; i < 2 && counted.json == NULL; i++) {
    clt_node here = clt_node_member(node, beside_count[i]);
    if (here.json) clt_node_fail(&here, "needs a \"Count\" next to it");
  }
  size_t skip = (size_t)clt_read_integer_within(node, "Skip", 0, 0, CLT_MAX_SWEEP_SIZES);
  int64_t seed = clt_read_integer_within(node, "Seed", 1, 0, INT64_MAX);
  clt_space *space = clt_node_ok(node) ? make_space(a, node) : NULL;
  uint64_t valid = space ? clt_space_valid(space) : 0;
  if (count == 0 && valid > CLT_MAX_SWEEP_SIZES)
    clt_node_fail_as(node, CLT_E_RANGE, "%llu sizes are too many; add \"Count\" to draw some at random",
                     (unsigned long long)valid);
  if (count + skip > valid)
    clt_node_fail_as(node, CLT_E_RANGE, "only %llu sizes satisfy the conditions; reduce \"Count\" and \"Skip\"",
                     (unsigned long long)valid);
  if (valid == 0) clt_node_fail_as(node, CLT_E_RANGE, "no size satisfies the conditions; relax one of them");
  size_t n = count ? count : (size_t)valid;
  clt_config *sets = clt_node_ok(node) ? clt_node_new(node, n, sizeof *sets) : NULL;
  clt_map drawn = {0};
  clt_rng rng;
  clt_rng_init(&rng, (uint64_t)seed);
  if (sets && count == 0) {
    clt_space_enumerate(space, 0, n, sets);
    clt_sort_u64(sets, n);
  }
  while (sets && count && drawn.n < skip + count && clt_node_ok(node)) {
    uint64_t rank = clt_rng_below(&rng, valid);
    bool is_new = false;
    if (clt_map_add(&drawn, rank, &is_new) == NULL) clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
    if (is_new && drawn.n > skip) sets[drawn.n - skip - 1] = clt_space_at(space, rank);
  }
  clt_map_release(&drawn);
  if (clt_node_ok(node)) make_sets(out, a->sweep, n, node);
  for (size_t i = 0; i < a->n && clt_node_ok(node); i++) {
    const axis *x = &a->axis[a->axis[i].same_as >= 0 ? (size_t)a->axis[i].same_as : i];
    int p = clt_space_find_parameter(space, x->name);
    for (size_t s = 0; s < n && p >= 0; s++)
      out->sizes[s * a->n + i].value = clt_space_value(space, sets[s], (size_t)p).integer;
  }
  clt_space_free(space);
}

static void read_sizes(clt_sweep_problem *out, clt_sweep *sweep, const clt_node *parent) {
  clt_node node = clt_node_member(parent, "Sizes");
  axes a = {.problem = out->problem,
            .sweep = sweep,
            .axis = clt_node_new(parent, out->n_sizes, sizeof(axis)),
            .n = out->n_sizes};
  bool depends = false;
  if (!clt_node_ok(parent)) return;
  for (size_t i = 0; i < a.n; i++) depends = depends || out->problem->sizes[i].rule;
  for (size_t i = 0; i < a.n; i++) a.axis[i] = (axis){.name = out->problem->sizes[i].name, .same_as = -1};
  if (node.json == NULL && !depends) {
    make_sets(out, sweep, 1, parent);
  } else if (node.json == NULL) { /* each device has its own defaults */
    out->n_sizes = 0;
    out->n_sets = 1;
  } else if (json_is_array(node.json)) {
    read_list(out, &a, &node);
  } else if (json_is_object(node.json)) {
    read_combinations(out, &a, &node);
  } else {
    clt_node_fail(&node, "needs a list, or an object with \"Values\"");
  }
}

/* The values from which sizes are drawn are freed at once: there may be many more of them. */
void clt_sweep_read_sizes(clt_sweep_problem *out, clt_sweep *sweep, const clt_node *parent) {
  clt_source drawing = {.path = sweep->source.path, .text = sweep->source.text, .root = sweep->source.root};
  clt_reading reading = *parent->reading;
  clt_node node = *parent;
  reading.source = &drawing;
  node.reading = &reading;
  read_sizes(out, sweep, &node);
  parent->reading->rc = reading.rc;
  drawing.path = drawing.text = NULL;
  drawing.root = NULL;
  clt_source_release(&drawing);
}
