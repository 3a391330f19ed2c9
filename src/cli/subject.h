/* cli/subject.h - what most commands begin with: the problem, the device, the instance, the store. Where nothing else
 * is said, functions return 0, or an exit code after a message. */
#ifndef CLT_CLI_SUBJECT_H
#define CLT_CLI_SUBJECT_H

#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>

#include "cli/command.h"

typedef struct cli_subject {
  clt_problem *problem;
  clt_device_info *device; /* NULL: none */
  clt_instance *instance;
} cli_subject;

/* CLI_DEVICE_KNOWN: a device that is not here will do as well, if the store (--store, or the user's and the system's)
 * describes it; the newest driver counts. */
typedef enum cli_device_need { CLI_DEVICE_IF_NAMED, CLI_DEVICE_REQUIRED, CLI_DEVICE_KNOWN } cli_device_need;

/* Loads a problem file and instantiates it at the typed sizes on the typed device (--device, else CLATUNE_DEVICE, else
 * the only device where one is required). */
int cli_subject_init(cli_subject *out, const cli_arguments *arguments, const char *path, cli_device_need need);

/* The same in two steps: the problem alone, then the rest; releases the subject on failure. A command's device is the
 * machine itself, which --device may only confirm. */
int cli_subject_load(cli_subject *out, const char *path);
int cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need);
void cli_subject_release(cli_subject *subject);

/* The device of this machine that was typed, else CLATUNE_DEVICE's, else the only one. */
int cli_choose_device(clt_device_info *out, const cli_arguments *arguments);

/* Opens the store that was typed, or the standard one; for reading alone, *out NULL: there is none yet. */
int cli_open_store(clt_store **out, const cli_arguments *arguments);
int cli_open_store_to_read(clt_store **out, const cli_arguments *arguments);
bool cli_has_store(const cli_arguments *arguments);

/* "there is no store ... yet"; CLI_FAILURE. To say it without failing: cli_note_no_store, nothing with --quiet. */
int cli_no_store(const cli_arguments *arguments);
void cli_note_no_store(const cli_arguments *arguments);

/* Recordings from files. *out is malloc'ed; release in either case. */
int cli_load_recordings(clt_recording ***out, const char *const *paths, size_t n);
void cli_free_recordings(clt_recording **recordings, size_t n);

/* Those of --learn-from; none with --no-transfer. */
int cli_load_sources(clt_recording ***out, size_t *n, const cli_arguments *arguments);

/* A model of the named type (NULL: auto) fitted on what the store holds of the subject, at all sizes or at its own
 * (options of `clatune train`). It speaks of the subject's instance. */
int cli_fit(clt_model **out, const cli_arguments *arguments, const cli_subject *subject, const char *type,
            bool own_size, size_t *n_sizes);

/* The model that `clatune train` has kept; where there is none, one that is fitted now. */
int cli_trained_model(clt_model **out, const cli_arguments *arguments, const cli_subject *subject);

#endif
