/* layer/capture.h - the two parts of the use "capture": capture.c counts and times launches and chooses which to
 * capture; capture_data.c writes the data that a captured launch reads and writes.
 *
 * Both write to the "folder" of the instructions (files 0600). Each process of the application writes
 * manifest-PID.json:
 *   {"kernels": [{"name", "program", "source", "origin" (text, such as "a binary"; null: source), "options",
 * "launches", "refused" (why nothing was captured; null), "capture": CAPTURE or null, "sizes": [{"global", "local"
 * (null: the driver's choice), "offset" (null: none), "launches", "first", "total_s", "median_s", "varying" (the
 * numbers of the arguments that differ between them)}]}]} CAPTURE: {"launch", "global", "local", "folder" (the
 * process's), "device": {"name", "platform", "driver"}, "most" (work-items of a group, as the driver states it for the
 * kernel; 0: it does not), "unchanged" (it left all memory as it was), "arguments": [{"name", "type", "const", "kind",
 * ...}]} where "source" and the "before" and "after" of an argument are names of files in the folder, and "changed" is
 * the share of its words that are not the same in both. */
#ifndef CLT_LAYER_CAPTURE_H
#define CLT_LAYER_CAPTURE_H

#include "layer/layer.h"

/* The arguments of clEnqueueNDRangeKernel. */
typedef struct capture_launch {
  cl_command_queue queue;
  const track_kernel *kernel;
  cl_uint n_dimensions;
  const size_t *offset, *global, *local;
} capture_launch;

typedef struct capture_data {
  json_t *arguments; /* as in the manifest, owned; NULL: nothing is captured */
  char why[256];     /* then: the reason, for a message */
  bool unchanged;    /* the launch leaves all memory as it was */
  struct capture_memory *memories;
  size_t n_memories;
} capture_data;

/* Writes everything that the kernel may read to files whose names begin with `prefix`. All events that the launch waits
 * for must be complete. Then the caller launches the kernel, waits for it, and calls capture_after, which completes
 * out->arguments, or releases them and sets out->why. */
void capture_before(capture_data *out, const capture_launch *launch, const char *folder, const char *prefix);
void capture_after(capture_data *data, const capture_launch *launch, const char *folder);
void capture_data_release(capture_data *data);

/* Whether the driver describes a kernel's arguments; if not, it cannot be captured. */
bool capture_is_described(const track_kernel *kernel);
#define CAPTURE_UNDESCRIBED                                                                                     \
  "the driver does not describe its arguments (clGetKernelArgInfo fails), as some do for linked programs; use " \
  "another driver, or build its source with clBuildProgram"

/* Writes a new file (0600). False: it failed, with a message on standard error. */
bool capture_write(const char *folder, const char *name, const void *bytes, size_t n);

#endif
