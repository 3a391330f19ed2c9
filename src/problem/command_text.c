/* What a command is told of a configuration: words, environment, parameters file. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/command.h"

bool clt_problem_is_command(const clt_problem *problem) { return problem->command != NULL; }

const char *clt_problem_figure_unit(const clt_problem *problem) {
  return problem->command ? problem->command->figure.unit : "s";
}

bool clt_problem_larger_is_better(const clt_problem *problem) {
  return problem->command && problem->command->figure.larger_is_better;
}

bool clt_figure_is_time(const clt_figure *figure) {
  return strcmp(figure->unit, "s") == 0 && !figure->larger_is_better;
}

bool clt_problem_figure_is_time(const clt_problem *problem) {
  return problem->command == NULL || clt_figure_is_time(&problem->command->figure);
}

double clt_problem_figure(const clt_problem *problem, double time_s) {
  return clt_problem_larger_is_better(problem) ? 1 / time_s : time_s;
}

const clt_command *clt_instance_command(const clt_instance *instance) { return instance->problem->command; }

void clt_words_free(char **words) {
  for (size_t i = 0; words && words[i]; i++) free(words[i]);
  free(words);
}

/* --- growing lists of texts, ended by a NULL --- */

typedef struct list {
  char **words;
  size_t n, capacity;
} list;

/* Takes the text over; NULL: out of memory. */
static int append(list *l, char *text, clt_error *error) {
  if (text && l->n >= CLT_MAX_COMMAND_WORDS) {
    free(text);
    return clt_fail(error, CLT_E_RANGE, "a command has more than %d words", CLT_MAX_COMMAND_WORDS);
  }
  if (text == NULL || clt_grow(&l->words, &l->capacity, l->n + 2, sizeof *l->words)) {
    free(text);
    return clt_fail_memory(error);
  }
  l->words[l->n++] = text;
  l->words[l->n] = NULL;
  return CLT_OK;
}

static int finish(list *l, int rc, char ***out, clt_error *error) {
  if (rc == CLT_OK && l->words == NULL && (l->words = clt_new_array(1, sizeof *l->words)) == NULL)
    rc = clt_fail_memory(error);
  if (rc) return clt_words_free(l->words), rc;
  *out = l->words;
  return CLT_OK;
}

/* --- names and values --- */

static size_t n_assignments(const clt_instance *instance) {
  return instance->problem->n_parameters + clt_problem_n_sizes(instance->problem);
}

static const char *name_of(const clt_instance *instance, size_t i) {
  const clt_problem *problem = instance->problem;
  return i < problem->n_parameters ? problem->parameters[i].name : problem->sizes[i - problem->n_parameters].name;
}

static clt_value value_of(const clt_instance *instance, const clt_value *slots, size_t i) {
  size_t n = instance->problem->n_parameters;
  return i < n ? slots[i] : (clt_value){.type = CLT_INT, .integer = instance->sizes[i - n]};
}

static char *value_text(clt_value value) {
  char text[64];
  if (value.type == CLT_STRING) return strdup(value.text);
  clt_value_print(value, text, sizeof text);
  return strdup(text);
}

/* "<before><name><between><value>" */
static char *assignment(const clt_instance *instance, const clt_value *slots, size_t i, const char *before,
                        const char *between) {
  char *value = value_text(value_of(instance, slots, i));
  char *text = value ? clt_format("%s%s%s%s", before, name_of(instance, i), between, value) : NULL;
  free(value);
  return text;
}

/* --- words --- */

static const char *place_text(const clt_command_places *places, char place) {
  switch (place) {
    case CLT_PLACE_SCRATCH: return places->scratch;
    case CLT_PLACE_FOLDER: return places->folder;
    case CLT_PLACE_PARAMETERS: return places->parameters;
    case CLT_PLACE_INPUT: return places->input;
    case CLT_PLACE_OUTPUT: return places->output;
    default: return NULL;
  }
}

static int write_options(const clt_instance *instance, const clt_value *slots, FILE *out) {
  for (size_t i = 0; i < n_assignments(instance); i++) {
    char *text = assignment(instance, slots, i, i ? " -D" : "-D", "=");
    if (text == NULL) return CLT_E_MEMORY;
    fputs(text, out);
    free(text);
  }
  return CLT_OK;
}

static int no_such_place(const clt_instance *instance, const clt_command_line *line, char place, clt_error *error) {
  const char *what = place == CLT_PLACE_OPTIONS      ? "\"{options}\" needs a configuration, and a batch has many"
                     : place == CLT_PLACE_PARAMETERS ? "\"{parameters}\" needs a \"ParametersFile\""
                     : place == CLT_PLACE_INPUT      ? "\"{input}\" needs a \"Batch\" with an \"Input\""
                                                     : "\"{output}\" needs a \"Batch\" with an \"Output\"";
  return clt_key_fail(&instance->problem->source, line->key, CLT_E_FORMAT, error, "%s", what);
}

