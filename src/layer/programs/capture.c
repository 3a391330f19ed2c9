/* `clatune capture`: lists the kernels that an application launches, and writes a problem folder for the important
 * ones. */
#include "layer/programs/programs.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/text.h"

#define MATTERS 0.01 /* smallest share of all kernels' time that is captured by default */
#define MOST_MANIFEST_BYTES ((size_t)64 << 20)

/* --- reading the layer's manifests, one per process of the application --- */

static json_t *find_alike(json_t *list, const json_t *wanted, const char *const keys[3]) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) {
    bool alike = true;
    for (int k = 0; alike && k < 3 && keys[k]; k++)
      alike = json_equal(json_object_get(item, keys[k]), json_object_get(wanted, keys[k]));
    if (alike) return item;
  }
  return NULL;
}

static void add_whole(json_t *to, const json_t *from, const char *key) {
  json_object_set_new(to, key, json_integer(clt_json_count(to, key) + clt_json_count(from, key)));
}

/* Merges another process's launches of the same size. Keeps the median of the process with the most launches. */
static void merge_size(json_t *list, json_t *size) {
  static const char *const keys[] = {"global", "local", "offset"};
  json_t *known = find_alike(list, size, keys);
  if (known == NULL) {
    json_array_append(list, size);
    return;
  }
  if (clt_json_count(size, "launches") > clt_json_count(known, "launches"))
    json_object_set(known, "median_s", json_object_get(size, "median_s"));
  add_whole(known, size, "launches");
  json_array_extend(json_object_get(known, "varying"), json_object_get(size, "varying"));
  json_object_set_new(known, "total_s",
                      json_real(clt_json_number(known, "total_s") + clt_json_number(size, "total_s")));
}

static void merge_kernel(json_t *list, json_t *kernel) {
  static const char *const keys[] = {"name", "program", "origin"};
  json_t *known = find_alike(list, kernel, keys), *size;
  size_t i;
  if (known == NULL) {
    json_array_append(list, kernel);
    return;
  }
  add_whole(known, kernel, "launches");
  json_array_foreach(json_object_get(kernel, "sizes"), i, size) merge_size(json_object_get(known, "sizes"), size);
  const json_t *capture = json_object_get(known, "capture");
  json_t *other = json_object_get(kernel, "capture");
  if (!json_is_object(capture) || (json_is_true(json_object_get(capture, "unchanged")) && json_is_object(other)))
    json_object_set(known, "capture", other);
}

/* Sorts a list of objects by a number in them, the largest first. */
static json_t *sort_by(json_t *list, const char *key) {
  json_t *out = json_array(), *item;
  for (size_t i; json_array_size(list) > 0;) {
    size_t best = 0;
    json_array_foreach(list, i, item) if (clt_json_number(item, key) > clt_json_number(json_array_get(list, best), key))
        best = i;
    json_array_append(out, json_array_get(list, best));
    json_array_remove(list, best);
  }
  json_decref(list);
  return out;
}

/* All kernels and their sizes, each with "total_s" and "share", sorted by time, the longest first. */
static json_t *read_manifests(const char *raw) {
  json_t *list = json_array(), *kernel, *size;
  size_t i, k;
  double total_s = 0;
  DIR *folder = opendir(raw);
  if (folder == NULL) cli_failure("cannot read '%s': %s", raw, strerror(errno));
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (!clt_starts_with(entry->d_name, "manifest-")) continue;
    char *text = NULL;
    size_t n = 0;
    json_error_t why;
    cli_check(
        clt_file_read(&text, &n, cli_keep_memory(clt_path_join(raw, entry->d_name)), MOST_MANIFEST_BYTES, &cli_error));
    json_t *manifest = json_loadb(text, n, 0, &why);
    free(text);
    if (manifest == NULL)
      cli_failure("the layer's file %s is damaged: %s; run 'clatune capture' again", entry->d_name, why.text);
    json_array_foreach(json_object_get(manifest, "kernels"), i, kernel) merge_kernel(list, kernel);
    json_decref(manifest);
  }
  closedir(folder);
  json_array_foreach(list, i, kernel) {
    double own_s = 0;
    json_array_foreach(json_object_get(kernel, "sizes"), k, size) own_s += clt_json_number(size, "total_s");
    json_object_set_new(kernel, "total_s", json_real(own_s));
    json_object_set_new(kernel, "sizes", sort_by(json_incref(json_object_get(kernel, "sizes")), "total_s"));
    total_s += own_s;
  }
  json_array_foreach(list, i, kernel) {
    json_object_set_new(kernel, "share", json_real(total_s > 0 ? clt_json_number(kernel, "total_s") / total_s : 0));
    json_array_foreach(json_object_get(kernel, "sizes"), k, size)
        json_object_set_new(size, "share", json_real(total_s > 0 ? clt_json_number(size, "total_s") / total_s : 0));
  }
  return cli_keep_json(sort_by(list, "total_s"));
}

