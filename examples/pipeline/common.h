/* What both programs need that has nothing to do with tuning. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <clatune/clatune.h>

/* The text of folder/name, malloc'ed; NULL: cannot be read. */
char *read_text(const char *folder, const char *name);

/* The first device whose platform's or own name contains CLATUNE_DEVICE (in any case), else the first of all. Not 0:
 * there is none. */
int choose_device(cl_device_id *out);
