/* eval/batch_text.h - the texts of the batch protocol (docs/commands.md): what a program is handed and what it answers.
 */
#ifndef CLT_EVAL_BATCH_TEXT_H
#define CLT_EVAL_BATCH_TEXT_H

#include <clatune/space.h>

/* "n_configurations n_parameters", then a line of value positions for each configuration. malloc'ed; NULL when out of
 * memory. */
char *clt_batch_question(const clt_space *space, const clt_config *configs, size_t n);

/* An answer in a line: which of the configurations (index), and its number (NaN where what stands there is none). Lines
 * without an answer, and what stands around one, are passed over; open[i] says which are still looked for. */
bool clt_batch_answer(const char *line, size_t length, const clt_space *space, const clt_config *configs,
                      const bool *answered, size_t n, size_t *index, double *number);

#endif
