/* Calls of any shape: arrays that are strided, broadcast or of mixed types, and lists of numbers.

   The plain path in _call.c comes first. What it cannot use where it lies is looked at here: each
   argument becomes a View, views are broadcast against each other, and kernels run over them by
   way of buffers (_rows.c). The rules are those of CarefulPath in calls.py, and so are the results.
   What breaks a rule, or needs code of a user's, is handed on to it. */

#define NO_IMPORT_ARRAY
#include "_call.h"

#include "_pool.h"

#include <string.h>

#define ROOM 8192          /* bytes on the stack; a call that needs more takes them from the heap */
#define BLOCK_BYTES 16384  /* of all buffers together: half a cache of the first level */
#define LEAST_BLOCK 16     /* states: two vectors of the longest kind */
#define MAX_LISTED 1000000 /* numbers in a list; the shape of one need not be true, so no more */
#define SPARE_PIECES 4     /* that are kept for the next call, */
#define SPARE_LEAST 65536  /* if they are large enough to come from the system, not from a heap, */
#define SPARE_MOST 524288  /* and small enough to be kept: bytes */
#define ALIGNMENT 64       /* bytes: a line of the cache, and the longest vector */

/* Memory for one call. */
typedef struct {
    char *start;
    size_t bytes;
} Piece;

typedef struct {
    char room[ROOM + ALIGNMENT];
    size_t used;
    Piece heap[MAX_INPUTS + 2];
    int pieces;
} Memory;

/* Large pieces that calls have given back, for the next ones. To get new memory from the system,
   page by page, takes three times as long as to read a list into it. Held under the GIL. */
static Piece spare[SPARE_PIECES];

static Piece
new_piece(size_t bytes)
{
#ifndef Py_GIL_DISABLED
    for (int i = 0; i < SPARE_PIECES; i++) {
        Piece piece = spare[i];
        if (piece.bytes >= bytes) {
            spare[i].bytes = 0;
            return piece;
        }
    }
#endif
    return (Piece){PyMem_RawMalloc(bytes), bytes};
}

static void
drop_piece(Piece piece)
{
#ifndef Py_GIL_DISABLED
    for (int i = 0; piece.bytes >= SPARE_LEAST && piece.bytes <= SPARE_MOST && i < SPARE_PIECES; i++)
        if (!spare[i].bytes) {
            spare[i] = piece;
            return;
        }
#endif
    PyMem_RawFree(piece.start);
}

static void *
take(Memory *memory, size_t bytes)
{
    size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *start = memory->room;
    if (whole <= ROOM - memory->used) {
        memory->used += whole;
        start += memory->used - whole;
    }
    else {
        Piece piece = new_piece(whole + ALIGNMENT);
        if (!piece.start)
            return NULL;
        memory->heap[memory->pieces++] = piece;
        start = piece.start;
    }
    return start + (ALIGNMENT - (uintptr_t)start % ALIGNMENT) % ALIGNMENT;
}

static void
give_back(Memory *memory)
{
    while (memory->pieces > 0)
        drop_piece(memory->heap[--memory->pieces]);
}

/* Lists. ------------------------------------------------------------------------------------- */

static inline int
is_list(PyObject *object)
{
#ifdef Py_GIL_DISABLED /* another thread may change a list meanwhile */
    return PyTuple_CheckExact(object);
#else
    return PyTuple_CheckExact(object) || PyList_CheckExact(object);
#endif
}

/* Whether this is a plain vector, as lists of states hold them. */
static inline int
is_vector(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_NDIM(array) == 1 &&
           PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISNOTSWAPPED(array);
}

/* Finds the shape of a nested list, by the first item of each. */
static int
view_list(View *view, PyObject *object)
{
    Axes *axes = &view->axes;
    view->data = NULL;
    view->type = NPY_DOUBLE;
    for (axes->count = 0; is_list(object); object = PySequence_Fast_GET_ITEM(object, 0)) {
        npy_intp length = PySequence_Fast_GET_SIZE(object);
        if (length == 0 || axes->count == MAX_AXES)
            return 0;
        axes->lengths[axes->count++] = length;
    }
    if (is_vector(object) && axes->count < MAX_AXES)
        axes->lengths[axes->count++] = PyArray_DIM((PyArrayObject *)object, 0);
    return axes->count > 0;
}

