/* The content of logical arrays: generated here, read from files, or made by a problem's own C functions, which are
 * compiled once into the user's cache and loaded. */
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "problem/module_paths.h"
#include "problem/parts.h"

#define MAX_COMPILER_WORDS 16 /* of $CC, which may contain arguments */
#define MAX_COMPILER_TEXT 2000

static const char *const flags[] = {"-O3", "-fopenmp", "-shared", "-fPIC"};
#define N_FLAGS (sizeof flags / sizeof *flags)

#define HEADER "clatune/module.h"

/* The folder that clatune/module.h is included from; malloc'ed. */
static char *include_folder(void) {
  /* Relative to bin/clatune, lib/libclatune.so or lib/<architecture>/libclatune.so, also if the installation was moved.
   */
  static const char *const folders[] = {"../include/" HEADER, "../../include/" HEADER, NULL};
  const char *chosen = getenv("CLATUNE_INCLUDE");
  if (chosen && chosen[0]) return strdup(chosen);
  if (CLATUNE_SOURCE_INCLUDE[0] && access(CLATUNE_SOURCE_INCLUDE "/" HEADER, R_OK) == 0)
    return strdup(CLATUNE_SOURCE_INCLUDE);
  char *found = clt_find_near_program(folders, R_OK);
  if (found == NULL) found = clt_find_near_library(folders, R_OK);
  if (found == NULL) return strdup(CLATUNE_INSTALLED_INCLUDE);
  found[strlen(found) - strlen("/" HEADER)] = '\0';
  return found;
}

static const char *compiler_command(void) {
  const char *chosen = getenv("CC");
  return chosen && chosen[0] ? chosen : "cc";
}

/* Hashes everything that a compiled module depends on: its text with includes, clatune/module.h, the compiler and the
 * flags. */
static int hash_module(char out[33], const char *path, const char *include, clt_error *error) {
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  clt_hasher_add_text(hasher, compiler_command());
  for (size_t i = 0; i < N_FLAGS; i++) clt_hasher_add_text(hasher, flags[i]);
  int rc = clt_hash_with_includes(hasher, path, include, error);
  if (rc == CLT_OK) clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return rc;
}

/* If the compiler fails, the message contains its output, with "; " instead of line ends. */
static int compile_module(const char *path, const char *library, const char *include, clt_error *error) {
  char *command = strdup(compiler_command()), *from = clt_format("-I%s", include);
  char *partial = clt_format("%s.%ld", library, (long)gettid()), *words[MAX_COMPILER_WORDS + N_FLAGS + 6], *rest;
  if (!command || !from || !partial) {
    free(command), free(from), free(partial);
    return clt_fail_memory(error);
  }
  size_t n = 0;
  for (char *word = strtok_r(command, " ", &rest); word && n < MAX_COMPILER_WORDS; word = strtok_r(NULL, " ", &rest))
    words[n++] = word;
  for (size_t i = 0; i < N_FLAGS; i++) words[n++] = (char *)flags[i];
  char *const more[] = {from, "-o", partial, (char *)path, "-lm", NULL};
  memcpy(&words[n], more, sizeof more);
  const clt_spawn spawn = {.program = words[0], .arguments = words};
  clt_error cause = {0};
  clt_text said = {0}, reason = {0};
  int status = 0, rc = clt_spawn_output(&said, &status, &spawn, MAX_COMPILER_TEXT, &cause);
  if (rc) {
    clt_fail(error, rc, "cannot compile module '%s': %s; set CC to a C compiler", path, cause.message);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    while (said.n > 0 && strchr(" \n", said.bytes[said.n - 1])) said.bytes[--said.n] = 0;
    for (size_t i = 0; i < said.n; i++)
      said.bytes[i] == '\n' ? clt_text_add(&reason, "; ") : clt_text_add_bytes(&reason, &said.bytes[i], 1);
    rc = clt_fail(error, CLT_E_FORMAT, "cannot compile module '%s': %s", path,
                  reason.n ? reason.bytes : "the compiler failed");
  } else if (chmod(partial, 0700) != 0 || rename(partial, library) != 0) {
    rc = clt_fail_errno(error, CLT_E_IO, "create", library);
  }
  if (rc) unlink(partial);
  clt_text_release(&said);
  clt_text_release(&reason);
  free(command);
  free(from);
  free(partial);
  return rc;
}