/* --- the list --- */

/* "1024x768"; "driver's" if the driver chooses. */
static const char *sizes_text(char out[96], const json_t *sizes) {
  size_t used = 0, d;
  const json_t *size;
  snprintf(out, 96, "%s", "driver's");
  json_array_foreach(sizes, d, size) used +=
      (size_t)snprintf(out + used, 96 - used, "%s%lld", d ? "x" : "", (long long)json_integer_value(size));
  return out;
}

static void print_list(const json_t *kernels) {
  int width = 6;
  const json_t *kernel, *size;
  size_t i, k;
  json_array_foreach(kernels, i, kernel) {
    const int n = (int)strlen(clt_json_string(kernel, "name"));
    if (n > width) width = n;
  }
  printf("%-*s  %8s  %6s  %10s  %10s  %6s  %-14s  %s\n", width, "kernel", "launches", "first", "total", "median",
         "share", "global", "local");
  json_array_foreach(kernels, i, kernel) {
    const char *refused = clt_json_string(kernel, "refused");
    json_array_foreach(json_object_get(kernel, "sizes"), k, size) {
      char total[32], median[32], global[96], local[96];
      const bool source = json_is_string(json_object_get(kernel, "source"));
      printf("%-*s  %8lld  %6lld  %10s  %10s  %4.1f %%  %-14s  %s", width, clt_json_string(kernel, "name"),
             (long long)clt_json_count(size, "launches"), (long long)clt_json_count(size, "first"),
             clt_time_text(total, clt_json_number(size, "total_s")),
             clt_time_text(median, clt_json_number(size, "median_s")), 100 * clt_json_number(size, "share"),
             sizes_text(global, json_object_get(size, "global")), sizes_text(local, json_object_get(size, "local")));
      if (!source)
        printf("  from %s", clt_json_string(kernel, "origin"));
      else if (refused[0])
        printf("  cannot be captured: %s", refused);
      putchar('\n');
    }
  }
}

/* --- folders --- */

static void remove_folder(void *path) {
  clt_remove_tree(path, false);
  free(path);
}

/* Makes the folder that the layer writes to: inside the output folder, so that large files can be moved instead of
 * copied, or with --list in the temporary folder. */
static const char *make_raw_folder(const char *out) {
  char *path = clt_format("%s/.capture-XXXXXX", out ? out : clt_temporary_folder());
  if (path == NULL || mkdtemp(path) == NULL)
    cli_failure("cannot make a folder in '%s': %s", out ? out : clt_temporary_folder(), strerror(errno));
  char *real = realpath(path, NULL); /* the application may change its working folder */
  free(path);
  if (real == NULL) cli_failure("out of memory");
  return cli_keep(real, remove_folder);
}

static void remove_empty(void *path) { rmdir(path); }

/* Makes the output folder (0700). It must be empty unless --force is given. It is removed at the end if still empty. */
static void make_folder(const char *path, bool force) {
  cli_check(clt_folder_make(path, &cli_error));
  cli_keep((char *)path, remove_empty);
  DIR *folder = opendir(path);
  if (folder == NULL) cli_failure("cannot read '%s': %s", path, strerror(errno));
  bool empty = true;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) empty &= entry->d_name[0] == '.';
  closedir(folder);
  if (!empty && !force)
    cli_failure("'%s' is not empty; choose another folder with -o, or replace its problems with --force", path);
}

/* The folder of a kernel's problem: the kernel's name, with a number if another program has a kernel of that name. */
static const char *kernel_folder(const char *out, const json_t *kernels, size_t index) {
  const char *name = clt_json_string(json_array_get(kernels, index), "name");
  int number = 1;
  for (size_t i = 0; i < index; i++) number += strcmp(name, clt_json_string(json_array_get(kernels, i), "name")) == 0;
  const char *path =
      cli_keep_memory(number == 1 ? clt_format("%s/%s", out, name) : clt_format("%s/%s-%d", out, name, number));
  clt_remove_tree(path, false);
  cli_check(clt_folder_make(path, &cli_error));
  return path;
}

