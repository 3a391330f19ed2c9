/* The request that begins a search. */
#include "space/space.h"
#include "base/base.h"
#include "base/hash.h"
#include "device/device.h"
#include "format/format.h"
#include "problem/load.h"
#include "search/search.h"
#include "serve/serve.h"

#define MOST_EVALUATIONS 10000000
#define MOST_SIZES 256

void clt_served_free(clt_served *s) {
  if (s == NULL) return;
  clt_loop_release(&s->loop);
  clt_store_free(s->own);
  clt_recording_free(s->recording);
  clt_instance_free(s->instance);
  clt_problem_free(s->problem);
  clt_source_release(&s->request);
  clt_map_release(&s->told);
  free(s->earlier);
  free(s);
}

/* --- "space": begins a search --- */

/* A space listed in the request, as a problem without a kernel. The search starts with the default configuration only
 * if a parameter states a "Default". */
static int list_space(clt_served *s, const clt_node *root, const clt_node *space, clt_error *error) {
  const char *name = clt_read_text(root, "name");
  json_t *problem =
      json_pack("{s:O, s:{s:s}, s:{s:s, s:s}}", "ConfigurationSpace", (json_t *)space->json, "General", "BenchmarkName",
                name ? name : "served", "KernelSpecification", "Language", "any", "KernelFile", "none");
  char *text = problem ? json_dumps(problem, JSON_REAL_PRECISION(17)) : NULL;
  int rc = text ? clt_problem_parse(&s->problem, "request", text, error) : clt_fail_memory(error);
  static const char own[] = "ConfigurationSpace";
  if (rc && clt_starts_with(error->key, own)) { /* the request calls it "space" */
    const size_t n = strlen(error->key + strlen(own)) + 1;
    memmove(error->key + strlen("space"), error->key + strlen(own), n);
    memcpy(error->key, "space", strlen("space"));
  }
  free(text);
  json_decref(problem);
  if (rc == CLT_OK) rc = clt_instance_new(&s->instance, s->problem, NULL, 0, NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < s->problem->n_parameters; i++)
    if (s->problem->parameters[i].default_value) s->default_config = clt_instance_default(s->instance);
  return rc;
}

/* The space of a problem file, at the given sizes and on the given device, if any. The search starts as `tune` does. */
static int open_problem(clt_served *s, const clt_serving *serving, const clt_node *space, const char *path,
                        clt_error *error) {
  clt_node list = clt_node_member(space, "sizes");
  const char *device = clt_read_text(space, "device"), *name;
  clt_size sizes[MOST_SIZES];
  size_t n = 0;
  json_t *value;
  if (list.json && clt_read_object(&list, NULL, false))
    json_object_foreach((json_t *)list.json, name, value) if (n < MOST_SIZES) sizes[n++] =
        (clt_size){name, clt_read_integer(&list, name, 0)};
  if (!clt_node_ok(space)) return space->reading->rc;
  int rc = clt_problem_new(&s->problem, path, error);
  const bool program = rc == CLT_OK && clt_problem_is_command(s->problem);
  if (program) clt_device_host(&s->device);
  if (rc == CLT_OK && device && program) rc = clt_device_select(&(size_t){0}, &s->device, 1, device, error);
  if (rc == CLT_OK && device && !program) rc = serving->find_device(&s->device, device, error);
  if (rc == CLT_OK)
    rc = clt_instance_new(&s->instance, s->problem, sizes, n, program || device ? &s->device : NULL, error);
  if (rc) return rc;
  s->default_config = clt_instance_default(s->instance);
  s->has_options = clt_problem_has_options(s->problem) && s->problem->language == NULL;
  return CLT_OK;
}

static int find_space(clt_served *s, const clt_serving *serving, const clt_node *root, clt_error *error) {
  clt_node space = clt_node_member(root, "space");
  const char *path;
  int rc;
  if (!clt_read_object(&space, NULL, false)) {
    if (clt_node_ok(root)) clt_node_fail(&space, "needs an object");
    return root->reading->rc;
  }
  if (json_object_get(space.json, "problem")) {
    clt_read_object(&space, CLT_NAMES("problem", "sizes", "device"), true);
    path = clt_read_required_text(&space, "problem");
    rc = path ? open_problem(s, serving, &space, path, error) : root->reading->rc;
  } else if (json_object_get(space.json, "recording")) {
    clt_read_object(&space, CLT_NAMES("recording"), true);
    path = clt_read_required_text(&space, "recording");
    rc = path ? clt_recording_new(&s->recording, path, error) : root->reading->rc;
  } else {
    clt_read_object(&space, CLT_NAMES("TuningParameters", "Conditions", "Aliases", "Groups"), true);
    rc = clt_node_ok(root) ? list_space(s, root, &space, error) : root->reading->rc;
  }
  if (rc) return rc;
  s->loop.space = s->instance ? clt_instance_space(s->instance) : clt_recording_space(s->recording);
  if (clt_space_valid(s->loop.space) > 0) return CLT_OK;
  char why[1000];
  clt_space_explain_empty(why, sizeof why, s->loop.space);
  return clt_fail(error, CLT_E_NO_VALID, "%s", why);
}

