/* edge_queue.cl - contract-expand: the queue of a level has the ends of all edges that lead there. A group takes
 * wg * items of them, keeps those that nobody has reached before, and appends the ends of their edges to the next
 * queue. two-phase: a level is two launches, between which the queue of vertices lies in memory, too. */
#include "queue.h"

/* Appends the ends of the edges of n survivors in local memory; offsets says where, from `base` on. */
static void append_edges(__local const int *survivors, __local const int *offsets, int n, int base, GRAPH,
                         __global int *to) {
  for (int k = ID / team; k < n; k += wg / team) {
    const int first = first_edge[survivors[k]], degrees = first_edge[survivors[k] + 1] - first;
    for (int e = ID % team; e < degrees; e += team) to[base + offsets[k] + e] = targets[first + e];
  }
}

#if contract_expand
KERNEL void start(__global int *distance, __global int *counts, __global int *queue, int n_vertices, int n_counts,
                  int root) {
  prepare(distance, counts, queue, n_vertices, n_counts, root, -1);
}

KERNEL void contract_and_expand(GRAPH, __global int *distance, __global int *counts, __global int *queue, int n_edges,
                                int level) {
  HISTORY;
  __local int kept_vertices[wg * items], offsets[wg * items], n_kept, n_out, base;
  const int n_active = counts[level];
  __global const int *from = queue + (level & 1) * n_edges;
  __global int *to = queue + (~level & 1) * n_edges;
  forget_all(MET);
  for (int first = get_group_id(0) * wg * items; first < n_active; first += get_num_groups(0) * wg * items) {
    if (ID == 0) n_kept = n_out = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = first + ID; k < min(n_active, first + wg * items); k += wg) {
      const int vertex = from[k];
      if (was_met(MET, vertex) || !claim(distance, vertex, level)) continue;
      const int at = atomic_inc(&n_kept);
      kept_vertices[at] = vertex;
      offsets[at] = atomic_add(&n_out, first_edge[vertex + 1] - first_edge[vertex]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ID == 0) base = n_out > 0 ? atomic_add(counts + level + 1, n_out) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    append_edges(kept_vertices, offsets, n_kept, base, first_edge, targets, to);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#else
KERNEL void start(__global int *distance, __global int *counts, __global int *queue, __global int *edge_counts,
                  int n_vertices, int n_counts, int root) {
  prepare(distance, counts, queue, n_vertices, n_counts, root, root);
  for (int i = get_global_id(0); i < n_counts; i += get_global_size(0)) edge_counts[i] = 0;
}

KERNEL void expand(GRAPH, __global int *counts, __global const int *queue, __global int *edge_counts,
                   __global int *edge_queue, int level) {
  __local int kept_vertices[wg * items], offsets[wg * items], n_out, base;
  const int n_active = counts[level];
  for (int first = get_group_id(0) * wg * items; first < n_active; first += get_num_groups(0) * wg * items) {
    const int n = min(wg * items, n_active - first);
    if (ID == 0) n_out = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = ID; k < n; k += wg) {
      const int vertex = queue[first + k];
      kept_vertices[k] = vertex;
      offsets[k] = atomic_add(&n_out, first_edge[vertex + 1] - first_edge[vertex]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ID == 0) base = atomic_add(edge_counts + level + 1, n_out);
    barrier(CLK_LOCAL_MEM_FENCE);
    append_edges(kept_vertices, offsets, n, base, first_edge, targets, edge_queue);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

KERNEL void contract(__global int *distance, __global int *counts, __global int *queue, __global const int *edge_counts,
                     __global const int *edge_queue, int level) {
  HISTORY;
  OUTLET;
  const int n_active = edge_counts[level + 1];
  forget_all(MET);
  for (int first = get_group_id(0) * wg * items; first < n_active; first += get_num_groups(0) * wg * items) {
    OPEN_OUTLET;
    for (int k = first + ID; k < min(n_active, first + wg * items); k += wg) {
      const int vertex = edge_queue[k];
      if (!was_met(MET, vertex) && claim(distance, vertex, level + 1)) PUT(queue, counts + level + 1, vertex);
    }
    CLOSE_OUTLET(queue, counts + level + 1);
  }
}
#endif
