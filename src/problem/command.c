/* What a command is told of a configuration: words, environment, parameters file; and the files that it finds in the
 * folder that it runs in. */
#include "problem/command.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

/* Of all files together, which are copied for every configuration. */
#define MAX_FILES 20000
#define MAX_DEPTH 16
#define MAX_BYTES ((int64_t)1 << 30)

const clt_command *clt_instance_command(const clt_instance *instance) { return instance->problem->command; }

/* --- lists of texts, ended by a NULL --- */

typedef struct word_list {
  char **words;
  size_t n, capacity;
} word_list;

void clt_words_free(char **words) {
  for (size_t i = 0; words && words[i]; i++) free(words[i]);
  free(words);
}

/* Takes over what was written to text. */
static int append_word(word_list *list, clt_text *text, clt_error *error) {
  char *word = NULL;
  int rc = clt_text_take(&word, text, error);
  if (rc == CLT_OK && list->n >= CLT_MAX_COMMAND_WORDS)
    rc = clt_fail(error, CLT_E_RANGE, "a command has more than %d words", CLT_MAX_COMMAND_WORDS);
  if (rc == CLT_OK && clt_grow(&list->words, &list->capacity, list->n + 2, sizeof *list->words))
    rc = clt_fail_memory(error);
  if (rc) return free(word), rc;
  list->words[list->n++] = word;
  list->words[list->n] = NULL;
  return CLT_OK;
}

static int finish_words(word_list *list, int rc, char ***out, clt_error *error) {
  if (rc == CLT_OK && list->words == NULL && (list->words = clt_new_array(1, sizeof *list->words)) == NULL)
    rc = clt_fail_memory(error);
  if (rc) return clt_words_free(list->words), rc;
  *out = list->words;
  return CLT_OK;
}

/* --- names and values --- */

size_t clt_n_defines(const clt_instance *instance) {
  return instance->problem->n_parameters + instance->problem->n_passed;
}

const char *clt_define_name(const clt_instance *instance, size_t index) {
  const clt_problem *problem = instance->problem;
  size_t n = problem->n_parameters;
  return index < n ? problem->parameters[index].name : problem->sizes[index - n].name;
}

clt_value clt_define_value(const clt_instance *instance, const clt_value *slots, size_t index) {
  size_t n = instance->problem->n_parameters;
  return index < n ? slots[index] : (clt_value){.type = CLT_INT, .integer = instance->sizes[index - n]};
}

void clt_text_add_value(clt_text *text, clt_value value) {
  char number[64];
  if (value.type == CLT_STRING) {
    clt_text_add(text, value.text);
  } else {
    clt_value_print(value, number, sizeof number);
    clt_text_add(text, number);
  }
}

/* "<before><name><between><value>" */
static void add_assignment(clt_text *text, const clt_instance *instance, const clt_value *slots, size_t index,
                           const char *before, const char *between) {
  clt_text_add(text, before);
  clt_text_add(text, clt_define_name(instance, index));
  clt_text_add(text, between);
  clt_text_add_value(text, clt_define_value(instance, slots, index));
}

/* A word for each. */
static int append_assignments(word_list *list, const clt_instance *instance, const clt_value *slots, const char *before,
                              clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < clt_n_defines(instance); i++) {
    clt_text text = {0};
    add_assignment(&text, instance, slots, i, before, "=");
    rc = append_word(list, &text, error);
  }
  return rc;
}

/* --- words --- */

typedef struct word_context {
  const clt_command_places *places;
  const char *key; /* of the command line */
} word_context;

/* Writes what the mark of a place stands for, or says what is missing for it. */
static void add_place(clt_text *out, clt_calculation *c, char place, const void *user) {
  const word_context *context = user;
  const clt_command_places *places = context->places;
  const char *text = NULL, *missing = "\"{output}\" needs a \"Batch\" with an \"Output\"";
  switch (place) {
    case CLT_PLACE_SCRATCH: text = places->scratch; break;
    case CLT_PLACE_FOLDER: text = places->folder; break;
    case CLT_PLACE_PARAMETERS:
      text = places->parameters;
      missing = "\"{parameters}\" needs a \"ParametersFile\"";
      break;
    case CLT_PLACE_INPUT:
      text = places->input;
      missing = "\"{input}\" needs a \"Batch\" with an \"Input\"";
      break;
    case CLT_PLACE_OUTPUT: text = places->output; break;
    case CLT_PLACE_OPTIONS:
      for (size_t i = 0; c->slots && i < clt_n_defines(c->instance); i++)
        add_assignment(out, c->instance, c->slots, i, i ? " -D" : "-D", "=");
      text = c->slots ? "" : NULL;
      missing = "\"{options}\" needs a configuration, and a batch has many";
  }
  if (text)
    clt_text_add(out, text);
  else if (c->rc == CLT_OK)
    c->rc = clt_key_fail(&c->instance->problem->source, context->key, CLT_E_FORMAT, c->error, "%s", missing);
}

