/* clatune/log.h - how the library says something to people: through a function that the caller passes in. */
#ifndef CLATUNE_LOG_H
#define CLATUNE_LOG_H

#include <clatune/error.h>

CLT_BEGIN_C

typedef enum clt_log_level { CLT_LOG_WARNING, CLT_LOG_INFO, CLT_LOG_DETAIL } clt_log_level;

/* Receives one line of text without a line end. Borrowed for the call. */
typedef void (*clt_log_fn)(void *user, clt_log_level level, const char *text);

CLT_END_C
#endif
