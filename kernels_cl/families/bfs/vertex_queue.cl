/* vertex_queue.cl - expand-contract: the queue of a level has its vertices. `team` work-items follow the edges of one,
 * and whoever reaches a new vertex puts it into the next queue. */
#include "queue.h"

KERNEL void start(__global int *distance, __global int *counts, __global int *queue, int n_vertices, int n_counts,
                  int root) {
  prepare(distance, counts, queue, n_vertices, n_counts, root, root);
}

KERNEL void expand_contract(GRAPH, __global int *distance, __global int *counts, __global int *queue, int n_vertices,
                            int level) {
  OUTLET;
  const int at_once = wg / team, n_active = counts[level];
  __global const int *from = queue + (level & 1) * n_vertices;
  __global int *to = queue + (~level & 1) * n_vertices;
  for (int first = get_group_id(0) * at_once * items; first < n_active; first += get_num_groups(0) * at_once * items) {
    OPEN_OUTLET;
    for (int k = first + ID / team; k < min(n_active, first + at_once * items); k += at_once) {
      const int vertex = from[k], end = first_edge[vertex + 1];
      for (int e = first_edge[vertex] + ID % team; e < end; e += team)
        if (claim(distance, targets[e], level + 1)) PUT(to, counts + level + 1, targets[e]);
    }
    CLOSE_OUTLET(to, counts + level + 1);
  }
}