int clt_command_words(const clt_instance *instance, const clt_command_line *line, clt_config config,
                      const clt_command_places *places, char ***out, clt_error *error) {
  static const char options[] = {CLT_PLACE_MARK, CLT_PLACE_OPTIONS, 0};
  clt_value all_slots[CLT_MAX_PARAMETERS], *slots = config == CLT_CONFIG_NONE ? NULL : all_slots;
  clt_calculation c = {instance, slots, error, CLT_OK};
  const word_context context = {places, line->key};
  bool shell = instance->problem->command->shell;
  word_list list = {NULL, 0, 0};
  int rc = CLT_OK;
  if (slots) clt_instance_slots(instance, config, slots);
  for (size_t i = 0; rc == CLT_OK && shell && i < 2; i++) {
    clt_text text = {0};
    clt_text_add(&text, i == 0 ? "/bin/sh" : "-c");
    rc = append_word(&list, &text, error);
  }
  for (size_t i = 0; rc == CLT_OK && i < line->n; i++) {
    const clt_compiler_option *word = &line->words[i];
    clt_text text = {0};
    bool applies = clt_evaluate_when(&c, word->when);
    if (applies && slots && strcmp(word->text, options) == 0 && !shell) {
      rc = append_assignments(&list, instance, slots, "-D", error);
    } else {
      if (applies) clt_expand_option(&text, &c, word, add_place, &context);
      rc = c.rc;
      if (rc == CLT_OK && applies) rc = append_word(&list, &text, error);
      clt_text_release(&text);
    }
  }
  return finish_words(&list, rc, out, error);
}

/* --- environment and parameters file --- */

int clt_command_environment(const clt_instance *instance, clt_config config, char ***out, clt_error *error) {
  clt_value slots[CLT_MAX_PARAMETERS];
  const char *prefix = instance->problem->command->environment;
  word_list list = {NULL, 0, 0};
  if (prefix) clt_instance_slots(instance, config, slots);
  int rc = prefix ? append_assignments(&list, instance, slots, prefix, error) : CLT_OK;
  return finish_words(&list, rc, out, error);
}

int clt_command_parameters(const clt_instance *instance, clt_config config, char **out, clt_error *error) {
  static const char *const before[] = {"#define ", "", ""}, *const between[] = {" ", "=", " "};
  clt_parameters_form form = instance->problem->command->parameters_form;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_text text = {0};
  clt_instance_slots(instance, config, slots);
  if (form == CLT_PARAMETERS_JSON) {
    json_t *object = json_object();
    for (size_t i = 0; i < clt_n_defines(instance); i++)
      json_object_set_new(object, clt_define_name(instance, i), clt_json_value(clt_define_value(instance, slots, i)));
    *out = json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    return *out ? CLT_OK : clt_fail_memory(error);
  }
  for (size_t i = 0; i < clt_n_defines(instance); i++) {
    add_assignment(&text, instance, slots, i, before[form], between[form]);
    clt_text_add(&text, "\n");
  }
  return clt_text_take(out, &text, error);
}

/* --- files --- */

typedef struct file_walk {
  const clt_problem *problem;
  clt_file_visitor visit;
  void *user;
  clt_error *error;
  size_t n;
  int64_t bytes;
} file_walk;

/* Of a whole folder: what was built before would keep make from building, and stores and folders of runs change while
 * they are used. */
static bool is_left_out(const file_walk *walk, const char *name, const char *path) {
  const char *own = strrchr(walk->problem->source.path, '/');
  bool temporary = clt_starts_with(name, "clatune-") || clt_starts_with(name, "clatune.new-");
  bool store =
      clt_ends_with(name, ".sqlite") || clt_ends_with(name, ".sqlite-wal") || clt_ends_with(name, ".sqlite-shm");
  if (name[0] == '.' || store || temporary || strcmp(name, own ? own + 1 : walk->problem->source.path) == 0)
    return true;
  if (walk->problem->command->n_build == 0) return false;
  char magic[4];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool is_elf = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
  if (fd >= 0) close(fd);
  return is_elf;
}

