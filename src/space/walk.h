/* space/walk.h - building a valid configuration value by value, down the tree of those that there are.
 *
 * At each step a walk stands at a parameter and sees the values with which valid configurations still exist, and how
 * many; whichever is taken, the end is a valid configuration. The tree is the one the space is stored as: groups one
 * after the other, each in the order of its levels; a list is walked in the order of the parameters. Parameters with a
 * single value are passed over, and one that the values taken before leave without a choice has one branch. */
#ifndef CLT_SPACE_WALK_H
#define CLT_SPACE_WALK_H

#include <clatune/space.h>

typedef struct clt_branch {
  uint32_t position; /* of the value */
  uint64_t n;        /* in proportion to the valid configurations below, among the branches of a step */
} clt_branch;

/* Copying a walk forks it. */
typedef struct clt_walk {
  const clt_space *space;
  size_t group, level; /* of a list: level is the parameter */
  uint32_t node;
  uint64_t first, end; /* of a list: the part that is left; else 0 and the combinations below the node */
  clt_config config;   /* what was taken adds up to */
} clt_walk;

void clt_walk_start(clt_walk *walk, const clt_space *space); /* the space has a valid configuration */

/* The parameter to be set next, by index; -1 at the end, where config is complete. */
int clt_walk_parameter(const clt_walk *walk);

/* The branches here in ascending order of position, at least one; returns how many. out has room for the parameter's
 * n_values. Not at the end. */
size_t clt_walk_branches(const clt_walk *walk, clt_branch *out);

/* Takes one of the branches. */
void clt_walk_take(clt_walk *walk, const clt_branch *branch);

/* The largest n_values: the room that branches of any step need. */
size_t clt_walk_most_branches(const clt_space *space);

#endif