/* Reads an integer of Python's, or a float64 of NumPy's. */
static int
read_other_number(PyObject *object, double *number)
{
    if (Py_TYPE(object) == &PyDoubleArrType_Type) {
        *number = PyFloat_AS_DOUBLE(object);
        return 1;
    }
    if (!PyLong_CheckExact(object))
        return 0;
    int overflow;
    *number = (double)PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* Reads numbers; answers with the end of what was written, NULL if one is no number. */
static double *
read_numbers(PyObject *const *items, npy_intp count, double *to)
{
    for (npy_intp i = 0; i < count; i++) {
        if (PyFloat_CheckExact(items[i]))
            to[i] = PyFloat_AS_DOUBLE(items[i]);
        else if (!read_other_number(items[i], &to[i]))
            return NULL;
    }
    return to + count;
}

static double *
read_vector(PyArrayObject *array, npy_intp length, double *to)
{
    if (PyArray_DIM(array, 0) != length)
        return NULL;
    const char *from = PyArray_BYTES(array);
    for (npy_intp i = 0; i < length; i++)
        memcpy(to + i, from + i * PyArray_STRIDE(array, 0), sizeof(double));
    return to + length;
}

/* Reads a nested list of this shape; answers with the end of what was written, NULL if the list
   is not of this shape or holds other things than numbers. */
static double *
read_list(PyObject *list, const npy_intp *lengths, int axes, double *to)
{
    if (!is_list(list))
        return axes == 1 && is_vector(list)
                   ? read_vector((PyArrayObject *)list, lengths[0], to)
                   : NULL;
    if (PySequence_Fast_GET_SIZE(list) != lengths[0])
        return NULL;
    PyObject **items = PySequence_Fast_ITEMS(list);
    if (axes == 1)
        return read_numbers(items, lengths[0], to);
    for (npy_intp i = 0; to && i < lengths[0]; i++)
        to = read_list(items[i], lengths + 1, axes - 1, to);
    return to;
}

/* Reads what view_list has seen. */
static int
fill_view(View *view, PyObject *list, Memory *memory)
{
    Axes *axes = &view->axes;
    npy_intp count = PyArray_OverflowMultiplyList(axes->lengths, axes->count);
    if (count < 0 || count > MAX_LISTED)
        return 0;
    npy_intp stride = sizeof(double);
    for (int i = axes->count - 1; i >= 0; i--) {
        axes->strides[i] = stride;
        stride *= axes->lengths[i];
    }
    double *start = take(memory, count * sizeof(double));
    view->data = (char *)start;
    return start && read_list(list, axes->lengths, axes->count, start);
}

/* Arrays. ------------------------------------------------------------------------------------ */

/* Whether this is an array of numbers that is read here: no subclass, nothing byte-swapped. */
static int
view_array(View *view, PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || PyArray_NDIM(array) > MAX_AXES ||
        !PyArray_ISNOTSWAPPED(array) || !size_of(PyArray_TYPE(array)))
        return 0;
    view->data = PyArray_BYTES(array);
    view->type = PyArray_TYPE(array);
    view->axes.count = PyArray_NDIM(array);
    for (int i = 0; i < view->axes.count; i++) {
        view->axes.lengths[i] = PyArray_DIM(array, i);
        view->axes.strides[i] = PyArray_STRIDE(array, i);
    }
    return 1;
}

/* The memory between the first and the last byte of an array that is not empty. */
typedef struct {
    char *start;
    npy_intp length;
} Extent;

static Extent
extent_of(const View *view)
{
    npy_intp before = 0, after = size_of(view->type);
    for (int i = 0; i < view->axes.count; i++) {
        npy_intp reach = (view->axes.lengths[i] - 1) * view->axes.strides[i];
        if (reach < 0)
            before -= reach;
        else
            after += reach;
    }
    return (Extent){view->data - before, before + after};
}

/* Whether no two numbers of an array share memory, as is plain where each axis steps over all
   that the axes of smaller steps reach. */
static int
is_spread(const View *view)
{
    npy_intp reach = size_of(view->type); /* of the axes so far, the smaller steps first */
    int done = 0;
    for (int k = 0; k < view->axes.count; k++) {
        int least = -1;
        for (int i = 0; i < view->axes.count; i++)
            if (!(done >> i & 1) && (least < 0 || Py_ABS(view->axes.strides[i]) <
                                                      Py_ABS(view->axes.strides[least])))
                least = i;
        done |= 1 << least;
        npy_intp stride = Py_ABS(view->axes.strides[least]);
        if (view->axes.lengths[least] == 1)
            continue;
        if (stride < reach)
            return 0;
        reach += (view->axes.lengths[least] - 1) * stride;
    }
    return 1;
}

/* The call. ---------------------------------------------------------------------------------- */