/* Sets the objective, and the figure that is told instead of a time if the request names one. */
static int find_objective(clt_served *s, const clt_node *root, clt_error *error) {
  clt_node objective = clt_node_member(root, "objective");
  const char *text = json_string_value(objective.json);
  if (text == NULL && objective.json) {
    if (!clt_read_object(&objective, CLT_NAMES("name", "unit", "goal"), true)) return root->reading->rc;
    const char *unit = clt_read_text(&objective, "unit");
    clt_node goal = clt_node_member(&objective, "goal");
    int chosen = clt_read_choice(&objective, "goal", CLT_NAMES("minimise", "maximise", "minimize", "maximize"), -1);
    s->figure = (clt_metric){.name = clt_read_required_text(&objective, "name"),
                             .expression = "figure",
                             .unit = unit ? unit : "",
                             .goal = chosen % 2 ? CLT_MAXIMISE : CLT_MINIMISE};
    if (clt_node_ok(root) && chosen < 0) clt_node_fail(&goal, "needs \"minimise\" or \"maximise\"");
    if (!clt_node_ok(root)) return root->reading->rc;
    return clt_objective_new_for(&s->loop.objective, s->loop.space, NULL, 0, &s->figure, "", error);
  }
  if (s->instance) return clt_objective_new(&s->loop.objective, s->instance, text, error);
  return clt_recording_objective(&s->loop.objective, s->recording, text, error);
}

/* The store's key. With a problem file and a device it is their key, so that results are shared with `tune`; otherwise
 * it is made of the name, the space and the objective. */
static int open_key(clt_served *s, const char *name, clt_error *error) {
  clt_search_loop *l = &s->loop;
  if (s->instance && clt_instance_device(s->instance) && s->figure.name == NULL) {
    int rc = clt_store_key_init(&l->key, s->instance, error);
    return rc ? rc : clt_store_describe_instance(l->store, &l->key, s->instance, error);
  }
  if (name == NULL) name = s->instance ? clt_problem_name(s->problem) : clt_recording_name(s->recording);
  char *sizes = s->instance ? clt_instance_sizes_text(s->instance) : strdup("");
  clt_hasher *hasher = clt_hasher_new();
  if (hasher && sizes) {
    clt_space_hash(hasher, l->space);
    clt_hasher_add_text(hasher, name);
    clt_hasher_add_text(hasher, sizes);
    clt_hasher_add_text(hasher, s->figure.name ? s->figure.name : "");
    clt_hasher_hex(hasher, l->key.problem);
  }
  snprintf(l->key.device, sizeof l->key.device, "serve");
  const clt_store_description description = {
      .key = l->key, .problem_name = name, .problem_path = "", .sizes = sizes, .device_json = "{}"};
  int rc = hasher && sizes ? clt_store_describe(l->store, &description, error) : clt_fail_memory(error);
  clt_hasher_free(hasher);
  free(sizes);
  return rc;
}

int clt_served_count(clt_served *s, const clt_measurement *m, clt_error *error) {
  bool is_new;
  if (clt_map_add(&s->told, m->config, &is_new) == NULL) return clt_fail_memory(error);
  const double cost = clt_measurement_correct(m) ? clt_objective_cost(s->loop.objective, m) : NAN;
  s->n_failed += is_new && !clt_measurement_correct(m);
  if (isnan(cost) || cost >= s->best_cost) return CLT_OK;
  s->best = m->config;
  s->best_cost = cost;
  s->best_time_s = m->time_s;
  s->best_value = clt_objective_value(s->loop.objective, m);
  return CLT_OK;
}

static int on_answer(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                     clt_error *error) {
  (void)asked, (void)cost, (void)origin;
  return clt_served_count(user, m, error);
}

static bool may_begin(void *user) {
  (void)user;
  return true;
}

/* Reads the results of earlier runs under this key. */
static int load_known(clt_served *s, clt_error *error) {
  clt_store_answers answers = {0};
  const clt_search_loop *l = &s->loop;
  int rc =
      clt_store_newest(&answers, l->store, &l->key, l->space, clt_objective_needs_energy(l->objective), NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < answers.n; i++)
    if (answers.all[i].newest && answers.all[i].belief == CLT_KNOWN)
      rc = clt_served_count(s, answers.all[i].newest, error);
  clt_store_answers_release(&answers);
  return rc;
}

