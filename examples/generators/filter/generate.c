/* Prints a filter with fixed weights: cc -o generate generate.c; ./generate PER_ITEM WIDTH. WIDTH: the work-items of a group, if a
 * work-item's results lie that far apart; 0: they lie next to each other. */
#include <stdio.h>
#include <stdlib.h>

enum { TAPS = 5 };
static const float weights[TAPS] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

int main(int n, char **words) {
  const int per_item = n == 3 ? atoi(words[1]) : 0, width = n == 3 ? atoi(words[2]) : 0;
  if (per_item < 1 || width < 0) return fprintf(stderr, "usage: generate PER_ITEM WIDTH\n"), 1;
  puts("kernel void filter(global const float *in, global float *out) {");
  if (width)
    printf("  const int i = get_group_id(0) * %d + get_local_id(0);\n", per_item * width);
  else
    printf("  const int i = get_global_id(0) * %d;\n", per_item);
  /* Results next to each other share their inputs. */
  for (int k = 0; !width && k < per_item + TAPS - 1; k++) printf("  const float x%d = in[i + %d];\n", k, k);
  for (int p = 0; p < per_item; p++) {
    printf("  out[i + %d] =", width ? p * width : p);
    for (int k = 0; k < TAPS; k++) {
      printf(k ? " + %ff * " : " %ff * ", weights[k]);
      printf(width ? "in[i + %d]" : "x%d", width ? p * width + k : p + k);
    }
    puts(";");
  }
  puts("}");
  return 0;
}
