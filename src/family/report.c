/* clatune family report: how good the choices on a device are; with --sources, choices that were learnt on other
 * devices. */
#include "base/base.h"
#include "family/train.h"

/* --- on a device --- */

static json_t *figures_json(const char *name, const clt_family_figures *f) {
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "choice", name, "mean", clt_json_real(f->mean), "slower_than_best",
                   clt_json_real(f->slow), "slower_than_single", clt_json_real(f->worse), "gap_closed",
                   clt_json_real(f->gap_closed));
}

/* Mean run times of the features' functions and the conversions, over the inputs. */
static json_t *costs_json(const family_subject *s) {
  const clt_family *f = s->family;
  json_t *list = json_array();
  for (size_t i = 0; i < f->n_functions + f->n_variants; i++) {
    const bool converts = i >= f->n_functions;
    const size_t k = converts ? i - f->n_functions : i;
    double sum = 0;
    size_t n = 0;
    if (converts && f->variants[k].conversion == NULL) continue;
    for (size_t row = 0; row < s->table.n; row++) {
      const double seconds = converts ? s->table.inputs[row].conversion_s[k] : s->table.inputs[row].function_s[k];
      sum += seconds;
      n += seconds > 0;
    }
    const char *of = converts ? "conversion" : "features";
    const char *function = converts ? f->variants[k].conversion : f->functions[k].function;
    json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "of", of, "function", function, "mean_s",
                                          clt_json_real(sum / (double)n))); /* null without any */
  }
  return list;
}

static void print_report(const family_subject *s, const json_t *rows, const json_t *costs, size_t n_judged) {
  json_t *line;
  size_t i;
  char time[32];
  printf("%s on %s: %zu training inputs, ", s->family->name, s->subject.device->name, s->table.n_train);
  if (s->table.n == s->table.n_train)
    printf("judged by nested cross-validation, %zu configurations\n\n", s->table.n_arms);
  else
    printf("%zu test inputs, %zu configurations\n\n", n_judged, s->table.n_arms);
  printf("%-34s %8s %13s %15s %10s\n", "", "mean of", "> 5 % slower", "> 5 % slower", "gap");
  printf("%-34s %8s %13s %15s %10s\n", "choice", "the best", "than best", "than single", "closed");
  json_array_foreach(rows, i, line) {
    const double gap = clt_json_number(line, "gap_closed");
    printf("%-34s %8.4f %11.1f %% %13.1f %% ", clt_json_string(line, "choice"), clt_json_number(line, "mean"),
           100 * clt_json_number(line, "slower_than_best"), 100 * clt_json_number(line, "slower_than_single"));
    printf(isnan(gap) ? "         -\n" : "%10.3f\n", gap);
  }
  if (json_array_size(costs)) puts("");
  json_array_foreach(costs, i, line)
      printf("%-10s %-23s %s\n", clt_json_string(line, "of"), clt_json_string(line, "function"),
             clt_time_text(time, clt_json_number(line, "mean_s")));
}

/* Judges a chooser (NULL: auto) and adds its row. */
static void judge(clt_family_figures figures[CLT_N_JUDGED], size_t *n, json_t *rows, const family_subject *s,
                  const clt_family_chooser *chooser) {
  clt_family_training how = s->training;
  how.chooser = chooser;
  cli_check(clt_family_judge(figures, n, &s->table, &how, &cli_error));
  json_array_append_new(rows, figures_json(chooser ? chooser->scorer->name : "auto", &figures[CLT_JUDGE_CHOICE]));
}

int family_report(const family_subject *s, const cli_arguments *arguments) {
  const clt_family_chooser *own = s->training.chooser;
  clt_family_figures first[CLT_N_JUDGED] = {{0}}, figures[CLT_N_JUDGED];
  json_t *rows = json_array(), *arms = json_array();
  size_t n = 0;
  char name[64];
  for (size_t i = 0; clt_family_choosers[i]; i++) {
    const clt_family_chooser *c = clt_family_choosers[i];
    if (c->n_settings > 0)
      judge(c == own ? first : figures, &n, rows, s, c);
    else if (!cli_given(arguments, "quiet"))
      cli_message(0, "left out '%s': this clatune was built without libsvm", c->scorer->name);
  }
  if (own == NULL) judge(first, &n, rows, s, NULL);
  const clt_family_figures ideal = {1, 0, 0, first[CLT_JUDGE_SINGLE].mean < 1 - 1e-9 ? 1 : NAN};
  snprintf(name, sizeof name, "measure the top two of %s", own ? own->scorer->name : "auto");
  json_array_append_new(rows, figures_json(name, &first[CLT_JUDGE_TOP_TWO]));
  json_array_append_new(rows, figures_json("single best variant", &first[CLT_JUDGE_SINGLE]));
  json_array_append_new(rows, figures_json("ideal", &ideal));
  json_t *costs = costs_json(s);
  for (size_t i = 0; i < s->table.n_arms; i++)
    json_array_append_new(arms, json_pack("{s:s, s:s}", "variant", s->family->variants[s->table.arms[i].variant].name,
                                          "configuration", s->table.arms[i].configuration));
  json_t *document =
      json_pack("{s:s, s:o, s:I, s:I, s:b, s:o, s:o, s:o}", "family", s->family->name, "device",
                cli_json_device(s->subject.device), "learnt_from", (json_int_t)s->table.n_train, "judged_by",
                (json_int_t)n, "nested", s->table.n == s->table.n_train, "arms", arms, "rows", rows, "costs", costs);
  if (cli_given(arguments, "json")) return cli_print_json(document);
  print_report(s, rows, costs, n);
  json_decref(document);
  return CLI_FOUND;
}

