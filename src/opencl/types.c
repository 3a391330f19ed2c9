/* A kernel's own types: the type behind a typedef, and the size of a struct. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "opencl/internal.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ "

bool clt_type_is_own(char out[128], const char *type) {
  static const char *const others[] = {"size_t", "sampler_t", "void", "bool", "event_t"};
  clt_element element;
  size_t n = strcspn(type, "*");
  while (n && type[n - 1] == ' ') n--;
  snprintf(out, 128, "%.*s", (int)n, type);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(out, others[i]) == 0) return false;
  return n > 0 && n < 127 && out[strspn(out, NAME_CHARACTERS)] == '\0' && !clt_starts_with(out, "image") &&
         clt_element_parse(&element, out) != CLT_OK;
}

/* A driver reports the type of an argument as it is written. So a probe, a kernel without arguments, is built for
 * each type. Its required work-group size encodes the index of the type in a list, or, if the type is not in the
 * list, its size in bytes. */
void clt_types_resolve(clt_kernel_argument *const *arguments, size_t n, const clt_executor *executor, const char *text,
                       const char *options) {
  static const char *const bases[] = {"char", "uchar", "short", "ushort", "int",
                                      "uint", "long",  "ulong", "float",  "double"};
  static const char *const lengths[] = {"", "2", "3", "4", "8", "16"};
  enum { N_LENGTHS = sizeof lengths / sizeof *lengths, N_TYPES = N_LENGTHS * sizeof bases / sizeof *bases };
  cl_program program = NULL;
  cl_int status = CL_INVALID_PROGRAM;
  clt_text all = {0};
  char type[128];
  clt_text_printf(&all,
                  "%s\n#ifdef cl_khr_fp64\n#define clatune_double(T, type) __builtin_types_compatible_p(T, type)\n"
                  "#else\n#define clatune_double(T, type) 0\n#endif\n#define clatune_type(T) (1",
                  text);
  for (int i = 0; i < N_TYPES; i++)
    clt_text_printf(&all, " + %d * %s(T, %s%s)", i + 1,
                    i / N_LENGTHS == 9 ? "clatune_double" : "__builtin_types_compatible_p", bases[i / N_LENGTHS],
                    lengths[i % N_LENGTHS]);
  clt_text_add(&all, ")\n#define clatune_bytes(T) (clatune_type(T) == 1 && sizeof(T) < 256 ? sizeof(T) : 0)\n");
  const size_t n_before = all.n;
  for (size_t i = 0; i < n; i++)
    if (clt_type_is_own(type, arguments[i]->type))
      clt_text_printf(&all,
                      "__kernel __attribute__((reqd_work_group_size(clatune_type(%s), clatune_bytes(%s) %% 16 + 1, "
                      "clatune_bytes(%s) / 16 + 1))) void clatune_%zu(void) {}\n",
                      type, type, type, i);
  if (all.rc == CLT_OK && all.n > n_before)
    clt_program_build_text(&program, &status, executor, all.bytes, options, NULL);
  for (size_t i = 0; status == CL_SUCCESS && i < n; i++) {
    char name[32];
    size_t local[3] = {0};
    snprintf(name, sizeof name, "clatune_%zu", i);
    cl_kernel probe = clt_type_is_own(type, arguments[i]->type) ? clCreateKernel(program, name, NULL) : NULL;
    if (probe == NULL) continue;
    clGetKernelWorkGroupInfo(probe, executor->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
    clReleaseKernel(probe);
    const size_t number = local[0] - 2;
    if (local[0] == 1 && local[1] > 0 && local[2] > 0) arguments[i]->bytes = (local[2] - 1) * 16 + local[1] - 1;
    if (number < N_TYPES)
      snprintf(arguments[i]->type, sizeof arguments[i]->type, "%s%s%s", bases[number / N_LENGTHS],
               lengths[number % N_LENGTHS], strchr(arguments[i]->type, '*') ? "*" : "");
  }
  if (program) clReleaseProgram(program);
  clt_text_release(&all);
}
