/* Steps of many states through kernels; see _march.c. */

#ifndef ARMDYN_MARCH_H
#define ARMDYN_MARCH_H

#include <Python.h>

#define MARCH_DOC                                                                                  \
    "march(plan, turns, first, states, most, threads): make steps of so many states.\n\n"         \
    "Step k is made by turn plan[k]. A turn is (kernel, inputs, pointers, strides): a kernel's\n" \
    "address, the number of arrays it reads, rows of pointers to the arrays it reads and\n"        \
    "writes, of which step k uses row first + k, and how many bytes each array's states lie\n"    \
    "apart. States march in groups of at most ``most``, on up to so many threads."

PyObject *march(PyObject *module, PyObject *args);

#endif
