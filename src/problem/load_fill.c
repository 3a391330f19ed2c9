/* Where an argument's content comes from. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "problem/parts.h"

enum { CONSTANT, RANDOM, GENERATOR, BINARY_RAW, PGM, REPETITION, SCRIPT, BINARY_HDF, ABSENT };
static const char *const fill_types[] = {"Constant", "Random",     "Generator", "BinaryRaw",
                                         "PGM",      "Repetition", "Script",    "BinaryHDF"};

static int unsupported(const clt_problem *problem, const clt_node *node, int type, clt_error *error) {
  clt_node place = clt_node_member(node, "FillType");
  const char *reason = type == SCRIPT
                           ? "would execute code from the file; use \"Generator\" with a C function, or \"BinaryRaw\""
                           : "is not supported; store the data as \"BinaryRaw\"";
  return clt_key_fail(&problem->source, place.key, CLT_E_UNSUPPORTED, error, "FillType \"%s\" %s", fill_types[type],
                      reason);
}

static int load_file(clt_problem *problem, clt_fill *fill, const clt_node *node, clt_error *error) {
  char *name = NULL;
  int rc = clt_node_text(&name, &problem->source, node, "DataSource", true, error);
  if (rc) return rc;
  fill->file = clt_problem_file(problem, name);
  free(name);
  return fill->file ? CLT_OK : clt_fail_memory(error);
}

static bool is_built_in(const char *name) {
  static const char *const names[] = {"ramp", "noise", "image"};
  for (size_t i = 0; i < 3; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* The module of the argument, or else of the reference. */
static int load_module(clt_problem *problem, clt_fill *fill, const clt_node *node, clt_error *error) {
  clt_node own = clt_node_member(node, "Module"), generator = clt_node_member(node, "Generator");
  clt_node root = {.json = problem->root}, reference = clt_node_member(&root, "Reference");
  clt_node shared = clt_node_member(&reference, "Module");
  const char *name = json_string_value(own.json ? own.json : shared.json);
  if (own.json && name == NULL) return clt_node_fail(&problem->source, &own, error, "needs the name of a file");
  if (own.json == NULL && is_built_in(fill->function)) return fill->kind = CLT_FILL_BUILT_IN, CLT_OK;
  if (name == NULL)
    return clt_node_fail(&problem->source, &generator, error,
                         "\"%s\" is neither ramp, noise or image, nor is there a \"Module\" to look for it",
                         fill->function);
  fill->kind = CLT_FILL_MODULE;
  fill->module = clt_problem_file(problem, name);
  return fill->module ? CLT_OK : clt_fail_memory(error);
}

/* A function, or as in T1 an expression over the element's index. */
static int load_generator(clt_problem *problem, clt_fill *fill, const clt_node *node, clt_error *error) {
  clt_node formula = clt_node_member(node, "DataSource"), function = clt_node_member(node, "Generator");
  int rc;
  if (function.json == NULL && formula.json) {
    fill->kind = CLT_FILL_FORMULA;
    rc = clt_add_expression(problem, &fill->value, &formula, error);
    if (rc == CLT_OK) problem->expressions[fill->value].of_index = true;
    return rc;
  }
  rc = clt_node_text(&fill->function, &problem->source, node, "Generator", true, error);
  return rc ? rc : load_module(problem, fill, node, error);
}

int clt_load_fill(clt_problem *problem, clt_fill *out, const clt_node *node, clt_error *error) {
  clt_node value = clt_node_member(node, "FillValue"), function = clt_node_member(node, "Generator");
  int type = value.json ? CONSTANT : function.json ? GENERATOR : ABSENT;
  int rc = clt_node_choice(&type, &problem->source, node, "FillType", fill_types, ABSENT, error);
  out->value = CLT_NO_EXPRESSION;
  if (rc == CLT_OK) rc = clt_node_integer(&out->seed, &problem->source, node, "RandomSeed", error);
  if (rc) return rc;
  switch (type) {
    case CONSTANT: out->kind = CLT_FILL_CONSTANT; break;
    case RANDOM: out->kind = CLT_FILL_RANDOM; break;
    case GENERATOR: return load_generator(problem, out, node, error);
    case BINARY_RAW: out->kind = CLT_FILL_RAW; return load_file(problem, out, node, error);
    case PGM: out->kind = CLT_FILL_PGM; return load_file(problem, out, node, error);
    case REPETITION: return out->kind = CLT_FILL_REPETITION, CLT_OK;
    case ABSENT: return CLT_OK;
    default: return unsupported(problem, node, type, error);
  }
  return clt_add_expression(problem, &out->value, &value, error);
}
