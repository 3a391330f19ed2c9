/* problem/giles.h - reader of the configuration file of Giles' generic tuner (docs/commands.md), into the JSON that it
 * stands for. */
#ifndef CLT_PROBLEM_GILES_H
#define CLT_PROBLEM_GILES_H

#include "base/json.h"

/* Whether a text is one and not JSON: its first word, behind comments, is a name. */
bool clt_is_giles(const char *text);

/* *out is a new reference. Lines of what became members of the JSON are kept in source->lines. */
int clt_giles_parse(json_t **out, clt_source *source, clt_error *error);

#endif
