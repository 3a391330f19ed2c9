/* A model of a recorded pool, without a device:
 *
 *   pool_model error   PROBLEM RECORDING [OPTION...]   its error on unseen configurations
 *   pool_model scatter PROBLEM RECORDING [OPTION...]   predicted against measured, of those
 *   pool_model sample  PROBLEM RECORDING [OPTION...]   the configurations trained on
 *   pool_model best    PROBLEM RECORDING [OPTION...]   the configurations of the whole space predicted to be the
 * fastest
 *
 *   -n N      trains on N rows of the pool (default 1000)
 *   -r R      repeat: the seed of the order of the rows, and of the model (default 1)
 *   -u N      unseen rows to predict (default 1000)
 *   -k K      best: how many (default 200)
 *   -v P      best: those less likely to be valid than P come last (default 0.5; 0: as if there were no validity model)
 *   -m NAME   the model: ensemble (default), trees, average, auto
 *   -o A=B    an option of the model; may be repeated
 *   -t N      threads (default: all)
 *
 * The rows are put into a random order; the first N are trained on, failed ones among them, and the last are those not
 * seen: the same of one repeat for every N. error prints a line of comma-separated values: rows trained on, repeat,
 * unseen rows, mean relative error, its median, root mean square of the log error, mean relative error out of fold,
 * seconds to fit, seconds to predict the unseen rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "measurement/measurement.h"
#include "pool.h"

#define MAX_SETTINGS 16

typedef struct options {
  long n, repeat, unseen, best, threads;
  double min_p_valid;
  const char *model;
  clt_setting settings[MAX_SETTINGS];
  size_t n_settings;
} options;

static int fail(const char *text) {
  fprintf(stderr, "pool_model: %s\n", text);
  return 1;
}

static bool add_setting(options *o, char *text) {
  char *equals = strchr(text, '=');
  if (equals == NULL || o->n_settings == MAX_SETTINGS) return false;
  *equals = 0;
  o->settings[o->n_settings++] = (clt_setting){text, equals + 1};
  return true;
}

static bool read_options(options *o, int argc, char **argv) {
  for (int c; (c = getopt(argc, argv, "n:r:u:k:v:o:t:m:")) != -1;) {
    switch (c) {
      case 'n': o->n = strtol(optarg, NULL, 10); break;
      case 'r': o->repeat = strtol(optarg, NULL, 10); break;
      case 'u': o->unseen = strtol(optarg, NULL, 10); break;
      case 'k': o->best = strtol(optarg, NULL, 10); break;
      case 'v': o->min_p_valid = strtod(optarg, NULL); break;
      case 'm': o->model = optarg; break;
      case 't': o->threads = strtol(optarg, NULL, 10); break;
      case 'o':
        if (!add_setting(o, optarg)) return false;
        break;
      default: return false;
    }
  }
  return o->n > 0 && o->repeat > 0 && o->unseen > 0 && o->best > 0 && o->threads >= 0;
}

static int train(clt_model **model, const pool *p, const options *o) {
  clt_error error = {0};
  int rc = fit_rows(model, o->model, o->settings, o->n_settings, clt_instance_space(p->instance), p->instance, p->rows,
                    (size_t)o->n, (uint64_t)o->repeat, (unsigned)o->threads, &error);
  return rc ? fail(error.message) : 0;
}

/* Predicts the last correct rows of the pool. */
/* Returns the seconds that predicting took, or less than 0. */
static double predict_unseen(const pool *p, const options *o, const clt_model *model, double **measured,
                             clt_prediction **predicted, size_t *n) {
  clt_config *configs = calloc((size_t)o->unseen, sizeof *configs);
  *measured = calloc((size_t)o->unseen, sizeof **measured);
  *predicted = calloc((size_t)o->unseen, sizeof **predicted);
  *n = 0;
  if (configs == NULL || *measured == NULL || *predicted == NULL) abort();
  for (size_t i = p->n_rows; i > (size_t)o->n && *n < (size_t)o->unseen; i--) {
    if (p->rows[i - 1].failed) continue;
    configs[*n] = p->rows[i - 1].config;
    (*measured)[(*n)++] = p->rows[i - 1].time_s;
  }
  double start_s = clt_now_s();
  int rc = clt_model_predict(*predicted, model, configs, *n, NULL);
  double took_s = clt_now_s() - start_s;
  free(configs);
  if (rc) fail("cannot predict");
  return rc ? -1 : took_s;
}

