/* base/print.h - printing and reading numbers with a decimal point, in any locale. */
#ifndef CLT_BASE_PRINT_H
#define CLT_BASE_PRINT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* strtod, snprintf and vsnprintf. Use them for all texts that contain numbers. */
double clt_strtod(const char *text, char **end);
int clt_snprintf(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int clt_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* printf into a malloc'ed string. NULL: out of memory. */
char *clt_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *clt_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* For libraries that print numbers themselves: between enter and leave, the calling thread uses the C locale. Pass
 * enter's result to leave. It is 0 if memory ran out; then the locale stays as it is. */
locale_t clt_c_locale_enter(void);
void clt_c_locale_leave(locale_t before);

#endif
