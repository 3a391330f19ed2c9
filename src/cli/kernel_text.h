/* cli/kernel_text.h - what can be seen in the text of a kernel file without a compiler: macros with a default, how many
 * dimensions it has, what it requires as work-group. */
#ifndef CLT_CLI_KERNEL_TEXT_H
#define CLT_CLI_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_MAX_MACROS 64

/* #ifndef NAME / #define NAME 16 */
typedef struct cli_macro {
  char name[64];
  int64_t value;
} cli_macro;

typedef struct cli_kernel_text {
  cli_macro macros[CLI_MAX_MACROS];
  size_t n_macros;
  int n_dimensions;        /* 1 to 3: the largest of get_global_id(d), get_group_id(d), get_local_id(d) */
  char required[3][64];    /* reqd_work_group_size, as written; "": none */
  bool uses_groups;        /* get_group_id or get_local_id: the global size is likely not one work-item an element */
} cli_kernel_text;

/* Notes on standard error the macros with a whole number that no -D can change, because nothing asks whether they are defined. */
void cli_note_fixed_macros(const char *path, const char *text);

void cli_kernel_text_read(cli_kernel_text *out, const char *text);

#endif
