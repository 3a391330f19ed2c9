/* The input of a command for a configuration: words, environment, parameters file, and the files in its folder. */
#include "problem/command.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/file.h"
#include "base/json.h"

/* Limits of the files together, because they are copied for every configuration. */
#define MAX_FILES 20000
#define MAX_DEPTH 16
#define MAX_BYTES CLT_MAX_COMMAND_FILE_BYTES

const clt_command *clt_instance_command(const clt_instance *instance) { return instance->problem->command; }

/* --- names and values --- */

size_t clt_n_defines(const clt_instance *instance) {
  return instance->problem->n_parameters + instance->problem->n_passed;
}

static clt_value define_at(const clt_calculation *c, size_t index, const char **name) {
  const clt_problem *problem = c->instance->problem;
  const size_t n = problem->n_parameters;
  *name = index < n ? problem->parameters[index].name : problem->sizes[index - n].name;
  return index < n ? c->slots[index] : (clt_value){.type = CLT_INT, .integer = c->instance->sizes[index - n]};
}

/* Writes "<before><name><between><value>". */
static void add_define(clt_text *out, const clt_calculation *c, size_t index, const char *before, const char *between) {
  const char *name;
  clt_value value = define_at(c, index, &name);
  clt_text_add(out, before);
  clt_text_add(out, name);
  clt_text_add(out, between);
  clt_text_add_value(out, value);
}

void clt_add_define_option(clt_text *out, const clt_calculation *c, size_t index) {
  const char *name;
  const clt_value value = define_at(c, index, &name);
  const bool quoted = value.type == CLT_STRING && strpbrk(value.text, " \t") && strchr(value.text, '"') == NULL;
  add_define(out, c, index, "-D", quoted ? "=\"" : "=");
  if (quoted) clt_text_add(out, "\"");
}

/* --- words --- */

/* Writes the value of a placeholder, or reports the missing value. */
static void add_place(clt_text *out, clt_calculation *c, char place, const clt_command_places *places,
                      const char *key) {
  const struct {
    clt_command_place place;
    const char *text, *missing;
  } all[] = {{CLT_PLACE_SCRATCH, places->scratch, ""},
             {CLT_PLACE_FOLDER, places->folder, ""},
             {CLT_PLACE_PARAMETERS, places->parameters, "\"{parameters}\" needs a \"ParametersFile\""},
             {CLT_PLACE_INPUT, places->input, "\"{input}\" needs a \"Batch\" with an \"Input\""},
             {CLT_PLACE_OUTPUT, places->output, "\"{output}\" needs a \"Batch\" with an \"Output\""},
             {CLT_PLACE_OPTIONS, c->slots ? "" : NULL, "\"{options}\" needs a single configuration; a batch has many"}};
  size_t i = 0;
  while (all[i].place != (clt_command_place)place) i++;
  for (size_t k = 0; place == CLT_PLACE_OPTIONS && c->slots && k < clt_n_defines(c->instance); k++) {
    if (k) clt_text_add(out, " ");
    clt_add_define_option(out, c, k);
  }
  if (all[i].text)
    clt_text_add(out, all[i].text);
  else if (c->rc == CLT_OK)
    c->rc = clt_key_fail(&c->instance->problem->source, key, CLT_E_FORMAT, c->error, "%s", all[i].missing);
}

void clt_expand_option(clt_text *out, clt_calculation *c, const clt_compiler_option *option,
                       const clt_command_places *places, const char *key) {
  const char *at = option->text;
  size_t hole = 0;
  while (*at && c->rc == CLT_OK) {
    size_t n = strcspn(at, places ? (const char[]){'{', CLT_PLACE_MARK, 0} : "{");
    clt_text_add_bytes(out, at, n);
    at += n;
    if (at[0] == '{' && at[1] == '{') {
      clt_text_add(out, "{");
      at += 2;
    } else if (at[0] == '{') {
      clt_text_add_value(out, clt_evaluate(c, option->holes[hole++]));
      at = strchr(at, '}') + 1;
    } else if (at[0] && places) {
      add_place(out, c, at[1], places, key);
      at += 2;
    }
  }
}