static int skip_dots(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* relative "": the whole folder of the problem. listed: it stands in "Files", or lies in a folder that does. */
static int walk_path(file_walk *walk, const char *relative, const char *path, int depth, bool listed) {
  struct stat status;
  struct dirent **entries = NULL;
  int rc = CLT_OK;
  if (stat(path, &status) != 0) /* a link to nowhere is of no use to anybody */
    return listed && depth == 0 ? clt_fail_errno(walk->error, CLT_E_IO, "read", path) : CLT_OK;
  bool folder = S_ISDIR(status.st_mode);
  if (!folder && !S_ISREG(status.st_mode)) return CLT_OK;
  if (relative[0]) {
    walk->bytes += folder ? 0 : (int64_t)status.st_size;
    if (++walk->n > MAX_FILES || walk->bytes > MAX_BYTES || depth > MAX_DEPTH)
      return clt_fail(walk->error, CLT_E_RANGE,
                      "'%s' holds more than can be copied for every configuration; name what is needed in \"Files\", "
                      "and large data in \"Links\"",
                      walk->problem->folder);
    rc = walk->visit(walk->user, relative, path, folder, walk->error);
  }
  if (rc || !folder) return rc;
  int n = scandir(path, &entries, skip_dots, alphasort); /* sorted, as the key depends on the order */
  if (n < 0) return clt_fail_errno(walk->error, CLT_E_IO, "list", path);
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    char *inner = clt_path_join(path, name), *as = clt_format("%s%s%s", relative, relative[0] ? "/" : "", name);
    if (rc == CLT_OK && !(inner && as)) rc = clt_fail_memory(walk->error);
    if (rc == CLT_OK && (listed || !is_left_out(walk, name, inner))) rc = walk_path(walk, as, inner, depth + 1, listed);
    free(inner);
    free(as);
    free(entries[i]);
  }
  free(entries);
  return rc;
}

const char *clt_name_in_scratch(const char *written) {
  const char *slash = strrchr(written, '/');
  bool inside = written[0] != '/' && !clt_starts_with(written, "..") && strstr(written, "/..") == NULL;
  return inside || slash == NULL ? written : slash + 1;
}

int clt_command_each_file(const clt_instance *instance, clt_file_visitor visit, void *user, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_command *command = problem->command;
  file_walk walk = {.problem = problem, .visit = visit, .user = user, .error = error};
  int rc = command->whole_folder ? walk_path(&walk, "", problem->folder, 0, false) : CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < command->n_files; i++) {
    char *path = clt_problem_file(problem, command->files[i]);
    rc = path ? walk_path(&walk, clt_name_in_scratch(command->files[i]), path, 0, true) : clt_fail_memory(error);
    free(path);
  }
  return rc;
}

/* --- the key --- */

static int hash_file(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  char *bytes = NULL;
  size_t n = 0;
  clt_hasher_add_text(user, relative);
  if (folder) return CLT_OK;
  int rc = clt_file_read(&bytes, &n, path, (size_t)MAX_BYTES, error);
  if (rc == CLT_OK) clt_hasher_add(user, bytes, n);
  free(bytes);
  return rc;
}

static void hash_line(clt_hasher *hasher, const clt_problem *problem, const clt_command_line *line) {
  clt_hasher_add(hasher, &line->n, sizeof line->n);
  for (size_t i = 0; i < line->n; i++) {
    clt_expression_id when = line->words[i].when;
    clt_hasher_add_text(hasher, line->words[i].text);
    clt_hasher_add_text(hasher, when == CLT_NO_EXPRESSION ? "" : problem->expressions[when].text);
  }
}

int clt_command_hash(clt_hasher *hasher, const clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_command *command = problem->command;
  const clt_figure *figure = &command->figure;
  const int kinds[] = {command->shell, (int)command->parameters_form, command->batch.used};
  const int figure_kinds[] = {(int)figure->source, figure->larger_is_better, (int)figure->statistic};
  const char *const texts[] = {
      command->environment, command->parameters_file, command->batch.input, command->batch.output,
      figure->file,         figure->member,           figure->pattern,      figure->unit};
  clt_hasher_add_text(hasher, "clatune command 1");
  clt_hasher_add(hasher, kinds, sizeof kinds);
  for (size_t i = 0; i < command->n_build; i++) hash_line(hasher, problem, &command->build[i]);
  hash_line(hasher, problem, &command->run);
  hash_line(hasher, problem, &command->check);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (i == 4) { /* the figure's */
      clt_hasher_add(hasher, figure_kinds, sizeof figure_kinds);
      clt_hasher_add(hasher, &figure->scale, sizeof figure->scale);
    }
    clt_hasher_add_text(hasher, texts[i] ? "there" : "none");
    clt_hasher_add_text(hasher, texts[i] ? texts[i] : "");
  }
  for (size_t i = 0; i < command->n_links; i++) clt_hasher_add_text(hasher, command->links[i]);
  return clt_command_each_file(instance, hash_file, hasher, error);
}
