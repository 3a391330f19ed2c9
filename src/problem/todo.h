/* problem/todo.h - what a person still has to fill in. */
#ifndef CLT_PROBLEM_TODO_H
#define CLT_PROBLEM_TODO_H

#include "base/json.h"

/* A text that begins with "TODO" is a mistake: names the first with its place, and the lines of the others. */
int clt_todo_check(const clt_source *source, const json_t *root, clt_error *error);

#endif
