#include "search/draw.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* The rank that the shuffle has moved to a position. */
struct clt_draw_place {
  uint64_t position, rank;
  UT_hash_handle hh;
};

void clt_draw_init(clt_draw *draw, const clt_space *space, uint64_t seed) {
  *draw = (clt_draw){.space = space, .n_ranks = clt_space_valid(space)};
  clt_rng_init(&draw->rng, seed);
}

void clt_draw_release(clt_draw *draw) {
  struct clt_draw_place *place, *next;
  HASH_ITER(hh, draw->places, place, next) {
    HASH_DEL(draw->places, place);
    free(place);
  }
}

static struct clt_draw_place *place_at(const clt_draw *draw, uint64_t position) {
  struct clt_draw_place *place;
  HASH_FIND(hh, draw->places, &position, sizeof position, place);
  return place;
}

static int move_to(clt_draw *draw, uint64_t position, uint64_t rank, clt_error *error) {
  struct clt_draw_place *place = place_at(draw, position);
  if (place) return place->rank = rank, CLT_OK;
  place = malloc(sizeof *place);
  if (place == NULL) return clt_fail_memory(error);
  *place = (struct clt_draw_place){.position = position, .rank = rank};
  HASH_ADD(hh, draw->places, position, sizeof place->position, place);
  if (place->hh.tbl) return CLT_OK;
  free(place);
  return clt_fail_memory(error);
}

static uint64_t take(clt_draw *draw, uint64_t position) {
  struct clt_draw_place *place = place_at(draw, position);
  if (place == NULL) return position;
  uint64_t rank = place->rank;
  HASH_DEL(draw->places, place);
  free(place);
  return rank;
}

/* One step of the shuffle: a random one of the ranks left; what stood first takes its place. */
static int next_rank(clt_draw *draw, uint64_t *rank, clt_error *error) {
  uint64_t here = draw->n_drawn, there = here + clt_rng_below(&draw->rng, draw->n_ranks - here);
  uint64_t first = take(draw, here);
  draw->n_drawn++;
  if (there == here) return *rank = first, CLT_OK;
  struct clt_draw_place *place = place_at(draw, there);
  *rank = place ? place->rank : there;
  return move_to(draw, there, first, error);
}

int clt_draw_next(clt_draw *draw, clt_config *out, clt_error *error) {
  while (draw->n_drawn < draw->n_ranks) {
    uint64_t rank;
    int rc = next_rank(draw, &rank, error);
    if (rc) return rc;
    clt_config config = clt_space_at(draw->space, rank);
    if (clt_space_canonical(draw->space, config) == config) return *out = config, CLT_OK;
  }
  *out = CLT_CONFIG_NONE;
  return CLT_OK;
}

struct clt_config_member {
  clt_config config;
  UT_hash_handle hh;
};

bool clt_config_set_has(const clt_config_set *set, clt_config config) {
  struct clt_config_member *member;
  HASH_FIND(hh, set->members, &config, sizeof config, member);
  return member != NULL;
}

int clt_config_set_add(clt_config_set *set, clt_config config, clt_error *error) {
  if (clt_config_set_has(set, config)) return CLT_OK;
  struct clt_config_member *member = malloc(sizeof *member);
  if (member == NULL) return clt_fail_memory(error);
  member->config = config;
  HASH_ADD(hh, set->members, config, sizeof member->config, member);
  if (member->hh.tbl) return CLT_OK;
  free(member);
  return clt_fail_memory(error);
}

size_t clt_config_set_size(const clt_config_set *set) { return HASH_COUNT(set->members); }

void clt_config_set_sorted(const clt_config_set *set, clt_config *out) {
  size_t n = 0;
  for (struct clt_config_member *member = set->members; member; member = member->hh.next) out[n++] = member->config;
  clt_sort_u64(out, n);
}

void clt_config_set_release(clt_config_set *set) {
  struct clt_config_member *member, *next;
  HASH_ITER(hh, set->members, member, next) {
    HASH_DEL(set->members, member);
    free(member);
  }
}