/* The same settings as in a session (docs/explanation/sessions.md). */
static int64_t find_budget(const clt_served *s, int64_t typed) {
  const clt_search_loop *l = &s->loop;
  const int64_t own = l->searcher->budget ? l->searcher->budget(l->options) : 0;
  const int64_t of_problem = s->problem ? clt_problem_guidance(s->problem)->budget : 0;
  return typed > 0 ? typed : own > 0 ? own : of_problem > 0 ? of_problem : CLT_DEFAULT_BUDGET;
}

static int open_search(clt_served *s, clt_serving *serving, const clt_node *root, clt_error *error) {
  clt_search_loop *l = &s->loop;
  clt_node settings = clt_node_member(root, "settings");
  size_t n_settings = 0;
  clt_error cause = {0};
  clt_read_object(
      root,
      CLT_NAMES("id", "space", "name", "searcher", "settings", "objective", "budget", "seed", "tolerance", "threads"),
      true);
  const char *name = clt_read_text(root, "name"), *searcher = clt_read_text(root, "searcher");
  const int64_t budget = clt_read_integer_within(root, "budget", 0, 1, MOST_EVALUATIONS);
  const clt_setting *typed = clt_load_settings(&n_settings, &settings, 15);
  clt_node tolerance = clt_node_member(root, "tolerance");
  s->setup = (clt_search_setup){.seed = (uint64_t)clt_read_integer_within(root, "seed", 1, 0, INT64_MAX),
                                .threads = (unsigned)clt_read_integer_within(root, "threads", 0, 0, 1024),
                                .tolerance = clt_read_number(root, "tolerance", CLT_DEFAULT_TOLERANCE),
                                .confidence = CLT_DEFAULT_CONFIDENCE,
                                .log = serving->log,
                                .log_user = serving->log_user};
  if (clt_node_ok(root) && !(s->setup.tolerance >= 1e-6 && s->setup.tolerance <= 1))
    clt_node_fail(&tolerance, "needs a number from 0.000001 to 1");
  if (!clt_node_ok(root)) return root->reading->rc;
  int rc = find_space(s, serving, root, error);
  if (rc == CLT_OK) rc = find_objective(s, root, error);
  searcher = rc ? NULL : clt_tune_searcher(searcher, s->problem);
  clt_node place = clt_node_member(root, "searcher");
  if (searcher && clt_searcher_find(searcher) == NULL) {
    const char *names[CLT_MOST_PLUGINS];
    const size_t n = clt_plugin_names(names, &clt_searchers);
    return clt_node_fail_name(&place, "searcher", searcher, names, n, sizeof *names);
  }
  if (rc == CLT_OK && clt_loop_choose_searcher(l, searcher, s->problem, typed, n_settings, &cause))
    return clt_node_wrap(&settings, cause.code, &cause);
  if (rc == CLT_OK && serving->store == NULL) rc = clt_store_new(&s->own, "memory", NULL, error);
  l->store = serving->store ? serving->store : s->own;
  if (rc == CLT_OK) rc = open_key(s, name, error);
  if (rc == CLT_OK) rc = load_known(s, error);
  l->budget = rc ? 0 : find_budget(s, budget);
  l->on_answer = on_answer;
  l->may_begin = may_begin;
  l->user = s;
  s->setup.instance = s->instance;
  return rc;
}

int clt_serve_space(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  clt_served *s = calloc(1, sizeof *s);
  if (s == NULL) return clt_fail_memory(error);
  s->best = s->default_config = CLT_CONFIG_NONE;
  s->best_cost = INFINITY;
  int rc = open_search(s, serving, root, error);
  if (rc != CLT_OK) {
    clt_served_free(s);
    return rc;
  }
  s->request = *root->reading->source; /* taken over */
  *root->reading->source = (clt_source){0};
  clt_served_free(serving->served);
  serving->served = s;
  const clt_space *space = s->loop.space;
  const int64_t budget = s->loop.budget;
  json_object_set_new(out, "valid", json_integer((json_int_t)clt_space_valid(space)));
  json_object_set_new(out, "cartesian", json_integer((json_int_t)clt_space_cartesian(space)));
  json_object_set_new(out, "searcher", json_string(s->loop.searcher->name));
  json_object_set_new(out, "objective", clt_json_objective(s->loop.objective));
  json_object_set_new(out, "tell", json_string(clt_objective_default(s->loop.objective) > 0 ? "value" : "time_s"));
  json_object_set_new(out, "budget", budget == INT64_MAX ? json_null() : json_integer(budget));
  json_object_set_new(out, "seed", json_integer((json_int_t)s->setup.seed));
  json_object_set_new(out, "known", json_integer((json_int_t)s->told.n));
  return CLT_OK;
}
