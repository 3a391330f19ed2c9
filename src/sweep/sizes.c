/* "Sizes" of a problem: a list, or all or some of the combinations of values that satisfy conditions. The combinations
 * are a space like that of tuning parameters, so that counting and drawing never walk the product. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/parts.h"
#include "sweep/sweep.h"

#define MAX_VALUES 65536                   /* of one size */
#define MAX_COMBINATIONS ((size_t)1 << 24) /* of the sizes that have values, where there are conditions */
#define MAX_CONDITIONS 64

/* One size: values, or the index of the size that it equals. n = 0, no alias: its default. */
typedef struct axis {
  const char *name;
  int64_t *values;
  size_t n;
  int same_as; /* -1: none */
} axis;

typedef struct axes {
  const clt_source *source;
  const clt_problem *problem;
  axis *axis; /* n */
  size_t n;
} axes;

static int find(const axes *a, const char *name) {
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->axis[i].name, name) == 0) return (int)i;
  return -1;
}

static int no_such_size(const axes *a, const clt_node *node, const char *name, clt_error *error) {
  const char **names = clt_new_array(a->n, sizeof *names);
  if (names == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < a->n; i++) names[i] = a->axis[i].name;
  const char *near = clt_nearest_name(name, names, a->n);
  free(names);
  const char *problem = clt_problem_name(a->problem);
  if (near)
    return clt_node_fail(a->source, node, error, "'%s' has no size \"%s\"; did you mean \"%s\"?", problem, name, near);
  return clt_node_fail(a->source, node, error, "'%s' has no size \"%s\"", problem, name);
}

static int check_range(const axes *a, const clt_node *node, size_t i, int64_t value, clt_error *error) {
  const clt_problem_parameter *p = &a->problem->sizes[i];
  if (value < p->min)
    return clt_node_fail(a->source, node, error, "%lld: must be at least %lld", (long long)value, (long long)p->min);
  if (value > p->max)
    return clt_node_fail(a->source, node, error, "%lld: must be at most %lld", (long long)value, (long long)p->max);
  return CLT_OK;
}

/* --- a list --- */

