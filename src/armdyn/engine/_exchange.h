/* Calls on tensors of libraries that exchange them in C; _exchange.c says how. */

#ifndef ARMDYN_EXCHANGE_H
#define ARMDYN_EXCHANGE_H

#include "_call.h"

#define EXCHANGED_DOC                                                                              \
    "exchanged(function, api, values): the results of a call on tensors, or NotImplemented"

#define LAUNCHED_DOC                                                                               \
    "launched(function, api, values, kernel): the results of a call on tensors of a GPU, which "   \
    "the kernel fills on its current stream, or NotImplemented"

OURS PyObject *exchanged(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
OURS PyObject *launched(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Once, before all else: 0, or -1 with an error set. */
OURS int exchange_begin(void);

#endif
