/* eval/replay.h - the evaluator that answers from a recording. */
#ifndef CLT_EVAL_REPLAY_H
#define CLT_EVAL_REPLAY_H

#include <clatune/sys/evaluator.h>

extern const clt_evaluator_type clt_evaluator_replay;

#endif
