/* cli/subject.h - the problem, device, instance and store of a command. */
#ifndef CLT_CLI_SUBJECT_H
#define CLT_CLI_SUBJECT_H

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>

#include "cli/arguments.h"
#include "store/store.h"

typedef struct cli_subject {
  clt_problem *problem;
  clt_device_info *device; /* array of n_devices; NULL: none */
  size_t n_devices;
  clt_instance *instance;
} cli_subject;

/* CLI_DEVICES_REQUIRED: one or several. CLI_DEVICE_KNOWN: the device may be missing on this machine if the store
 * (--store, else the user's or the system's) describes it; the newest driver counts. */
typedef enum cli_device_need {
  CLI_DEVICE_IF_NAMED,
  CLI_DEVICE_REQUIRED,
  CLI_DEVICES_REQUIRED,
  CLI_DEVICE_KNOWN
} cli_device_need;

/* Loads a problem file and instantiates it at the sizes of --size on the device of --device, else of CLATUNE_DEVICE,
 * else (if one is required) on the only device. */
cli_subject cli_subject_new(const cli_arguments *arguments, const char *path, cli_device_need need);

/* The same in two steps: first the problem, with --cache; then the rest. The device of a program is the machine itself;
 * --device can only confirm it. */
cli_subject cli_subject_load(const cli_arguments *arguments, const char *path);
/* The path of a shipped problem, installed or in the source tree; malloc'ed. NULL: none has this name. */
char *cli_shipped_problem(const char *name);
void cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need);

/* The same subject with warm or cold caches, whatever --cache and the file say. */
cli_subject cli_subject_with_cache(const cli_arguments *arguments, const cli_subject *subject, bool cold);

/* As clt_devices, but a driver that breaks the others is left out from then on, with a warning. */
int cli_devices_here(clt_device_info **out, size_t *n, clt_error *error);

/* If no GPU or accelerator is listed, but the library of a known driver has one: prints how to use it. */
void cli_suggest_drivers(const clt_device_info *devices, size_t n);

/* As cli_check, for a choice of devices of this machine: if none was found, it suggests drivers. */
void cli_check_device(int rc);

/* The device of this machine that `text` names (NULL: the only one). Returns a result code and prints nothing. */
int cli_find_device(clt_device_info *out, const char *text, clt_error *error);

/* The device of this machine named by --device, else by CLATUNE_DEVICE, else the only one. */
void cli_choose_device(clt_device_info *out, const cli_arguments *arguments);

/* Opens the store of --store, else the default one. cli_open_store_to_read: read only; NULL if it does not exist. */
clt_store *cli_open_store(const cli_arguments *arguments);
clt_store *cli_open_store_to_read(const cli_arguments *arguments);
clt_store *cli_read_store(const char *path); /* read only; it must exist */
bool cli_has_store(const cli_arguments *arguments);

/* Ends the program with the message that there is no store. cli_note_no_store: only prints it, unless --quiet. */
int cli_no_store(const cli_arguments *arguments) __attribute__((noreturn));
void cli_note_no_store(const cli_arguments *arguments);

/* Loads n recordings. cli_load_sources: the *n of --learn-from; none with --no-transfer. */
clt_recording **cli_load_recordings(const char *const *paths, size_t n);
clt_recording **cli_load_sources(size_t *n, const cli_arguments *arguments);

/* Fits a model of a type (NULL: auto) to the stored measurements of the subject, at all sizes (*n_sizes of them) or
 * only at its own, with the options of `clatune train`. It predicts for the subject's instance. */
clt_model *cli_fit(const cli_arguments *arguments, const cli_subject *subject, const char *type, bool own_size,
                   size_t *n_sizes);

/* The model saved by `clatune train`; if there is none, a model fitted now. */
clt_model *cli_trained_model(const cli_arguments *arguments, const cli_subject *subject);

/* Whether each word of `words` is a word of `text`; words are separated by spaces. */
bool cli_has_words(const char *text, const char *words);

#endif
