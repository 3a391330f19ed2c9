#include "base/base.h"
#include "layer/apply.h"
#include "layer/layer.h"
#include "measurement/measurement.h"

#define MOST_ROUNDS 7  /* the interval of 7 rounds has 98 % confidence */
#define MOST_SECONDS 2 /* no round begins later */

/* --- memory that the kernel may write to --- */

/* Contents are kept in device buffers, because the application's may be CL_MEM_HOST_NO_ACCESS. */
typedef struct kept_content {
  size_t argument;
  cl_mem memory;
  bool is_image;
  size_t region[3], bytes;
  cl_mem content, copy; /* content: before the launch; copy: for reading back */
  void *untuned, *tuned;
} kept_content;

typedef struct check {
  apply_entry *entry;
  const track_kernel *k;
  const apply_launch *launch;
  cl_context context;
  kept_content *all;
  size_t n;
  cl_int status; /* the first failure */
} check;

static void note(check *c, cl_int status) {
  if (c->status == CL_SUCCESS) c->status = status;
}

static void describe_image(check *c, kept_content *m) {
  size_t element = 0;
  const cl_image_info sides[3] = {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH};
  note(c, layer_next.clGetImageInfo(m->memory, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL));
  m->bytes = element;
  for (int d = 0; d < 3; d++) {
    note(c, layer_next.clGetImageInfo(m->memory, sides[d], sizeof m->region[d], &m->region[d], NULL));
    if (m->region[d] == 0) m->region[d] = 1;
    m->bytes *= m->region[d];
  }
}

/* Copies between an image and a buffer, in which rows follow each other. */
static void copy_from(check *c, const kept_content *m, cl_mem to) {
  static const size_t origin[3];
  note(c, m->is_image ? layer_next.clEnqueueCopyImageToBuffer(c->launch->queue, m->memory, to, origin, m->region, 0, 0,
                                                              NULL, NULL)
                      : layer_next.clEnqueueCopyBuffer(c->launch->queue, m->memory, to, 0, 0, m->bytes, 0, NULL, NULL));
}

static void restore(check *c) {
  static const size_t origin[3];
  for (size_t i = 0; i < c->n && c->status == CL_SUCCESS; i++) {
    const kept_content *m = &c->all[i];
    note(c, m->is_image ? layer_next.clEnqueueCopyBufferToImage(c->launch->queue, m->content, m->memory, 0, origin,
                                                                m->region, 0, NULL, NULL)
                        : layer_next.clEnqueueCopyBuffer(c->launch->queue, m->content, m->memory, 0, 0, m->bytes, 0,
                                                         NULL, NULL));
  }
  if (c->status == CL_SUCCESS) note(c, layer_next.clFinish(c->launch->queue));
}

