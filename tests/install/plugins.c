/* A program outside of the tree with plug-ins of its own: a searcher, an evaluator and a store, registered with the
 * shared library, carry a whole search; a model is registered and found; wrong ABI versions and taken names are
 * refused. */
#include <clatune/space.h>
#include <clatune/store.h>
#include <clatune/sys/evaluator.h>
#include <clatune/sys/model.h>
#include <clatune/sys/searcher.h>
#include <clatune/sys/store.h>
#include <clatune/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 10 /* configurations */

static int check(bool holds, const char *what) {
  if (!holds) fprintf(stderr, "failed: %s\n", what);
  return holds ? 0 : 1;
}

/* --- a searcher: every configuration in turn --- */

typedef struct walker {
  const clt_space *space;
  uint64_t next;
} walker;

static int n_told_in_all;

static int walker_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)options, (void)error;
  ((walker *)state)->space = setup->space;
  return CLT_OK;
}

static int walker_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  walker *w = state;
  (void)error;
  for (*n_out = 0; *n_out < n && w->next < clt_space_valid(w->space); w->next++)
    out[(*n_out)++] = clt_space_at(w->space, w->next);
  return CLT_OK;
}

static int walker_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                       clt_error *error) {
  (void)state, (void)config, (void)cost, (void)measurement, (void)error;
  n_told_in_all++;
  return CLT_OK;
}

static void walker_fini(void *state) { (void)state; }

static const clt_searcher_type searcher = {.abi = CLT_SEARCHER_ABI,
                                           .name = "outside",
                                           .summary = "every configuration in turn",
                                           .options_size = 1,
                                           .state_size = sizeof(walker),
                                           .init = walker_init,
                                           .ask = walker_ask,
                                           .tell = walker_tell,
                                           .fini = walker_fini};

/* --- an evaluator: a configuration takes 1 s, 2 s ... but the seventh is the fastest --- */

typedef struct table {
  clt_config submitted;
} table;

static int table_open(void *state, const clt_evaluator_setup *setup, const void *options, clt_evaluator_limits *limits,
                      clt_error *error) {
  (void)setup, (void)options, (void)error;
  ((table *)state)->submitted = CLT_CONFIG_NONE;
  *limits = (clt_evaluator_limits){1, 1};
  return CLT_OK;
}

static int table_submit(void *state, clt_config config, double best_s, clt_error *error) {
  (void)best_s, (void)error;
  ((table *)state)->submitted = config;
  return CLT_OK;
}

static int table_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  table *t = state;
  (void)timeout_s, (void)error;
  if (t->submitted == CLT_CONFIG_NONE) return CLT_E_AGAIN;
  clt_measurement_init(out, t->submitted);
  out->time_s = out->runs_s[0] = t->submitted == 6 ? 0.5 : 1 + (double)t->submitted;
  out->n_runs = 1;
  t->submitted = CLT_CONFIG_NONE;
  return CLT_OK;
}

static void table_close(void *state) { (void)state; }

static const clt_evaluator_type evaluator = {.abi = CLT_EVALUATOR_ABI,
                                             .name = "outside",
                                             .summary = "a table",
                                             .options_size = 1,
                                             .state_size = sizeof(table),
                                             .open = table_open,
                                             .submit = table_submit,
                                             .wait = table_wait,
                                             .close = table_close};

/* --- a store that counts --- */

static int n_added;

static int counter_open(void *state, const char *path, bool to_read, clt_error *error) {
  (void)state, (void)path, (void)to_read, (void)error;
  return CLT_OK;
}

static int counter_add(void *state, const clt_store_description *d, const clt_store_record *record, uint64_t *added,
                       clt_error *error) {
  (void)state, (void)d, (void)error;
  n_added += record != NULL;
  if (added) ++*added;
  return CLT_OK;
}

static int counter_walk(void *state, clt_store_order order, const clt_store_key *key, const char *configuration,
                        int64_t after, clt_store_walk_visit visit, void *user, clt_error *error) {
  (void)state, (void)order, (void)key, (void)configuration, (void)after, (void)visit, (void)user, (void)error;
  return CLT_OK;
}

static int counter_remove(void *state, const clt_store_description *d, int64_t before_s, bool count_only, uint64_t *n,
                          clt_error *error) {
  (void)state, (void)d, (void)before_s, (void)count_only, (void)error;
  *n = 0;
  return CLT_OK;
}

static int counter_transaction(void *state, clt_store_step step, uint64_t *version, clt_error *error) {
  (void)state, (void)step, (void)error;
  if (version) *version = (uint64_t)n_added;
  return CLT_OK;
}

static void counter_close(void *state) { (void)state; }

static const clt_store_type store_type = {.abi = CLT_STORE_ABI,
                                          .name = "outside",
                                          .summary = "counts",
                                          .state_size = 1,
                                          .open = counter_open,
                                          .add = counter_add,
                                          .walk = counter_walk,
                                          .remove = counter_remove,
                                          .transaction = counter_transaction,
                                          .close = counter_close};

static int search(void) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  clt_store *store = NULL;
  clt_tune_result *result = NULL;
  clt_tune_settings settings;
  clt_error error = {0};
  int rc = clt_space_builder_new(&builder, &error);
  if (rc == 0) rc = clt_space_builder_parameter_text(builder, "a", "int", "range(10)", &error);
  if (rc == 0) rc = clt_space_new(&space, builder, &error);
  if (rc == 0) rc = clt_store_new(&store, "outside", NULL, &error);
  clt_tune_settings_init(&settings);
  settings.space = space;
  settings.evaluator = settings.searcher = "outside";
  settings.store = store;
  settings.budget = N;
  if (rc == 0) rc = clt_tune_run(&result, &settings, &error);
  int bad = check(rc == 0, error.message);
  if (rc == 0) {
    bad += check(result->best.config == 6, "the seventh is the best");
    bad += check(n_told_in_all == N, "the searcher is told of each");
    bad += check(n_added == N, "the store has each");
  }
  clt_tune_result_free(result);
  clt_store_free(store);
  clt_space_free(space);
  clt_space_builder_free(builder);
  return bad;
}

int main(void) {
  clt_searcher_type old = searcher;
  clt_model_type model = *clt_model_type_find("ensemble");
  clt_error error = {0};
  model.name = "outside";
  old.abi++;
  int bad = check(clt_searcher_register(&old, NULL) == CLT_E_ARGUMENT, "another ABI is refused");
  bad += check(clt_searcher_register(&searcher, &error) == 0, error.message);
  bad += check(clt_searcher_register(&searcher, NULL) == CLT_E_ARGUMENT, "a name is taken once");
  bad += check(clt_evaluator_register(&evaluator, &error) == 0, error.message);
  bad += check(clt_store_register(&store_type, &error) == 0, error.message);
  bad += check(clt_model_register(&model, &error) == 0, error.message);
  bad += check(clt_model_type_find("outside") == &model, "the model is found");
  return bad + search() ? 1 : 0;
}
