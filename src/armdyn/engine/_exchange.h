/* Calls on tensors of libraries that exchange them in C; _exchange.c says how. */

#ifndef ARMDYN_EXCHANGE_H
#define ARMDYN_EXCHANGE_H

#include "_call.h"

#define EXCHANGED_DOC                                                                              \
    "exchanged(function, api, values): the results of a call on tensors, or NotImplemented"

#define ADDRESSED_DOC                                                                              \
    "addressed(function, api, values): new results, and what a launch of the kernel takes that "   \
    "fills them: inputs, outputs, count, dtype, device, stream; or NotImplemented"

OURS PyObject *addressed(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
OURS PyObject *exchanged(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Once, before all else: 0, or -1 with an error set. */
OURS int exchange_begin(void);

#endif
