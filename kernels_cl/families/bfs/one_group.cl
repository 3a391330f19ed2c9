/* one_group.cl - fused: one launch searches all levels. OpenCL has a barrier for a work-group only, so it is one
 * work-group. Of a level's queue, the first `queue_local` vertices lie in local memory. */
#include "queue.h"

#if queue_local > 0
#define GET(which, i) ((i) < queue_local ? near[(which)*queue_local + (i)] : queue[(which)*n_vertices + (i)])
#else
#define GET(which, i) queue[(which)*n_vertices + (i)]
#endif

KERNEL void search(GRAPH, __global int *distance, __global int *queue, int n_vertices, int root) {
#if queue_local > 0
  __local int near[2 * queue_local];
#endif
  __local int n_next;
  int n_active = 1;
  for (int i = ID; i < n_vertices; i += wg) distance[i] = i == root ? 0 : -1;
  if (ID == 0) {
    queue[0] = root;
#if queue_local > 0
    near[0] = root;
#endif
  }
  for (int level = 0; n_active > 0; level++) {
    const int from = level & 1, to = ~level & 1;
    if (ID == 0) n_next = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int k = ID / team; k < n_active; k += wg / team) {
      const int vertex = GET(from, k), end = first_edge[vertex + 1];
      for (int e = first_edge[vertex] + ID % team; e < end; e += team) {
        if (!claim(distance, targets[e], level + 1)) continue;
        const int at = atomic_inc(&n_next);
#if queue_local > 0
        if (at < queue_local)
          near[to * queue_local + at] = targets[e];
        else
#endif
          queue[to * n_vertices + at] = targets[e];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    n_active = n_next;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
