/* Runs generators: one program for each configuration, or one that answers line by line. */
#include "problem/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"

#define MOST_BYTES ((size_t)16 << 20) /* of an answer */
#define MOST_LAUNCHES ((size_t)10000)
#define MOST_SAID ((size_t)4096) /* bytes that are kept of the standard error */
#define GENERATOR "KernelSpecification.Generator"
#define MOST_SIGNS 10000 /* empty lines before an answer */
#define END_MS 1         /* pause while a program ends that has closed its output */

struct clt_generator {
  pid_t pid;           /* 0: none runs */
  int in, out, err;    /* its standard input, output and error; -1: closed */
  clt_text told, said; /* what has come from the output; the end of the error output */
};

/* --- the program --- */

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Ends the program. Returns its status, as from waitpid. */
static int stop_program(clt_generator *g) {
  int status = 0;
  close_fd(&g->in);
  close_fd(&g->out);
  close_fd(&g->err);
  if (g->pid > 0) kill(g->pid, SIGKILL);
  if (g->pid > 0) clt_spawn_wait(&status, g->pid);
  g->pid = 0;
  return status;
}

void clt_generator_free(clt_generator *generator) {
  if (generator == NULL) return;
  stop_program(generator);
  clt_text_release(&generator->told);
  clt_text_release(&generator->said);
  free(generator);
}

static const char *const none[] = {NULL}, *const *launched_by = none;

void clt_generator_launch_by(const char *const *launcher) { launched_by = launcher; }

static int expand_words(char ***out, clt_calculation *c) {
  const clt_generation *generation = &c->instance->problem->generation;
  clt_words words = {0};
  for (size_t i = 0; c->rc == CLT_OK && launched_by[i]; i++)
    c->rc = clt_words_add(&words, strdup(launched_by[i]), c->error);
  const size_t n_before = words.n;
  for (size_t i = 0; c->rc == CLT_OK && i < generation->n_words; i++) {
    clt_text text = {0};
    char *word = NULL;
    if (!clt_evaluate_when(c, generation->words[i].when)) continue;
    clt_expand_option(&text, c, &generation->words[i], NULL, NULL);
    int rc = clt_text_take(&word, &text, c->error);
    if (rc == CLT_OK) rc = clt_words_add(&words, word, c->error);
    if (c->rc == CLT_OK) c->rc = rc;
  }
  if (c->rc == CLT_OK && words.n == n_before) c->rc = clt_fail(c->error, CLT_E_FORMAT, "the generator has no words");
  if (c->rc)
    clt_words_free(words.all);
  else
    *out = words.all;
  return c->rc;
}

