/* all_vertices.cl - iterative: there is no queue; each level looks at all vertices. Those that were reached last push
 * to those behind their edges or, with `pull`, those that were not reached look for one of them: edges go both ways. */
#include "queue.h"

KERNEL void start(__global int *distance, __global int *counts, int n_vertices, int n_counts, int root) {
  for (int i = get_global_id(0); i < n_vertices; i += get_global_size(0)) distance[i] = i == root ? 0 : -1;
  for (int i = get_global_id(0); i < n_counts; i += get_global_size(0)) counts[i] = i == 0;
}

/* counts[level + 1] becomes 1 where there is such a level. Several work-items may write the same number. */
KERNEL void visit(GRAPH, volatile __global int *distance, volatile __global int *counts, int n_vertices, int level) {
  const int group = (int)get_group_id(0), at_once = wg / team;
  for (int k = 0; k < items; k++) {
#if interleave
    const int vertex = (k * (int)get_num_groups(0) + group) * at_once + ID / team;
#else
    const int vertex = group * at_once * items + (ID / team) * items + k;
#endif
    if (vertex >= n_vertices || distance[vertex] != (pull ? -1 : level)) continue;
    const int end = first_edge[vertex + 1];
    bool found = false;
    for (int e = first_edge[vertex] + ID % team; e < end && !(pull && found); e += team) {
      if (distance[targets[e]] != (pull ? level : -1)) continue;
      distance[pull ? vertex : targets[e]] = level + 1;
      found = true;
    }
    if (found) counts[level + 1] = 1;
  }
}