/* Adds the content of text as a word, and empties text. */
static void append_word(clt_words *list, clt_calculation *c, clt_text *text) {
  char *word = NULL;
  int rc = clt_text_take(&word, text, c->error);
  if (rc == CLT_OK && list->n >= CLT_MAX_COMMAND_WORDS) {
    rc = clt_fail(c->error, CLT_E_RANGE, "a command must not have more than %d words", CLT_MAX_COMMAND_WORDS);
    free(word);
  } else if (rc == CLT_OK) {
    rc = clt_words_add(list, word, c->error);
  }
  if (c->rc == CLT_OK) c->rc = rc;
}

/* One word per parameter. */
static void append_defines(clt_words *list, clt_calculation *c, const char *before) {
  for (size_t i = 0; c->rc == CLT_OK && i < clt_n_defines(c->instance); i++) {
    clt_text text = {0};
    add_define(&text, c, i, before, "=");
    append_word(list, c, &text);
  }
}

static int finish_words(clt_words *list, clt_calculation *c, char ***out) {
  if (c->rc == CLT_OK && list->all == NULL && (list->all = clt_new_array(1, sizeof *list->all)) == NULL)
    c->rc = clt_fail_memory(c->error);
  if (c->rc)
    clt_words_free(list->all);
  else
    *out = list->all;
  return c->rc;
}

const clt_command_line *clt_command_line_at(const clt_command *command, size_t i) {
  if (i < command->n_build) return &command->build[i];
  return i == command->n_build ? &command->run : &command->check;
}

static const char options_place[] = {CLT_PLACE_MARK, CLT_PLACE_OPTIONS, 0};

bool clt_problem_has_options(const clt_problem *problem) {
  const bool is_plain = problem->kernel_file || problem->generation.macros || problem->n_options > 0;
  bool has = problem->command == NULL && is_plain;
  for (size_t i = 0; problem->command && i < clt_command_n_lines(problem->command); i++) {
    const clt_command_line *line = clt_command_line_at(problem->command, i);
    for (size_t k = 0; k < line->n; k++) has |= strstr(line->words[k].text, options_place) != NULL;
  }
  return has;
}

int clt_command_words(const clt_instance *instance, const clt_command_line *line, clt_config config,
                      const clt_command_places *places, char ***out, clt_error *error) {
  const bool shell = instance->problem->command->shell;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, config == CLT_CONFIG_NONE ? NULL : slots, error, CLT_OK};
  clt_words list = {0};
  clt_text text = {0};
  if (c.slots) clt_instance_slots(instance, config, slots);
  for (size_t i = 0; shell && i < 2; i++) {
    clt_text_add(&text, i == 0 ? "/bin/sh" : "-c");
    append_word(&list, &c, &text);
  }
  for (size_t i = 0; c.rc == CLT_OK && i < line->n; i++) {
    const clt_compiler_option *word = &line->words[i];
    if (!clt_evaluate_when(&c, word->when)) continue;
    if (c.slots && strcmp(word->text, options_place) == 0 && !shell) {
      append_defines(&list, &c, "-D");
    } else {
      clt_expand_option(&text, &c, word, places, line->key);
      append_word(&list, &c, &text);
    }
  }
  return finish_words(&list, &c, out);
}

/* --- environment and parameters file --- */

int clt_command_environment(const clt_instance *instance, clt_config config, char ***out, clt_error *error) {
  const char *prefix = instance->problem->command->environment;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, slots, error, CLT_OK};
  clt_words list = {0};
  clt_instance_slots(instance, config, slots);
  if (prefix) append_defines(&list, &c, prefix);
  return finish_words(&list, &c, out);
}