/* --- learnt on other devices --- */

static json_t *figures_of(const clt_family_across *across, const clt_family_devices *devices) {
  json_t *list = json_array();
  for (size_t k = 0; k < across->n_chosen; k++)
    json_array_append_new(list, json_string(devices->names[across->chosen[k]]));
  return list;
}

static char *join(const json_t *words) {
  clt_text text = {0};
  char *out = NULL;
  for (size_t i = 0; i < json_array_size(words); i++)
    clt_text_printf(&text, "%s%s", i ? ", " : "", json_string_value(json_array_get(words, i)));
  clt_text_take(&out, &text, NULL);
  return out;
}

void family_print_across(const family_subject *s, size_t device) {
  json_t *names = figures_of(&s->across, &s->devices);
  char *text = join(names);
  printf("device              %s\ndevice features     %s (%s in %.2g s)\nnearest device      %s\n",
         s->devices.all[device].name, text && *text ? text : "all", s->devices.n_given ? "given; read" : "chosen",
         s->across.selection_s, s->devices.all[s->across.nearest].name);
  json_decref(names);
  free(text);
}

static void add_mean(json_t *rows) {
  static const char *const keys[] = {"mean", "top_two", "nearest_mean", "single_mean"};
  json_t *row, *mean = json_pack("{s:s}", "device", "mean");
  size_t i;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    double sum = 0;
    json_array_foreach(rows, i, row) sum += clt_json_number(row, keys[k]);
    json_object_set_new(mean, keys[k], clt_json_real(sum / (double)json_array_size(rows)));
  }
  json_array_append_new(rows, mean);
}

static void judge_device(json_t *rows, const family_subject *s, size_t device) {
  clt_family_across across;
  clt_family_figures all[CLT_N_JUDGED], nearest[CLT_N_JUDGED], alike[CLT_N_JUDGED];
  const clt_family_devices *d = &s->devices;
  const clt_family_training *how = &s->training;
  size_t n = 0;
  const double start_s = clt_now_s();
  cli_check(clt_family_across_load(&across, s->family, d, device, s->portfolio, s->uses, &cli_error));
  cli_check(clt_family_across_judge(all, &n, &across, CLT_BY_DISTANCE, how, &cli_error));
  cli_check(clt_family_across_judge(nearest, &n, &across, CLT_NEAREST_ALONE, how, &cli_error));
  cli_check(clt_family_across_judge(alike, &n, &across, CLT_ALIKE, how, &cli_error));
  json_array_append_new(
      rows,
      json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "device", d->all[device].name,
                "learnt_from", (json_int_t)across.table.n_train, "judged_by", (json_int_t)n, "arms",
                (json_int_t)across.table.n_arms, "mean", clt_json_real(all[CLT_JUDGE_CHOICE].mean), "slower_than_best",
                clt_json_real(all[CLT_JUDGE_CHOICE].slow), "top_two", clt_json_real(all[CLT_JUDGE_TOP_TWO].mean),
                "nearest_mean", clt_json_real(nearest[CLT_JUDGE_CHOICE].mean), "single_mean",
                clt_json_real(alike[CLT_JUDGE_SINGLE].mean), "nearest", d->all[across.nearest].name, "figures",
                figures_of(&across, d), "selection_s", clt_json_real(across.selection_s), "total_s",
                clt_json_real(clt_now_s() - start_s)));
  clt_family_across_release(&across);
}

int family_report_across(const family_subject *s, const cli_arguments *arguments) {
  json_t *rows = json_array(), *row;
  const char *chooser = s->training.chooser ? s->training.chooser->scorer->name : "auto";
  size_t i;
  for (i = 0; i < s->devices.n; i++) {
    if (!cli_given(arguments, "quiet"))
      cli_message(0, "[%zu/%zu] without %s", i + 1, s->devices.n, s->devices.all[i].name);
    judge_device(rows, s, i);
  }
  add_mean(rows);
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:s, s:o}", "family", s->family->name, "chooser", chooser, "devices", rows));
  printf("%s: mean fraction of the best on each device, learnt from the others (chooser '%s')\n\n", s->family->name,
         chooser);
  printf("%-32s %8s %8s %8s %8s   %s\n", "", "all", "top", "nearest", "single", "");
  printf("%-32s %8s %8s %8s %8s   %s\n", "device", "others", "two", "alone", "best", "device features; nearest device");
  json_array_foreach(rows, i, row) {
    char *figures = join(json_object_get(row, "figures"));
    printf("%-32.32s %8.4f %8.4f %8.4f %8.4f", clt_json_string(row, "device"), clt_json_number(row, "mean"),
           clt_json_number(row, "top_two"), clt_json_number(row, "nearest_mean"), clt_json_number(row, "single_mean"));
    if (json_object_get(row, "nearest"))
      printf("   %s (%.2g s); %s", figures && *figures ? figures : "all", clt_json_number(row, "selection_s"),
             clt_json_string(row, "nearest"));
    puts("");
    free(figures);
  }
  json_decref(rows);
  return CLI_FOUND;
}