/* Whether a folder or file belongs to the user and only the user can write to it. */
static bool is_own(const struct stat *status) {
  return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Finds the shared object of a module, and compiles it if it is C and not in the cache. Loading a shared object
 * executes it. So nothing is loaded from a cache folder that others can write to, and a cached file of another user is
 * replaced. */
static int find_library(char **out, const char *path, clt_error *error) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char hash[33], *folder = NULL, *library = NULL, *include = NULL;
  struct stat status;
  if (!clt_ends_with(path, ".c")) { /* dlopen would wait for a FIFO */
    int fd, rc = clt_file_open(&fd, NULL, path, error);
    if (rc) return rc;
    close(fd);
    return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  }
  if (cache && cache[0] == '/')
    folder = clt_format("%s/clatune/modules", cache);
  else if (home && home[0] == '/')
    folder = clt_format("%s/.cache/clatune/modules", home);
  else
    return clt_fail(error, CLT_E_IO, "cannot store compiled modules; set HOME or XDG_CACHE_HOME");
  int rc = folder && (include = include_folder()) ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = hash_module(hash, path, include, error);
  if (rc == CLT_OK && (library = clt_format("%s/%s.so", folder, hash)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && stat(folder, &status) != 0) rc = clt_folder_make(folder, error);
  if (rc == CLT_OK && stat(folder, &status) != 0) rc = clt_fail_errno(error, CLT_E_IO, "open the folder", folder);
  if (rc == CLT_OK && !is_own(&status))
    rc = clt_fail(error, CLT_E_IO,
                  "compiled modules are not loaded from '%s': %s; set XDG_CACHE_HOME to a folder of your own", folder,
                  status.st_uid == geteuid() ? "other users can write to it" : "it belongs to another user");
  if (rc == CLT_OK && !(lstat(library, &status) == 0 && S_ISREG(status.st_mode) && is_own(&status)))
    rc = compile_module(path, library, include, error);
  free(folder);
  free(include);
  if (rc == CLT_OK)
    *out = library;
  else
    free(library);
  return rc;
}

int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error) {
  char *library = NULL;
  int rc = find_library(&library, path, error);
  if (rc) return rc;
  /* RTLD_NODELETE: threads of the OpenMP runtime may outlive the call. */
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *symbol = handle ? dlsym(handle, function) : NULL;
  if (handle == NULL)
    rc = clt_fail(error, CLT_E_IO, "cannot load module '%s': %s", path, dlerror());
  else if (symbol == NULL)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "module '%s' has no function '%s'", path, function);
  else
    memcpy(out, &symbol, sizeof *out);
  if (handle) dlclose(handle);
  free(library);
  return rc;
}

/* --- arrays --- */

/* The memory of an array as single numbers. */
typedef struct filling {
  const clt_array *array;
  clt_element_base base;
  char *data;
  size_t step;       /* bytes of a component */
  size_t n_stored;   /* stored components of an element: 4 for 3 */
  size_t n_elements; /* of all dimensions */
  bool is_real;
  double top; /* the largest number of generated content: 1 for reals, for integers 255 or the maximum of the type */
} filling;

static void store_at(const filling *f, size_t component, double number) {
  clt_store_number(f->data + component * f->step, f->base, number);
}

static void fill_uniform(const filling *f, clt_rng *rng, double bound) {
  for (size_t i = 0; i < f->n_elements * f->n_stored; i++) {
    double unit = clt_rng_unit(rng);
    store_at(f, i, f->is_real ? unit * bound : floor(unit * (bound + 1)));
  }
}

/* Values that inputs may contain but typical ones do not: negative numbers, both signs, zeros, both ends of the range,
 * denormals, and a mixture. Each kind fills an eighth of the array, so that whole rows are of one kind. Integers stay
 * in the range of their type. */
