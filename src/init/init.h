/* init/init.h - drafts the problem file of a kernel. The compiler says what arguments it has; its text says which
 * macros could be tuned. What neither says is marked "TODO". */
#pragma once

#include <jansson.h>

#include "base/text.h"
#include "device/device.h"

#define CLT_DRAFT_MACROS 64
#define CLT_DRAFT_KERNELS 8         /* launched in turn */
#define CLT_DRAFT_BYTES (512 << 10) /* of the kernel file, and of what it includes */
#define CLT_DRAFT_TYPE "=float"     /* ends the option for an undefined type */
#define CLT_DRAFT_PREFIX "size_"    /* problem parameters are macros, so they must not be named like arguments */

/* A macro that becomes a parameter: #ifndef NAME / #define NAME 16, or one that the text uses and does not define. */
typedef struct clt_draft_macro {
  char name[64], sets[64]; /* sets: BLOCK_SIZE in #define BLOCK_SIZE NAME; "": none */
  int64_t value;           /* the default */
  const char *list;        /* the values of --define NAME=1,2, borrowed; NULL: guessed ones */
  bool is_defined;         /* it has a default in the text, so builds need no -D */
  bool is_given;           /* an application's build options set this value */
  bool is_asked;           /* an #if tests its value */
  bool is_reached;         /* it changes the code that the kernel reaches, if draft->knows_reached */
  bool is_size;            /* its name says that it changes the result: it becomes a problem parameter */
} clt_draft_macro;

/* Zeroed before use. */
typedef struct clt_draft {
  clt_words options; /* "-DNAME=value", for all builds */
  size_t n_typed;    /* of these, by clt_draft_define */
  bool complete;     /* an application builds it with these options, so an undefined macro is intended */
  clt_inspector *inspector;
  char *folder, *text; /* of the kernel file; the text begins with a #line, so that messages name the file */
  int n_lines;
  clt_kernel_info *kernels; /* n_kernels of the file */
  size_t n_kernels;
  const clt_kernel_info *kernel; /* the one to tune */
  char *plain; /* the file and the files that it includes, without comments; later without other kernels */
  char *body;  /* the kernel's, between its braces */
  /* Derived from this text. */
  clt_draft_macro macros[CLT_DRAFT_MACROS];
  size_t n_macros;
  bool knows_reached;                    /* libclang read the kernel */
  int n_dimensions;                      /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64];                  /* reqd_work_group_size, as written; "": none */
  char times_group[3][64];               /* the factor in get_group_id(d) * X + get_local_id(d); "": none */
  bool uses_groups;                      /* get_group_id or get_local_id: maybe not one work-item per element */
  bool varies[CLT_MAX_KERNEL_ARGUMENTS]; /* the argument's type depends on parameters */
  /* The problem file's content. */
  char sizes[CLT_MAX_KERNEL_ARGUMENTS + CLT_DRAFT_MACROS][160]; /* the problem parameters */
  size_t n_sizes;
  char strides[CLT_MAX_KERNEL_ARGUMENTS][300]; /* the expression for an argument that indices are multiplied with */
  bool has_group_results;                      /* each work-group writes an element of its own */
  const char *global[3];  /* the size that is the number of work-items along a dimension; NULL: not known */
  bool own_local_size;    /* whether parameters determine the work-group's size */
  const char *local[3];   /* the parameter that is its size along a dimension; */
  bool local_is_macro[3]; /* whether that is a macro of the kernel, or a new one */
} clt_draft;

void clt_draft_release(clt_draft *draft);

/* In this order: */

/* Reads the kernel file. CLT_E_IO, CLT_E_RANGE, CLT_E_FORMAT. */
int clt_draft_read(clt_draft *draft, const char *path, clt_error *error);
/* Adds "NAME=value" to the options, or "NAME=1,2" as a tuning parameter. definition is borrowed. CLT_E_ARGUMENT. */
int clt_draft_define(clt_draft *draft, const char *definition, clt_error *error);
/* Finds the macros with a default, and the undefined ones that #if tests. With a path, says which macros of that file
 * cannot be tuned, and why. */
int clt_draft_find_macros(clt_draft *draft, const char *path, clt_log_fn log, void *user, clt_error *error);
clt_draft_macro *clt_draft_macro_named(const clt_draft *draft, const char *name); /* NULL: none */
/* Builds the text on a device and lists its kernels. Adds undefined macros until the build succeeds. */
int clt_draft_build(clt_draft *draft, const clt_device_info *device, clt_error *error);
/* Sets the kernel to tune, one of draft->kernels. Builds again with other values of the macros that #if tests, to find
 * the macros that other branches need; then forgets what only concerns other kernels. Says if libclang did not help. */
int clt_draft_set_kernel(clt_draft *draft, const clt_kernel_info *kernel, const clt_device_info *device, clt_log_fn log,
                         void *user, clt_error *error);
/* The draft; kernel_file: the path to write in it. New reference; NULL: out of memory. */
json_t *clt_draft_problem(clt_draft *draft, const char *kernel_file);

/* Whether a kernel writes a buffer or an image that another one, with an argument of that name, only reads. */
bool clt_draft_passes_data(const clt_kernel_info *from, const clt_kernel_info *to);
/* Joins the drafts of kernels to one problem that launches them in this order. Returns the first, which it changes, as
 * it does the others. */
