/* The cells of a plan, by number: size outermost, then searcher, budget, seed. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "sweep/sweep.h"

const char *clt_sweep_name(const clt_sweep *sweep) {
  return sweep->name && sweep->name[0] ? sweep->name : sweep->source.path;
}

const char *clt_sweep_path(const clt_sweep *sweep) { return sweep->source.path; }
size_t clt_sweep_n_cells(const clt_sweep *sweep) { return sweep->n_cells; }
size_t clt_sweep_n_devices(const clt_sweep *sweep) { return sweep->n_devices; }
const char *clt_sweep_device(const clt_sweep *sweep, size_t index) { return sweep->devices[index]; }

static const clt_sweep_problem *problem_of(const clt_sweep *sweep, size_t index) {
  size_t low = 0, high = sweep->n_problems; /* the last whose first cell is not behind the index */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (sweep->problems[middle].first_cell <= index)
      low = middle;
    else
      high = middle;
  }
  return &sweep->problems[low];
}

static size_t cells_of(const clt_sweep_axes *axes, const clt_sweep_searcher *searcher) {
  return searcher->searcher ? axes->n_budgets * axes->n_seeds : 1;
}

/* The searcher of cell `within` of a set of sizes, which becomes its number among the searcher's cells. */
static const clt_sweep_searcher *find_searcher(const clt_sweep_axes *axes, size_t *within) {
  const clt_sweep_searcher *searcher = axes->searchers;
  while (*within >= cells_of(axes, searcher)) *within -= cells_of(axes, searcher++);
  return searcher;
}

static const clt_sweep_searcher *locate(const clt_sweep_problem *p, size_t index, size_t *set, size_t *within) {
  size_t of_set = p->n_cells / p->n_sets;
  *set = (index - p->first_cell) / of_set;
  *within = (index - p->first_cell) % of_set;
  return find_searcher(&p->axes, within);
}

void clt_sweep_cell_at(clt_sweep_cell *out, const clt_sweep *sweep, size_t index) {
  const clt_sweep_problem *p = problem_of(sweep, index);
  const clt_sweep_axes *axes = &p->axes;
  size_t set, within;
  const clt_sweep_searcher *searcher = locate(p, index, &set, &within);
  *out = (clt_sweep_cell){.index = index,
                          .problem = p->problem,
                          .sizes = p->sizes + set * p->n_sizes,
                          .n_sizes = p->n_sizes,
                          .size_set = p->first_set + set,
                          .label = searcher->label,
                          .searcher = searcher->searcher,
                          .searcher_settings = searcher->options.settings,
                          .n_searcher_settings = searcher->options.n,
                          .budget = searcher->searcher ? axes->budgets[within / axes->n_seeds] : 0,
                          .seed = (uint64_t)axes->seeds[within % axes->n_seeds]};
}

const clt_sweep_searcher *clt_sweep_searcher_of(const clt_sweep *sweep, const clt_sweep_cell *cell) {
  size_t set, within;
  return locate(problem_of(sweep, cell->index), cell->index, &set, &within);
}

/* snprintf behind what is there; returns the length needed in all. */
#define APPEND(used, out, capacity, ...)                                          \
  ((used) + (size_t)snprintf((out) + ((used) < (capacity) ? (used) : (capacity)), \
                             (used) < (capacity) ? (capacity) - (used) : 0, __VA_ARGS__))

int clt_sweep_cell_print(const clt_sweep_cell *cell, char *out, size_t capacity) {
  size_t used = APPEND((size_t)0, out, capacity, "%s", clt_problem_name(cell->problem));
  for (size_t i = 0; i < cell->n_sizes; i++)
    used = APPEND(used, out, capacity, " %s=%lld", cell->sizes[i].name, (long long)cell->sizes[i].value);
  used = APPEND(used, out, capacity, " %s", cell->label);
  if (cell->budget) used = APPEND(used, out, capacity, " budget=%lld", (long long)cell->budget);
  if (cell->searcher) used = APPEND(used, out, capacity, " seed=%llu", (unsigned long long)cell->seed);
  return (int)used;
}

/* --- devices --- */

static bool is_kind(const char *text, const char *kind) { return strcasecmp(text, kind) == 0; }

static bool is_of_kind(const clt_device_info *device, const char *text) {
  return is_kind(text, "all") || (device->type == CLT_DEVICE_CPU && is_kind(text, "cpu")) ||
         (device->type == CLT_DEVICE_GPU && is_kind(text, "gpu")) ||
         (device->type == CLT_DEVICE_ACCELERATOR && is_kind(text, "accelerator"));
}

int clt_sweep_select(size_t *out, size_t *n_out, const clt_device_info *devices, size_t n, const char *text,
                     clt_error *error) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++)
    if (is_of_kind(&devices[i], text)) out[found++] = i;
  if (found == 0) {
    int rc = clt_device_select(out, devices, n, text, error);
    if (rc) return rc;
    found = 1;
  }
  *n_out = found;
  return CLT_OK;
}
