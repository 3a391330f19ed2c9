/* clatune/clatune.h - the functions that most programs need: these ten, and clt_error_format (clatune/error.h).
 *
 * An application that ships a tuned kernel asks at its start for the best configuration known for its device and
 * sizes. That measures nothing and takes microseconds once the answer has been given before:
 *
 *     clt_tuner *tuner = NULL;
 *     clt_answer *answer = NULL;
 *     clt_error error = {0};
 *     const clt_size sizes[] = {{"width", 512}, {"height", 512}};
 *     if (clt_open(&tuner, "blur.json", sizes, 2, device, NULL, &error) || clt_lookup(&answer, tuner, &error)) ...
 *     clBuildProgram(program, 1, &device, clt_answer_text(answer, CLT_ANSWER_OPTIONS), NULL, NULL);
 *     const clt_launch_sizes *launch = clt_answer_launch(answer, 0);
 *     clEnqueueNDRangeKernel(queue, kernel, launch->n_dimensions, NULL, launch->global, launch->local, 0, NULL, NULL);
 *     clt_answer_free(answer);
 *     clt_close(tuner);
 *
 * clt_tune finds a better one and stores it: candidates build and run in worker processes, on data of their own, so
 * that one that crashes or hangs does the program no harm. clt_ask and clt_tell search while the program works: it
 * runs each proposed configuration itself and says how long that took.
 *
 * Everything else that the library can do stands in headers of one noun each: clatune/tune.h, clatune/store.h,
 * clatune/space.h, clatune/model.h ... Functions return 0 or a negative CLT_E_... (clatune/error.h); on failure
 * nothing is written to the out parameters, and error says why; NULL where something is needed is CLT_E_ARGUMENT. A
 * clt_tuner may be used by several threads at once. */
#ifndef CLATUNE_CLATUNE_H
#define CLATUNE_CLATUNE_H

#include <clatune/error.h>
#include <clatune/problem.h>
#include <stdbool.h>
#include <stdint.h>

CLT_BEGIN_C

struct _cl_device_id; /* cl_device_id is a pointer to it */

typedef struct clt_tuner clt_tuner;   /* a problem file at certain sizes on a device, and what is known of it */
typedef struct clt_answer clt_answer; /* a configuration, and what it rests on */

/* Options of a search; zeros are the defaults. */
typedef struct clt_tuner_options {
  size_t struct_size;    /* sizeof(clt_tuner_options): lets later versions add members */
  const char *store;     /* path of the store; NULL: $XDG_DATA_HOME/clatune/store.sqlite */
  int64_t budget;        /* configurations to evaluate, known ones included; 0: what the problem file says, else 200 */
  double time_limit_s;   /* wall seconds after which clt_tune begins no new evaluation; 0: none */
  const char *objective; /* "time", "energy", a metric of the problem file, "maximise EXPRESSION"; NULL: the file's,
                            else time */
  const char *searcher;  /* NULL: the file's, else the default */
  uint64_t seed;         /* the same seed proposes the same configurations as long as the answers are the same */
} clt_tuner_options;

/* Opens a problem file (docs/problem-format.md) at the given sizes (clt_size, clatune/problem.h), on a device of the
 * caller's. Sizes that are not given have their defaults. The driver is asked what the device is; nothing is built
 * or run. options NULL: the defaults; an older, smaller struct is filled up with zeros. Texts and arrays are copied.
 * Close with clt_close. CLT_E_IO, CLT_E_FORMAT: the file, with line and key; CLT_E_NOT_FOUND: a size that the
 * problem lacks, or no such searcher; CLT_E_RANGE: a size out of its range; CLT_E_DEVICE: no root device of a
 * platform; CLT_E_ARGUMENT: a size given twice, or an option out of its range; CLT_E_EXPRESSION: the objective;
 * CLT_E_STORE: the store cannot be read. */
int clt_open(clt_tuner **out, const char *problem_path, const clt_size *sizes, size_t n_sizes,
             struct _cl_device_id *device, const clt_tuner_options *options, clt_error *error);
void clt_close(clt_tuner *tuner); /* answers stay valid; NULL is allowed */

/* The best configuration that the stores hold: the user's own, then the system's. Answers wherever the problem
 * is readable and has a valid configuration at these sizes (else CLT_E_NO_VALID); CLT_ANSWER_SOURCE says on what the
 * answer rests. Free *out with clt_answer_free. */
int clt_lookup(clt_answer **out, clt_tuner *tuner, clt_error *error);

/* Searches until the budget or the time limit is reached, stores every measurement as it is made, and answers with the
 * best. Measurements in the store are not repeated, so an interrupted search goes on where it was. Blocks; minutes are
 * usual. CLT_E_NO_VALID: no configuration ran and was right; CLT_E_STORE; CLT_E_WORKER: clatune-worker cannot be run.
 * */
int clt_tune(clt_answer **out, clt_tuner *tuner, clt_error *error);

/* The configuration to run next while the program works. *exploring: the search wants its time, by clt_tell. Otherwise
 * the search is over, or waits for proposals that other threads hold, and *out is the best so far. Nothing is isolated
 * or verified: the program runs the configuration on its own data. A call takes milliseconds where the searcher
 * thinks. */
int clt_ask(clt_answer **out, bool *exploring, clt_tuner *tuner, clt_error *error);

/* What came of a proposal: seconds above 0, of one run or the least of several; 0 or less: it did not build or run,
 * or its result was wrong. It is stored. CLT_E_ARGUMENT: this answer was not proposed, is told already, or time_s is
 * no number. */
int clt_tell(clt_tuner *tuner, const clt_answer *answer, double time_s, clt_error *error);

typedef enum clt_answer_field {
  CLT_ANSWER_OPTIONS,       /* build options: "-Dblock_x=16 -Dblock_y=4 -cl-fast-relaxed-math" */
  CLT_ANSWER_CONFIGURATION, /* "block_x=16 block_y=4", in the order of the parameters */
  CLT_ANSWER_SOURCE,        /* "exact", "other-driver", "prediction", "nearest-size", "same-architecture" or "default"
                               from clt_lookup; "tuned" from clt_tune; "proposed" or "best" from clt_ask */
  CLT_ANSWER_DEVICE,        /* where it was measured: the store's name of the device; "" where it was not */
  CLT_ANSWER_SIZES          /* "width=2048 height=2048"; "" where it was not measured */
} clt_answer_field;

/* Never NULL; "" for a field that this version does not know, and of no answer (NULL). Borrowed from the answer. */
const char *clt_answer_text(const clt_answer *answer, clt_answer_field field);

/* The value of a tuning parameter (booleans are 0 and 1), or "time_s": the measured or predicted seconds, NaN where
 * there are none. CLT_E_NOT_FOUND: there is no such parameter; CLT_E_FORMAT: its value is a text. */
int clt_answer_number(double *out, const clt_answer *answer, const char *name, clt_error *error);

/* How an answer is launched at the sizes that were asked for: global and local sizes, by the problem's expressions.
 * NULL where there are not so many launches, and for a problem that runs programs. A local size of 0 is left to the
 * driver. Borrowed from the answer. */
const clt_launch_sizes *clt_answer_launch(const clt_answer *answer, size_t index);
void clt_answer_free(clt_answer *answer); /* NULL is allowed */

CLT_END_C
#endif
