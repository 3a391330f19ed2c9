/* Writes models: their file, and C code with the functions of evaluate.h, the parameters and the conditions. */
#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "family/train.h"

/* --- the file --- */

int clt_family_model_save(const clt_family_model *m, const char *path, clt_error *error) {
  json_t *features = json_array(), *arms = json_array(), *values = json_array();
  for (size_t i = 0; i < m->n_features; i++) {
    json_t *scale = json_array();
    for (size_t k = 0; k < 5; k++) json_array_append_new(scale, clt_json_real(m->scales[i][k]));
    json_array_append_new(features, json_pack("{s:s, s:o}", "Name", m->names.all[i], "Scale", scale));
  }
  for (size_t i = 0; i < m->n_arms; i++)
    json_array_append_new(arms, json_pack("{s:s, s:s, s:s*}", "Variant", m->arms[i].variant, "Configuration",
                                          m->arms[i].configuration, "Where", m->arms[i].condition));
  for (size_t i = 0; i < m->numbers.n; i++) json_array_append_new(values, clt_json_real((double)m->numbers.values[i]));
  json_t *root =
      json_pack("{s:i, s:s, s:o, s:s, s:o, s:o, s:I, s:i, s:o}", "FamilyModel", CLT_FAMILY_MODEL_VERSION, "Family",
                m->family, "File", clt_json_text(m->path), "Chooser", m->scorer->name, "Features", features, "Arms",
                arms, "Standard", (json_int_t)m->standard, "Dimension", m->numbers.dim, "Values", values);
  char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  int rc = text ? clt_file_replace(path, text, strlen(text), error) : clt_fail_memory(error);
  json_decref(root);
  free(text);
  return rc;
}

/* --- C --- */

extern const char clt_family_evaluate_text[]; /* evaluate.h, embedded (embed.py) */

/* Adds a text in which "FAMILY(name)" and "@name" become NAME_name. */
static void add_renamed(clt_text *out, const char *text, const char *family) {
  static const char macro[] = "FAMILY(";
  while (*text) {
    const char *name = NULL, *at = text + strcspn(text, "@F");
    clt_text_add_bytes(out, text, (size_t)(at - text));
    text = at + (*at != 0);
    if (*at == '@') name = "";
    if (clt_starts_with(at, macro)) {
      const size_t n = strcspn(at + sizeof macro - 1, ")");
      clt_text_printf(out, "%s_%.*s", family, (int)n, at + sizeof macro - 1);
      text = at + sizeof macro + n;
    } else if (name) {
      clt_text_printf(out, "%s_", family);
    } else {
      clt_text_add_bytes(out, at, *at != 0);
    }
  }
}

/* The part of evaluate.h that begins with the comment before `name`, up to the next empty line. */
static void add_function(clt_text *out, const char *name, const char *family) {
  char *wanted = clt_format("FAMILY(%s)(", name), *part = NULL;
  const char *at = wanted ? strstr(clt_family_evaluate_text, wanted) : NULL;
  if (at) {
    const char *end = strstr(at, "\n\n");
    while (at > clt_family_evaluate_text && !clt_starts_with(at - 2, "\n\n")) at--;
    part = strndup(at, end ? (size_t)(end - at) : strlen(at));
  }
  if (part) add_renamed(out, part, family);
  clt_text_add(out, "\n\n");
  free(part);
  free(wanted);
}

/* A number as C reads it, a float where suffix is "f". */
static void add_number(clt_text *out, double x, int digits, const char *suffix) {
  char text[40];
  clt_snprintf(text, sizeof text, "%.*g", digits, x);
  clt_text_printf(out, "%s%s%s", text, strpbrk(text, ".en") ? "" : ".0", suffix);
}

