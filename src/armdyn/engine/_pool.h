/* Threads that share the parts of a piece of work; see _pool.c. */

#ifndef ARMDYN_POOL_H
#define ARMDYN_POOL_H

#include <stdint.h>

#define LANES 16 /* the states of the widest vector: where work is cut, no block is left ragged */

typedef void (*Work)(const void *data, int64_t part);

/* Once, before all else. */
void pool_begin(void);

/* Do the parts 0, 1, ... of some work, each once, on this thread and up to threads - 1 others.
   Returns when all are done. To be called without the GIL; from any thread, within a part too. */
void pool_run(Work work, const void *data, int64_t parts, int64_t threads);

/* The states of a part, a multiple of LANES and at most ``most``, another one. Each thread has
   several parts to do, so that one that comes late or is held up does fewer. */
int64_t pool_share(int64_t states, int64_t threads, int64_t most);

#endif