static void fill_hostile(const filling *f, clt_rng *rng, double bound) {
  static const double denormals[] = {0x1p-20, 0x1p-140, 0x1p-1060}, ends[] = {1 - 0x1p-11, 1 - 0x1p-24, 1 - 0x1p-53};
  enum { NEGATIVE, NEGATIVE_TOO, SIGNED, SIGNED_TOO, ZERO, END, DENORMAL, MIXED };
  const size_t n = f->n_elements * f->n_stored, share = (n + 7) / 8, place = (size_t)(f->base - CLT_ELEMENT_HALF);
  for (size_t i = 0; i < n; i++) {
    const double unit = clt_rng_unit(rng), sign = clt_rng_below(rng, 2) ? 1 : -1;
    const size_t drawn = clt_rng_below(rng, MIXED), kind = i / share < MIXED ? i / share : drawn;
    if (!f->is_real)
      store_at(f, i, kind == ZERO ? 0 : kind == END ? floor(bound) : floor(unit * (bound + 1)));
    else
      store_at(f, i,
               kind <= NEGATIVE_TOO ? -unit * bound
               : kind <= SIGNED_TOO ? sign * unit * bound
               : kind == ZERO       ? 0
               : kind == END        ? sign * bound * ends[place]
                                    : sign * denormals[place]);
  }
}

/* A picture with values from 0 to 1: a shaded background, discs, bars and a little noise. */
static void fill_picture(const filling *f, clt_rng *rng) {
  const size_t *n = f->array->extent;
  const double shift = 6.283185307179586 * clt_rng_unit(rng);
  for (size_t i = 0; i < f->n_elements * f->n_stored; i++) {
    const size_t element = i / f->n_stored, c = i % f->n_stored;
    const double x = (double)(element % n[0]) / (double)n[0], y = (double)(element / n[0] % n[1]) / (double)n[1],
                 z = (double)(element / n[0] / n[1]) / (double)n[2];
    double shade = 0.25 + 0.25 * sin(5 * x + shift) * cos(4 * y + 3 * z + (double)c);
    bool in_disc = hypot(hypot(fmod(3 * x + shift, 1) - 0.5, fmod(3 * y, 1) - 0.5), fmod(2 * z, 1) - 0.25) < 0.3;
    double disc = in_disc ? 0.3 : 0, bar = fmod(11 * (x + y) + shift, 1) < 0.2 ? 0.12 : 0;
    double value = shade + disc + bar + 0.05 * clt_rng_unit(rng);
    store_at(f, i, f->is_real ? value : floor(value * f->top));
  }
}

/* Reads a number of a PGM header, after white space and comments. NULL: the header ends. */
static const char *header_number(const char *at, const char *end, size_t *out) {
  while (at < end && (isspace((unsigned char)*at) || *at == '#')) {
    if (*at == '#')
      while (at < end && *at != '\n') at++;
    else
      at++;
  }
  if (at == end || !isdigit((unsigned char)*at)) return NULL;
  for (*out = 0; at < end && isdigit((unsigned char)*at); at++) {
    *out = *out * 10 + (size_t)(*at - '0');
    if (*out > UINT32_MAX) return NULL;
  }
  return at;
}

/* Reads a binary PGM ("P5", see the netpbm manual) with 8 or 16 bits. Reals get values from 0 to 1, integers the grey
 * value. */
static int fill_pgm(const filling *f, const char *path, clt_error *error) {
  const clt_array *array = f->array;
  char *bytes = NULL;
  size_t n, header[3], raster_bytes = 0; /* width, height, largest value */
  if (array->element.components != 1)
    return clt_fail(error, CLT_E_FORMAT, "'%s' is a greyscale image, but argument '%s' has %d components", path,
                    array->name, array->element.components);
  int rc = clt_file_read(&bytes, &n, path, CLT_MAX_DATA_BYTES, error);
  if (rc) return rc;
  const char *end = bytes + n, *at = n >= 3 && bytes[0] == 'P' && bytes[1] == '5' ? bytes + 2 : NULL;
  for (int i = 0; at && i < 3; i++) at = header_number(at, end, &header[i]);
  bool fits = at && at < end && isspace((unsigned char)*at) && header[2] >= 1 && header[2] <= 65535 &&
              clt_size_multiply(&raster_bytes, header[0], header[1]) &&
              clt_size_multiply(&raster_bytes, raster_bytes, header[2] > 255 ? 2 : 1) &&
              raster_bytes <= (size_t)(end - at - 1);
  if (!fits) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is not a complete binary PGM file (P5)", path);
  } else if (header[0] != array->extent[0] || header[1] != array->extent[1] || array->extent[2] != 1) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu x %zu pixels, but argument '%s' has %zu x %zu x %zu elements",
                  path, header[0], header[1], array->name, array->extent[0], array->extent[1], array->extent[2]);
  } else {
    const unsigned char *raster = (const unsigned char *)at + 1;
    for (size_t i = 0; i < f->n_elements; i++) {
      unsigned grey = header[2] > 255 ? raster[2 * i] * 256u + raster[2 * i + 1] : raster[i];
      store_at(f, i, f->is_real ? (double)grey / (double)header[2] : grey);
    }
  }
  free(bytes);
  return rc;
}