/* "NAME_holds": whether an arm may run. */
static int add_conditions(clt_text *out, const clt_family_model *m, clt_error *error) {
  clt_text cases = {0}, functions = {0};
  char names_text[CLT_MAX_FEATURES][16];
  const char *names[CLT_MAX_FEATURES];
  int rc = CLT_OK;
  for (size_t i = 0; i < m->n_features; i++) {
    clt_snprintf(names_text[i], sizeof names_text[i], "features[%zu]", i);
    names[i] = names_text[i];
  }
  for (size_t a = 0; rc == CLT_OK && a < m->n_arms; a++) {
    if (m->arms[a].where == NULL) continue;
    clt_text_printf(&cases, "    case %zu: holds = ", a);
    rc = clt_expr_write_c(&cases, m->arms[a].where, names, true, true, error);
    clt_text_add(&cases, "; break;\n");
  }
  clt_write_c_functions(&functions, cases.n ? cases.bytes : "");
  add_renamed(out, functions.n ? functions.bytes : "", m->family);
  clt_text_printf(out,
                  "/* Whether a variant may run on an input. */\n"
                  "static inline int %s_holds(int arm, const double *features) {\n"
                  "  int holds = 1, failed = 0;\n  (void)features;\n  switch (arm) {\n",
                  m->family);
  add_renamed(out, cases.n ? cases.bytes : "", m->family);
  clt_text_add(out, "    default: break;\n  }\n  return holds && !failed;\n}\n\n");
  clt_text_release(&cases);
  clt_text_release(&functions);
  return rc;
}

int clt_family_write_c(clt_text *out, const clt_family_model *m, clt_error *error) {
  const char *name = m->family;
  clt_text_printf(out,
                  "/* Which variant of the family '%s' to run, made by 'clatune family export'. C99, and C++.\n *\n"
                  " * features:",
                  name);
  for (size_t i = 0; i < m->n_features; i++) clt_text_printf(out, " %s", m->names.all[i]);
  clt_text_printf(out,
                  " */\n#ifndef CLATUNE_FAMILY_%s\n#define CLATUNE_FAMILY_%s\n\n#include <math.h>\n#include "
                  "<stddef.h>\n\n",
                  name, name);
  clt_text_printf(out,
                  "typedef struct %s_config {\n  const char *variant, *configuration; /* \"wg=64 rows=4\" */\n"
                  "  int arm;     /* the number of this variant with this configuration */\n"
                  "  int outside; /* the first feature outside of the range of the training: the answer is then the "
                  "standard\n                  variant; -1: all are inside */\n} %s_config;\n\n",
                  name, name);
  add_function(out, "scale", name);
  add_function(out, m->scorer->name, name);
  int rc = add_conditions(out, m, error);
  clt_text_printf(out,
                  "/* Chooses for the features of an input. Returns 0, or 1 if one of them is outside. */\n"
                  "static inline int %s_select(const double features[%zu], %s_config *out) {\n"
                  "  static const double scales[%zu][5] = {\n",
                  name, m->n_features, name, m->n_features);
  for (size_t i = 0; i < m->n_features; i++) {
    clt_text_add(out, "    {");
    for (size_t k = 0; k < 5; k++) {
      add_number(out, m->scales[i][k], 17, "");
      clt_text_add(out, k < 4 ? ", " : "},\n");
    }
  }
  clt_text_printf(out, "  };\n  static const float values[%zu] = {", m->numbers.n ? m->numbers.n : 1);
  for (size_t i = 0; i < m->numbers.n; i++) {
    if (i > 0) clt_text_add(out, ",");
    clt_text_add(out, i % 8 ? " " : "\n    ");
    add_number(out, (double)m->numbers.values[i], 9, "f");
  }
  clt_text_printf(out, "%s\n  };\n  static const char *const arms[%zu][2] = {\n", m->numbers.n ? "" : "0", m->n_arms);
  for (size_t a = 0; a < m->n_arms; a++)
    clt_text_printf(out, "    {\"%s\", \"%s\"},\n", m->arms[a].variant, m->arms[a].configuration);
  clt_text_printf(out, "  };\n  float inputs[%zu];\n  double scores[%zu];\n  int best = %zu;\n", m->n_features,
                  m->n_arms, m->standard);
  clt_text_printf(out,
                  "  out->outside = %s_scale(inputs, features, scales, %zu);\n"
                  "  if (out->outside < 0) {\n    %s_%s(scores, inputs, values, %zu, %zu, %d);\n",
                  name, m->n_features, name, m->scorer->name, m->n_features, m->n_arms, m->numbers.dim);
  clt_text_printf(out, "    double least = scores[%zu] - ", m->standard);
  add_number(out, clt_family_margin(m), 17, "");
  clt_text_printf(out,
                  "; /* for less gain the standard variant is kept */\n"
                  "    for (int arm = 0; arm < %zu; arm++)\n"
                  "      if (scores[arm] < least && %s_holds(arm, features)) best = arm, least = scores[arm];\n  }\n"
                  "  out->arm = best;\n  out->variant = arms[best][0];\n  out->configuration = arms[best][1];\n"
                  "  return out->outside >= 0;\n}\n\n#endif\n",
                  m->n_arms, name);
  return rc;
}
