/* clatune family report --sources: models of each device from the other devices' measurements. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/family.h"

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

void cli_family_print_across(const family_subject *s, size_t device) {
  json_t *names = figures_of(&s->across, &s->devices);
  char *text = join(names);
  printf("device              %s\ndevice features     %s (chosen in %.2g s)\nnearest device      %s\n",
         s->devices.all[device].name, text && *text ? text : "all", s->across.selection_s,
         s->devices.all[s->across.nearest].name);
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

static int judge_device(json_t *rows, const family_subject *s, size_t device, clt_error *error) {
  clt_family_across across = {0};
  clt_family_figures all[CLT_N_JUDGED], nearest[CLT_N_JUDGED], alike[CLT_N_JUDGED];
  const clt_family_devices *d = &s->devices;
  size_t n = 0;
  const double start_s = clt_now_s();
  int rc = clt_family_across_load(&across, s->family, d, device, s->portfolio, s->uses, error);
  if (rc == CLT_OK) rc = clt_family_across_judge(all, &n, &across, CLT_BY_DISTANCE, &s->training, error);
  if (rc == CLT_OK) rc = clt_family_across_judge(nearest, &n, &across, CLT_NEAREST_ALONE, &s->training, error);
  if (rc == CLT_OK) rc = clt_family_across_judge(alike, &n, &across, CLT_ALIKE, &s->training, error);
  if (rc == CLT_OK)
    json_array_append_new(
        rows,
        json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "device", d->all[device].name,
                  "learnt_from", (json_int_t)across.table.n_train, "judged_by", (json_int_t)n, "arms",
                  (json_int_t)across.table.n_arms, "mean", clt_json_real(all[CLT_JUDGE_CHOICE].mean),
                  "slower_than_best", clt_json_real(all[CLT_JUDGE_CHOICE].slow), "top_two",
                  clt_json_real(all[CLT_JUDGE_TOP_TWO].mean), "nearest_mean",
                  clt_json_real(nearest[CLT_JUDGE_CHOICE].mean), "single_mean",
                  clt_json_real(alike[CLT_JUDGE_SINGLE].mean), "nearest", d->all[across.nearest].name, "figures",
                  figures_of(&across, d), "selection_s", clt_json_real(across.selection_s), "total_s",
                  clt_json_real(clt_now_s() - start_s)));
  clt_family_across_release(&across);
  return rc;
}

int cli_family_report_across(family_subject *s, const cli_arguments *arguments) {
  clt_error error = {0};
  json_t *rows = json_array(), *row;
  const char *chooser = s->training.chooser ? s->training.chooser->name : "auto";
  int rc = 0;
  size_t i;
  for (i = 0; rc == 0 && i < s->devices.n; i++) {
    if (!cli_given(arguments, "quiet"))
      cli_message(0, "[%zu/%zu] without %s", i + 1, s->devices.n, s->devices.all[i].name);
    if (judge_device(rows, s, i, &error)) rc = cli_report(&error);
  }
  if (rc == 0) add_mean(rows);
  if (rc == 0 && cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:s, s:O}", "family", s->family->name, "chooser", chooser, "devices", rows));
  } else if (rc == 0) {
    printf("%s: mean fraction of the best on each device, learnt from the others (chooser '%s')\n\n", s->family->name,
           chooser);
    printf("%-32s %8s %8s %8s %8s   %s\n", "", "all", "top", "nearest", "single", "");
    printf("%-32s %8s %8s %8s %8s   %s\n", "device", "others", "two", "alone", "best",
           "device features; nearest device");
    json_array_foreach(rows, i, row) {
      char *figures = join(json_object_get(row, "figures"));
      printf("%-32.32s %8.4f %8.4f %8.4f %8.4f", clt_json_string(row, "device"), clt_json_number(row, "mean"),
             clt_json_number(row, "top_two"), clt_json_number(row, "nearest_mean"),
             clt_json_number(row, "single_mean"));
      if (json_object_get(row, "nearest"))
        printf("   %s (%.2g s); %s", figures && *figures ? figures : "all", clt_json_number(row, "selection_s"),
               clt_json_string(row, "nearest"));
      puts("");
      free(figures);
    }
  }
  json_decref(rows);
  return rc;
}
