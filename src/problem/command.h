/* problem/command.h - problems whose configurations are evaluated by running programs
 * (docs/reference/program-problems.md): the section "Command", its files, and its words for one configuration. */
#pragma once

#include "base/text.h"
#include "problem/instance.h"
#include "problem/plan.h"

#define CLT_MAX_COMMAND_WORDS 4096     /* of one command, after "{options}" was expanded */
#define CLT_MAX_ANSWER_BYTES (1 << 20) /* of a program's output, of which the end is read; of the file of a figure */

#define CLT_MAX_COMMAND_FILE_BYTES \
  ((int64_t)1 << 30) /* of all files together, which are copied for every configuration */

/* Placeholders in words, which are replaced when a command runs. They are stored as a mark and a letter. */
#define CLT_PLACE_MARK '\x01'
typedef enum clt_command_place {
  CLT_PLACE_SCRATCH = 's',    /* "{scratch}": the folder in which the command runs */
  CLT_PLACE_FOLDER = 'f',     /* "{folder}": the folder of the problem file */
  CLT_PLACE_PARAMETERS = 'p', /* "{parameters}": the parameters file */
  CLT_PLACE_INPUT = 'i',      /* "{input}", "{output}": the files of a batch */
  CLT_PLACE_OUTPUT = 'o',
  CLT_PLACE_OPTIONS = 'd' /* "{options}": becomes the words "-Da=1", "-Db=2" ... */
} clt_command_place;

typedef struct clt_command_line {
  clt_compiler_option *words;
  size_t n;
  const char *key;
} clt_command_line;

typedef enum clt_figure_source {
  CLT_FIGURE_WALL,
  CLT_FIGURE_USER,
  CLT_FIGURE_SYSTEM,
  CLT_FIGURE_CPU,    /* user and system */
  CLT_FIGURE_MEMORY, /* peak resident memory of a process of the run, in bytes */
  CLT_FIGURE_FILE,
  CLT_FIGURE_OUTPUT /* standard output */
} clt_figure_source;

typedef enum clt_statistic { CLT_STATISTIC_MINIMUM, CLT_STATISTIC_MEDIAN, CLT_STATISTIC_MEAN } clt_statistic;

/* The figure of a run: a number that is measured or read, multiplied by `scale`. */
typedef struct clt_figure {
  clt_figure_source source;
  const char *file;    /* in the scratch folder */
  const char *member;  /* "a.b.0": path in a JSON text; NULL: the text is not JSON */
  const char *pattern; /* POSIX extended regular expression; NULL: none */
  const char *unit;    /* "s" if it is a time */
  double scale;
  bool larger_is_better;
  clt_statistic statistic;
} clt_figure;

/* Whether the figure is a time in seconds, and so the time_s of a measurement instead of its figure. */
bool clt_figure_is_time(const clt_figure *figure);

/* The batch protocol. input, output: files in the scratch folder; NULL: standard input and output. */
typedef struct clt_batch {
  bool used;
  const char *input, *output;
} clt_batch;

typedef enum clt_parameters_form {
  CLT_PARAMETERS_DEFINES,     /* #define a 1 */
  CLT_PARAMETERS_ASSIGNMENTS, /* a=1 */
  CLT_PARAMETERS_LINES,       /* a 1 */
  CLT_PARAMETERS_JSON
} clt_parameters_form;

typedef struct clt_command {
  bool shell;
  clt_command_line *build;
  size_t n_build;
  clt_command_line run, check; /* check.n 0: none */
  const char **files, **links; /* as written, relative to the problem's folder */
  size_t n_files, n_links;
  bool whole_folder;           /* copy everything in the problem's folder */
  const char *environment;     /* prefix of the names of the variables; NULL: none are set */
  const char *parameters_file; /* in the scratch folder; NULL: none */
  clt_parameters_form parameters_form;
  clt_figure figure;
  clt_batch batch;
} clt_command;

