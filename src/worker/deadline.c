/* Deadlines of workers, and their extension if the machine is busy with other work. */
#include <dirent.h>

#include "base/base.h"
#include "worker/process.h"

#define MOST_EXTENSIONS 10   /* times the limit, in all */
#define NEXT_TO_NOTHING 0.01 /* as a fraction of a time */

static double allowed_s(const clt_deadlines *limits, clt_phase phase) {
  switch (phase) {
    case CLT_PHASE_BUILD:
    case CLT_PHASE_LAUNCH: return limits->compile_s;
    case CLT_PHASE_RUNNING: return limits->run_s;
    default: return limits->host_s;
  }
}

/* The processor time of all its threads; 0 if unknown. */
static double cpu_time_s(pid_t pid) {
  clockid_t clock;
  struct timespec t = {0};
  if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clt_process_begin_phase(clt_process *process) {
  process->begun_s = process->checked_s = clt_now_s();
  process->cpu_s = process->got_s = cpu_time_s(process->pid);
  process->deadline_s = process->begun_s + allowed_s(&process->limits, process->phase);
  process->late_s = 0;
}

void clt_process_pause(clt_process *process) {
  if (process->paused_s == 0) process->paused_s = clt_now_s();
}

static void move_phase(clt_process *process, double by_s) {
  process->deadline_s += by_s;
  process->begun_s += by_s;
  process->checked_s += by_s;
}

void clt_process_jump(clt_process *process, double jump_s) {
  if (jump_s == 0 || !process->busy || process->paused_s != 0) return;
  process->jumped = true;
  move_phase(process, jump_s);
}

void clt_process_resume(clt_process *process, double grace_s) {
  double now_s = clt_now_s();
  if (process->paused_s != 0) move_phase(process, now_s - process->paused_s);
  process->deadline_s = fmax(process->deadline_s, now_s + grace_s);
  process->paused_s = 0;
}

bool clt_process_expired(const clt_process *process, double now_s) {
  return process->busy && process->paused_s == 0 && now_s >= process->deadline_s;
}

void clt_process_add_lateness(clt_process *process, double now_s, double late_s) {
  if (process->busy && process->paused_s == 0) process->late_s += fmin(late_s, now_s - process->begun_s);
}

/* The number of its threads that run, could run if a processor were free, or wait for the disk. */
static size_t count_eager_threads(pid_t pid) {
  char path[300], line[600];
  size_t n = 0;
  snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
  DIR *folder = opendir(path);
  for (const struct dirent *entry; folder && (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%lld/task/%.20s/stat", (long long)pid, entry->d_name);
    FILE *file = fopen(path, "re");
    const char *state = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    n += state && state[1] && (state[2] == 'R' || state[2] == 'D');
    if (file) fclose(file);
  }
  if (folder) closedir(folder);
  return n;
}

bool clt_process_excuse(clt_process *process, bool computes, double now_s) {
  double limit_s = allowed_s(&process->limits, process->phase), most_s = process->begun_s + MOST_EXTENSIONS * limit_s;
  double late_s = process->late_s, until_s = process->deadline_s + late_s;
  process->late_s = 0;
  if (computes && until_s <= now_s) {
    double got_s = cpu_time_s(process->pid), since_s = now_s - process->checked_s;
    size_t n_eager = count_eager_threads(process->pid);
    double n_threads = n_eager > 0 ? (double)n_eager : 1, used_s = (got_s - process->cpu_s) / n_threads;
    process->asleep = n_eager == 0 && got_s - process->got_s < NEXT_TO_NOTHING * since_s;
    process->checked_s = now_s;
    process->got_s = got_s;
    /* The processor time that it still lacks approaches 0. Then it has had as much as on an idle machine. */
    if (!process->asleep && used_s < (now_s - process->begun_s) / 2 && limit_s - used_s > NEXT_TO_NOTHING * limit_s)
      until_s = now_s + limit_s - used_s;
  }
  until_s = fmin(until_s, most_s);
  if (until_s <= now_s) return false;
  process->deadline_s = until_s;
  process->starved = true;
  return true;
}
