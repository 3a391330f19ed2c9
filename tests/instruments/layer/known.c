#include "layer/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/base.h"
#include "common/description.h"

#define MOST_ARGUMENTS 64

/* The options of a program outlive it while kernels have them. */
typedef struct options {
  defines d;
  size_t users;
} options;

typedef struct program_entry {
  cl_program key;
  options *options;
  UT_hash_handle hh;
} program_entry;

typedef struct kernel_entry {
  cl_kernel key;
  options *options; /* NULL: its program was not built through the layer */
  const void *arguments[MOST_ARGUMENTS];
  UT_hash_handle hh;
} kernel_entry;

typedef struct buffer_entry {
  const void *key;
  size_t size;
  UT_hash_handle hh;
} buffer_entry;

typedef struct fault_entry {
  const void *key; /* a queue or an event */
  fault what;
  UT_hash_handle hh;
} fault_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static program_entry *programs;
static kernel_entry *kernels;
static buffer_entry *buffers;
static fault_entry *queue_faults, *event_faults;

static void *new_entry(size_t bytes) {
  void *entry = clt_new_array(1, bytes);
  if (entry == NULL) description_wrong("out of memory");
  return entry;
}

static void drop(options *o) {
  if (o == NULL || --o->users > 0) return;
  defines_release(&o->d);
  free(o);
}

/* --- programs --- */

const defines *known_build(cl_program program, const char *text) {
  program_entry *entry;
  options *made = new_entry(sizeof *made);
  made->users = 1;
  if (defines_read(&made->d, text, NULL)) description_wrong("out of memory");
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(programs, &program, entry);
  if (entry == NULL) {
    entry = new_entry(sizeof *entry);
    entry->key = program;
    HASH_ADD_PTR(programs, key, entry);
  }
  drop(entry->options);
  entry->options = made;
  pthread_mutex_unlock(&lock);
  return &made->d;
}

void known_forget_program(cl_program program) {
  program_entry *entry;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(programs, &program, entry);
  if (entry) {
    HASH_DEL(programs, entry);
    drop(entry->options);
    free(entry);
  }
  pthread_mutex_unlock(&lock);
}

/* --- kernels --- */

void known_kernel(cl_kernel kernel, cl_program program) {
  program_entry *of;
  kernel_entry *entry = new_entry(sizeof *entry);
  entry->key = kernel;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(programs, &program, of);
  if (of) {
    entry->options = of->options;
    entry->options->users++;
  }
  HASH_ADD_PTR(kernels, key, entry);
  pthread_mutex_unlock(&lock);
}

static kernel_entry *find_kernel(cl_kernel kernel) {
  kernel_entry *entry;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(kernels, &kernel, entry);
  pthread_mutex_unlock(&lock);
  return entry;
}

const defines *known_kernel_options(cl_kernel kernel) {
  kernel_entry *entry = find_kernel(kernel);
  return entry && entry->options ? &entry->options->d : NULL;
}

void known_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  kernel_entry *entry = find_kernel(kernel);
  if (entry == NULL || index >= MOST_ARGUMENTS) return;
  entry->arguments[index] = NULL;
  if (value && size == sizeof *entry->arguments) memcpy(&entry->arguments[index], value, size);
}

void known_forget_kernel(cl_kernel kernel) {
  kernel_entry *entry;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(kernels, &kernel, entry);
  if (entry) {
    HASH_DEL(kernels, entry);
    drop(entry->options);
    free(entry);
  }
  pthread_mutex_unlock(&lock);
}

/* --- buffers --- */

void known_buffer(cl_mem buffer, cl_mem_flags flags, size_t size) {
  if (flags & CL_MEM_READ_ONLY) return;
  buffer_entry *entry = new_entry(sizeof *entry);
  entry->key = buffer;
  entry->size = size;
  pthread_mutex_lock(&lock);
  HASH_ADD_PTR(buffers, key, entry);
  pthread_mutex_unlock(&lock);
}

void known_forget_buffer(cl_mem buffer) {
  buffer_entry *entry;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(buffers, &buffer, entry);
  if (entry) {
    HASH_DEL(buffers, entry);
    free(entry);
  }
  pthread_mutex_unlock(&lock);
}

cl_mem known_output(cl_kernel kernel, size_t *size) {
  kernel_entry *entry = find_kernel(kernel);
  buffer_entry *buffer = NULL;
  pthread_mutex_lock(&lock);
  for (size_t i = MOST_ARGUMENTS; entry && buffer == NULL && i > 0; i--)
    if (entry->arguments[i - 1]) HASH_FIND_PTR(buffers, &entry->arguments[i - 1], buffer);
  pthread_mutex_unlock(&lock);
  if (buffer) *size = buffer->size;
  return buffer ? (cl_mem)(uintptr_t)buffer->key : NULL;
}

/* --- faults that wait --- */

static void put(fault_entry **table, const void *key, fault what) {
  fault_entry *entry;
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(*table, &key, entry);
  if (entry == NULL) {
    entry = new_entry(sizeof *entry);
    entry->key = key;
    HASH_ADD_PTR(*table, key, entry);
  }
  entry->what = what;
  pthread_mutex_unlock(&lock);
}

static fault get(fault_entry **table, const void *key, bool take) {
  fault_entry *entry;
  fault what = {FAULT_NONE};
  pthread_mutex_lock(&lock);
  HASH_FIND_PTR(*table, &key, entry);
  if (entry) what = entry->what;
  if (entry && take) {
    HASH_DEL(*table, entry);
    free(entry);
  }
  pthread_mutex_unlock(&lock);
  return what;
}

void known_pending(cl_command_queue queue, fault what) { put(&queue_faults, queue, what); }
fault known_take_pending(cl_command_queue queue) { return get(&queue_faults, queue, true); }
void known_event(cl_event event, fault what) { put(&event_faults, event, what); }
fault known_event_fault(cl_event event) { return get(&event_faults, event, false); }
void known_forget_event(cl_event event) { get(&event_faults, event, true); }
