/* search/draw.h - random configurations without repeats, one after the other, and the set of those asked for. */
#ifndef CLT_SEARCH_DRAW_H
#define CLT_SEARCH_DRAW_H

#include <clatune/space.h>

/* A uniformly random order of the valid configurations, made as far as it is read: a Fisher-Yates shuffle of the ranks
 * that keeps only the places it has touched. n draws take time and memory proportional to n, whatever the size of the
 * space, and the order depends on the seed alone. Configurations that stand for another one (clt_space_canonical) are
 * passed over. */
typedef struct clt_draw {
  const clt_space *space;
  clt_rng rng;
  uint64_t n_ranks, n_drawn;
  struct clt_draw_place *places;
} clt_draw;

void clt_draw_init(clt_draw *draw, const clt_space *space, uint64_t seed);
void clt_draw_release(clt_draw *draw);

/* The next configuration; CLT_CONFIG_NONE when all were drawn. */
int clt_draw_next(clt_draw *draw, clt_config *out, clt_error *error);

/* A set of configurations, zeroed before use. */
typedef struct clt_config_set {
  struct clt_config_member *members;
} clt_config_set;

bool clt_config_set_has(const clt_config_set *set, clt_config config);
int clt_config_set_add(clt_config_set *set, clt_config config, clt_error *error); /* again: nothing happens */
size_t clt_config_set_size(const clt_config_set *set);
/* All members, ascending; out has room for clt_config_set_size. */
void clt_config_set_sorted(const clt_config_set *set, clt_config *out);
void clt_config_set_release(clt_config_set *set);

#endif
