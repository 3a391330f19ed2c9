// In the manner of Rodinia: an array of structures.
typedef struct place {
  float lat, lng;
} place;
#ifdef USE_DOUBLE
typedef double real;
#else
typedef float real;
#endif
__kernel void nearest(__global const place *places, __global real *distances, const int count, const real lat, const real lng) {
  int id = get_global_id(0);
  if (id < count) {
    real x = lat - places[id].lat, y = lng - places[id].lng;
    distances[id] = sqrt(x * x + y * y);
  }
}
