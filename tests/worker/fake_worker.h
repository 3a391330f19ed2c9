/* The fake worker's deed for a configuration: its last two digits. */
#ifndef FAKE_WORKER_H
#define FAKE_WORKER_H

enum deeds {
  GOOD = 0,
  CRASH_BUILD,
  HANG_BUILD,
  COMPILE_ERROR,
  CRASH_LAUNCH,
  CRASH_RUN,
  HANG_RUN,
  GARBAGE,
  TOO_LONG,
  CRASH_TIME,
  HANG_TIME,
  OWN_ERROR,
  OTHER_CONFIG,
  OUT_OF_BOUNDS,
  FLOOD,
  LEAVE_CHILD,
  DIE_IDLE,
  WRONG_ON_OTHER_DATA,
};

#define FAKE_TIME_S(config) (1e-3 * (1 + (double)((config) / 100)))

#endif
