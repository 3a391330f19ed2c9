/* queue.h - what the breadth-first searches share. A graph is given by first_edge (of each vertex, and their number
 * behind) and targets. distance is -1 where a vertex has not been reached. counts[k] is how many entries the queue of
 * level k has. No kernel relies on work-items that run in step, and all work-items of a group reach each barrier. */
#define KERNEL __kernel __attribute__((reqd_work_group_size(wg, 1, 1)))
#define GRAPH __global const int *first_edge, __global const int *targets
#define ID ((int)get_local_id(0))

/* Whether this work-item is the one that reaches the vertex. With `peek`, a look comes before the atomic operation. */
static bool claim(volatile __global int *distance, int vertex, int value) {
#if peek
  if (distance[vertex] >= 0) return false;
#endif
  return atomic_cmpxchg(distance + vertex, -1, value) == -1;
}

#ifdef history
#if history > 0
/* Whether the vertex is among those that the group has met lately. Whoever notes one claims it then, so one that is
 * lost when two write to the same place costs time only. */
#define HISTORY __local volatile int met[history]
#define MET met
static bool was_met(__local volatile int *met, int vertex) {
  if (met[vertex % history] == vertex) return true;
  met[vertex % history] = vertex;
  return false;
}
static void forget_all(__local volatile int *met) {
  for (int i = ID; i < history; i += wg) met[i] = -1;
  barrier(CLK_LOCAL_MEM_FENCE);
}
#else
#define HISTORY
#define MET 0
#define was_met(met, vertex) false
#define forget_all(met)
#endif
#endif

#ifdef local_queue
/* Entries on their way to a queue: up to wg * local_queue gather in local memory, for one atomic operation on the
 * queue's length. */
#if local_queue > 0
#define OUTLET                \
  __local int n_kept, offset; \
  __local int kept[wg * local_queue]
#define PUT(to, length, entry) put(&n_kept, kept, to, length, entry)
#define OPEN_OUTLET open_outlet(&n_kept)
#define CLOSE_OUTLET(to, length) close_outlet(&n_kept, &offset, kept, to, length)
static void open_outlet(__local int *n_kept) {
  if (ID == 0) *n_kept = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}
static void put(volatile __local int *n_kept, __local int *kept, __global int *to, volatile __global int *length,
                int entry) {
  const int at = atomic_inc(n_kept);
  if (at < wg * local_queue)
    kept[at] = entry;
  else
    to[atomic_inc(length)] = entry;
}
static void close_outlet(__local int *n_kept, __local int *offset, __local int *kept, __global int *to,
                         volatile __global int *length) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const int n = min(*n_kept, wg * local_queue);
  if (ID == 0) *offset = n > 0 ? atomic_add(length, n) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = ID; i < n; i += wg) to[*offset + i] = kept[i];
  barrier(CLK_LOCAL_MEM_FENCE);
}
#else
#define OUTLET
#define PUT(to, length, entry) to[atomic_inc(length)] = entry
#define OPEN_OUTLET
#define CLOSE_OUTLET(to, length)
#endif
#endif

/* Before the first level: nothing has been reached, but `reached` (the root, or -1), and the first queue has the root.
 */
static void prepare(__global int *distance, __global int *counts, __global int *queue, int n_vertices, int n_counts,
                    int root, int reached) {
  for (int i = get_global_id(0); i < n_vertices; i += get_global_size(0)) distance[i] = i == reached ? 0 : -1;
  for (int i = get_global_id(0); i < n_counts; i += get_global_size(0)) counts[i] = i == 0;
  if (get_global_id(0) == 0) queue[0] = root;
}
