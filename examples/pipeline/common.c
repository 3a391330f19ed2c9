#include "common.h"

#include <stdio.h>
#include <stdlib.h>

char *read_text(const char *folder, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  char *text = file ? calloc(1, 65536) : NULL;
  if (text) text[fread(text, 1, 65535, file)] = '\0';
  if (file) fclose(file);
  return text;
}

int choose_device(cl_device_id *out) {
  cl_platform_id platforms[16];
  cl_uint n_platforms = 0;
  const char *wanted = getenv("CLATUNE_DEVICE");
  clGetPlatformIDs(16, platforms, &n_platforms);
  for (cl_uint i = 0; i < n_platforms && i < 16; i++) {
    cl_device_id device;
    clt_device_info info;
    size_t index;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) continue;
    if (clt_device_describe(&info, device, NULL)) continue;
    if (wanted && clt_device_select(&index, &info, 1, wanted, NULL)) continue;
    *out = device;
    return 0;
  }
  return 1;
}
