/* vectors.h - what the kernels of this folder share. Every tuning and problem parameter is a macro; `vec`, the floats
 * of a vector, is one of all of them. Lengths along which vectors lie are multiples of it, by condition. */
#if vec == 1
typedef float floatv;
#define VLOAD(place) (*(place))
#define VSTORE(value, place) (*(place) = (value))
#else
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
typedef JOIN(float, vec) floatv;
#define VLOAD(place) JOIN(vload, vec)(0, place)
#define VSTORE(value, place) JOIN(vstore, vec)(value, 0, place)
#endif

#define KERNEL(x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1)))
#define INPUT __global const float *restrict
#define RESULT __global float *

/* The sum of the values of `count` work-items, which are `step` apart; `i` is this one's number among them. All of a
 * work-group take part; `shared` has a place for each, and may be used anew at once. */
static inline floatv add_up(floatv value, __local floatv *shared, int i, int count, int step) {
  __local floatv *const mine = shared + get_local_id(1) * get_local_size(0) + get_local_id(0);
  *mine = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  value = 0;
  for (int other = 0; other < count; other++) value += mine[(other - i) * step];
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}
