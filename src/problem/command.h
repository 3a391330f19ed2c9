/* problem/command.h - a problem whose configurations are evaluated by running programs (docs/commands.md): what its
 * section "Command" says, its files, and its texts for one configuration. */
#ifndef CLT_PROBLEM_COMMAND_H
#define CLT_PROBLEM_COMMAND_H

#include "problem/parts.h"

#define CLT_MAX_COMMAND_WORDS 4096     /* of one command, once "{options}" is expanded */
#define CLT_MAX_ANSWER_BYTES (1 << 20) /* of what a program prints, the end of which is read; of a figure's file */

#define CLT_MAX_COMMAND_FILE_BYTES ((int64_t)1 << 30) /* of all files together, which every configuration gets */

/* Places in words, which are known only when a command runs: letters behind a mark. */
#define CLT_PLACE_MARK '\x01'
typedef enum clt_command_place {
  CLT_PLACE_SCRATCH = 's',    /* "{scratch}": the folder that it runs in */
  CLT_PLACE_FOLDER = 'f',     /* "{folder}": the problem file's */
  CLT_PLACE_PARAMETERS = 'p', /* "{parameters}": the parameters file */
  CLT_PLACE_INPUT = 'i',      /* "{input}", "{output}": a batch's files */
  CLT_PLACE_OUTPUT = 'o',
  CLT_PLACE_OPTIONS = 'd' /* "{options}", a word of its own: "-Da=1", "-Db=2" ... */
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
  CLT_FIGURE_MEMORY, /* the most that a process of the run had in memory, bytes */
  CLT_FIGURE_FILE,
  CLT_FIGURE_OUTPUT /* standard output */
} clt_figure_source;

typedef enum clt_statistic { CLT_STATISTIC_MINIMUM, CLT_STATISTIC_MEDIAN, CLT_STATISTIC_MEAN } clt_statistic;

/* What a run is judged by: a number that is measured or read, times `scale`. */
typedef struct clt_figure {
  clt_figure_source source;
  const char *file;    /* in the scratch folder */
  const char *member;  /* "a.b.0": of the JSON text; NULL: not JSON */
  const char *pattern; /* POSIX extended; NULL: none */
  const char *unit;    /* "s" where it is a time */
  double scale;
  bool larger_is_better;
  clt_statistic statistic;
} clt_figure;

/* Whether the figure is a time in seconds: then it is the measurement's time_s, else its figure. */
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
  const char **files, **links; /* as written, seen from the problem's folder */
  size_t n_files, n_links;
  bool whole_folder;           /* everything in the problem's folder is copied */
  const char *environment;     /* what precedes the names of the variables; NULL: none are set */
  const char *parameters_file; /* in the scratch folder; NULL: none */
  clt_parameters_form parameters_form;
  clt_figure figure;
  clt_batch batch;
} clt_command;

/* Its command lines: those of the build, the run, then the check. */
static inline size_t clt_command_n_lines(const clt_command *command) { return command->n_build + 2; }
const clt_command_line *clt_command_line_at(const clt_command *command, size_t index);

/* NULL where the problem is a kernel. */
const clt_command *clt_instance_command(const clt_instance *instance);

/* Where a command runs; texts are borrowed. Files are in scratch. */
typedef struct clt_command_places {
  const char *scratch, *folder, *parameters, *input, *output;
} clt_command_places;

/* Writes an option or a word, expressions in braces replaced by their values, and places (NULL: an option, which has
 * none) by their texts; key: of the command line. */
void clt_expand_option(clt_text *out, clt_calculation *c, const clt_compiler_option *option,
                       const clt_command_places *places, const char *key);

/* The words of a command line for a configuration, ended by a NULL; freed with clt_words_free. config CLT_CONFIG_NONE:
 * of no configuration, which is an error where a word depends on one. */
int clt_command_words(const clt_instance *instance, const clt_command_line *line, clt_config config,
                      const clt_command_places *places, char ***out, clt_error *error);

/* "name=value" of all tuning parameters and sizes, with the prefix, ended by a NULL. Empty where none are set. */
int clt_command_environment(const clt_instance *instance, clt_config config, char ***out, clt_error *error);

/* The content of the parameters file. *out is malloc'ed. */
int clt_command_parameters(const clt_instance *instance, clt_config config, char **out, clt_error *error);

/* Visits "Files" and what is in them, in an order that depends on names alone; relative: where a file lies in the
 * scratch folder, path: where it comes from. Folders come before what is in them. Of a whole folder ("*") hidden files,
 * stores, folders of runs, the problem file and, where there is something to build, ELF files are left out. Anything
 * but 0 ends the walk. */
typedef int (*clt_file_visitor)(void *user, const char *relative, const char *path, bool folder, clt_error *error);
int clt_command_each_file(const clt_instance *instance, clt_file_visitor visit, void *user, clt_error *error);

/* Where a file that is listed as `written` lies in the scratch folder: there too, or by its last name where that would
 * be outside. Borrowed from written. */
const char *clt_name_in_scratch(const char *written);

#endif
