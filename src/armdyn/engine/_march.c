/* Steps of a simulation: kernels called step after step, for groups of states side by side.

   No state depends on another, so that a group can make all of its steps before the next one
   begins: its rows stay in the cache, and threads meet only at the end. What is passed is checked
   by armdyn/simulation/marching.py, the only caller. */

#define PY_SSIZE_T_CLEAN
#include "_march.h"
#include "_pool.h"

#define MAX_TURNS 8
#define MAX_ARRAYS 64

typedef struct {
    void *kernel;
    Py_ssize_t inputs, arrays;
    Py_buffer pointers; /* to arrays, a row for each step */
    Py_buffer strides;  /* from a state to the next, in bytes */
} Turn;

typedef struct {
    Turn turns[MAX_TURNS];
    Py_buffer plan; /* the turn of each step */
    Py_ssize_t row; /* of pointers, from which on the steps are made */
    Py_ssize_t states, share;
} March;

static void
do_group(const void *data, int64_t part)
{
    const March *all = data;
    const unsigned char *plan = all->plan.buf;
    int64_t first = part * all->share, left = all->states - first;
    int64_t count = left < all->share ? left : all->share;
    char *at[MAX_ARRAYS];
    for (Py_ssize_t step = 0; step < all->plan.len; step++) {
        const Turn *turn = &all->turns[plan[step]];
        char *const *row = (char *const *)turn->pointers.buf + (all->row + step) * turn->arrays;
        const int64_t *strides = turn->strides.buf;
        for (Py_ssize_t k = 0; k < turn->arrays; k++)
            at[k] = row[k] + first * strides[k];
        if (all->states == 1)
            ((void (*)(char **, char **))turn->kernel)(at, at + turn->inputs);
        else
            ((void (*)(char **, char **, int64_t))turn->kernel)(at, at + turn->inputs, count);
    }
}

static int
read_turn(PyObject *given, Turn *turn, Py_ssize_t rows)
{
    Py_ssize_t address;
    if (!PyArg_ParseTuple(given, "nny*y*", &address, &turn->inputs, &turn->pointers,
                          &turn->strides))
        return 0;
    turn->kernel = (void *)address;
    turn->arrays = turn->strides.len / (Py_ssize_t)sizeof(int64_t);
    if (turn->arrays > MAX_ARRAYS || turn->inputs > turn->arrays ||
        turn->pointers.len < rows * turn->arrays * (Py_ssize_t)sizeof(char *)) {
        PyErr_Format(PyExc_ValueError, "%zd bytes of pointers for %zd rows of %zd arrays",
                     turn->pointers.len, rows, turn->arrays);
        return 0;
    }
    return 1;
}

PyObject *
march(PyObject *Py_UNUSED(module), PyObject *args)
{
    March all = {0};
    PyObject *turns;
    Py_ssize_t most, threads, count;
    int good = PyArg_ParseTuple(args, "y*O!nnnn", &all.plan, &PyTuple_Type, &turns, &all.row,
                                &all.states, &most, &threads);
    count = good ? PyTuple_GET_SIZE(turns) : 0;
    if (good && count > MAX_TURNS) {
        PyErr_Format(PyExc_ValueError, "%zd turns; at most %d", count, MAX_TURNS);
        good = 0;
    }
    for (Py_ssize_t k = 0; good && k < count; k++)
        good = read_turn(PyTuple_GET_ITEM(turns, k), &all.turns[k], all.row + all.plan.len);
    for (Py_ssize_t k = 0; good && k < all.plan.len; k++)
        if (((unsigned char *)all.plan.buf)[k] >= count) {
            PyErr_Format(PyExc_ValueError, "step %zd is not by one of %zd turns", k, count);
            good = 0;
        }
    if (good && all.states > 0) {
        all.share = pool_share(all.states, threads, most);
        Py_BEGIN_ALLOW_THREADS
        pool_run(do_group, &all, (all.states + all.share - 1) / all.share, threads);
        Py_END_ALLOW_THREADS
    }
    for (Py_ssize_t k = 0; k < MAX_TURNS; k++) {
        PyBuffer_Release(&all.turns[k].pointers);
        PyBuffer_Release(&all.turns[k].strides);
    }
    PyBuffer_Release(&all.plan);
    return good ? Py_NewRef(Py_None) : NULL;
}
