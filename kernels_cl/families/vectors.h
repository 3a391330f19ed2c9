/* vectors.h - OpenCL vectors of `vec` elements; of one element, they are scalars. */
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#if vec == 1
#define floatv float
#define intv int
#define uintv uint
#define VLOAD(from) (*(from))
#define VSTORE(value, to) (*(to) = (value))
#else
#define floatv GLUE(float, vec)
#define intv GLUE(int, vec)
#define uintv GLUE(uint, vec)
#define VLOAD(from) GLUE(vload, vec)(0, from)
#define VSTORE(value, to) GLUE(vstore, vec)(value, 0, to)
#endif

#define INPUT(type) __global const type *restrict
