/* export/texts.h - the parts of a header that are the same for all problems, for export.c, whose add_text prints them.
 */
#pragma once

static const char head[] =
    "/* Made by 'clatune lookup --format header'. */\n"
    "#ifndef $H\n"
    "#define $H\n\n"
    "#ifndef __OPENCL_VERSION__ /* kernels use the macros only */\n"
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n";
static const char entry_head[] =
    "\ntypedef struct @entry {\n"
    "  const char *device, *driver; /* CL_DEVICE_NAME, CL_DRIVER_VERSION */\n"
    "`  long long #; /* of the measurement */\n`"
    "  const char *configuration;\n"
    "  const char *options; /* see @options */\n";
static const char entry_source[] = "  const char *source; /* for clCreateProgramWithSource */\n";
static const char entry_tail[] =
    "  double time_s;\n"
    "  int entry; /* its index */\n";

/* The function that checks whether an entry is valid at given sizes. */
static const char valid_head[] =
    "/* Whether an entry's configuration is valid at these sizes: whether it satisfies the problem's conditions and "
    "the\n"
    " * limits of the entry's device. */\n"
    "static inline int @valid(const @entry *entry`, long long #`) {\n"
    "  int failed = 0; /* a condition has no result */\n"
    "  if (entry == NULL) return 0;\n";

/* The functions that choose an entry and give its options. The distance of two sizes is the product of their ratios,
 * each the larger way round: that needs no math library. Sizes precede the problem's compiler options, as they do when
 * clatune measures. */
static const char functions[] =
    "/* The entry of a device (CL_DEVICE_NAME) with the nearest sizes that is valid at the given sizes; NULL: none. "
    "*/\n"
    "static inline const @entry *@find(const char *device`, long long #`) {\n"
    "  const @entry *best = NULL;\n"
    "  double least = 0;\n"
    "  for (size_t i = 0; i < sizeof @entries / sizeof *@entries; i++) {\n"
    "    const @entry *e = &@entries[i];\n"
    "    double ratio = 1;\n"
    "    if (strcmp(e->device, device) != 0) continue;\n"
    "`    ratio *= e-># > # ? ((double)e-># + 1) / ((double)# + 1) : ((double)# + 1) / ((double)e-># + 1);\n`"
    "    if ((best && ratio >= least) || !@valid(e`, #`)) continue;\n"
    "    best = e;\n"
    "    least = ratio;\n"
    "  }\n"
    "  return best;\n"
    "}\n\n";
static const char options_function[] =
    "/* Writes the options for clBuildProgram at any sizes into out; returns their length, as snprintf does. entry "
    "NULL:\n"
    " * the sizes only. entry->options holds only tuning parameters and compiler options, no sizes. If the text of\n"
    " * compiler options or grid macros depends on sizes, it is that of the measured sizes: then use\n"
    " * 'clatune lookup --size ... --format options' or the library instead. */\n"
    "static inline int @options(char *out, size_t out_bytes, const @entry *entry`, long long #`) {\n"
    "  return snprintf(out, out_bytes, \"`-D~=%lld `%s\"`, #`, entry ? entry->options : \"\");\n}\n";
static const char options_of_source[] =
    "/* Writes the options for clBuildProgram into out; returns their length, as snprintf does. */\n"
    "static inline int @options(char *out, size_t out_bytes, const @entry *entry) {\n"
    "  return snprintf(out, out_bytes, \"%s\", entry ? entry->options : \"\");\n}\n";

/* The functions that compute an entry's launches. */
static const char launch_type[] =
    "\n/* A launch, as clEnqueueNDRangeKernel takes it. */\n"
    "typedef struct @launch {\n"
    "  const char *kernel;\n"
    "  unsigned n_dimensions;\n"
    "  size_t global[3]; /* in work-items */\n"
    "  size_t local[3];  /* all 0: chosen by the driver; pass NULL */\n"
    "  unsigned repeat;  /* how many times it runs in a row */\n"
    "  unsigned group;   /* successive launches with the same number other than 0 are repeated together */\n"
    "} @launch;\n\n";
static const char share_function[] =
    "static inline double @share(double x, double divisor, int *failed) {\n"
    "  double whole;\n"
    "  if (!(divisor > 0 && x >= 0 && x <= 9007199254740992.0)) return *failed = 1, 0;\n"
    "  whole = (double)(long long)x;\n"
    "  return (whole < x ? whole + 1 : whole) / divisor;\n"
    "}\n\n";
static const char launch_functions[] =
    "/* Rounds the global size up to a multiple of the local one; in_groups: the global size counts work-groups. */\n"
    "static inline void @add_launch(@launch *out, size_t capacity, size_t *i, int *failed,\n"
    "    const char *kernel, unsigned n_dimensions, unsigned group, int in_groups, double repeat, double gx, double "
    "gy,\n"
    "    double gz, double lx, double ly, double lz) {\n"
    "  const double global[3] = {gx, gy, gz}, local[3] = {lx, ly, lz};\n"
    "  const double most = sizeof(size_t) < 8 ? 4294967295.0 : 9007199254740992.0;\n"
    "  @launch launch = {kernel, n_dimensions, {1, 1, 1}, {0, 0, 0}, 1, group};\n"
    "  int d;\n"
    "  if (*failed || repeat == 0) return;\n"
    "  *failed = !(repeat >= 1 && repeat <= 1e9);\n"
    "  for (d = 0; d < 3 && !*failed; d++) {\n"
    "    size_t groups, items;\n"
    "    *failed = !(global[d] >= 0 && global[d] <= most && local[d] >= -1 && local[d] <= most);\n"
    "    if (*failed) return;\n"
    "    groups = (size_t)global[d];\n"
    "    if ((double)groups < global[d]) groups++;\n"
    "    launch.global[d] = groups;\n"
    "    if (local[d] <= 0) continue;\n"
    "    items = launch.local[d] = (size_t)local[d];\n"
    "    if (!in_groups) groups = groups / items + (groups % items ? 1u : 0u);\n"
    "    *failed = (double)items < local[d] || groups > (size_t)-1 / items;\n"
    "    launch.global[d] = groups * items;\n"
    "  }\n"
    "  if (*failed) return;\n"
    "  launch.repeat = (unsigned)repeat;\n"
    "  *failed = launch.repeat < repeat;\n"
    "  if (*i < capacity) out[*i] = launch;\n"
    "  ++*i;\n"
    "}\n\n"
    "/* Writes the launches of an entry at these sizes into out, in order, at most 'capacity'. Returns their number; "
    "0\n"
    " * if the entry is not valid at these sizes. */\n"
    "static inline size_t @launches(@launch *out, size_t capacity, const @entry *entry`,\n"
    "                                        long long #`) {\n"
    "  size_t i = 0;\n"
    "  int failed = 0;\n"
    "  if (!@valid(entry`, #`)) return 0;\n"
    "  switch (entry->entry) {\n";