static int read_set(clt_size *out, const axes *a, const clt_node *item, clt_error *error) {
  const char *name;
  json_t *value;
  int rc = clt_node_object(a->source, item, error);
  if (rc) return rc;
  json_object_foreach((json_t *)item->json, name, value) {
    clt_node here = clt_node_member(item, name);
    int i = find(a, name);
    if (i < 0 && !isalpha((unsigned char)name[0])) continue;
    if (i < 0) return no_such_size(a, &here, name, error);
    rc = clt_node_integer(&out[i].value, a->source, item, name, error);
    if (rc == CLT_OK) rc = check_range(a, &here, (size_t)i, out[i].value, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

/* n_sets sets of defaults. */
static int start_sets(clt_sweep_problem *out, size_t n_sets, clt_error *error) {
  out->sizes = clt_new_array(n_sets * out->n_sizes, sizeof *out->sizes);
  if (out->sizes == NULL) return clt_fail_memory(error);
  out->n_sets = n_sets;
  for (size_t i = 0; i < n_sets * out->n_sizes; i++) out->sizes[i] = clt_problem_size(out->problem, i % out->n_sizes);
  return CLT_OK;
}

static int read_list(clt_sweep_problem *out, const axes *a, const clt_node *list, clt_error *error) {
  size_t n = json_array_size(list->json);
  if (n == 0 || n > CLT_MAX_SWEEP_SIZES)
    return clt_node_fail(a->source, list, error, "needs 1 to %d sizes", CLT_MAX_SWEEP_SIZES);
  int rc = start_sets(out, n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node item = clt_node_item(list, i);
    rc = read_set(&out->sizes[i * out->n_sizes], a, &item, error);
  }
  return rc;
}

/* --- combinations --- */

static int read_axis(axes *a, size_t i, const clt_node *node, clt_error *error) {
  axis *x = &a->axis[i];
  const char *text = json_string_value(node->json);
  if (text && clt_is_name(text)) {
    x->same_as = find(a, text);
    return x->same_as < 0 ? no_such_size(a, node, text, error) : CLT_OK;
  }
  int rc = clt_sweep_numbers(&x->values, &x->n, a->source, node, INT64_MIN, INT64_MAX, MAX_VALUES, error);
  for (size_t v = 0; rc == CLT_OK && v < x->n; v++) rc = check_range(a, node, i, x->values[v], error);
  return rc;
}

static int read_axes(axes *a, const clt_node *values, clt_error *error) {
  const char *name;
  json_t *value;
  if (values->json == NULL) return CLT_OK;
  int rc = clt_node_object(a->source, values, error);
  if (rc) return rc;
  json_object_foreach((json_t *)values->json, name, value) {
    clt_node here = clt_node_member(values, name);
    int i = find(a, name);
    if (i < 0 && !isalpha((unsigned char)name[0])) continue;
    if (i < 0) return no_such_size(a, &here, name, error);
    if (here.json == NULL) continue;
    rc = read_axis(a, (size_t)i, &here, error);
    if (rc) return rc;
  }
  for (size_t i = 0; i < a->n; i++) {
    if (a->axis[i].same_as < 0 || a->axis[a->axis[i].same_as].n > 0) continue;
    clt_node here = clt_node_member(values, a->axis[i].name);
    return clt_node_fail(a->source, &here, error, "\"%s\" needs values of its own", a->axis[a->axis[i].same_as].name);
  }
  return CLT_OK;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* The text with names that equal another size in that one's name. */
static char *with_names_replaced(const axes *a, const char *text) {
  char *out = NULL;
  size_t length;
  FILE *file = open_memstream(&out, &length);
  if (file == NULL) return NULL;
  while (*text) {
    size_t n = 0;
    while (is_word(text[n])) n++;
    size_t i = 0;
    while (i < a->n && !(a->axis[i].same_as >= 0 && strlen(a->axis[i].name) == n && !strncmp(a->axis[i].name, text, n)))
      i++;
    if (n > 0 && i < a->n)
      fputs(a->axis[a->axis[i].same_as].name, file);
    else
      fwrite(text, 1, n ? n : 1, file);
    text += n ? n : 1;
  }
  if (fclose(file) == 0) return out;
  free(out);
  return NULL;
}

/* Only to say where a mistake stands: the space compiles its conditions for itself. */
static int try_condition(const axes *a, const char *text, const clt_node *node, clt_error *error) {
  clt_symbol *symbols = clt_new_array(a->n, sizeof *symbols);
  clt_expr *expression = NULL;
  clt_error cause = {0};
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < a->n; i++) symbols[i] = (clt_symbol){.name = a->axis[i].name, .slot = (uint32_t)i};
  int rc = clt_expr_compile(&expression, text, symbols, a->n, &cause);
  clt_expr_free(expression);
  free(symbols);
  return rc ? clt_key_wrap(a->source, node->key, rc, error, &cause) : CLT_OK;
}

static int add_condition(const axes *a, clt_space_builder *builder, const clt_node *node, clt_error *error) {
  const char *text = json_string_value(node->json);
  if (text == NULL) return clt_node_fail(a->source, node, error, "needs a condition, such as \"width <= height\"");
  char *replaced = with_names_replaced(a, text);
  if (replaced == NULL) return clt_fail_memory(error);
  int rc = try_condition(a, replaced, node, error);
  if (rc == CLT_OK) rc = clt_space_builder_constraint(builder, replaced, CLT_CONDITION, text, error);
  free(replaced);
  return rc;
}

static int check_product(const axes *a, const clt_node *where, clt_error *error) {
  size_t product = 1;
  for (size_t i = 0; i < a->n; i++)
    if (a->axis[i].n && (product *= a->axis[i].n) > MAX_COMBINATIONS)
      return clt_node_fail(a->source, where, error, "there are more than %zu combinations of values to try",
                           MAX_COMBINATIONS);
  return CLT_OK;
}

static int add_conditions(const axes *a, clt_space_builder *builder, const clt_node *where, clt_error *error) {
  if (where->json == NULL) return CLT_OK;
  int rc = check_product(a, where, error);
  if (rc || !json_is_array(where->json)) return rc ? rc : add_condition(a, builder, where, error);
  if (json_array_size(where->json) > MAX_CONDITIONS)
    return clt_node_fail(a->source, where, error, "has more than %d conditions", MAX_CONDITIONS);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(where->json); i++) {
    clt_node item = clt_node_item(where, i);
    rc = add_condition(a, builder, &item, error);
  }
  return rc;
}

static int add_axis(const axes *a, clt_space_builder *builder, size_t i, clt_error *error) {
  const axis *x = &a->axis[i];
  clt_value standard = {.type = CLT_INT, .integer = a->problem->sizes[i].standard};
  if (x->same_as >= 0) return CLT_OK;
  if (x->n == 0) return clt_space_builder_constant(builder, x->name, standard, error);
  clt_value *values = clt_new_array(x->n, sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  for (size_t v = 0; v < x->n; v++) values[v] = (clt_value){.type = CLT_INT, .integer = x->values[v]};
  int rc = clt_space_builder_parameter(builder, x->name, values, x->n, error);
  free(values);
  return rc;
}

static int make_space(clt_space **out, const axes *a, const clt_node *node, clt_error *error) {
  clt_space_builder *builder = NULL;
  clt_error cause = {0};
  clt_node where = clt_node_member(node, "Where");
  int rc = clt_space_builder_new(&builder, error);
  if (rc) return rc;
  for (size_t i = 0; rc == CLT_OK && i < a->n; i++) rc = add_axis(a, builder, i, &cause);
  if (rc == CLT_OK) rc = add_conditions(a, builder, &where, &cause);
  if (rc == CLT_OK) rc = clt_space_new(out, builder, &cause);
  clt_space_builder_free(builder);
  return rc ? clt_key_wrap(a->source, node->key, rc, error, &cause) : CLT_OK;
}

static int64_t value_of(const axes *a, const clt_space *space, clt_config set, size_t i) {
  const axis *x = &a->axis[a->axis[i].same_as >= 0 ? (size_t)a->axis[i].same_as : i];
  int p = clt_space_find_parameter(space, x->name);
  return p < 0 ? a->problem->sizes[i].standard : clt_space_value(space, set, (size_t)p).integer;
}

static int take_sets(clt_sweep_problem *out, const axes *a, const clt_space *space, const clt_config *sets, size_t n,
                     clt_error *error) {
  int rc = start_sets(out, n, error);
  for (size_t s = 0; rc == CLT_OK && s < n; s++)
    for (size_t i = 0; i < a->n; i++) out->sizes[s * a->n + i].value = value_of(a, space, sets[s], i);
  return rc;
}

static int read_draw(int64_t *count, int64_t *skip, int64_t *seed, const clt_source *source, const clt_node *node,
                     clt_error *error) {
  const struct {
    const char *name;
    int64_t *out, min, max;
  } members[] = {
      {"Count", count, 1, CLT_MAX_SWEEP_SIZES}, {"Skip", skip, 0, CLT_MAX_SWEEP_SIZES}, {"Seed", seed, 0, INT64_MAX}};
  for (size_t i = 0; i < 3; i++) {
    clt_node here = clt_node_member(node, members[i].name), of = clt_node_member(node, "Count");
    int rc = clt_node_integer(members[i].out, source, node, members[i].name, error);
    if (rc) return rc;
    if (here.json && of.json == NULL) return clt_node_fail(source, &here, error, "needs a \"Count\" beside it");
    if (here.json && (*members[i].out < members[i].min || *members[i].out > members[i].max))
      return clt_node_fail(source, &here, error, "needs a whole number from %lld to %lld", (long long)members[i].min,
                           (long long)members[i].max);
  }
  return CLT_OK;
}

static int read_combinations(clt_sweep_problem *out, axes *a, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Values", "Where", "Count", "Skip", "Seed"};
  clt_node values = clt_node_member(node, "Values");
  clt_space *space = NULL;
  clt_config *sets = NULL;
  clt_error cause = {0};
  size_t n = 0;
  int64_t count = 0, skip = 0, seed = 1;
  int rc = clt_node_known(a->source, node, known, sizeof known / sizeof *known, true, error);
  if (rc == CLT_OK && values.json == NULL) rc = clt_node_fail(a->source, node, error, "needs \"Values\"");
  if (rc == CLT_OK) rc = read_axes(a, &values, error);
  if (rc == CLT_OK) rc = read_draw(&count, &skip, &seed, a->source, node, error);
  if (rc == CLT_OK) rc = make_space(&space, a, node, error);
  if (rc == CLT_OK && (rc = clt_sweep_draw(&sets, &n, space, (size_t)count, (size_t)skip, (uint64_t)seed, &cause)))
    clt_key_wrap(a->source, node->key, rc, error, &cause);
  if (rc == CLT_OK) rc = take_sets(out, a, space, sets, n, error);
  free(sets);
  clt_space_free(space);
  return rc;
}

int clt_sweep_read_sizes(clt_sweep_problem *out, const clt_source *source, const clt_node *parent, clt_error *error) {
  clt_node node = clt_node_member(parent, "Sizes");
  axes a = {.source = source, .problem = out->problem, .n = out->n_sizes};
  if (node.json == NULL) return start_sets(out, 1, error);
  a.axis = clt_new_array(a.n, sizeof *a.axis);
  if (a.axis == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < a.n; i++) a.axis[i] = (axis){.name = out->problem->sizes[i].name, .same_as = -1};
  int rc = json_is_array(node.json) ? read_list(out, &a, &node, error)
           : json_is_object(node.json)
               ? read_combinations(out, &a, &node, error)
               : clt_node_fail(source, &node, error, "needs a list, or an object with \"Values\"");
  for (size_t i = 0; i < a.n; i++) free(a.axis[i].values);
  free(a.axis);
  return rc;
}