int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_module_call *call, clt_error *error) {
  clt_element_base base = array->element.base;
  size_t step = clt_element_base_bytes(base);
  const filling f = {.array = array,
                     .base = base,
                     .data = data,
                     .step = step,
                     .n_stored = array->element.bytes / step,
                     .n_elements = array->bytes / array->element.bytes,
                     .is_real = base >= CLT_ELEMENT_HALF,
                     .top = base >= CLT_ELEMENT_HALF     ? 1
                            : base == CLT_ELEMENT_CHAR   ? INT8_MAX
                            : base == CLT_ELEMENT_SHORT  ? INT16_MAX
                            : base == CLT_ELEMENT_USHORT ? UINT16_MAX
                                                         : UINT8_MAX};
  clt_calculation c = {instance, NULL, error, CLT_OK};
  clt_value value = {.type = CLT_INT};
  double bound = f.top;
  clt_rng rng; /* the seed depends on the array, so that random inputs differ */
  clt_rng_init(&rng, call->seed ^ clt_hash64(array->name, strlen(array->name)) ^ ((uint64_t)fill->seed << 32));
  switch (fill->kind) {
    case CLT_FILL_NONE:
    case CLT_FILL_REPETITION: return CLT_OK;
    case CLT_FILL_CONSTANT:
    case CLT_FILL_FORMULA:
      if (fill->kind == CLT_FILL_CONSTANT && fill->value) value = clt_evaluate(&c, fill->value);
      for (size_t i = 0; i < f.n_elements && c.rc == CLT_OK && value.type != CLT_STRING; i++) {
        const clt_value index = {.type = CLT_INT, .integer = (int64_t)i};
        c.slots = &index;
        if (fill->kind == CLT_FILL_FORMULA) value = clt_evaluate(&c, fill->value);
        for (size_t k = 0; k < f.n_stored; k++) clt_store_value(f.data + (i * f.n_stored + k) * step, base, value);
      }
      break;
    case CLT_FILL_RANDOM:
      if (fill->value) bound = clt_evaluate_number(&c, fill->value);
      if (c.rc == CLT_OK)
        (call->seed == CLT_HOSTILE_SEED && !fill->never_hostile ? fill_hostile : fill_uniform)(&f, &rng, bound);
      break;
    case CLT_FILL_BUILT_IN:
      if (strcmp(fill->function, "ramp") == 0) /* 0, 1, 2 ... in integers (wrapping around), 0 to 1 in reals */
        for (size_t i = 0; i < f.n_elements * f.n_stored; i++) {
          double at = (double)(i / f.n_stored);
          store_at(&f, i, f.is_real ? at / (double)f.n_elements : step < 4 ? fmod(at, f.top + 1) : at);
        }
      else if (strcmp(fill->function, "noise") == 0)
        fill_uniform(&f, &rng, f.top);
      else
        fill_picture(&f, &rng);
      break;
    case CLT_FILL_MODULE: {
      clt_module_function function;
      int rc = clt_module_find_function(&function, fill->module, fill->function, error);
      if (rc == CLT_OK && function(call) != 0)
        rc = clt_fail(error, CLT_E_IO,
                      "the generator '%s' of '%s' failed to fill argument '%s': it may not support these problem sizes",
                      fill->function, fill->module, array->name);
      return rc;
    }
    case CLT_FILL_RAW: {
      char *bytes = NULL;
      size_t n;
      int rc = clt_file_read(&bytes, &n, fill->file, CLT_MAX_DATA_BYTES, error);
      if (rc == CLT_OK && n != array->bytes)
        rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu bytes, but argument '%s' needs %zu", fill->file, n,
                      array->name, array->bytes);
      if (rc == CLT_OK) memcpy(data, bytes, n);
      free(bytes);
      return rc;
    }
    case CLT_FILL_PGM: return fill_pgm(&f, fill->file, error);
  }
  if (value.type == CLT_STRING)
    return clt_fail(error, CLT_E_EXPRESSION, "the \"FillValue\" of argument '%s' must be a number", array->name);
  return c.rc;
}