/* --- the command --- */

/* Why a kernel has no problem; NULL: it was captured. */
static const char *why_not(const json_t *kernel, size_t launch) {
  const char *refused = clt_json_string(kernel, "refused");
  if (json_is_object(json_object_get(kernel, "capture"))) return NULL;
  if (strcmp(clt_json_string(kernel, "origin"), "a binary") == 0) return LAYER_FROM_BINARY;
  if (!json_is_string(json_object_get(kernel, "source")))
    return cli_keep_memory(clt_format("it was made from %s; only a program of one source text can be captured",
                                      clt_json_string(kernel, "origin")));
  if (refused[0]) return refused;
  return cli_keep_memory(clt_format("it has %lld launches, so there is no launch %zu; choose another with --launch",
                                    (long long)clt_json_count(kernel, "launches"), launch));
}

/* Whether --kernel names a kernel; without --kernel, whether its share of the time is large enough. */
static bool is_wanted(const cli_arguments *arguments, const json_t *kernel) {
  size_t n = 0;
  const char **names = cli_texts(&n, arguments, "kernel");
  for (size_t i = 0; i < n; i++)
    if (strcmp(clt_json_string(kernel, "name"), names[i]) == 0) return true;
  return n == 0 && clt_json_number(kernel, "share") >= MATTERS;
}

/* Writes the problem of each wanted kernel and prints its path, or why it is not captured. Returns how many were
 * written. */
static size_t write_problems(const cli_arguments *arguments, json_t *kernels, const char *raw, const char *out) {
  const size_t launch = (size_t)cli_integer(arguments, "launch", 1, 1, INT32_MAX);
  const bool json = cli_given(arguments, "json"), quiet = cli_given(arguments, "quiet");
  size_t i, n_written = 0;
  json_t *kernel;
  json_array_foreach(kernels, i, kernel) {
    const char *name = clt_json_string(kernel, "name"), *path = NULL;
    clt_error error = {0};
    const char *parameters = "";
    if (!is_wanted(arguments, kernel)) {
      if (!quiet && !cli_given(arguments, "kernel"))
        fprintf(stderr, "clatune: note: left out: %s (%.2g %% of the kernel time); --kernel %s captures it\n", name,
                100 * clt_json_number(kernel, "share"), name);
      continue;
    }
    const char *why = clt_is_name(name) ? why_not(kernel, launch) : "its name is not a valid name in OpenCL C";
    if (why == NULL) {
      captured *c = cli_new(1, sizeof *c);
      *c = (captured){.kernel = kernel,
                      .capture = json_object_get(kernel, "capture"),
                      .raw = raw,
                      .folder = kernel_folder(out, kernels, i),
                      .flags = cli_given(arguments, "flags"),
                      .quiet = quiet,
                      .tolerance = cli_real_number(arguments, "tolerance", NAN, 0, 1)};
      path = capture_problem(&parameters, c, &error);
      if (path == NULL) clt_remove_tree(c->folder, false);
      if (path == NULL) why = cli_keep_memory(strdup(error.message));
    }
    json_object_set_new(kernel, "problem", path ? json_string(path) : json_null());
    json_object_set_new(kernel, "why", why ? json_string(why) : json_null());
    if (path) n_written++;
    if (path && !json)
      printf("wrote %s: launch %lld of %lld, tuning parameters: %s\n", path,
             (long long)clt_json_count(json_object_get(kernel, "capture"), "launch"),
             (long long)clt_json_count(kernel, "launches"), parameters);
    if (why && !quiet) fprintf(stderr, "clatune: note: kernel '%s' is not captured: %s\n", name, why);
  }
  return n_written;
}

static int print_json_list(json_t *kernels, int ended) {
  json_t *list = json_array(), *kernel;
  size_t i;
  json_array_foreach(kernels, i, kernel) json_array_append_new(
      list, json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:O?, s:O?}", "name", json_object_get(kernel, "name"),
                      "program", json_object_get(kernel, "program"), "origin", json_object_get(kernel, "origin"),
                      "launches", json_object_get(kernel, "launches"), "total_s", json_object_get(kernel, "total_s"),
                      "share", json_object_get(kernel, "share"), "sizes", json_object_get(kernel, "sizes"), "problem",
                      json_object_get(kernel, "problem"), "why", json_object_get(kernel, "why")));
  return cli_print_json(json_pack("{s:i, s:o}", "application", ended, "kernels", list));
}

