/* worker/serve.h - answers requests until the parent closes its end (docs/worker-protocol.md). */
#ifndef CLT_WORKER_SERVE_H
#define CLT_WORKER_SERVE_H

int clt_worker_serve(int fd); /* the process's exit status */

#endif
