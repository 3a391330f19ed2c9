#ifndef POLY_H
#define POLY_H
#ifndef DIM_X
#define DIM_X 32
#endif
#ifndef DIM_Y
#define DIM_Y 8
#endif
typedef float DATA_TYPE;
#endif
