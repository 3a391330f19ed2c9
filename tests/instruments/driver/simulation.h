/* instruments/driver/simulation.h - what a simulated device does with a configuration, as its description says. */
#ifndef INSTRUMENTS_DRIVER_SIMULATION_H
#define INSTRUMENTS_DRIVER_SIMULATION_H

#include <clatune/recording.h>
#include <jansson.h>

#include "common/defines.h"

/* The state that calls after a fault meet. */
typedef enum sim_aftermath { SIM_NOTHING, SIM_DEAD_CONTEXT, SIM_HANG, SIM_ABORT, SIM_LOST, SIM_STUCK, SIM_N_AFTERMATHS } sim_aftermath;

/* How fast a device runs at the moment: asleep after idle_s, then rising for wake_s; a wave of drift; throttled for a
 * part of every interval. */
typedef struct sim_clock {
  bool is_simulated;
  double asleep, idle_s, wake_s, drift, period_s, throttled, throttled_every_s, throttled_for_s, mhz;
  const char *file; /* gets the clock in Hz; NULL: none */
} sim_clock;

typedef struct sim_device {
  const char *name;
  const json_t *said; /* its description, for values that are only reported */
  bool is_cpu;
  unsigned compute_units;
  size_t max_work_group_size, max_work_item_sizes[3], max_groups, local_memory_bytes, global_memory_bytes, max_allocation_bytes,
      base_address_align_bytes, timer_resolution_ns, preferred_work_group_multiple;
  /* Where times and failures come from: a recording, or formulas (NULL: never, no time of its own). */
  clt_recording *recording;
  const char *time_s, *build_fails, *launch_fails, *run_fails, *fault, *wrong, *untouched, *work_group_limit, *build_memory_bytes, *registers, *spill_bytes, *private_bytes;
  const char *launch_status, *run_status; /* the status of failures */
  sim_aftermath after_fault;
  const char *lost_file; /* is there once the device is lost, to all processes; while it is locked, who is stuck stays */
  double watchdog_s;     /* commands queued for longer fail; 0: none */
  sim_clock clock;
  double launch_s; /* of every launch: what an empty kernel takes */
  double scale, build_s, build_cpu_s;
  bool undescribed_arguments; /* asked for them, it does not build a program with a kernel without parameters */
  size_t stated_group; /* CL_KERNEL_WORK_GROUP_SIZE for every kernel; 0: the limit itself */
  const char *spins; /* a waiting thread keeps a processor busy, and leaves a byte in this file; NULL: none does */
  bool waits; /* as long as it says that a run takes */
  double noise, slowed_share, slowed_by;
  /* Of timestamps: their unit; how many commands end before they start, and how many see the clock jump. */
  uint64_t tick_ns;
  double reversed_share, jump_share, jump_s;
  uint64_t noise_seed;
  unsigned char uuid[16];
  size_t cache_bytes;   /* the data of earlier runs that a run may find there */
  const json_t *figures; /* names of numbers, for the formulas of kernels; NULL: none */
  const char *warm_s;   /* how long it takes then, NULL: as long */
  const json_t *caches; /* files that builds leave in the home folder, NULL: none */
  const char *exclusive; /* the path of the lock of the only process that may have contexts; NULL: all may */
  bool entered;          /* this one has it, until it ends */
  const char *power_w, *energy_counter; /* NULL: no energy is counted; else the path of the counter */
} sim_device;

/* All devices of the description next to the driver's file, else in CLATUNE_SIMULATED; ends the process if it is
 * wrong. None: no devices. */
sim_device *sim_describe(size_t *n);

/* The platform by the description. */
const char *sim_platform_text(const char *key, const char *standard);

/* Whether this process may have a context. */
bool sim_enter(sim_device *device);

/* The answer to a query for platforms, once described. */
int sim_platform_ids(void);

/* The result of a configuration: determined when it is built. */
typedef struct sim_configuration {
  double time_s, warm_s; /* of a run, without noise; where its first buffer is in the cache */
  double power_w;
  bool tuned; /* false: a program without options, whose kernels do nothing */
  bool launch_fails, run_fails, fault, wrong, untouched;
  size_t work_group_limit; /* of work-items in a group; more are refused */
  int launch_status, run_status;
  int registers, spill_bytes, private_bytes; /* of a work-item */
  uint64_t hash;
  uint64_t n_runs; /* done */
} sim_configuration;

/* false: the build fails, log (malloc'ed) says why. */
bool sim_build(const sim_device *device, const char *options, sim_configuration *out, char **log);

/* The seconds of a kernel of this name in the description's `kernels`. NaN if there are none. A formula that is
 * wrong ends the process. */
double sim_kernel_s(const sim_device *device, const char *options, const char *kernel);

/* Adds the energy of a run to the device's counter, a file with micro-joules; ends the process if that cannot be
 * written. */
void sim_count_energy(const sim_device *device, const sim_configuration *configuration, double run_s);

/* The time of the next run of a kernel (kernel_s: its own, or NaN). Depends on the description, the configuration, how many runs it had in this process, and
 * whether its first buffer is in the cache. */
double sim_run_s(const sim_device *device, sim_configuration *configuration, double kernel_s, bool warm);

/* clock.c */
void sim_describe_clock(sim_device *d, const json_t *json);
/* The present speed, 1 for the stated times; the device counts as active. */
double sim_clock_speed(const sim_clock *clock);

#endif