/* The batch axes of all arguments, broadcast against each other. */
static int
broadcast(const Function *self, Axes *batch, const View *views)
{
    batch->count = 0;
    for (int k = 0; k < self->inputs; k++) {
        int count = views[k].axes.count - self->arguments[k].rank;
        if (batch->count < count)
            batch->count = count;
    }
    for (int i = 0; i < batch->count; i++)
        batch->lengths[i] = 1;
    for (int k = 0; k < self->inputs; k++) {
        const Axes *axes = &views[k].axes;
        int count = axes->count - self->arguments[k].rank;
        npy_intp *lengths = batch->lengths + batch->count - count;
        for (int i = 0; i < count; i++)
            if (lengths[i] == 1)
                lengths[i] = axes->lengths[i];
            else if (axes->lengths[i] != 1 && axes->lengths[i] != lengths[i])
                return 0;
    }
    return 1;
}

/* Gives a view, so many of whose axes are those of a state, the batch axes that it is broadcast
   to. */
static void
spread(View *view, int rank, const Axes *batch)
{
    Axes *axes = &view->axes;
    int all = batch->count + rank, more = all - axes->count;
    for (int i = all - 1; i >= 0; i--) {
        npy_intp length = i >= more ? axes->lengths[i - more] : 1;
        axes->strides[i] = length > 1 ? axes->strides[i - more] : 0;
        axes->lengths[i] = i < batch->count ? batch->lengths[i] : length;
    }
    axes->count = all;
}

/* Whether the last axes of a view are those of such a shape. */
static int
ends_with(const View *view, const Shape *shape)
{
    int before = view->axes.count - shape->rank;
    for (int i = 0; before >= 0 && i < shape->rank; i++)
        if (view->axes.lengths[before + i] != shape->dims[i])
            return 0;
    return before >= 0;
}

/* Looks at the arguments, and finds the type and the batch of the call. */
static int
view_inputs(const Function *self, Call *call, PyObject *const *values, View *views, Axes *batch)
{
    call->type = NPY_FLOAT;
    for (int k = 0; k < self->inputs; k++) {
        View *view = &views[k];
        if (!(is_list(values[k]) ? view_list(view, values[k]) : view_array(view, values[k])) ||
            !ends_with(view, &self->arguments[k]))
            return 0;
        if (view->type != NPY_FLOAT)
            call->type = NPY_DOUBLE;
    }
    if (!broadcast(self, batch, views))
        return 0;
    call->rank = batch->count;
    call->batch = batch->lengths;
    call->count = PyArray_OverflowMultiplyList(batch->lengths, batch->count);
    return call->count > 0 && call->rank + MAX_RANK <= MAX_AXES;
}

/* Looks at the k-th result, given by out=: whether it takes this result, in memory of its own. */
static int
view_output(const Function *self, const Call *call, int k, View *view)
{
    PyObject *object = self->results > 1 ? PyTuple_GET_ITEM(call->out, k) : call->out;
    const Shape *shape = &self->shapes[k];
    if (!view_array(view, object) || view->type != call->type ||
        view->axes.count != call->rank + shape->rank ||
        !PyArray_ISWRITEABLE((PyArrayObject *)object) || !is_spread(view))
        return 0;
    for (int i = 0; i < view->axes.count; i++)
        if (view->axes.lengths[i] == 0 ||
            view->axes.lengths[i] !=
                (i < call->rank ? call->batch[i] : shape->dims[i - call->rank]))
            return 0;
    return 1;
}

/* Splits what out= gives into rows, unless memory is shared. */
static int
split_outputs(const Function *self, const Call *call, const View *inputs, Rows *rows)
{
    Extent taken[MAX_INPUTS + MAX_RESULTS];
    for (int k = 0; k < self->inputs; k++)
        taken[k] = extent_of(&inputs[k]);
    if (self->results > 1 &&
        (!PyTuple_CheckExact(call->out) || PyTuple_GET_SIZE(call->out) != self->results))
        return 0;
    for (int k = 0; k < self->results; k++) {
        View view;
        if (!view_output(self, call, k, &view))
            return 0;
        Extent mine = taken[self->inputs + k] = extent_of(&view);
        for (int i = 0; i < self->inputs + k; i++)
            if (overlap(mine.start, mine.length, taken[i].start, taken[i].length))
                return 0;
        split_into_rows(&rows[k], &view, call->rank, call->type);
    }
    return 1;
}