int clt_command_parameters(const clt_instance *instance, clt_config config, char **out, clt_error *error) {
  static const char *const before[] = {"#define ", "", ""}, *const between[] = {" ", "=", " "};
  clt_parameters_form form = instance->problem->command->parameters_form;
  clt_value slots[CLT_MAX_PARAMETERS];
  const clt_calculation c = {instance, slots, error, CLT_OK};
  clt_text text = {0};
  json_t *object = form == CLT_PARAMETERS_JSON ? json_object() : NULL;
  clt_instance_slots(instance, config, slots);
  for (size_t i = 0; i < clt_n_defines(instance); i++) {
    const char *name;
    if (form == CLT_PARAMETERS_JSON) {
      clt_value value = define_at(&c, i, &name);
      json_object_set_new(object, name, clt_json_value(value));
    } else {
      add_define(&text, &c, i, before[form], between[form]);
      clt_text_add(&text, "\n");
    }
  }
  if (form != CLT_PARAMETERS_JSON) return clt_text_take(out, &text, error);
  *out = json_dumps(object, JSON_INDENT(2));
  json_decref(object);
  return *out ? CLT_OK : clt_fail_memory(error);
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

/* When a whole folder is copied: earlier build results would make `make` skip the build, and stores and folders of runs
 * change during a tuning. */
static bool is_left_out(const file_walk *walk, const char *name, const char *path) {
  const char *own = strrchr(walk->problem->source.path, '/');
  bool temporary = clt_starts_with(name, "clatune-") || clt_starts_with(name, "clatune.new-");
  bool store =
      clt_ends_with(name, ".sqlite") || clt_ends_with(name, ".sqlite-wal") || clt_ends_with(name, ".sqlite-shm");
  if (name[0] == '.' || store || temporary || strcmp(name, own ? own + 1 : walk->problem->source.path) == 0)
    return true;
  if (walk->problem->command->n_build == 0) return false;
  char magic[4];
  size_t n = sizeof magic;
  return clt_file_read_start(magic, &n, path, NULL) == CLT_OK && n == 4 && memcmp(magic, "\177ELF", 4) == 0;
}

/* relative "": the whole folder of the problem. listed: the path or a folder above it is in "Files". */
static int walk_path(file_walk *walk, const char *relative, const char *path, int depth, bool listed) {
  struct stat status;
  struct dirent **entries = NULL;
  int rc = CLT_OK;
  if (stat(path, &status) != 0) /* skip dangling links */
    return listed && depth == 0 ? clt_fail_errno(walk->error, CLT_E_IO, "read", path) : CLT_OK;
  bool folder = S_ISDIR(status.st_mode);
  if (!folder && !S_ISREG(status.st_mode)) return CLT_OK;
  if (relative[0]) {
    walk->bytes += folder ? 0 : (int64_t)status.st_size;
    if (++walk->n > MAX_FILES || walk->bytes > MAX_BYTES || depth > MAX_DEPTH)
      return clt_fail(
          walk->error, CLT_E_RANGE,
          "'%s' is too large to be copied for every configuration; list only the required files in \"Files\", "
          "and large data in \"Links\"",
          walk->problem->folder);
    rc = walk->visit(walk->user, relative, path, folder, walk->error);
  }
  if (rc || !folder) return rc;
  int n = scandir(path, &entries, NULL, alphasort); /* sorted, because the key depends on the order */
  if (n < 0) return clt_fail_errno(walk->error, CLT_E_IO, "list", path);
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    char *inner = clt_path_join(path, name), *as = clt_format("%s%s%s", relative, relative[0] ? "/" : "", name);
    bool skip = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (rc == CLT_OK && !(inner && as)) rc = clt_fail_memory(walk->error);
    if (rc == CLT_OK && !skip && (listed || !is_left_out(walk, name, inner)))
      rc = walk_path(walk, as, inner, depth + 1, listed);
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
    char *path = clt_path_join(problem->folder, command->files[i]);
    rc = path ? walk_path(&walk, clt_name_in_scratch(command->files[i]), path, 0, true) : clt_fail_memory(error);
    free(path);
  }
  return rc;
}
