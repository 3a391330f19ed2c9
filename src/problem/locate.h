/* problem/locate.h - the line on which a member of a JSON text stands. */
#ifndef CLT_PROBLEM_LOCATE_H
#define CLT_PROBLEM_LOCATE_H

/* key is a path such as "ConfigurationSpace.TuningParameters[2].Values". Returns the 1-based line of that member's name
 * (of a list's item: of its first character), the line of the deepest part of the path that is there, or 0 for "".
 * Expects a text that jansson has accepted, but is safe on any. */
int clt_json_line(const char *text, const char *key);

#endif
