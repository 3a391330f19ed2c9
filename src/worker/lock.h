/* worker/lock.h - the lock of a physical device, shared between processes: preparing takes it shared, timing exclusive.
 *
 * A file per device in $XDG_RUNTIME_DIR or /tmp/clatune-<uid>. Byte 0 is a turnstile: who waits for exclusive use holds
 * it, and nobody comes to share while it is held, so that two tuners cannot starve each other. The file's text says who
 * got the lock last: process, start (seconds since 1970), command. */
#ifndef CLT_WORKER_LOCK_H
#define CLT_WORKER_LOCK_H

#include <clatune/error.h>
#include <clatune/log.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum clt_lock_state { CLT_UNLOCKED, CLT_LOCK_SHARED, CLT_LOCK_EXCLUSIVE } clt_lock_state;

typedef struct clt_device_lock {
  int fd; /* -1: no lock wanted; everything is granted */
  clt_lock_state state;
  bool at_gate;
  double wait_s;    /* since when it is wanted in vain; 0: it is not */
  bool said;        /* that another tuner has it */
  double *waited_s; /* nullable, set by the owner once open: all that was waited is added here */
  double counted_s; /* until when it was */
  char holder[200]; /* the line that this tuner leaves in the file */
} clt_device_lock;

/* key: clt_device_lock_key; NULL: no lock. On failure everything is granted. */
int clt_lock_open(clt_device_lock *out, const char *key, clt_error *error);
void clt_lock_close(clt_device_lock *lock);

/* Changes the state at once, or returns false: try again. A lock that is shared is given up while it waits to be
 * exclusive. Who waits for long is told for whom (log is nullable). */
bool clt_lock_try(clt_device_lock *lock, clt_lock_state wanted, clt_log_fn log, void *log_user);
#define CLT_LOCK_RETRY_S 0.01
#define CLT_LOCK_WAITS "waiting for " /* what that begins with */

/* Of a lock of its own: one of 2^62 things that one tuner has at a time, told apart by the upper bits of a hash. It is
 * free again when its holder ends, however it does. */
bool clt_lock_claim(const clt_device_lock *lock, uint64_t hash);
void clt_lock_disclaim(const clt_device_lock *lock, uint64_t hash);

#endif