/* The marks of places in an expanded word become what they stand for. */
static int fill_places(const clt_instance *instance, const clt_command_line *line, const clt_value *slots,
                       const clt_command_places *places, const char *word, char **out, clt_error *error) {
  char *text = NULL;
  size_t bytes = 0;
  int rc = CLT_OK;
  FILE *stream = open_memstream(&text, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  for (; rc == CLT_OK && *word; word++) {
    if (*word != CLT_PLACE_MARK) {
      fputc(*word, stream);
      continue;
    }
    char place = *++word;
    const char *stands_for = place_text(places, place);
    if (stands_for)
      fputs(stands_for, stream);
    else if (place == CLT_PLACE_OPTIONS && slots)
      rc = write_options(instance, slots, stream) ? clt_fail_memory(error) : CLT_OK;
    else
      rc = no_such_place(instance, line, place, error);
  }
  if ((fclose(stream) != 0 || text == NULL) && rc == CLT_OK) rc = clt_fail_memory(error);
  if (rc) return free(text), rc;
  *out = text;
  return CLT_OK;
}

static int add_options(list *l, const clt_instance *instance, const clt_value *slots, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_assignments(instance); i++)
    rc = append(l, assignment(instance, slots, i, "-D", "="), error);
  return rc;
}

static int add_word(list *l, const clt_instance *instance, const clt_command_line *line,
                    const clt_compiler_option *word, const clt_value *slots, const clt_command_places *places,
                    clt_error *error) {
  static const char options[] = {CLT_PLACE_MARK, CLT_PLACE_OPTIONS, 0};
  char *expanded = NULL, *filled = NULL;
  size_t bytes = 0;
  if (slots && strcmp(word->text, options) == 0 && !instance->problem->command->shell)
    return add_options(l, instance, slots, error);
  FILE *stream = open_memstream(&expanded, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  int rc = clt_option_expand(instance, slots, word, stream, error);
  if ((fclose(stream) != 0 || expanded == NULL) && rc == CLT_OK) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = fill_places(instance, line, slots, places, expanded, &filled, error);
  if (rc == CLT_OK) rc = append(l, filled, error);
  free(expanded);
  return rc;
}

int clt_command_words(const clt_instance *instance, const clt_command_line *line, clt_config config,
                      const clt_command_places *places, char ***out, clt_error *error) {
  static const char *const shell[] = {"/bin/sh", "-c"};
  clt_value slots[CLT_MAX_PARAMETERS];
  bool one = config != CLT_CONFIG_NONE;
  list l = {NULL, 0, 0};
  int rc = CLT_OK;
  if (one) clt_instance_slots(instance, config, slots);
  for (size_t i = 0; rc == CLT_OK && instance->problem->command->shell && i < 2; i++)
    rc = append(&l, strdup(shell[i]), error);
  for (size_t i = 0; rc == CLT_OK && i < line->n; i++) {
    bool applies = false;
    rc = clt_evaluate_when(instance, line->words[i].when, one ? slots : NULL, &applies, error);
    if (rc == CLT_OK && applies) rc = add_word(&l, instance, line, &line->words[i], one ? slots : NULL, places, error);
  }
  return finish(&l, rc, out, error);
}

/* --- environment and parameters file --- */

int clt_command_environment(const clt_instance *instance, clt_config config, char ***out, clt_error *error) {
  clt_value slots[CLT_MAX_PARAMETERS];
  const char *prefix = instance->problem->command->environment;
  list l = {NULL, 0, 0};
  int rc = CLT_OK;
  if (prefix) clt_instance_slots(instance, config, slots);
  for (size_t i = 0; rc == CLT_OK && prefix && i < n_assignments(instance); i++)
    rc = append(&l, assignment(instance, slots, i, prefix, "="), error);
  return finish(&l, rc, out, error);
}

static json_t *value_json(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
    default: return json_integer(value.integer);
  }
}

static char *parameters_json(const clt_instance *instance, const clt_value *slots) {
  json_t *object = json_object();
  for (size_t i = 0; i < n_assignments(instance); i++)
    json_object_set_new(object, name_of(instance, i), value_json(value_of(instance, slots, i)));
  char *text = json_dumps(object, JSON_INDENT(2));
  json_decref(object);
  return text;
}

int clt_command_parameters(const clt_instance *instance, clt_config config, char **out, clt_error *error) {
  static const char *const before[] = {"#define ", "", ""}, *const between[] = {" ", "=", " "};
  clt_parameters_form form = instance->problem->command->parameters_form;
  clt_value slots[CLT_MAX_PARAMETERS];
  char *text = NULL;
  size_t bytes = 0;
  clt_instance_slots(instance, config, slots);
  if (form == CLT_PARAMETERS_JSON) return (*out = parameters_json(instance, slots)) ? CLT_OK : clt_fail_memory(error);
  FILE *stream = open_memstream(&text, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_assignments(instance); i++) {
    char *line = assignment(instance, slots, i, before[form], between[form]);
    if (line == NULL) rc = clt_fail_memory(error);
    if (line) fprintf(stream, "%s\n", line);
    free(line);
  }
  if ((fclose(stream) != 0 || text == NULL) && rc == CLT_OK) rc = clt_fail_memory(error);
  if (rc) return free(text), rc;
  *out = text;
  return CLT_OK;
}
