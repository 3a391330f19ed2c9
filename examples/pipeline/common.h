/* What both programs need that is nobody's topic. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <clatune/opencl.h>

/* The text of folder/name, malloc'ed; NULL: cannot be read. */
char *read_text(const char *folder, const char *name);

/* The device that CLATUNE_DEVICE names, else the first. Not 0: there is none. */
int choose_device(cl_device_id *out);