/* Finds room for the buffers of all rows that are not used in place. */
static void
place_buffers(Run *run)
{
    size_t bytes = 0; /* of a state */
    int all = run->inputs + run->results;
    for (int k = 0; k < all; k++)
        if (run->rows[k].copy)
            bytes += run->rows[k].bytes;
    run->block = run->count;
    run->buffers = 0;
    if (!bytes)
        return;
    npy_intp most = BLOCK_BYTES / bytes / LEAST_BLOCK * LEAST_BLOCK;
    if (most < LEAST_BLOCK)
        most = LEAST_BLOCK;
    if (run->block > most)
        run->block = most;
    for (int k = 0; k < all; k++) {
        if (!run->rows[k].copy)
            continue;
        run->rows[k].buffer = run->buffers;
        run->buffers +=
            (run->block * run->rows[k].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

/* New arrays for the results, as rows. */
static PyObject *
split_new_results(Function *self, Call *call, Rows *rows)
{
    PyObject *results = new_results(self, call);
    for (int k = 0; results && k < self->results; k++) {
        rows[k].data = call->to[k];
        rows[k].bytes = self->shapes[k].numbers * size_of(call->type);
        rows[k].copy = NULL;
    }
    return results;
}

/* Makes rows of all that a call was given; says whether it can still be answered here. */
static int
prepare(const Function *self, Call *call, PyObject *const *values, Run *run, Axes *batch,
        Memory *memory)
{
    View views[MAX_INPUTS];
    if (!view_inputs(self, call, values, views, batch))
        return 0;
    const Kernels *kernels = kernels_for(self, call);
    if (!kernels)
        return 0;
    run->kernels = *kernels;
    run->kernels.batch = call->count <= SINGLY ? NULL : batch_for(self, call, kernels);
    run->inputs = self->inputs;
    run->results = self->results;
    run->count = call->count;
    run->rows = take(memory, (self->inputs + self->results) * sizeof(Rows));
    if (!run->rows)
        return 0;
    for (int k = 0; k < self->inputs; k++) {
        if (!views[k].data && !fill_view(&views[k], values[k], memory))
            return 0;
        spread(&views[k], self->arguments[k].rank, batch);
        split_into_rows(&run->rows[k], &views[k], call->rank, call->type);
    }
    for (int k = 0; k < self->results; k++)
        run->rows[self->inputs + k].copy = NULL;
    if (call->out && !split_outputs(self, call, views, run->rows + self->inputs))
        return 0;
    place_buffers(run);
    return 1;
}

/* A run in the pool. */
typedef struct {
    const Run *run;
    npy_intp share;      /* the states of a part */
    volatile int failed; /* some part had no memory for its buffers */
} Shares;

static void
do_share(const void *data, int64_t part)
{
    Shares *all = (Shares *)data;
    const Run *run = all->run;
    npy_intp first = part * all->share, left = run->count - first;
    char *taken = PyMem_RawMalloc(run->buffers + ALIGNMENT);
    if (!taken) {
        all->failed = 1;
        return;
    }
    char *buffers = taken + (ALIGNMENT - (uintptr_t)taken % ALIGNMENT) % ALIGNMENT;
    run_over_rows(run, first, first + (left < all->share ? left : all->share), buffers);
    PyMem_RawFree(taken);
}

/* Runs over all states, on so many threads where memory allows it. */
static void
run_on_threads(const Run *run, Py_ssize_t threads, char *buffers)
{
    Shares all = {run, 0, threads == 1};
    if (threads > 1) {
        all.share = pool_share(run->count, threads, PY_SSIZE_T_MAX);
        pool_run(do_share, &all, (run->count + all.share - 1) / all.share, threads);
    }
    if (all.failed)
        run_over_rows(run, 0, run->count, buffers);
}

PyObject *
answer_any_shape(Function *self, Call *call, PyObject *const *values)
{
    Memory memory;
    Axes batch;
    Run run;
    char *buffers = NULL;
    PyObject *results = NULL;
    memory.used = 0;
    memory.pieces = 0;
    if (prepare(self, call, values, &run, &batch, &memory) &&
        (buffers = take(&memory, run.buffers)) &&
        (call->threads || (call->threads = call->count > self->few ? default_threads() : 1)))
        results = call->out ? Py_NewRef(call->out)
                            : split_new_results(self, call, run.rows + self->inputs);
    if (results && !run.kernels.batch) {
        run_over_rows(&run, 0, run.count, buffers);
    }
    else if (results) {
        Py_BEGIN_ALLOW_THREADS
        run_on_threads(&run, call->threads, buffers);
        Py_END_ALLOW_THREADS
    }
    give_back(&memory);
    return results;
}
