/* Valid configurations: membership, ranks, neighbours. A rank is a mixed-radix number of ranks in the groups, the last
 * group fastest. */
#include "base/map.h"
#include "space/parts.h"

bool clt_space_rank(const clt_space *space, clt_config config, uint64_t *rank) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  uint64_t sum = 0, in_group;
  if (config >= space->cartesian || space->valid == 0) return false;
  if (space->listed) {
    size_t place;
    if (!clt_search_u64(space->configs, (size_t)space->valid, config, &place)) return false;
    sum = place;
  } else {
    clt_space_positions(space, config, positions);
    for (size_t g = 0; g < space->n_groups; g++) {
      if (!clt_diagram_rank(space->groups[g], positions, &in_group)) return false;
      sum = sum * space->groups[g]->valid + in_group;
    }
  }
  if (rank) *rank = sum;
  return true;
}

bool clt_space_contains(const clt_space *space, clt_config config) { return clt_space_rank(space, config, NULL); }

clt_config clt_space_at(const clt_space *space, uint64_t rank) {
  clt_config config = 0;
  if (space->listed) return space->configs[rank];
  for (size_t g = space->n_groups; g-- > 0;) {
    const clt_diagram *d = space->groups[g];
    config += clt_diagram_at(d, rank % d->valid);
    rank /= d->valid;
  }
  return config;
}

/* --- groups --- */

uint64_t clt_space_group_valid(const clt_space *space, size_t group) { return space->groups[group]->valid; }

clt_config clt_space_group_at(const clt_space *space, size_t group, uint64_t rank) {
  return clt_diagram_at(space->groups[group], rank);
}

int clt_space_group_of(const clt_space *space, size_t parameter) {
  if (space->n_groups == 0 || space->group_of[parameter] == CLT_NO_GROUP) return -1;
  return (int)space->group_of[parameter];
}

/* --- walking --- */

/* The groups but the last one, as an odometer. */
typedef struct odometer {
  const clt_space *space;
  size_t n;
  uint64_t ranks[CLT_MAX_PARAMETERS];
  clt_config parts[CLT_MAX_PARAMETERS]; /* what each group adds */
  clt_config sum;
} odometer;

static void set_group(odometer *o, size_t g, uint64_t rank) {
  o->sum -= o->parts[g];
  o->ranks[g] = rank;
  o->parts[g] = clt_diagram_at(o->space->groups[g], rank);
  o->sum += o->parts[g];
}

static void start(odometer *o, uint64_t rank) {
  for (size_t g = o->n; g-- > 0;) {
    uint64_t valid = o->space->groups[g]->valid;
    set_group(o, g, rank % valid);
    rank /= valid;
  }
}

static void step(odometer *o) {
  for (size_t g = o->n; g-- > 0;) {
    bool turned = o->ranks[g] + 1 == o->space->groups[g]->valid;
    set_group(o, g, turned ? 0 : o->ranks[g] + 1);
    if (!turned) return;
  }
}

static void enumerate_groups(const clt_space *space, uint64_t first, size_t n, clt_config *out) {
  const clt_diagram *last = space->groups[space->n_groups - 1];
  odometer o = {.space = space, .n = space->n_groups - 1};
  uint64_t in_last = first % last->valid;
  start(&o, first / last->valid);
  while (n > 0) {
    uint64_t left = last->valid - in_last;
    size_t run = left < n ? (size_t)left : n;
    clt_diagram_walk(last, in_last, run, o.sum, out);
    out += run;
    n -= run;
    in_last = 0;
    if (n > 0) step(&o);
  }
}

size_t clt_space_enumerate(const clt_space *space, uint64_t first, size_t n, clt_config *out) {
  if (first >= space->valid) return 0;
  if (n > space->valid - first) n = (size_t)(space->valid - first);
  if (space->listed) {
    for (size_t i = 0; i < n; i++) out[i] = space->configs[first + i];
  } else if (space->n_groups == 0) {
    out[0] = 0; /* each parameter has a single value */
  } else if (n > 0) {
    enumerate_groups(space, first, n, out);
  }
  return n;
}

/* --- neighbours --- */

typedef struct neighbourhood {
  const clt_space *space;
  clt_config config;
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n_broken, broken; /* groups in which the configuration itself is not valid, and one of them */
  clt_config *out;
  size_t n, capacity;
} neighbourhood;

/* Only the group of the changed parameter has to be looked at: it has to repair what is broken. */
static bool valid_neighbour(const neighbourhood *h, size_t p, clt_config neighbour) {
  if (h->space->listed) return clt_space_contains(h->space, neighbour);
  size_t g = h->space->group_of[p];
  if (h->n_broken > 1 || (h->n_broken == 1 && h->broken != g)) return false;
  return clt_diagram_rank(h->space->groups[g], h->positions, NULL);
}

static void try_positions(neighbourhood *h, size_t p, uint32_t from, uint32_t to) {
  uint32_t own = h->positions[p];
  for (uint32_t i = from; i < to; i++) {
    h->positions[p] = i;
    clt_config neighbour = h->config + (i - (uint64_t)own) * h->space->weights[p];
    if (!valid_neighbour(h, p, neighbour)) continue;
    if (h->n < h->capacity) h->out[h->n] = neighbour;
    h->n++;
  }
  h->positions[p] = own;
}

static void find_broken(neighbourhood *h) {
  if (h->space->listed) return;
  for (size_t g = 0; g < h->space->n_groups; g++) {
    if (clt_diagram_rank(h->space->groups[g], h->positions, NULL)) continue;
    h->n_broken++;
    h->broken = g;
  }
}

size_t clt_space_neighbours(const clt_space *space, clt_config config, clt_config *out, size_t capacity) {
  neighbourhood h = {.space = space, .config = config, .out = out, .capacity = capacity};
  if (config >= space->cartesian || space->valid == 0) return 0;
  clt_space_positions(space, config, h.positions);
  find_broken(&h);
  /* lower positions of the slowest parameter give the least configurations, higher ones the greatest */
  for (size_t p = 0; p < space->n_parameters; p++) try_positions(&h, p, 0, h.positions[p]);
  for (size_t p = space->n_parameters; p-- > 0;)
    try_positions(&h, p, h.positions[p] + 1, (uint32_t)space->parameters[p].n_values);
  return h.n;
}
