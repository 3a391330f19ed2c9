/* instruments/common/description.h - an instrument's description: JSON in a file or in the environment itself. */
#ifndef INSTRUMENTS_DESCRIPTION_H
#define INSTRUMENTS_DESCRIPTION_H

#include <jansson.h>

/* The description that the environment variable names or holds ("{..." or "[..." is the JSON itself). Ends the process
 * with a message if that cannot be read: an instrument that silently does nothing makes tests pass. NULL: there is
 * none. folder (PATH_MAX bytes, nullable) gets the folder that paths in it are relative to. */
/* beside (nullable): a file that takes precedence over the variable, if it exists. */
json_t *description_read(const char *variable, const char *beside, char *folder);

/* Ends the process: the description is wrong. Status 97. */
_Noreturn void description_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An item of a JSON object; a missing one is the default. The wrong type ends the process. */
double description_number(const json_t *object, const char *key, double standard);
const char *description_text(const json_t *object, const char *key, const char *standard);
/* A number, or an expression: its text, in memory that is never freed. */
const char *description_formula(const json_t *object, const char *key, const char *standard);

/* Ends the process if the object has a key that is not among these (the last one is NULL). */
void description_keys(const json_t *object, const char *const *known, const char *what);

#endif