static int print_error(const pool *p, const options *o, const clt_model *model) {
  double *errors, squares = 0, sum = 0;
  clt_prediction *predicted;
  clt_model_accuracy a;
  size_t n;
  double predict_s = predict_unseen(p, o, model, &errors, &predicted, &n);
  if (predict_s < 0) return 1;
  for (size_t i = 0; i < n; i++) {
    double log_error = predicted[i].log_cost - log(errors[i]);
    squares += log_error * log_error;
    errors[i] = fabs(expm1(log_error));
    sum += errors[i];
  }
  clt_model_accuracy_get(&a, model);
  printf("%ld,%ld,%zu,%.5f,%.5f,%.5f,%.5f,%.3f,%.6f\n", o->n, o->repeat, n, sum / (double)n, clt_median(errors, n),
         sqrt(squares / (double)n), a.mean_relative_error, a.fit_s, predict_s);
  free(errors);
  free(predicted);
  return 0;
}

static int print_scatter(const pool *p, const options *o, const clt_model *model) {
  double *measured;
  clt_prediction *predicted;
  size_t n;
  if (predict_unseen(p, o, model, &measured, &predicted, &n) < 0) return 1;
  for (size_t i = 0; i < n; i++) printf("%.9g %.9g\n", measured[i], exp(predicted[i].log_cost));
  free(measured);
  free(predicted);
  return 0;
}

/* A JSON list of the kind that clatune sample --configurations reads. */
static void print_configuration(const clt_space *space, clt_config config) {
  printf("{\"configuration\": {");
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    char text[256];
    clt_value value = clt_space_value(space, config, i);
    clt_value_print(text, sizeof text, value);
    const char *quote = value.type == CLT_STRING ? "\"" : "";
    printf("%s\"%s\": %s%s%s", i ? ", " : "", clt_space_parameter(space, i)->name, quote, text, quote);
  }
  printf("}");
}

static int print_best(const pool *p, const options *o, const clt_model *model) {
  size_t n = 0;
  clt_config *configs = calloc((size_t)o->best, sizeof *configs);
  clt_prediction *predictions = calloc((size_t)o->best, sizeof *predictions);
  if (configs == NULL || predictions == NULL) abort();
  int rc = clt_model_best(configs, predictions, &n, model, (size_t)o->best, o->min_p_valid, NULL, 0, NULL);
  for (size_t i = 0; rc == 0 && i < n; i++) {
    printf("%s", i ? ",\n " : "[");
    print_configuration(clt_instance_space(p->instance), configs[i]);
    printf(", \"predicted_s\": %.9g, \"p_valid\": %.4f}", exp(predictions[i].log_cost), predictions[i].p_valid);
  }
  if (rc == 0) puts("]");
  free(configs);
  free(predictions);
  return rc ? fail("cannot predict the space") : 0;
}

static int print_sample(const pool *p, const options *o) {
  for (size_t i = 0; i < (size_t)o->n; i++) {
    printf("%s", i ? ",\n " : "[");
    print_configuration(clt_instance_space(p->instance), p->rows[i].config);
    printf("}");
  }
  puts("]");
  return 0;
}

static int run(pool *p, const options *o, const char *action) {
  clt_model *model = NULL;
  pool_shuffle(p, (uint64_t)o->repeat);
  bool of_unseen = strcmp(action, "error") == 0 || strcmp(action, "scatter") == 0;
  if ((size_t)(o->n + (of_unseen ? o->unseen : 0)) > p->n_rows) return fail("the pool has too few rows");
  if (strcmp(action, "sample") == 0) return print_sample(p, o);
  int rc = train(&model, p, o);
  if (rc) return rc;
  rc = strcmp(action, "error") == 0     ? print_error(p, o, model)
       : strcmp(action, "scatter") == 0 ? print_scatter(p, o, model)
       : strcmp(action, "best") == 0    ? print_best(p, o, model)
                                        : fail("the action is error, scatter, sample or best");
  clt_model_free(model);
  return rc;
}

int main(int argc, char **argv) {
  options o = {.n = 1000, .repeat = 1, .unseen = 1000, .best = 200, .min_p_valid = 0.5, .model = "ensemble"};
  pool p;
  if (argc < 4 || !read_options(&o, argc - 3, argv + 3))
    return fail(
        "usage: pool_model error|scatter|sample|best PROBLEM RECORDING [-n N] [-r R] [-u N] [-k K] [-v P] [-o A=B]...");
  if (!pool_open(&p, argv[2], argv[3])) return 1;
  int rc = run(&p, &o, argv[1]);
  pool_close(&p);
  return rc;
}
