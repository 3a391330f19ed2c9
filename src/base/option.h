/* base/option.h - what other rooms and the command line use of this room besides clatune/sys/option.h. */
#ifndef CLT_BASE_OPTION_H
#define CLT_BASE_OPTION_H

#include <clatune/sys/option.h>

/* Fills *options (options_size bytes, zeroed first) with the defaults, then with the settings. A setting that is not in
 * the table, or out of range, is CLT_E_ARGUMENT with a message that names it and the range or the nearest names. */
int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error);

#endif
