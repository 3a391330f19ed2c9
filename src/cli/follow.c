/* Reads a growing file of events. */
#include "cli/tuning.h"

#include <sys/stat.h>

#include "base/json.h"
#include "report/draw.h"
#include "report/report.h"

static json_t *text_of(const json_t *object, const char *name) {
  return clt_report_string(clt_json_string(object, name));
}

/* "wg_x=8 wg_y=4" */
static json_t *pairs_text(const json_t *object) {
  clt_text text = {0};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    char *shown = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
    clt_text_printf(&text, "%s%s=%s", text.n ? " " : "", name, shown ? shown : "?");
    free(shown);
  }
  json_t *out = clt_report_string(text.bytes ? text.bytes : "");
  clt_text_release(&text);
  return out;
}

static void take_evaluation(json_t *tuning, const json_t *event) {
  const char *reason = clt_json_string(event, "reason");
  json_t *latest = json_pack("{s:o, s:o, s:O?, s:O?, s:o}", "text", pairs_text(json_object_get(event, "configuration")),
                             "reason", text_of(event, "reason"), "value", json_object_get(event, "value"), "objective",
                             json_object_get(tuning, "objective"), "result", json_null());
  clt_text text = {0};
  clt_draw_form(&text, latest, strcmp(reason, "none") == 0 ? "{value:in objective.unit}" : "{reason:reason}");
  json_object_set_new(latest, "result", clt_report_string(text.bytes ? text.bytes : ""));
  clt_text_release(&text);
  json_object_set_new(tuning, "latest", latest);
  json_object_set_new(tuning, "waits", json_null());
  if (strcmp(reason, "none") == 0) return;
  json_t *reasons = json_object_get(tuning, "reasons");
  json_object_set_new(tuning, "failed", json_integer(json_integer_value(json_object_get(tuning, "failed")) + 1));
  json_object_set_new(reasons, reason, json_integer(json_integer_value(json_object_get(reasons, reason)) + 1));
}

static void take_event(cli_follow *f, const json_t *event) {
  static const char *const kept[] = {"evaluations", "total", "elapsed_s"};
  const char *name = clt_json_string(event, "event"), *key = clt_json_string(event, "tuning");
  json_t *objective = json_object_get(event, "objective"), *value = json_object_get(event, "value");
  if (strcmp(name, "started") == 0)
    json_object_set_new(
        f->tunings, key,
        json_pack("{s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:s, s:n, s:i, s:i, s:f, s:{}, s:i, s:n, s:n, s:s, s:[], s:b}",
                  "title", text_of(event, "problem"), "sizes", pairs_text(json_object_get(event, "sizes")), "device",
                  text_of(json_object_get(event, "device"), "name"), "objective", "name", text_of(objective, "name"),
                  "unit", text_of(objective, "unit"), "goal", text_of(objective, "goal"), "phase", "", "waits",
                  "evaluations", 0, "total", 0, "elapsed_s", 0.0, "reasons", "failed", 0, "latest", "best_value",
                  "best", "", "progress", "ended", false));
  json_t *tuning = json_object_get(f->tunings, key);
  if (strcmp(name, "finished") == 0) {
    f->ended = f->ended || key[0] == '\0'; /* of a sweep this is the last line */
    if (tuning) json_object_set_new(tuning, "ended", json_true());
    if (tuning) json_object_set_new(tuning, "waits", json_null());
    return;
  }
  if (tuning == NULL) return;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (json_is_number(json_object_get(event, kept[i])))
      json_object_set(tuning, kept[i], json_object_get(event, kept[i]));
  if (strcmp(name, "phase") == 0) json_object_set_new(tuning, "phase", text_of(event, "phase"));
  if (strcmp(name, "waits") == 0) json_object_set_new(tuning, "waits", text_of(event, "waits"));
  if (strcmp(name, "evaluation") == 0) take_evaluation(tuning, event);
  if (strcmp(name, "incumbent") != 0) return;
  json_object_set_new(tuning, "best", pairs_text(json_object_get(event, "configuration")));
  json_object_set(tuning, "best_value", value);
  if (json_is_number(value))
    json_array_append_new(json_object_get(tuning, "progress"),
                          json_pack("{s:O?, s:O?, s:O}", "evaluation", json_object_get(event, "evaluations"), "spent_s",
                                    json_object_get(event, "elapsed_s"), "best_value", value));
}

bool cli_follow_read(cli_follow *f) {
  struct stat now;
  char *line = NULL;
  size_t capacity = 0;
  bool any = false;
  FILE *file = fopen(f->path, "re");
  if (file && fstat(fileno(file), &now) == 0 && now.st_size < f->offset) cli_follow_release(f);
  if (f->tunings == NULL) f->tunings = json_object();
  if (file) fseek(file, f->offset, SEEK_SET);
  for (ssize_t n; file && !f->ended && (n = getline(&line, &capacity, file)) > 0 && line[n - 1] == '\n';) {
    json_t *event = json_loadb(line, (size_t)n, 0, NULL);
    if (json_is_object(event)) take_event(f, event);
    json_decref(event);
    f->offset += n;
    any = true;
  }
  free(line);
  if (file) fclose(file);
  return any;
}

json_t *cli_follow_json(const cli_follow *f) {
  json_t *tunings = json_array(), *tuning;
  const char *key;
  json_object_foreach(f->tunings, key, tuning) json_array_append(tunings, tuning);
  return json_pack("{s:o, s:b, s:o}", "file", clt_report_string(f->path), "ended", f->ended, "tunings", tunings);
}

void cli_follow_release(cli_follow *f) {
  json_decref(f->tunings);
  *f = (cli_follow){.path = f->path};
}
