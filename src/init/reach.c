/* Which macros the kernel reaches, by the program clatune-parse (parse/parse.c), if it was built. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "init/init.h"

#define PROGRAM "clatune-parse"
#define MOST_SAID ((size_t)1 << 20)

static char *value_text(const json_t *value) {
  return json_is_string(value) ? strdup(json_string_value(value))
                               : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

/* Its own value, and the others: all if an #if tests them, else one. */
static json_t *macro_json(const clt_draft *d, const clt_draft_macro *m) {
  json_t *values = clt_draft_values(d, m), *others = json_array(), *value, *own = json_integer(m->value);
  const bool is_own = m->is_defined && m->list == NULL;
  size_t i;
  if (m->list) {
    json_decref(own);
    own = json_incref(json_array_get(values, 0));
  }
  if (json_array_size(values) == 1) json_array_append_new(values, json_integer(m->value + 1));
  json_array_foreach(values, i, value) {
    if (json_equal(value, own) || (json_array_size(others) && !m->is_asked)) continue;
    char *text = value_text(value);
    json_array_append_new(others, json_string(text));
    free(text);
  }
  char *text = value_text(own);
  json_t *json = json_pack("{s:s, s:s?, s:o, s:b}", "name", m->name, "value", is_own ? NULL : text, "others", others,
                           "asked", m->is_asked);
  free(text);
  json_decref(own);
  json_decref(values);
  return json;
}

/* libclang takes these; it need not know the rest. */
static json_t *options_json(const clt_draft *d) {
  static const char *const known[] = {"-D", "-U", "-I", "-cl-std="};
  json_t *list = json_array();
  json_array_append_new(list, json_sprintf("-I%s", d->folder));
  for (size_t i = 0; i < d->options.n; i++) {
    clt_text plain = {0};
    bool is_known = false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= clt_starts_with(d->options.all[i], known[k]);
    for (const char *at = d->options.all[i]; *at; at++)
      if (*at != '"') clt_text_add_bytes(&plain, at, 1);
    if (is_known) json_array_append_new(list, json_string(plain.bytes));
    clt_text_release(&plain);
  }
  return list;
}

/* Runs the program with the request. NULL: it failed, and said why. */
static json_t *ask(char **said, const char *program, json_t *request) {
  char *const arguments[] = {PROGRAM, NULL};
  FILE *in = tmpfile();
  clt_text text = {0};
  int status = 1;
  json_t *answer = NULL;
  if (in && json_dumpf(request, in, JSON_COMPACT) == 0 && fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0) {
    const clt_spawn spawn = {.program = program, .arguments = arguments, .in = fileno(in), .default_signals = true};
    if (clt_spawn_output(&text, &status, &spawn, MOST_SAID, NULL)) status = 1;
  }
  if (in) fclose(in);
  if (text.bytes && WIFEXITED(status) && WEXITSTATUS(status) == 0) answer = json_loads(text.bytes, 0, NULL);
  clt_text_take(said, &text, NULL);
  return answer;
}

void clt_draft_find_reached(clt_draft *d, clt_log_fn log, void *user) {
  static const char *const near[] = {"../init/parse/" PROGRAM, "../../init/parse/" PROGRAM, "../libexec/" PROGRAM,
                                     NULL};
  char *program = clt_find_near_program(near, X_OK), *said = NULL;
  json_t *list = json_array(), *name;
  size_t k;
  if (d->n_macros && program == NULL)
    clt_log(log, user, CLT_LOG_INFO,
            "note: macros of other code in the file may be among the tuning parameters; to leave them out, build "
            "clatune with libclang");
  for (size_t i = 0; i < d->n_macros; i++) json_array_append_new(list, macro_json(d, &d->macros[i]));
  json_t *request = json_pack("{s:s, s:s, s:o, s:o}", "source", d->text, "kernel", d->kernel->name, "options",
                              options_json(d), "macros", list);
  json_t *answer = program && d->n_macros && request ? ask(&said, program, request) : NULL;
  d->knows_reached = answer != NULL;
  json_array_foreach(json_object_get(answer, "reached"), k, name) {
    clt_draft_macro *reached = clt_draft_macro_named(d, json_string_value(name));
    if (reached) reached->is_reached = true;
  }
  if (said && answer == NULL)
    clt_log(log, user, CLT_LOG_INFO,
            "note: macros of other code in the file may be among the tuning parameters, because libclang cannot read "
            "it: %.*s",
            (int)strcspn(said, "\n"), said);
  json_decref(answer);
  json_decref(request);
  free(said);
  free(program);
}