/* The command lines in their order: the build, the run, the check. */
static inline size_t clt_command_n_lines(const clt_command *command) { return command->n_build + 2; }
const clt_command_line *clt_command_line_at(const clt_command *command, size_t index);

/* NULL: the problem is a kernel. */
const clt_command *clt_instance_command(const clt_instance *instance);

/* The values of the placeholders; texts are borrowed. Files are in scratch. */
typedef struct clt_command_places {
  const char *scratch, *folder, *parameters, *input, *output;
} clt_command_places;

/* Writes an option or a word, with expressions in braces replaced by their values and placeholders by their texts.
 * places NULL: a compiler option, which has no placeholders. key: of the command line, for messages. */
void clt_expand_option(clt_text *out, clt_calculation *c, const clt_compiler_option *option,
                       const clt_command_places *places, const char *key);

/* The words of a command line for a configuration, ended by a NULL; free them with clt_words_free. config
 * CLT_CONFIG_NONE: no word may depend on the configuration. */
int clt_command_words(const clt_instance *instance, const clt_command_line *line, clt_config config,
                      const clt_command_places *places, char ***out, clt_error *error);

/* "name=value" of all tuning parameters and sizes, with the prefix, ended by a NULL; free them with clt_words_free.
 * Empty if the problem sets no variables. */
int clt_command_environment(const clt_instance *instance, clt_config config, char ***out, clt_error *error);

/* The content of the parameters file. *out is malloc'ed. */
int clt_command_parameters(const clt_instance *instance, clt_config config, char **out, clt_error *error);

/* Visits "Files" and the content of listed folders, in an order that depends only on names; a folder comes before its
 * content. relative is the path in the scratch folder, path that of the original. If the whole folder ("*") is listed,
 * hidden files, stores, folders of runs and the problem file are omitted, and ELF files too if there is a build
 * command. A result of visit other than 0 ends the walk. */
typedef int (*clt_file_visitor)(void *user, const char *relative, const char *path, bool folder, clt_error *error);
int clt_command_each_file(const clt_instance *instance, clt_file_visitor visit, void *user, clt_error *error);

/* The path in the scratch folder of a file that is listed as `written`: the same relative path, or only the file name
 * if that path would be outside. Borrowed from written. */
const char *clt_name_in_scratch(const char *written);

/* --- programs that write the source of a kernel (docs/reference/problem-file.md, "Generator") --- */

#define CLT_GENERATE_S 60.0 /* the limit of an answer, unless there is reason for another */

/* A generator that runs, or has run. NULL: not needed yet. The program is in its caller's process group, and ends with
 * the end of its standard input or by clt_generator_free. */
typedef struct clt_generator clt_generator;
void clt_generator_free(clt_generator *generator);

/* From now on this process starts generators by `launcher WORD...` (borrowed words, ended by a NULL), which must become
 * the program, or say CLT_CANNOT_START and why, and exit. */
#define CLT_CANNOT_START "cannot start '"
void clt_generator_launch_by(const char *const *launcher);

typedef enum clt_generated {
  CLT_GENERATED,
  CLT_NOT_GENERATED,    /* the configuration does not exist, as the generator says */
  CLT_GENERATION_FAILED /* it crashed, took too long or gave no usable answer */
} clt_generated;

/* Asks the generator of the plan's problem for the source of the plan's configuration, and puts it into the plan with
 * the options, sizes and the name that come with it. Starts the program if it does not run; *generator is the caller's,
 * also on failure. Without CLT_GENERATED, the reason is added to why. CLT_E_IO: the program cannot be started. */
int clt_generate(clt_generated *out, clt_text *why, clt_generator **generator, clt_plan *plan,
                 const clt_instance *instance, double limit_s, clt_error *error);

/* The plan of a configuration with its source, for which a generator is started and ended. CLT_E_NOT_FOUND: it makes
 * none; the message says why. */
int clt_plan_new_with_source(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error);

/* A hash of all that the generator may change: source, options, launches. */
uint64_t clt_plan_hash(const clt_plan *plan);
