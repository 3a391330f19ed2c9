/* worker/lock.h - the lock of a physical device: processes take it shared to prepare and exclusive to time.
 *
 * It is a file per device in $XDG_RUNTIME_DIR/clatune or /tmp/clatune-<uid>. Byte 0 is a gate: a process that waits for
 * exclusive use holds it, and no process can take the lock shared meanwhile, so two tuners cannot starve each other.
 * The file's text names the last owner: process, start (seconds since 1970), command. */
#ifndef CLT_WORKER_LOCK_H
#define CLT_WORKER_LOCK_H

#include <clatune/error.h>
#include <clatune/log.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum clt_lock_state { CLT_UNLOCKED, CLT_LOCK_SHARED, CLT_LOCK_EXCLUSIVE } clt_lock_state;

typedef struct clt_device_lock {
  int fd; /* -1: no lock is used; every request is granted */
  clt_lock_state state;
  bool at_gate;
  double wait_s;    /* since when this process has been waiting; 0: it is not */
  bool said;        /* the user was told that another tuner has it */
  double *waited_s; /* nullable, set by the owner after opening: waiting time is added here */
  double counted_s; /* up to when waiting time has been added */
  char holder[200]; /* the line that this tuner writes into the file */
} clt_device_lock;

/* key: clt_device_lock_key; NULL: no lock. After a failure every request is granted. */
int clt_lock_open(clt_device_lock *out, const char *key, clt_error *error);
void clt_lock_close(clt_device_lock *lock);

/* Changes the state at once, or returns false: try again. While a shared lock waits to become exclusive, it is
 * released. After a long wait the log (nullable) names the owner. */
bool clt_lock_try(clt_device_lock *lock, clt_lock_state wanted, clt_log_fn log, void *log_user);
#define CLT_LOCK_RETRY_S 0.01
#define CLT_LOCK_WAITS "waiting for " /* the beginning of that message */

/* Who has the device, as far as known: "process 17, which uses the device (clatune tune x.json, since ...)". */
const char *clt_lock_owner(char out[300], const clt_device_lock *lock);

/* A claim on one of 2^62 things, identified by the upper bits of a hash; one tuner at a time can have it. Use a
 * clt_device_lock that serves no device. A claim ends with its process, even after a crash. */
bool clt_lock_claim(const clt_device_lock *lock, uint64_t hash);
void clt_lock_disclaim(const clt_device_lock *lock, uint64_t hash);

#endif
