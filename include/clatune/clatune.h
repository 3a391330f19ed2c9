/* clatune/clatune.h - the ten functions that most programs need, besides clt_error_format (clatune/error.h).
 *
 * A program with a tuned kernel asks at its start for the best known configuration for its device and sizes. This
 * measures nothing. It takes about a millisecond, and microseconds if the same question was answered before:
 *
 *     clt_tuner *tuner = NULL;
 *     clt_answer *answer = NULL;
 *     clt_error error = {0};
 *     const clt_size sizes[] = {{"width", 512}, {"height", 512}};
 *     if (clt_open(&tuner, "blur.json", sizes, 2, device, NULL, &error) || clt_lookup(&answer, tuner, &error)) ...
 *     clBuildProgram(program, 1, &device, clt_answer_text(answer, CLT_ANSWER_OPTIONS), NULL, NULL);
 *     const clt_launch_sizes *launch = clt_answer_launch(answer, 0);
 *     const size_t *local = launch->local[0] ? launch->local : NULL;
 *     clEnqueueNDRangeKernel(queue, kernel, launch->n_dimensions, NULL, launch->global, local, 0, NULL, NULL);
 *     clt_answer_free(answer);
 *     clt_close(tuner);
 *
 * clt_tune searches for a better configuration and stores what it measures. It builds and runs candidates in worker
 * processes, on data of their own, so that a candidate that crashes or hangs does not harm the program. With clt_ask
 * and clt_tell, the program runs the candidates itself as part of its work.
 *
 * Functions return 0 or a negative code CLT_E_... (clatune/error.h). On failure, nothing is written to the out
 * parameters and error holds the reason. A NULL pointer where a value is required is CLT_E_ARGUMENT. Several threads
 * may use one clt_tuner at the same time. */
#ifndef CLATUNE_CLATUNE_H
#define CLATUNE_CLATUNE_H

#include <clatune/error.h>
#include <clatune/problem.h>
#include <stdbool.h>
#include <stdint.h>

CLT_BEGIN_C

struct _cl_device_id; /* cl_device_id is a pointer to it */

typedef struct clt_tuner clt_tuner;   /* a problem file at certain sizes on a device, and the stores */
typedef struct clt_answer clt_answer; /* a configuration, and what it is based on */

/* Options of a search; zeros are the defaults. */
typedef struct clt_tuner_options {
  size_t struct_size;    /* sizeof(clt_tuner_options): lets later versions add members */
  const char *store;     /* path or URL of the store; NULL: $XDG_DATA_HOME/clatune/store.sqlite */
  int64_t budget;        /* evaluations, known configurations included; 0: the problem file's Budget, else 200 */
  double time_limit_s;   /* wall seconds after which clt_tune begins no further evaluation; 0: no limit */
  const char *objective; /* "time", "energy", a metric of the problem file or "maximise EXPRESSION"; NULL: the
                            objective of the problem file, else time */
  const char *searcher;  /* NULL: the searcher of the problem file, else the default */
  uint64_t seed;         /* with the same seed and the same results, a search asks for the same configurations */
} clt_tuner_options;

/* Opens a problem file (docs/reference/problem-file.md) at the given sizes (clt_size, clatune/problem.h) on a device.
 * Sizes that are not given have their defaults; options NULL means the defaults. Only the properties of the device are
 * queried; nothing is built or run. Texts and arrays are copied. Close with clt_close.
 *
 * CLT_E_IO, CLT_E_FORMAT: the problem file, with line and key. CLT_E_NOT_FOUND: no such size or searcher. CLT_E_RANGE:
 * a size is out of its range. CLT_E_DEVICE: the device is NULL or a sub-device. CLT_E_ARGUMENT: a size is given twice,
 * or an option is out of range. CLT_E_ARGUMENT, CLT_E_EXPRESSION: the objective. CLT_E_STORE: the store cannot be read.
 */
int clt_open(clt_tuner **out, const char *problem_path, const clt_size *sizes, size_t n_sizes,
             struct _cl_device_id *device, const clt_tuner_options *options, clt_error *error);
void clt_close(clt_tuner *tuner); /* answers stay valid; NULL is allowed */

/* The best known configuration: from the user's store, else from the system's. CLT_ANSWER_SOURCE tells what the answer
 * is based on; if nothing is known it is the default configuration. Free *out with clt_answer_free.
 *
 * CLT_E_NO_VALID: no configuration is valid at these sizes. CLT_E_IO, CLT_E_FORMAT: the problem or its kernel cannot
 * be read. CLT_E_STORE: a store is damaged. */
int clt_lookup(clt_answer **out, clt_tuner *tuner, clt_error *error);

/* Searches until the budget or the time limit is reached, stores every measurement at once, and answers with the best
 * configuration. Stored measurements are not repeated, so an interrupted search continues when it is called again.
 * Blocks, usually for minutes.
 *
 * CLT_E_NO_VALID: no configuration ran with a correct result. CLT_E_STORE: the store. CLT_E_WORKER: clatune-worker
 * cannot be started. */
int clt_tune(clt_answer **out, clt_tuner *tuner, clt_error *error);

/* The configuration to run next while the program works. If *exploring is true, pass its run time to clt_tell.
 * Otherwise the search is over, or waits for configurations that other threads are running, and *out is the best so
 * far. The program runs the configuration on its own data: nothing is isolated or verified. A call takes milliseconds
 * if the searcher computes. Free *out with clt_answer_free. */
int clt_ask(clt_answer **out, bool *exploring, clt_tuner *tuner, clt_error *error);

/* Reports the run time of an answer of clt_ask, in seconds: of one run, or the shortest of several. 0 or less: it did
 * not build or run, or its result was incorrect. The result is stored. CLT_E_ARGUMENT: the answer was not proposed or
 * was reported before, or time_s is NaN or infinite. */
int clt_tell(clt_tuner *tuner, const clt_answer *answer, double time_s, clt_error *error);

typedef enum clt_answer_field {
  CLT_ANSWER_OPTIONS,       /* build options: "-Dblock_x=16 -Dblock_y=4 -cl-fast-relaxed-math" */
  CLT_ANSWER_CONFIGURATION, /* "block_x=16 block_y=4", in the order of the parameters */
  CLT_ANSWER_SOURCE,        /* "exact", "other-driver", "prediction", "nearest-size", "same-architecture" or "default"
                               from clt_lookup; "tuned" from clt_tune; "proposed" or "best" from clt_ask */
  CLT_ANSWER_DEVICE,        /* the store's name of the device on which it was measured; "" if it was not measured */
  CLT_ANSWER_SIZES          /* the sizes at which it was measured, "width=2048 height=2048"; "" if it was not */
} clt_answer_field;

/* A field of an answer as text, borrowed from the answer. Never NULL; "" for an unknown field and for answer NULL. */
const char *clt_answer_text(const clt_answer *answer, clt_answer_field field);

/* The value of a tuning parameter (booleans are 0 and 1). The name "time_s" gives the measured or predicted seconds,
 * or NaN. CLT_E_NOT_FOUND: no such parameter. CLT_E_FORMAT: its value is a text. */
int clt_answer_number(double *out, const clt_answer *answer, const char *name, clt_error *error);

/* Global and local size of a launch, at the sizes given to clt_open; index counts from 0. NULL if there are not so many
 * launches or the problem runs programs. All local sizes 0: pass NULL to clEnqueueNDRangeKernel. Borrowed from the
 * answer. */
const clt_launch_sizes *clt_answer_launch(const clt_answer *answer, size_t index);
void clt_answer_free(clt_answer *answer); /* NULL is allowed */

CLT_END_C
#endif
