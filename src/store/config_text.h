/* store/config_text.h - configurations as the store keeps them: "a=1 b=2", sorted by name, so that neither the order of
 * the parameters nor of their values matters. Bytes of a value outside of [A-Za-z0-9_.+-] are written as %XX. */
#ifndef CLT_STORE_CONFIG_TEXT_H
#define CLT_STORE_CONFIG_TEXT_H

#include <clatune/space.h>

#define CLT_MAX_CONFIG_TEXT 65536 /* bytes of a stored configuration */

/* *out is malloc'ed and owned by the caller. */
int clt_config_text(char **out, const clt_space *space, clt_config config, clt_error *error);

/* Reads many such texts for one space, which must outlive the reader. */
typedef struct clt_config_reader clt_config_reader;
int clt_config_reader_new(clt_config_reader **out, const clt_space *space, clt_error *error);
void clt_config_reader_free(clt_config_reader *reader);

/* Whether the text stands for a valid configuration of the space: every name and value known, none twice, only
 * parameters with a single value left out. Changes the text. */
bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out);

#endif
