/* Submitted plans: writing them as a text without paths, and reading such texts on other machines. */
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "device/device.h"
#include "farm/plan.h"
#include "problem/guidance.h"
#include "problem/instance.h"

#define CELLS "#cells" /* in the text of a plan: name_cells */

/* --- problems --- */

/* A hash of the file itself and of everything that the store's key covers. */
static int hash_problem(char out[33], const clt_problem *problem, clt_error *error) {
  clt_instance *instance = NULL;
  char *text = NULL, kernel[33] = "";
  size_t n = 0;
  clt_hasher *hasher = clt_hasher_new();
  int rc =
      hasher ? clt_file_read(&text, &n, clt_problem_path(problem), CLT_MAX_TEXT_BYTES, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_new(&instance, problem, NULL, 0, NULL, error);
  if (rc == CLT_OK) rc = clt_instance_kernel_key(kernel, instance, error);
  if (rc == CLT_OK) {
    clt_hasher_add(hasher, text, n);
    clt_hasher_add_text(hasher, kernel);
    clt_hasher_hex(hasher, out);
  }
  clt_instance_free(instance);
  clt_hasher_free(hasher);
  free(text);
  return rc;
}

static int name_problem(char **out, const clt_problem *problem, clt_error *error) {
  const char *path = clt_problem_path(problem), *slash = strrchr(path, '/');
  char hash[33];
  int rc = hash_problem(hash, problem, error);
  if (rc) return rc;
  *out = clt_format("%s#%s", slash ? slash + 1 : path, hash);
  return *out ? CLT_OK : clt_fail_memory(error);
}

/* A file that is not a valid problem is simply not the one that is searched for. */
static int try_file(char **out, const char *path, const char *wanted, clt_error *error) {
  clt_problem *problem = NULL;
  char *name = NULL;
  if (access(path, F_OK) != 0) return CLT_E_NOT_FOUND;
  int rc = clt_problem_new(&problem, path, NULL);
  if (rc == CLT_OK) rc = name_problem(&name, problem, NULL);
  bool found = rc == CLT_OK && strcmp(name, wanted) == 0;
  clt_problem_free(problem);
  free(name);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
  if (!found) return CLT_E_FORMAT;
  *out = strdup(path);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_sweep_resolve(char **out, const char *name, const clt_sweep_trust *trust, clt_error *error) {
  const char *mark = strrchr(name, '#');
  bool differs = false;
  if (mark == NULL || mark == name || strlen(mark) != 33 || name[0] == '.' || strchr(name, '/'))
    return clt_fail(error, CLT_E_FORMAT, "needs the name of a problem file and its hash: \"copy.json#0123...\"");
  for (size_t i = 0; i < trust->n_folders; i++) {
    char *path = clt_format("%s/%.*s", trust->folders[i], (int)(mark - name), name);
    int rc = path ? try_file(out, path, name, error) : clt_fail_memory(error);
    free(path);
    if (rc == CLT_OK || rc == CLT_E_MEMORY) return rc;
    differs = differs || rc == CLT_E_FORMAT;
  }
  clt_text folders = {0};
  for (size_t i = 0; i < trust->n_folders; i++) clt_text_printf(&folders, "%s'%s'", i ? ", " : "", trust->folders[i]);
  clt_fail(
      error, CLT_E_NOT_FOUND, "there is %s '%.*s' in %.500s%s", differs ? "another" : "no", (int)(mark - name), name,
      folders.bytes ? folders.bytes : "no folder",
      differs ? ": it or a file that it uses differs from the submitted one" : "; name its folder with --problems");
  clt_text_release(&folders);
  return CLT_E_NOT_FOUND;
}

/* --- plans --- */

/* The number of a plan's cells and a hash of their names: a row of the queue only has a cell's number. */
static char *name_cells(const clt_sweep *sweep) {
  char hash[33], *text = NULL;
  clt_hasher *hasher = clt_hasher_new();
  bool whole = hasher != NULL;
  for (size_t i = 0; whole && i < sweep->n_cells; i++) {
    whole = (text = clt_sweep_cell_text(&sweep->cells[i])) != NULL;
    if (whole) clt_hasher_add_text(hasher, text);
    free(text);
  }
  if (whole) clt_hasher_hex(hasher, hash);
  clt_hasher_free(hasher);
  return whole ? clt_format("%zu %s", sweep->n_cells, hash) : NULL;
}

int clt_sweep_check_cells(const clt_sweep *sweep, clt_error *error) {
  const char *named = clt_json_string(sweep->source.root, CELLS);
  char *own = name_cells(sweep);
  const bool same = own && strcmp(own, named) == 0;
  if (own == NULL) return clt_fail_memory(error);
  free(own);
  return named[0] == '\0' || same ? CLT_OK
                                  : clt_fail(error, CLT_E_UNSUPPORTED,
                                             "this version of clatune would run different tunings; use the version "
                                             "that submitted the plan");
}

int clt_sweep_share(char **out, const clt_sweep *sweep, clt_error *error) {
  json_t *plan = json_deep_copy(sweep->source.root), *given = json_object_get(plan, "Problems"),
         *problems = json_array();
  int rc = plan && problems ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < sweep->n_problems; i++) {
    json_t *old = json_is_array(given) ? json_array_get(given, i) : given;
    char *name = NULL;
    rc = name_problem(&name, sweep->problems[i].problem, error);
    json_t *text = rc == CLT_OK ? json_string(name) : NULL;
    bool is_path = json_is_string(old);
    if (rc == CLT_OK && (text == NULL || (!is_path && json_object_set(old, "Problem", text)) ||
                         json_array_append(problems, is_path ? text : old)))
      rc = clt_fail_memory(error);
    json_decref(text);
    free(name);
  }
  char *cells = rc == CLT_OK ? name_cells(sweep) : NULL;
  if (rc == CLT_OK && (cells == NULL || json_object_set(plan, "Problems", problems) ||
                       json_object_set_new(plan, CELLS, json_string(cells))))
    rc = clt_fail_memory(error);
  free(cells);
  if (rc == CLT_OK && (*out = json_dumps(plan, JSON_COMPACT)) == NULL) rc = clt_fail_memory(error);
  json_decref(problems);
  json_decref(plan);
  return rc;
}

bool clt_sweep_fits(const clt_sweep *sweep, const clt_device_info *device) {
  bool fits = sweep->n_devices == 0;
  for (size_t i = 0; i < sweep->n_devices && !fits; i++) {
    char *text = strdup(sweep->devices[i]), *rest = NULL;
    for (char *part = text ? strtok_r(text, ",", &rest) : NULL; part && !fits; part = strtok_r(NULL, ",", &rest)) {
      size_t index, n = 1;
      fits = clt_device_select_all(&index, &n, device, 1, part, true, NULL) == CLT_OK;
    }
    free(text);
  }
  return fits;
}
