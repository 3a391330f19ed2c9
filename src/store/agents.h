/* store/agents.h - who has delivered which measurements to a shared database. */
#pragma once

#include <clatune/error.h>
#include <jansson.h>

/* The agents that delivered measurements, the latest first, as a new JSON list of at most 10,000 objects: login, agent,
 * host, measurements, revoked, tunings (finished for plans), first_s and last_s (Unix time of delivery by the server's
 * clock; null: unknown). login "": delivered before databases recorded that. url: of a database. */
int clt_store_agents(json_t **out, const char *url, clt_error *error);

/* Sets the measurements apart that an agent, or all agents of a login or host (who), delivered since a Unix time (NaN:
 * ever). They remain in the table clatune.revoked. A new JSON object: revoked (their number), tunings (finished ones
 * that rested on revoked measurements: plan, device, tuning, agent). CLT_E_NOT_FOUND: there is no such agent.
 * CLT_E_STORE: the user lacks the owner's role. */
int clt_store_revoke(json_t **out, const char *url, const char *who, double since_s, clt_error *error);
