/* clatune/log.h - log messages, which the library passes to a function of the caller. */
#ifndef CLATUNE_LOG_H
#define CLATUNE_LOG_H

#include <clatune/error.h>

CLT_BEGIN_C

typedef enum clt_log_level { CLT_LOG_WARNING, CLT_LOG_INFO, CLT_LOG_DETAIL } clt_log_level;

/* Receives one line of text without a line end. text is valid during the call only. */
typedef void (*clt_log_fn)(void *user, clt_log_level level, const char *text);

CLT_END_C
#endif
