/* What the files of the fast call path share. _call.c, the first of them, says what that is. */

#ifndef ARMDYN_CALL_H
#define ARMDYN_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL armdyn_call_numpy /* imported once, in _call.c */
#include <numpy/arrayobject.h>

#include "_rows.h"

#define RECYCLED 4 /* the first results of a function that are given out again, see recycled() */
#define SPARES 2   /* a result is often kept until the next one is there: two take turns */
#define SINGLY 2   /* batches of up to so many states are run by the single kernel */

typedef struct {
    int rank;
    npy_intp dims[MAX_RANK];
    npy_intp numbers; /* the product of dims */
} Shape;

/* Results of a single state that were given out before; at first NULL. */
typedef struct {
    PyObject *arrays[SPARES];
    int next; /* to be replaced */
} Spares;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *path;   /* the Python path, which also owns name, arguments, shapes, ... */
    PyObject *chosen; /* dict: option (None: the one without a keyword) -> value -> Function */
    Py_buffer table;  /* Kernels of float64, Kernels of float32; each NULL until compiled */
    npy_intp many[2]; /* more states than these go to the kernel stream; of float64, of float32 */
    npy_intp few;     /* batches of up to so many states stay on one thread if not asked for more */
    int inputs;       /* the number of arguments, and their shapes for one state: */
    Shape arguments[MAX_INPUTS];
    int results;      /* the number of results, and their shapes: */
    Shape shapes[MAX_RESULTS];
    Spares spares[2][RECYCLED]; /* of float64, of float32 */
    PyObject *weakrefs, *dict; /* for others, such as torch.compile, which looks for them */
} Function;

/* What is known of a call while it is looked at; every reference is borrowed. */
typedef struct {
    int type;              /* NPY_DOUBLE or NPY_FLOAT, alike in all arguments */
    int rank;              /* the number of batch axes, 0 for a single state; their lengths: */
    const npy_intp *batch;
    npy_intp count;        /* the number of states, 1 for a single one */
    PyObject *out;         /* the value of out=, NULL for none */
    Py_ssize_t threads;    /* the value of threads=, 0 for none */
    PyObject *option;      /* another keyword, such as method=, NULL for none, and its value: */
    PyObject *value;
    char *in[MAX_INPUTS];
    char *to[MAX_RESULTS];
} Call;

/* Whether two stretches of memory, so many bytes long, have a byte in common. */
static inline int
overlap(const char *a, npy_intp length_of_a, const char *b, npy_intp length_of_b)
{
    return a < b + length_of_b && b < a + length_of_a;
}

/* Of the kernels for many states the one that a call needs. */
static inline Batch
batch_for(const Function *self, const Call *call, const Kernels *kernels)
{
    return call->count > self->many[call->type == NPY_FLOAT] ? kernels->stream : kernels->batch;
}

/* The kernels of a call, if the one that it needs is compiled, else NULL. */
static inline const Kernels *
kernels_for(const Function *self, const Call *call)
{
    const Kernels *kernels = (const Kernels *)self->table.buf + (call->type == NPY_FLOAT);
    if (call->count <= SINGLY)
        return kernels->single ? kernels : NULL;
    return batch_for(self, call, kernels) ? kernels : NULL;
}

/* New arrays for all results, one array or a tuple of them; call->to says where they lie. */
OURS PyObject *new_results(Function *self, Call *call);

/* Runs the kernels over all states of a call whose memory is known: on its threads, which are one or
   more, where they are many. */
OURS void run_call(const Function *self, const Kernels *kernels, Call *call);

/* The type of Function. */
OURS PyTypeObject *function_type(void);

/* How many threads a large batch has that asks for no number; 0 with an error set. */
OURS Py_ssize_t default_threads(void);

/* Answers a call, looked at no further than its keywords, whose arguments are not plain but still
   arrays or lists of numbers. NULL: it is to be handed on, or an error is set. */
OURS PyObject *answer_any_shape(Function *self, Call *call, PyObject *const *values);

#endif