static int start_program(clt_generator *g, clt_calculation *c) {
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  char **words = NULL;
  int rc = expand_words(&words, c);
  for (int i = 0; rc == CLT_OK && i < 3; i++)
    if (pipe2(pipes[i], O_CLOEXEC)) rc = clt_fail_errno(c->error, CLT_E_IO, "start", words[0]);
  const clt_spawn spawn = {.program = rc ? NULL : words[0],
                           .arguments = words,
                           .folder = c->instance->problem->folder,
                           .in = pipes[0][0],
                           .out = pipes[1][1],
                           .err = pipes[2][1],
                           .default_signals = true};
  const int failure = rc ? 0 : clt_spawn_start(&g->pid, &spawn);
  if (failure) {
    g->pid = 0;
    rc = clt_key_fail(&c->instance->problem->source, GENERATOR, CLT_E_IO, c->error, CLT_CANNOT_START "%s': %s",
                      words[0], strerror(failure));
  }
  close_fd(&pipes[0][0]);
  close_fd(&pipes[1][1]);
  close_fd(&pipes[2][1]);
  g->in = pipes[0][1];
  g->out = pipes[1][0];
  g->err = pipes[2][0];
  for (int i = 0; rc == CLT_OK && i < 3; i++) {
    const int fd = i == 0 ? pipes[0][1] : pipes[i][0];
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  clt_words_free(words);
  if (rc) stop_program(g);
  return rc;
}

/* --- one answer --- */

static int make_request(char **out, size_t *n, const clt_calculation *c) {
  const clt_instance *instance = c->instance;
  const clt_problem *problem = instance->problem;
  json_t *values = json_object(), *sizes = json_object();
  for (size_t i = 0; i < problem->n_parameters; i++)
    clt_json_set(&values, problem->parameters[i].name, clt_json_value(c->slots[i]));
  for (size_t i = 0; i < problem->n_passed; i++)
    clt_json_set(&sizes, problem->sizes[i].name, json_integer(instance->sizes[i]));
  json_t *request = json_pack("{s:o, s:o}", "configuration", values, "sizes", sizes);
  char *text = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
  json_decref(request);
  *out = text ? clt_format("%s\n", text) : NULL;
  free(text);
  if (*out == NULL) return clt_fail_memory(c->error);
  *n = strlen(*out);
  return CLT_OK;
}

/* A program may end without reading its input. The caller may be an application that does not ignore SIGPIPE. */
static ssize_t write_quietly(int fd, const char *bytes, size_t n) {
  sigset_t broken_pipe, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const ssize_t written = write(fd, bytes, n);
  const int failure = errno;
  if (written < 0 && failure == EPIPE) sigtimedwait(&broken_pipe, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = failure;
  return written;
}

/* Adds what can be read now; closes the descriptor at its end. */
static void read_available(clt_text *text, int *fd) {
  char chunk[1 << 16];
  const ssize_t got = read(*fd, chunk, sizeof chunk);
  if (got > 0) clt_text_add_bytes(text, chunk, (size_t)got);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

/* Sends the request and collects the answer: a line if the program is persistent, else all output. A persistent program
 * can print empty lines first: with each, the limit begins anew. Returns NULL, or what went wrong; *ended: the program
 * has closed its output. */
static const char *converse(clt_generator *g, const char *request, size_t n, bool persistent, double limit_s,
                            bool *ended) {
  double until_s = clt_now_s() + limit_s;
  size_t sent = 0, searched = 0, n_signs = 0;
  *ended = false;
  for (;;) {
    struct pollfd watched[] = {{.fd = g->out, .events = POLLIN},
                               {.fd = g->err, .events = POLLIN},
                               {.fd = sent < n ? g->in : -1, .events = POLLOUT}};
    const double left_s = until_s - clt_now_s();
    if (left_s <= 0) return "it did not answer in time";
    until_s += clt_poll(watched, 3, left_s);
    if (watched[2].revents) {
      const ssize_t written = write_quietly(g->in, request + sent, n - sent);
      if (written > 0) sent += (size_t)written;
      if (written < 0 && errno != EAGAIN && errno != EINTR) sent = n;
      if (sent == n && !persistent) close_fd(&g->in);
    }
    if (watched[1].revents) read_available(&g->said, &g->err);
    if (g->said.n > 2 * MOST_SAID) {
      memmove(g->said.bytes, g->said.bytes + g->said.n - MOST_SAID, MOST_SAID + 1);
      g->said.n = MOST_SAID;
    }
    if (watched[0].revents == 0) continue;
    read_available(&g->told, &g->out);
    if (g->told.n > MOST_BYTES) return "it printed more than 16 MiB";
    for (; persistent && g->told.n > 0 && g->told.bytes[0] == '\n' && n_signs < MOST_SIGNS; n_signs++) {
      memmove(g->told.bytes, g->told.bytes + 1, g->told.n--);
      until_s = clt_now_s() + limit_s;
    }
    *ended = g->out < 0;
    if (*ended || (persistent && memchr(g->told.bytes + searched, '\n', g->told.n - searched))) return NULL;
    searched = g->told.n;
  }
}

/* Waits for the end of a program that has closed its output. Returns NULL if it ends with status 0. */
static const char *await_end(char said[64], clt_generator *g, double limit_s) {
  const double until_s = clt_now_s() + limit_s;
  int status = 0;
  pid_t gone = 0;
  while (gone == 0 && clt_now_s() < until_s) {
    gone = waitpid(g->pid, &status, WNOHANG);
    if (g->err >= 0) read_available(&g->said, &g->err);
    if (gone == 0) poll(NULL, 0, END_MS);
  }
  if (gone == 0) return "it closed its output, but did not end in time";
  g->pid = 0;
  if (WIFSIGNALED(status))
    clt_snprintf(said, 64, "it was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status))
    clt_snprintf(said, 64, "it exited with status %d", WEXITSTATUS(status));
  else
    return NULL;
  return said;
}

/* --- what an answer says --- */

/* Reads up to three sizes; 0: none. False: they are not usable. */
static bool read_sizes(size_t out[3], unsigned *n, const json_t *list) {
  *n = (unsigned)json_array_size(list);
  if (list == NULL || json_is_null(list)) return true;
  bool fits = json_is_array(list) && *n >= 1 && *n <= 3;
  for (unsigned d = 0; fits && d < *n; d++) {
    int64_t size = 0;
    fits = clt_json_integer(&size, json_array_get(list, d)) && size >= 1;
    out[d] = (size_t)size;
  }
  return fits;
}

/* Puts what an answer says of a launch into it. Returns NULL, or what is wrong. */
static const char *take_launch(clt_plan *plan, clt_plan_launch *launch, const json_t *answer) {
  const json_t *kernel = json_object_get(answer, "kernel");
  const char *name = json_string_value(kernel);
  size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  unsigned n_global, n_local;
  if (!read_sizes(global, &n_global, json_object_get(answer, "global")))
    return "\"global\" must be a list of one to three whole numbers above 0";
  if (!read_sizes(local, &n_local, json_object_get(answer, "local")))
    return "\"local\" must be a list of one to three whole numbers above 0, or null";
  if (kernel && !json_is_null(kernel) && !(name && clt_is_name(name))) return "\"kernel\" must be a name in C";
  if (name) {
    char *copy = clt_arena_array(&plan->arena, strlen(name) + 1, 1);
    if (copy == NULL) return "out of memory";
    launch->kernel = strcpy(copy, name);
  }
  if (n_global) memcpy(launch->global, global, sizeof global);
  if (n_local) memcpy(launch->local, local, sizeof local);
  launch->has_local = launch->has_local || n_local;
  if (n_global || n_local) launch->n_dimensions = n_global > n_local ? n_global : n_local;
  for (int d = 0; (n_global || n_local) && launch->has_local && d < 3; d++) {
    if (launch->local[d] == 0) launch->local[d] = 1;
    const size_t groups = launch->global[d] / launch->local[d] + (launch->global[d] % launch->local[d] != 0);
    if (!clt_size_multiply(&launch->global[d], groups, launch->local[d])) return "the global size exceeds 2^64";
  }
  return NULL;
}

/* Gives the launch the arguments of this list; NULL: all, in the order of the problem file. */
static const char *take_arguments(clt_plan *plan, clt_plan_launch *launch, const json_t *list) {
  const size_t n = list ? json_array_size(list) : plan->n_args;
  if (list && !json_is_array(list)) return "\"arguments\" must be a list of names";
  launch->args = clt_arena_array(&plan->arena, n + 1, sizeof *launch->args);
  if (launch->args == NULL) return "out of memory";
  for (launch->n_args = 0; launch->n_args < n; launch->n_args++) {
    const char *name = json_string_value(json_array_get(list, launch->n_args));
    size_t i = list ? 0 : launch->n_args;
    while (list && i < plan->n_args && !(name && strcmp(plan->args[i].name, name) == 0)) i++;
    if (i == plan->n_args) return "\"arguments\" has an entry that is not the name of an argument of the problem file";
    launch->args[launch->n_args] = i;
  }
  return NULL;
}

static bool states(const json_t *answer, const char *name) {
  const json_t *value = json_object_get(answer, name);
  return value && !json_is_null(value);
}

/* Puts the launches of an answer into the plan: its list, or what it says of the only one. */
static const char *take_launches(clt_plan *plan, const clt_problem *problem, const json_t *answer) {
  static const char *const members[] = {"kernel", "arguments", "global", "local", NULL};
  const json_t *list = json_object_get(answer, "launches"), *global = json_object_get(answer, "global");
  const bool says_one = states(answer, "global") || states(answer, "local") || states(answer, "kernel");
  const size_t n = json_array_size(list);
  const char *mistake = NULL, *name;
  json_t *value;
  if (list && says_one) return "\"global\", \"local\" and \"kernel\" belong to the entries of \"launches\"";
  if (list == NULL && says_one && plan->n_launches != 1)
    return "\"global\", \"local\" and \"kernel\" are for problems with one launch; use \"launches\"";
  if (list == NULL) mistake = take_launch(plan, &plan->launches[0], answer);
  if (list == NULL && mistake == NULL && !json_is_array(global) && problem->launches[0].global.n == 0)
    return "it states no \"global\", and the problem file has no \"GlobalSize\"";
  if (list && (n == 0 || n > MOST_LAUNCHES)) return "\"launches\" must be a list of 1 to 10000 launches";
  clt_plan_launch *launches = list ? clt_arena_array(&plan->arena, n, sizeof *launches) : plan->launches;
  if (launches == NULL) return "out of memory";
  for (size_t i = 0; mistake == NULL && i < n; i++) {
    const json_t *entry = json_array_get(list, i);
    if (!json_is_array(json_object_get(entry, "global"))) return "an entry of \"launches\" has no \"global\"";
    json_object_foreach((json_t *)entry, name, value) {
      if (!clt_is_one_of(name, members)) return "an entry of \"launches\" has an unknown member";
    }
    launches[i] = (clt_plan_launch){.kernel = plan->launches[0].kernel, .repeat = 1, .together = 1};
    mistake = take_launch(plan, &launches[i], entry);
    if (mistake == NULL) mistake = take_arguments(plan, &launches[i], json_object_get(entry, "arguments"));
  }
  plan->launches = launches;
  plan->n_launches = list ? n : plan->n_launches;
  for (size_t i = 0; mistake == NULL && i < plan->n_launches; i++)
    if (launches[i].kernel == NULL) mistake = "it states no \"kernel\", and the problem file has no \"KernelName\"";
  return mistake;
}

/* Puts an answer into the plan. *out says whether it is one; the reason why not is added to why. */
static int take_answer(clt_generated *out, clt_text *why, clt_plan *plan, const clt_problem *problem,
                       const json_t *answer, clt_error *error) {
  static const char *const members[] = {"source",   "global",  "local", "options", "kernel",
                                        "launches", "invalid", "error", NULL};
  const char *invalid = json_string_value(json_object_get(answer, "invalid")), *name;
  const char *failure = json_string_value(json_object_get(answer, "error"));
  const char *source = json_string_value(json_object_get(answer, "source"));
  const json_t *options = json_object_get(answer, "options");
  json_t *value;
  *out = invalid ? CLT_NOT_GENERATED : CLT_GENERATION_FAILED;
  if (invalid || failure) {
    clt_text_add(why, invalid ? invalid : failure);
    return CLT_OK;
  }
  json_object_foreach((json_t *)answer, name, value) {
    if (name[0] == '_' || clt_is_one_of(name, members)) continue;
    clt_text_printf(why, "the generator's answer has the unknown member \"%.60s\"", name);
    return CLT_OK;
  }
  const char *mistake = take_launches(plan, problem, answer);
  if (options && !json_is_null(options) && !json_is_string(options)) mistake = "\"options\" must be a text";
  if (source == NULL || source[0] == 0) mistake = "it has no \"source\"";
  if (mistake) {
    clt_text_printf(why, "the generator's answer cannot be used: %s", mistake);
    return CLT_OK;
  }
  const char *more = json_is_string(options) ? json_string_value(options) : "";
  const char *quote = strchr(problem->folder, ' ') ? "\"" : "";
  clt_text all = {0};
  clt_text_printf(&all, "%s%s%s", plan->options, more[0] && plan->options[0] ? " " : "", more);
  if (strstr(source, "include")) clt_text_printf(&all, " -I%s%s%s", quote, problem->folder, quote);
  free(plan->options);
  plan->options = NULL;
  int rc = clt_text_take(&plan->options, &all, error);
  if (rc == CLT_OK && (plan->source = strdup(source)) == NULL) rc = clt_fail_memory(error);
  *out = CLT_GENERATED;
  return rc;
}

/* --- the whole --- */

/* What a one-shot program prints is its source, unless it is an answer in JSON. */
static json_t *parse_answer(const char *bytes, size_t n, bool persistent, char *mistake, size_t capacity) {
  json_error_t why;
  const size_t space = strspn(bytes, " \t\r\n");
  json_t *answer = NULL;
  if (persistent || bytes[space] == '{') {
    answer = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &why);
    if (answer == NULL) clt_snprintf(mistake, capacity, "its answer is not JSON: %s", why.text);
  } else {
    answer = json_pack("{s:s%}", "source", bytes, n);
    if (answer == NULL) clt_snprintf(mistake, capacity, "its output is not text in UTF-8");
  }
  if (answer == NULL || json_is_object(answer)) return answer;
  clt_snprintf(mistake, capacity, "its answer is not a JSON object");
  json_decref(answer);
  return NULL;
}

int clt_generate(clt_generated *out, clt_text *why, clt_generator **generator, clt_plan *plan,
                 const clt_instance *instance, double limit_s, clt_error *error) {
  const clt_generation *generation = &instance->problem->generation;
  const bool persistent = generation->persistent;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, slots, error, CLT_OK};
  char *request = NULL, end[64], parsed[300] = "";
  size_t n_request = 0, n_line = 0;
  bool ended = false;
  json_t *answer = NULL;
  clt_instance_slots(instance, plan->config, slots);
  if (*generator == NULL) {
    if ((*generator = clt_new_array(1, sizeof **generator)) == NULL) return clt_fail_memory(error);
    (*generator)->in = (*generator)->out = (*generator)->err = -1;
  }
  clt_generator *g = *generator;
  clt_text_release(&g->told);
  clt_text_release(&g->said);
  if (g->out >= 0) read_available(&g->told, &g->out);
  if (g->told.n > 0 || g->out < 0) stop_program(g); /* it printed more than one line, or ended: start it anew */
  clt_text_release(&g->told);
  int rc = g->pid ? CLT_OK : start_program(g, &c);
  if (rc == CLT_OK) rc = make_request(&request, &n_request, &c);
  if (rc) return rc;
  const char *mistake = converse(g, request, n_request, persistent, limit_s, &ended);
  free(request);
  if (g->told.rc || g->said.rc) mistake = "memory ran out";
  if (mistake == NULL && ended) {
    mistake = await_end(end, g, limit_s);
    if (mistake == NULL && (persistent || g->told.n == 0)) mistake = "it ended without an answer";
  }
  if (mistake == NULL) {
    const char *line_end = persistent ? memchr(g->told.bytes, '\n', g->told.n) : NULL;
    n_line = line_end ? (size_t)(line_end - g->told.bytes) : g->told.n;
    answer = parse_answer(g->told.bytes, n_line, persistent, parsed, sizeof parsed);
    if (answer == NULL) mistake = parsed;
  }
  *out = CLT_GENERATION_FAILED;
  if (mistake)
    clt_text_printf(why, "the generator failed: %s", mistake);
  else
    rc = take_answer(out, why, plan, instance->problem, answer, error);
  json_decref(answer);
  if (*out == CLT_GENERATION_FAILED && g->err >= 0) read_available(&g->said, &g->err);
  if (g->said.n > 0 && launched_by[0] && ended && clt_starts_with(g->said.bytes, CLT_CANNOT_START))
    rc = clt_key_fail(&instance->problem->source, GENERATOR, CLT_E_IO, error, "%.*s", (int)strcspn(g->said.bytes, "\n"),
                      g->said.bytes);
  if (*out == CLT_GENERATION_FAILED && g->said.n > 0) clt_text_printf(why, "\nit wrote:\n%s", g->said.bytes);
  if (!persistent || mistake || g->told.n > n_line + 1) stop_program(g);
  if (rc == CLT_OK && why->rc) rc = clt_fail_memory(error);
  return rc;
}

int clt_plan_new_with_source(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error) {
  clt_generator *generator = NULL;
  clt_generated generated = CLT_GENERATED;
  clt_text why = {0};
  clt_plan *plan = NULL;
  int rc = clt_plan_new(&plan, instance, config, error);
  if (rc == CLT_OK && plan->source == NULL)
    rc = clt_generate(&generated, &why, &generator, plan, instance, CLT_GENERATE_S, error);
  if (rc == CLT_OK && generated != CLT_GENERATED) {
    char text[200] = "";
    clt_config_print(text, sizeof text, clt_instance_space(instance), config);
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "there is no source of %s for these sizes: %.700s; 'clatune tune' finds a configuration that has one",
                  text, why.bytes ? why.bytes : "");
  }
  clt_generator_free(generator);
  clt_text_release(&why);
  if (rc == CLT_OK)
    *out = plan;
  else
    clt_plan_free(plan);
  return rc;
}

uint64_t clt_plan_hash(const clt_plan *plan) {
  uint64_t hash =
      clt_hash64(plan->source, strlen(plan->source)) * 31 + clt_hash64(plan->options, strlen(plan->options));
  for (const clt_plan_launch *l = plan->launches; l < plan->launches + plan->n_launches; l++) {
    const size_t sizes[] = {l->n_dimensions, l->global[0], l->global[1], l->global[2],
                            l->local[0],     l->local[1],  l->local[2],  l->repeat};
    hash = hash * 31 + clt_hash64(l->kernel, strlen(l->kernel));
    hash = hash * 31 + clt_hash64(sizes, sizeof sizes);
    hash = hash * 31 + clt_hash64(l->args, l->n_args * sizeof *l->args);
  }
  return hash & INT64_MAX; /* a number in JSON, and a key of a map */
}