json_t *clt_draft_join(json_t *const *problems, size_t n);
/* Proposes the file's kernel that is called naive or ref and takes these arguments, maybe without scratch memory; else
 * a
 * TODO. New reference. */
json_t *clt_draft_reference(const clt_draft *draft, const char *kernel_file, const json_t *arguments);
/* Whether a kernel's name says that it is a simple one, to compare with. */
bool clt_draft_is_naive(const clt_kernel_info *kernel);

/* --- parts, which `clatune capture` uses too; JSON is a new reference --- */

/* The address of the JSON schema for editors, installed with the program or in its source tree. NULL: none is found, or
 * its path would need escaping. */
json_t *clt_draft_schema(void);
/* The tuning parameters: the macros, and new ones for the work-group's size if it has been chosen. */
json_t *clt_draft_parameters(const clt_draft *draft);
/* A build option as a problem file writes it: braces are doubled. */
json_t *clt_draft_option(const char *option);
/* Whether all names in an expression are parameters, so that it is valid in a problem file. */
bool clt_draft_names_parameters(const clt_draft *draft, const char *expression);
/* The macro that is the work-group's size along a dimension, by its use, by its name, or by the name of a square group;
 * NULL: none. */
const clt_draft_macro *clt_draft_local_size(const clt_draft *draft, int dimension);
/* Whether a macro with this value may be tuned: the text reads it, and its name does not say that it changes the
 * result. */
bool clt_draft_may_tune(const char *plain, const char *name, int64_t value);
/* Adds a macro that an application defines, before clt_draft_find_macros. False: it cannot be tuned. */
bool clt_draft_add_given(clt_draft *draft, const char *name, int64_t value);

/* --- inside --- */

json_t *clt_draft_values(const clt_draft *draft, const clt_draft_macro *m); /* a new list */
const char *clt_draft_type(const json_t *values); /* the type of a tuning parameter with these values */
bool clt_draft_has_macro(const clt_draft *draft, const char *name); /* or an option that defines it */
/* Adds an undefined macro: as a parameter, or as float if it is a type. False: it is known, or there are too many. */
bool clt_draft_add_undefined(clt_draft *draft, const char *name, bool is_type);
void clt_draft_choose_default(clt_draft *draft, clt_draft_macro *m);
bool clt_draft_is_called_as_size(const char *name);
/* The default of a macro that is part of the computation by its name, such as a filter's radius; -1: it is not. */
int clt_draft_small_size(const char *name);
int clt_draft_usual_size(const clt_draft *draft, const char *name, size_t nth); /* nth: its index among the sizes */
/* Whether a macro's name is usual for the work-group's size along a dimension: BLOCK_SIZE (one dimension only), WG_X,
 * LOCAL_SIZE_1. */
bool clt_draft_is_local_size(const char *macro, int dimension, int n_dimensions);

/* Asks the program clatune-parse which macros the kernel reaches; logs why it cannot say. */
void clt_draft_find_reached(clt_draft *draft, clt_log_fn log, void *user);
void clt_draft_read_shape(clt_draft *draft); /* the number of dimensions, and required sizes of work-groups */
void clt_draft_read_kernel(
    clt_draft *draft); /* forgets the functions that the kernel does not reach, and reads its shape again */
/* Once the sizes are known: finds draft->global, from `int i = get_global_id(0);` with `i < n`, from
 * `get_global_id(0) < n`, or from the sizes' names if each work-item computes one result. */
void clt_draft_find_global(clt_draft *draft);
/* The size along a dimension by its name: there is only one, or one per dimension with usual names; else NULL. */
const char *clt_draft_size_along(const clt_draft *draft, int dimension);
/* Whether the kernel compares a size with an index outside of loops, and so works with more work-items. */
bool clt_draft_tests_edge(const clt_draft *draft, const char *size);
/* Whether each work-item loops over a size. */
bool clt_draft_loops_over(const clt_draft *draft, const char *size);
/* Whether the kernel compares a name with anything, as in i < n. */
bool clt_draft_compares(const clt_draft *draft, const char *name);
/* The value of a macro that the text defines as an integer, unconditionally. */
bool clt_draft_constant(int64_t *out, const clt_draft *draft, const char *name);
/* What is written at a place as a bound, if it is known: a size, a number or a constant. *end: behind it. */
bool clt_draft_bound(char out[64], const clt_draft *draft, const char *at, const char **end);
/* The bound of an index that is used at a place of the body: of the comparison nearest before it, or else behind it;
 * without one, that of the dimension whose global id it is. False: it is not known. */
bool clt_draft_limit(char out[64], const clt_draft *draft, const char *index, const char *use);
/* Whether elements of an array, of this type, are used as an index, which may be beyond its end. */
bool clt_draft_is_index(const clt_draft *draft, const char *array, const char *element);
/* The number of an array's elements, if all its indices show it: "size_n" or ["size_width", "size_height"]; else NULL.
 * Sets the strides that the indices show. */
json_t *clt_draft_extent(clt_draft *draft, const char *array);

/* Places in a text. */
const char *clt_skip_blanks(const char *at);
const char *clt_before_blanks(const char *text, const char *at);
bool clt_follows(const char *text, const char *at, const char *word); /* blanks between them are ignored */
