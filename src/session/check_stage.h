/* session/check_stage.h - for checks.c and check_stage.c: making the checks of one stage. */
#pragma once

#include "session/session.h"

/* Adds a result to c. why: nullable, copied. */
int clt_checking_add(clt_checking *c, const clt_instance *instance, const clt_recipe *recipe, bool passed,
                     const char *why, clt_error *error);

/* Prepares `config` on `inputs` and makes checks, each of which gets an answer. *seen is initialised here. CLT_E_AGAIN:
 * the limit of time has passed; the answers so far stand. */
int clt_checking_run(clt_measurement *seen, clt_check_answer *answers, clt_checking *c, const clt_instance *instance,
                     clt_config config, const clt_recipe *inputs, const clt_check *checks, size_t n, double limit_s,
                     clt_error *error);
void clt_check_answers_clear(clt_check_answer *answers, size_t n);

/* Makes the checks of a stage in rounds, until each has shown something. *wrong: the winner is incorrect, and *m has
 * failed. *unfit: the stage proves nothing, as the default configuration does not work there, at other sizes or
 * mirrored. limit_s 0: none. */
int clt_check_stage_run(bool *wrong, bool *unfit, clt_checking *c, clt_measurement *m, const clt_check_stage *stage,
                        double limit_s, clt_error *error);

/* For a configuration that does not end within limit_s: it is incorrect if the default configuration does, and it still
 * does not end within five times as long. */
int clt_check_hang(bool *wrong, clt_checking *c, clt_measurement *m, const clt_check_stage *stage, double limit_s,
                   clt_error *error);