/* Keeps the content of all memory objects that the kernel may write to, each once. */
static void keep(check *c) {
  for (size_t i = 0; i < c->k->n_arguments && c->status == CL_SUCCESS; i++) {
    const track_argument *a = &c->k->arguments[i];
    kept_content *m = &c->all[c->n];
    bool is_known = !c->entry->arguments[i].is_written || a->kind != TRACK_VALUE || a->size != sizeof m->memory;
    cl_mem_object_type type = 0;
    *m = (kept_content){.argument = i};
    if (!is_known) memcpy(&m->memory, a->bytes, sizeof m->memory);
    for (size_t j = 0; j < c->n; j++) is_known = is_known || c->all[j].memory == m->memory;
    if (is_known || m->memory == NULL) continue;
    note(c, layer_next.clGetMemObjectInfo(m->memory, CL_MEM_TYPE, sizeof type, &type, NULL));
    m->is_image = type != CL_MEM_OBJECT_BUFFER;
    if (m->is_image)
      describe_image(c, m);
    else
      note(c, layer_next.clGetMemObjectInfo(m->memory, CL_MEM_SIZE, sizeof m->bytes, &m->bytes, NULL));
    if (c->status) return;
    c->n++;
    cl_int status;
    m->content = layer_next.clCreateBuffer(c->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
    note(c, status);
    m->copy = layer_next.clCreateBuffer(c->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
    note(c, status);
    if (c->status == CL_SUCCESS) copy_from(c, m, m->content);
  }
  if (c->status == CL_SUCCESS) note(c, layer_next.clFinish(c->launch->queue));
}

static void *read_back(check *c, const kept_content *m) {
  void *bytes = layer_new(m->bytes, 1);
  copy_from(c, m, m->copy);
  if (c->status == CL_SUCCESS) note(c, layer_next.clFinish(c->launch->queue)); /* the queue may be out of order */
  if (c->status == CL_SUCCESS)
    note(c, layer_next.clEnqueueReadBuffer(c->launch->queue, m->copy, CL_TRUE, 0, m->bytes, bytes, 0, NULL, NULL));
  return bytes;
}

static void release(check *c) {
  for (size_t i = 0; i < c->n; i++) {
    if (c->all[i].content) layer_next.clReleaseMemObject(c->all[i].content);
    if (c->all[i].copy) layer_next.clReleaseMemObject(c->all[i].copy);
    free(c->all[i].untuned);
    free(c->all[i].tuned);
  }
  free(c->all);
}

/* --- running and comparing --- */

/* Restores the memory, launches, and returns the seconds until the queue is empty. *device: the time by the device's
 * clock, NaN if that is not usable. tuned NULL: the application's own kernel. */
static double run_once(check *c, cl_kernel tuned, double *device) {
  const apply_entry *e = c->entry;
  const apply_launch *l = c->launch;
  cl_event event = NULL;
  restore(c);
  if (c->status) return NAN;
  const double begun = clt_now_s();
  if (tuned)
    note(c, layer_next.clEnqueueNDRangeKernel(l->queue, tuned, e->n_tuned_dimensions, NULL, e->tuned_global,
                                              e->tuned_local[0] ? e->tuned_local : NULL, 0, NULL, &event));
  else
    note(c, layer_next.clEnqueueNDRangeKernel(l->queue, l->kernel, l->n_dimensions, l->offset, l->global, l->local, 0,
                                              NULL, &event));
  if (c->status) return NAN;
  note(c, layer_next.clFinish(l->queue));
  const double took = clt_now_s() - begun;
  *device = layer_event_s(event);
  layer_next.clReleaseEvent(event);
  return took;
}

/* Compares the results. True, with a message, if they differ. */
static bool differs(const check *c, char *out, size_t capacity) {
  for (size_t i = 0; i < c->n; i++) {
    const kept_content *m = &c->all[i];
    const apply_argument *a = &c->entry->arguments[m->argument];
    clt_array array = a->compared;
    clt_comparison compared = {0};
    if (!a->is_compared) continue;
    if (array.bytes > m->bytes) array.bytes = m->bytes;
    array.reference = m->untuned;
    clt_array_scale_tolerance(&array);
    if (clt_array_matches(&compared, &array, m->tuned)) continue;
    clt_snprintf(
        out, capacity,
        "its result in argument %zu differs from the untuned kernel's in %zu of %zu elements, first in element %zu "
        "by %g",
        m->argument, compared.n_wrong, array.bytes / array.element.bytes, compared.first.index, compared.first.error);
    return true;
  }
  return false;
}

/* Times both in alternating rounds; sets the medians. */
static void time_both(check *c, cl_kernel tuned) {
  double host[2][MOST_ROUNDS], device[2][MOST_ROUNDS], until = clt_now_s() + MOST_SECONDS;
  size_t n = 0;
  bool by_device = true;
  for (; n < MOST_ROUNDS && c->status == CL_SUCCESS && (n == 0 || clt_now_s() < until); n++)
    for (int which = 0; which < 2; which++) {
      host[which][n] = run_once(c, which ? tuned : NULL, &device[which][n]);
      by_device = by_device && !isnan(device[which][n]);
    }
  if (c->status) return;
  c->entry->report->untuned_s = clt_median(by_device ? device[0] : host[0], n);
  c->entry->report->tuned_s = clt_median(by_device ? device[1] : host[1], n);
}

/* Runs both once and compares the results; then times both. */
static void run_both(check *c, cl_kernel tuned, char *difference, size_t capacity) {
  double device;
  run_once(c, NULL, &device);
  for (size_t i = 0; i < c->n && c->status == CL_SUCCESS; i++) c->all[i].untuned = read_back(c, &c->all[i]);
  run_once(c, tuned, &device);
  for (size_t i = 0; i < c->n && c->status == CL_SUCCESS; i++) c->all[i].tuned = read_back(c, &c->all[i]);
  if (c->status == CL_SUCCESS && !differs(c, difference, capacity)) time_both(c, tuned);
}

bool check_launch(apply_entry *entry, const track_kernel *k, const apply_launch *launch, cl_kernel tuned) {
  check c = {.entry = entry, .k = k, .launch = launch};
  char difference[REPORT_MESSAGE] = "";
  if (!waits_end()) return false;
  track_flush(); /* its wait list may need commands of other queues */
  if (launch->n_after && layer_next.clWaitForEvents(launch->n_after, launch->after)) return false;
  c.all = layer_new(k->n_arguments, sizeof *c.all);
  note(&c, track_finish(launch->queue));
  note(&c,
       layer_next.clGetCommandQueueInfo(launch->queue, CL_QUEUE_CONTEXT, sizeof c.context, (void *)&c.context, NULL));
  keep(&c);
  const bool is_kept = c.status == CL_SUCCESS;
  if (is_kept) run_both(&c, tuned, difference, sizeof difference);
  const cl_int failed = c.status;
  c.status = CL_SUCCESS;
  if (is_kept) restore(&c);
  release(&c);
  if (failed) {
    apply_switch_off(entry, "it cannot be checked (OpenCL error %d)", failed);
  } else if (difference[0]) {
    apply_switch_off(entry, "%s", difference);
    atomic_store(&entry->report->check, REPORT_WRONG);
  } else {
    atomic_store(&entry->report->check, REPORT_RIGHT);
  }
  return !failed && !difference[0];
}
