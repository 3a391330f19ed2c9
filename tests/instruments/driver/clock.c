/* A device's clock that drifts, sleeps and is throttled, in real time. */
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base.h"
#include "common/description.h"
#include "driver/simulation.h"

static const char *const clock_keys[] = {"asleep",           "idle_s", "wake_s", "drift", "period_s", "throttled", "throttled_every_s",
                                         "throttled_for_s", "mhz",    "file",   NULL};

/* Of this process's device: other processes do not wake it. */
static _Atomic double awake_since_s, ran_s = -INFINITY;

void sim_describe_clock(sim_device *d, const json_t *json) {
  sim_clock *c = &d->clock;
  c->is_simulated = json != NULL;
  description_keys(json, clock_keys, "the clock of a simulated device");
  c->asleep = description_number(json, "asleep", 1);
  c->idle_s = description_number(json, "idle_s", 0.05);
  c->wake_s = description_number(json, "wake_s", 0.03);
  c->drift = description_number(json, "drift", 0);
  c->period_s = description_number(json, "period_s", 1);
  c->throttled = description_number(json, "throttled", 1);
  c->throttled_every_s = description_number(json, "throttled_every_s", 1);
  c->throttled_for_s = description_number(json, "throttled_for_s", 0);
  c->mhz = description_number(json, "mhz", 1000);
  c->file = description_text(json, "file", NULL);
}

double sim_clock_speed(const sim_clock *c) {
  if (!c->is_simulated) return 1;
  const double now_s = clt_now_s();
  if (now_s - ran_s > c->idle_s) awake_since_s = now_s;
  ran_s = now_s;
  double speed = c->asleep + (1 - c->asleep) * fmin((now_s - awake_since_s) / c->wake_s, 1);
  speed *= 1 + c->drift * sin(2 * M_PI * now_s / c->period_s);
  if (fmod(now_s, c->throttled_every_s) < c->throttled_for_s) speed *= c->throttled;
  /* Other processes read it meanwhile, so it is never empty: one write, of the same length each time. */
  const int fd = c->file ? open(c->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  char text[32];
  const int n = snprintf(text, sizeof text, "%012.0f\n", 1e6 * c->mhz * speed);
  if (fd >= 0 && write(fd, text, (size_t)n) != n) description_wrong("cannot write to '%s'", c->file);
  if (fd >= 0) close(fd);
  return speed;
}
