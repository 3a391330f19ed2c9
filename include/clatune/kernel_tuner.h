/* clatune/kernel_tuner.h - results as a cache file of Kernel Tuner: it goes on from such a file (tune_kernel's
 * `cache`), and its simulation mode searches in one. clt_recording_load reads them back. */
#ifndef CLATUNE_KERNEL_TUNER_H
#define CLATUNE_KERNEL_TUNER_H

#include <clatune/problem.h>
#include <clatune/recording.h>
#include <clatune/t4.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes n results of an instance to a file that is replaced once all is written; on failure it stays as it was. The
 * names of kernel and device are OpenCL's, the problem size is the file's ProblemSize where that is made of numbers,
 * else the problem's sizes in their order. A path that ends in ".gz" is compressed, which Kernel Tuner itself does not
 * read. CLT_E_ARGUMENT where a tuning parameter has the name of a field of the entries ("time", "times", ...);
 * CLT_E_IO. */
int clt_kernel_tuner_write(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error);

/* The same of what was read from a file, in whatever form that was. */
int clt_kernel_tuner_copy_recording(const char *path, const clt_recording *recording, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