static int run_capture(const cli_arguments *arguments) {
  const bool lists = cli_given(arguments, "list"), json = cli_given(arguments, "json");
  const char *out = cli_text(arguments, "output");
  size_t n_names = 0;
  const char **names = cli_texts(&n_names, arguments, "kernel");
  json_t *only = n_names ? json_array() : NULL;
  const json_int_t launch = cli_integer(arguments, "launch", 1, 1, INT32_MAX);
  if (arguments->n_passed == 0)
    cli_usage("name the application after '--': clatune capture [OPTION...] -- PROGRAM [ARGUMENT...]");
  if (lists == (out != NULL))
    cli_usage(lists ? "--list writes nothing; leave out -o" : "name the folder to write to with -o DIR, or use --list");
  (void)cli_real_number(arguments, "tolerance", NAN, 0, 1);
  if (out) make_folder(out, cli_given(arguments, "force"));
  const char *raw = make_raw_folder(out);
  for (size_t i = 0; i < n_names; i++) json_array_append_new(only, json_string(names[i]));
  json_t *instructions =
      json_pack("{s:s, s:s, s:b, s:o*, s:I}", "use", "capture", "folder", raw, "no_binaries",
                cli_given(arguments, "no-binaries"), "kernels", only, "launch", lists ? (json_int_t)0 : launch);
  const int ended = layer_run_application(arguments, instructions, raw, json);
  if (*cli_signals_flag()) return 128 + *cli_signals_flag();
  if (ended) fprintf(stderr, "clatune: warning: the application ended with exit code %d\n", ended);
  json_t *kernels = read_manifests(raw);
  if (json_array_size(kernels) == 0)
    cli_failure(
        "the layer recorded no kernel launch: the application launched none, ended abnormally, or does not use "
        "ocl-icd's OpenCL loader");
  const size_t n_written = lists ? 0 : write_problems(arguments, kernels, raw, out);
  const int rc = lists || n_written ? CLI_FOUND : CLI_FAILURE;
  if (json) return print_json_list(kernels, ended) ? CLI_FAILURE : rc;
  if (lists) print_list(kernels);
  if (rc == CLI_FOUND) return rc;
  for (size_t i = 0; i < n_names; i++) {
    json_t *wanted = cli_keep_json(json_pack("{s:s}", "name", names[i]));
    if (find_alike(kernels, wanted, (const char *const[3]){"name"}) == NULL)
      cli_message(CLI_FAILURE, "the application launches no kernel '%s'; 'clatune capture --list' shows its kernels",
                  names[i]);
  }
  return cli_message(CLI_FAILURE, "no kernel was captured; the notes above give the reasons");
}

static const cli_flag flags[] = {
    {"list", NULL, "lists kernels, launches and times; captures nothing"},
    {"output", "DIR", "the folder to write to; each kernel gets a subfolder; also -o DIR"},
    {"kernel", "NAME",
     "captures this kernel; may be repeated (default: all kernels with at least 1 % of the total time)"},
    {"launch", "N", "captures the Nth launch of a kernel, or the next one that can be captured (default 1)"},
    LAYER_FLAG_NO_BINARIES,
    {"flags", NULL,
     "makes the compiler option -cl-mad-enable a tuning parameter; with --tolerance also -cl-fast-relaxed-math"},
    {"tolerance", "X", "relative tolerance of floating-point results (default: that of problem files)"},
    {"force", NULL, "writes to a folder that is not empty; replaces its problems"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

static const cli_command command = {
    .name = "capture",
    .summary = "writes problem files for the kernels of an application",
    .synopsis =
        "[--list] [-o DIR] [--kernel NAME]... [--launch N] [--no-binaries] [--flags] [--tolerance X] [--force] -- "
        "APPLICATION "
        "[ARGUMENT...]",
    .description =
        "Runs an unmodified application, measures its kernel launches, and writes a problem folder for each important "
        "kernel: its source, its sizes, and the data of one launch before and after it. Macros and the work-group size "
        "become tuning parameters. The application runs slower than usual. Only you can read the files, because they "
        "contain the application's data.",
    CLI_FLAGS(flags),
    .examples =
        "  clatune capture --list -- ./app input.dat\n"
        "  clatune capture -o captured -- ./app input.dat\n"
        "  clatune tune captured/blur/blur.json\n",
    .passes = "",
    .run = run_capture,
};

int main(int argc, char **argv) { return cli_program_main(&command, argc, argv); }
