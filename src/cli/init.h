/* cli/init.h - `clatune init`: the draft of a problem file, and the functions that fill it. */
#ifndef CLT_CLI_INIT_H
#define CLT_CLI_INIT_H

#include "cli/cli.h"
#include "device/device.h"

#define MAX_MACROS 64
#define MAX_TEXT_BYTES (512 << 10)
#define CLT_INIT_TYPE "=float" /* ends the option for an undefined type */
#define PREFIX "size_" /* problem parameters are macros, so they must not be named like the kernel's arguments */

/* A macro that becomes a parameter: #ifndef NAME / #define NAME 16, or one that the text uses and does not define. */
typedef struct tuned_macro {
  char name[64], sets[64]; /* sets: BLOCK_SIZE in #define BLOCK_SIZE NAME; "": none */
  int64_t value;           /* the default */
  const char *list;        /* the values of --define NAME=1,2; NULL: guessed ones */
  bool is_defined;         /* it has a default in the text, so builds need no -D */
  bool is_given;           /* an application's build options set this value */
  bool is_asked;           /* an #if tests its value */
  bool is_size;            /* its name is that of a size of the data: it becomes a problem parameter */
} tuned_macro;

typedef struct draft {
  clt_inspector *inspector; /* builds */
  const clt_kernel_info *kernel;
  clt_words options; /* "-DNAME=value", for all builds */
  bool complete;     /* an application builds it with these options, so an undefined macro is intended */
  char *plain;       /* the kernel file and the files it includes, without comments and other kernels */
  /* Derived from this text without a compiler. */
  tuned_macro macros[MAX_MACROS];
  size_t n_macros;
  int n_dimensions;                      /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64];                  /* reqd_work_group_size, as written; "": none */
  char times_group[3][64];               /* the factor in get_group_id(d) * X + get_local_id(d); "": none */
  bool uses_groups;                      /* get_group_id or get_local_id: maybe not one work-item per element */
  bool varies[CLT_MAX_KERNEL_ARGUMENTS]; /* the argument's type depends on parameters */
  /* The problem file's content. */
  char sizes[CLT_MAX_KERNEL_ARGUMENTS + MAX_MACROS][160]; /* a problem parameter for each whole scalar argument */
  size_t n_sizes;
  const char *bounds[3]; /* the size that get_global_id of a dimension is compared with; NULL: none found */
  bool own_local_size;   /* whether parameters determine the work-group's size */
  const char *local[3];  /* the parameter that is its size along a dimension; */
  bool macro_is_size[3]; /* whether that is a macro of the kernel, or a new one */
} draft;

/* --- init.c --- */

/* The address of the JSON schema for editors, installed with the program or in its source tree. New reference; NULL:
 * none is found, or its path would need escaping. */
json_t *cli_init_schema(void);

/* --- init_text.c: what follows from the kernel's text without a compiler --- */

/* Finds the macros with a default, the undefined macros that #if tests, the number of dimensions and the required
 * work-group size. With a path, notes macros in the first n_lines that cannot be tuned on standard error. */
void cli_init_read_text(draft *d, const char *path, int n_lines);

/* Whether a name is one of the macros, or an option defines it. */
bool cli_init_has_macro(const draft *d, const char *name);

/* Adds an undefined macro: as a parameter, or as float if it is a type. False: it is already known, or there are too
 * many. */
bool cli_init_add_undefined(draft *d, const char *name, bool is_type);

/* Adds a macro that an application defines. False: it cannot be tuned, because its name is that of a size of the data,
 * or the text does not read it or redefines it. To be called before cli_init_read_text. */
bool cli_init_add_given(draft *d, const char *name, int64_t value);

/* Whether a macro with this value may be tuned: the text reads it, and its name is not that of a size of the data or of
 * a filter. */
bool cli_init_may_tune(const char *plain, const char *name, int64_t value);

/* Whether a macro selects the data type, by its name, or because #if compares it with numbers that are no vector width:
 * #if PRECISION == 32. */
bool cli_init_is_kind(const char *plain, const char *name);

/* Reads the number of dimensions, and the required and likely sizes of work-groups. */
void cli_init_read_shape(draft *d);

/* Once the kernel is chosen: forgets what only concerns other kernels. */
void cli_init_read_kernel(draft *d, const clt_kernel_info *kernels, size_t n);

/* A new list of a macro's values; and the type of a tuning parameter with these values. */
json_t *cli_init_values(const draft *d, const tuned_macro *m);
const char *cli_init_type(const json_t *values);

void cli_init_free(void *draft); /* frees what it owns; for cli_keep */

/* A new list of the tuning parameters: the macros, and new ones for the work-group's size. */
json_t *cli_init_parameters(const draft *d);

/* A build option as a problem file writes it: braces are doubled. */
json_t *cli_init_option(const char *option);

/* Chooses the kind and the default of a macro without a default. */
void cli_init_choose_default(draft *d, tuned_macro *m);

/* The macro that is the work-group's size along a dimension, by its use, by its name, or by the name of a square group;
 * NULL: none. */
const tuned_macro *cli_init_local_size(const draft *d, int dimension);

/* The default of a size; nth: its index among the sizes. */
int cli_init_usual_size(const draft *d, const char *name, size_t nth);

/* Once the sizes are known: finds the size that bounds the global size along each dimension, from `int i =
 * get_global_id(0);` with `i < n`, or from `get_global_id(0) < n`. With one dimension and one size it is that size. A
 * kernel that calls get_global_size works with any global size and has no bound. */
void cli_init_find_bounds(draft *d);

/* A size's name as it is written in the kernel. */
const char *cli_init_bare(const char *size);

/* Whether all names in an expression are parameters, so that it is valid in a problem file. */
bool cli_init_names_parameters(const draft *d, const char *expression);

/* Whether an array is indexed with a product or a shift: then it is larger than a single size. */
bool cli_init_has_rows(const draft *d, const char *array);

/* --- init_build.c --- */

/* Reads the kernel's file. Returns its text with a #line directive, so that the compiler's messages name the file. Sets
 * d->plain and *n_lines, the number of lines of the file itself. */
const char *cli_init_read_file(draft *d, int *n_lines, const char *path);

/* Builds the text and lists its kernels, which are kept until the command ends. Adds undefined macros until the build
 * succeeds, and replaces the kernels' own type names with OpenCL's. */
int cli_init_build(clt_kernel_info **out, size_t *n, draft *d, const clt_device_info *device, const char *text,
                   const char *folder, clt_error *error);

/* Once the kernel is chosen: builds again with other values of the macros that #if tests, to find the macros that other
 * branches need. The build may fail. */
void cli_init_explore(draft *d, const clt_device_info *device, const char *text, const char *folder);

/* --- text helpers (init_macros.c) --- */

const char *cli_skip_blanks(const char *at);
const char *cli_before_blanks(const char *text, const char *at);
bool cli_follows(const char *text, const char *at, const char *word); /* blanks between them are ignored */

/* Whether a macro's name is usual for the work-group's size along a dimension: BLOCK_SIZE (one dimension only), WG_X,
 * LOCAL_SIZE_1, block_size_y. */
bool cli_is_local_size(const char *macro, int dimension, int n_dimensions);

#endif
