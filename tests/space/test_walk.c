/* Walks down the tree of valid configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "space/space.h"

#define MOST 4096

static clt_space_builder *new_builder(void) {
  clt_space_builder *builder = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "x", NULL, "[0, 1, 2, 3, 4, 5]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "only", NULL, "[7]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "local", NULL, "[0, 1]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "y", NULL, "[1, 2, 3, 4, 6, 8]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "pad", NULL, "[0, 1, 2]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "free", NULL, "[3, 4]", NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "(x * y) % 3 != 1", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "local or pad == 0", CLT_CONDITION, NULL, NULL), 0);
  return builder;
}

static clt_space *new_product(void) {
  clt_space *space;
  clt_space_builder *builder = new_builder();
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

/* Every third configuration of the product, as a recording has them. */
static clt_space *new_list(void) {
  clt_space *product = new_product(), *space;
  clt_space_builder *builder = new_builder();
  uint32_t *rows = calloc(MOST, CLT_MAX_PARAMETERS * sizeof *rows);
  size_t n = 0, width = clt_space_n_parameters(product);
  for (uint64_t rank = 0; rank < clt_space_valid(product); rank += 3) 
    clt_space_positions(rows + n++ * width, product, clt_space_at(product, rank));
  assert_int_equal(clt_space_new_explicit(&space, builder, rows, n, NULL), 0);
  free(rows);
  clt_space_builder_free(builder);
  clt_space_free(product);
  return space;
}

/* Walks everywhere; returns how many ends there are. Shares of branches are those of the ends below. */
static uint64_t walk_all(clt_walk walk, unsigned char *seen) {
  int parameter = clt_walk_parameter(&walk);
  if (parameter < 0) {
    assert_true(clt_space_contains(walk.space, walk.config));
    assert_false(seen[walk.config]);
    seen[walk.config] = 1;
    return 1;
  }
  clt_branch branches[8];
  uint64_t ends[8], n_ends = 0, sum = 0;
  size_t n = clt_walk_branches(&walk, branches);
  assert_true(n >= 1 && n <= clt_space_parameter(walk.space, (size_t)parameter)->n_values);
  for (size_t i = 0; i < n; i++) {
    clt_walk below = walk;
    if (i > 0) assert_true(branches[i].position > branches[i - 1].position);
    clt_walk_take(&below, &branches[i]);
    n_ends += ends[i] = walk_all(below, seen);
    sum += branches[i].n;
  }
  for (size_t i = 0; i < n; i++) assert_int_equal(branches[i].n * n_ends, ends[i] * sum);
  return n_ends;
}

static void expect_all(clt_space *space) {
  unsigned char seen[MOST] = {0};
  clt_walk walk;
  assert_true(clt_space_cartesian(space) <= MOST && clt_space_valid(space) > 50);
  clt_walk_start(&walk, space);
  assert_int_equal(walk_all(walk, seen), clt_space_valid(space));
  assert_int_equal(clt_walk_most_branches(space), 6);
  clt_space_free(space);
}

static void walks_reach_every_configuration_of_a_product(void **state) {
  (void)state;
  expect_all(new_product());
}

static void walks_reach_every_configuration_of_a_list(void **state) {
  (void)state;
  expect_all(new_list());
}

static void what_leaves_no_choice_has_one_branch(void **state) {
  (void)state;
  clt_space *space = new_product();
  int local = clt_space_find_parameter(space, "local"), pad = clt_space_find_parameter(space, "pad");
  clt_walk walk;
  clt_branch branches[8];
  clt_walk_start(&walk, space);
  bool local_first = false;
  for (int p; (p = clt_walk_parameter(&walk)) >= 0;) {
    size_t n = clt_walk_branches(&walk, branches);
    assert_int_not_equal(p, clt_space_find_parameter(space, "only"));
    if (p == local) local_first = true;
    if (p == pad) assert_int_equal(n, local_first ? 1 : 3);
    clt_walk_take(&walk, &branches[0]); /* local = 0 comes first */
  }
  clt_space_free(space);
}

static void a_space_of_single_values_is_at_its_end_at_once(void **state) {
  (void)state;
  clt_space_builder *builder = NULL;
  clt_space *space;
  clt_walk walk;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "only", NULL, "[7]", NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_walk_start(&walk, space);
  assert_int_equal(clt_walk_parameter(&walk), -1);
  assert_int_equal(walk.config, 0);
  clt_space_free(space);
  clt_space_builder_free(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walks_reach_every_configuration_of_a_product),
      cmocka_unit_test(walks_reach_every_configuration_of_a_list),
      cmocka_unit_test(what_leaves_no_choice_has_one_branch),
      cmocka_unit_test(a_space_of_single_values_is_at_its_end_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
