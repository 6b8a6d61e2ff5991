/* The fast call path: looks at a call in nanoseconds and jumps to the compiled kernel.

   A call of a compiled function can take two paths (see armdyn/engine/calls.py). This one comes
   first. It answers a call whose arguments are plain arrays, which the kernel can read and write
   where they lie, and spreads a large batch over the threads of _pool.c; by way of buffers it also
   answers a call of other arrays and of lists of numbers (_shapes.c). Every other call is handed on
   as it came to the careful path, CarefulPath in calls.py: that converts, spreads over threads or
   explains what is wrong, and uses the same kernels. So there is no message to a user in C, and both
   paths give the same results and the same errors. Without this extension calls.py has a front in
   Python, which is slower.

   A call of other libraries' arrays, such as torch's, belongs to armdyn/arrays, which is Python: by
   their type this path finds there who answers it, once one such call has come by the careful path.

   A call with one option more, such as frame="tool0", belongs to another Function. The careful
   path finds that Function the first time and keeps it in a dict, where this path finds it. */

#include "_call.h"

#include "_exchange.h"
#include "_march.h"
#include "_pool.h"

#define INTERFACE 7 /* of what this module offers; armdyn/engine/calls.py expects the same */

#define READABLE (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)
#define WRITABLE (READABLE | NPY_ARRAY_WRITEABLE)

static PyObject *OUT, *THREADS; /* keywords, interned */
static PyArray_Descr *DOUBLE, *FLOAT; /* as NumPy has them for new arrays */

/* The look. Each step says whether the call can still be answered here. ---------------------- */

/* Whether a value of threads= is a positive whole number, of the kind that Python writes. */
static int
read_threads(PyObject *value, Py_ssize_t *threads)
{
    *threads = PyLong_CheckExact(value) ? PyLong_AsSsize_t(value) : 0;
    PyErr_Clear(); /* of a number beyond all bounds */
    return *threads > 0;
}

static int
read_keywords(Call *call, PyObject *const *values, PyObject *names)
{
    call->out = NULL;
    call->threads = 0;
    call->option = NULL;
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k), *value = values[k];
        if (name != OUT && name != THREADS) {
            if (call->option)
                return 0;
            call->option = name;
            call->value = value;
            continue;
        }
        if (value == Py_None)
            continue;
        if (name == OUT)
            call->out = value;
        else if (!read_threads(value, &call->threads))
            return 0;
    }
    return 1;
}

/* The function that takes calls with this value of an option, where it was chosen before, else
   NULL. Only names, True, False and None are looked up, and only such are there (see
   CarefulPath._other_form), so that no code of a user's runs meanwhile. */
static Function *
chosen_before(const Function *self, PyObject *option, PyObject *value)
{
    if (!PyUnicode_CheckExact(value) && !PyBool_Check(value) && value != Py_None)
        return NULL;
    PyObject *known = PyDict_GetItemWithError(self->chosen, option);
    PyObject *found = known && PyDict_Check(known) ? PyDict_GetItemWithError(known, value) : NULL;
    PyErr_Clear(); /* of a keyword whose own hash fails */
    if (!found || Py_TYPE(found) != Py_TYPE(self))
        return NULL;
    return ((Function *)found)->inputs == self->inputs ? (Function *)found : NULL;
}

/* Whether a kernel can work on this object's memory: no subclass, no copy, no conversion. */
static inline int
is_plain(PyObject *object, int type, int flags)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_TYPE(array) == type &&
           PyArray_CHKFLAGS(array, flags) && PyArray_ISNOTSWAPPED(array);
}

static inline int
same(const npy_intp *a, const npy_intp *b, int length)
{
    for (int i = 0; i < length; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

/* Whether an array holds such a shape for each state of the call. */
static inline int
has_shape(PyArrayObject *array, const Call *call, const Shape *shape)
{
    return PyArray_NDIM(array) == call->rank + shape->rank &&
           same(PyArray_DIMS(array), call->batch, call->rank) &&
           same(PyArray_DIMS(array) + call->rank, shape->dims, shape->rank);
}

static int
read_inputs(const Function *self, Call *call, PyObject *const *values)
{
    if (!PyArray_CheckExact(values[0]))
        return 0;
    PyArrayObject *first = (PyArrayObject *)values[0];
    call->type = PyArray_TYPE(first);
    call->rank = PyArray_NDIM(first) - self->arguments[0].rank;
    call->batch = PyArray_DIMS(first);
    if ((call->type != NPY_DOUBLE && call->type != NPY_FLOAT) || call->rank < 0)
        return 0;
    call->count = call->rank ? PyArray_MultiplyList(call->batch, call->rank) : 1;
    for (int k = 0; k < self->inputs; k++) {
        PyArrayObject *array = (PyArrayObject *)values[k];
        if (!is_plain(values[k], call->type, READABLE) ||
            !has_shape(array, call, &self->arguments[k]))
            return 0;
        call->in[k] = PyArray_BYTES(array);
    }
    return 1;
}

/* Whether what was given as out= takes the results, each in memory of its own. */
static int
read_out(const Function *self, Call *call)
{
    int several = self->results > 1;
    if (several && (!PyTuple_CheckExact(call->out) || PyTuple_GET_SIZE(call->out) != self->results))
        return 0;
    npy_intp bytes = call->count * (call->type == NPY_FLOAT ? sizeof(float) : sizeof(double));
    for (int k = 0; k < self->results; k++) {
        const Shape *shape = &self->shapes[k];
        PyObject *object = several ? PyTuple_GET_ITEM(call->out, k) : call->out;
        PyArrayObject *array = (PyArrayObject *)object;
        if (!is_plain(object, call->type, WRITABLE) || !has_shape(array, call, shape))
            return 0;
        call->to[k] = PyArray_BYTES(array);
        npy_intp length = bytes * shape->numbers;
        for (int i = 0; i < self->inputs; i++)
            if (overlap(call->to[k], length, call->in[i], bytes * self->arguments[i].numbers))
                return 0;
        for (int i = 0; i < k; i++)
            if (overlap(call->to[k], length, call->to[i], bytes * self->shapes[i].numbers))
                return 0;
    }
    return 1;
}

/* The answer. -------------------------------------------------------------------------------- */

/* Whether an array that we alone hold is as it was made: nobody could tell it from a new one. A
   weak reference would see it come back to life. */
static inline int
is_as_new(PyArrayObject *array, const Shape *shape, PyArray_Descr *type)
{
    return ((PyArrayObject_fields *)array)->weakreflist == NULL && PyArray_BASE(array) == NULL &&
           PyArray_DESCR(array) == type &&
           (PyArray_FLAGS(array) & ~NPY_ARRAY_F_CONTIGUOUS) == (WRITABLE | NPY_ARRAY_OWNDATA) &&
           PyArray_NDIM(array) == shape->rank &&
           same(PyArray_DIMS(array), shape->dims, shape->rank);
}

/* A result of a single state that nobody holds any more, to be given out again; NULL if there is
   none. A new array takes about as long as the arithmetic of a whole arm. This relies on the GIL,
   under which a count of one means that nobody else can come by a reference. */
static PyObject *
recycled(Function *self, const Call *call, int k)
{
#ifndef Py_GIL_DISABLED
    PyArray_Descr *type = call->type == NPY_FLOAT ? FLOAT : DOUBLE;
    Spares *spares = &self->spares[call->type == NPY_FLOAT][k];
    for (int i = 0; i < SPARES; i++) {
        PyObject *spare = spares->arrays[i];
        if (!spare || Py_REFCNT(spare) != 1)
            continue;
        if (is_as_new((PyArrayObject *)spare, &self->shapes[k], type))
            return Py_NewRef(spare);
        spares->arrays[i] = NULL; /* before it dies, which a weak reference may watch */
        Py_DECREF(spare);
    }
#endif
    return NULL;
}

/* Remember a new result, in place of an older one, to give it out again. */
static void
remember(Function *self, const Call *call, int k, PyObject *array)
{
#ifndef Py_GIL_DISABLED
    Spares *spares = &self->spares[call->type == NPY_FLOAT][k];
    PyObject *older = spares->arrays[spares->next];
    spares->arrays[spares->next] = Py_NewRef(array);
    spares->next = (spares->next + 1) % SPARES;
    Py_XDECREF(older);
#endif
}

/* An array for the k-th result. */
static PyObject *
new_array(Function *self, Call *call, int k)
{
    const Shape *shape = &self->shapes[k];
    int again = call->rank == 0 && shape->rank && k < RECYCLED;
    PyObject *array = again ? recycled(self, call, k) : NULL;
    if (array) {
        call->to[k] = PyArray_BYTES((PyArrayObject *)array);
        return array;
    }
    npy_intp dims[NPY_MAXDIMS + MAX_RANK];
    for (int i = 0; i < call->rank; i++)
        dims[i] = call->batch[i];
    for (int i = 0; i < shape->rank; i++)
        dims[call->rank + i] = shape->dims[i];
    array = PyArray_SimpleNew(call->rank + shape->rank, dims, call->type);
    if (array)
        call->to[k] = PyArray_BYTES((PyArrayObject *)array);
    if (array && again)
        remember(self, call, k, array);
    return array;
}

PyObject *
new_results(Function *self, Call *call)
{
    if (self->results == 1)
        return new_array(self, call, 0);
    PyObject *tuple = PyTuple_New(self->results);
    for (int k = 0; tuple && k < self->results; k++) {
        PyObject *array = new_array(self, call, k);
        if (array)
            PyTuple_SET_ITEM(tuple, k, array);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Numbers for arrays without axes, once they hold a result: what NumPy's own functions return. */
static PyObject *
as_numbers(const Function *self, PyObject *results)
{
    if (self->results == 1)
        return PyArray_Return((PyArrayObject *)results);
    for (int k = 0; results && k < self->results; k++) {
        PyArrayObject *array = (PyArrayObject *)PyTuple_GET_ITEM(results, k);
        PyTuple_SET_ITEM(results, k, PyArray_Return(array));
        if (!PyTuple_GET_ITEM(results, k))
            Py_CLEAR(results);
    }
    return results;
}

/* A batch in the pool. ----------------------------------------------------------------------- */

typedef struct {
    const Function *function;
    const Call *call;
    Batch kernel;
    npy_intp share; /* the states of a part */
} Spread;

static void
do_share(const void *data, int64_t part)
{
    const Spread *all = data;
    const Function *self = all->function;
    const Call *call = all->call;
    npy_intp first = part * all->share, left = call->count - first;
    npy_intp offset = first * (call->type == NPY_FLOAT ? sizeof(float) : sizeof(double));
    char *in[MAX_INPUTS], *to[MAX_RESULTS];
    for (int k = 0; k < self->inputs; k++)
        in[k] = call->in[k] + offset * self->arguments[k].numbers;
    for (int k = 0; k < self->results; k++)
        to[k] = call->to[k] + offset * self->shapes[k].numbers;
    all->kernel((const void *const *)in, (void *const *)to, left < all->share ? left : all->share);
}

/* On the threads of a call, which are one or more. */
static void
run_batch(const Function *self, const Call *call, const Kernels *kernels)
{
    Batch kernel = batch_for(self, call, kernels);
    Py_BEGIN_ALLOW_THREADS
    if (call->threads == 1) { /* in nanoseconds, as small batches want it */
        kernel((const void *const *)call->in, (void *const *)call->to, call->count);
    }
    else {
        npy_intp share = pool_share(call->count, call->threads, PY_SSIZE_T_MAX);
        Spread all = {self, call, kernel, share};
        pool_run(do_share, &all, (call->count + all.share - 1) / all.share, call->threads);
    }
    Py_END_ALLOW_THREADS
}

Py_ssize_t
default_threads(void)
{
    static PyObject *workers; /* never let go */
    if (!workers && !(workers = PyImport_ImportModule("armdyn.engine.workers")))
        return 0;
    PyObject *value = PyObject_CallMethod(workers, "default_threads", NULL);
    Py_ssize_t threads = 0;
    if (value && !read_threads(value, &threads))
        PyErr_Format(PyExc_ValueError, "%R threads", value);
    Py_XDECREF(value);
    return threads;
}

/* Runs the single kernel over a few states. */
static void
run_singly(const Function *self, const Kernels *kernels, Call *call)
{
    npy_intp size = call->type == NPY_FLOAT ? sizeof(float) : sizeof(double);
    for (npy_intp i = 0; i < call->count; i++) {
        kernels->single((const void *const *)call->in, (void *const *)call->to);
        for (int k = 0; k < self->inputs; k++)
            call->in[k] += self->arguments[k].numbers * size;
        for (int k = 0; k < self->results; k++)
            call->to[k] += self->shapes[k].numbers * size;
    }
}

static inline void
run(const Function *self, const Kernels *kernels, Call *call)
{
    if (call->rank == 0)
        kernels->single((const void *const *)call->in, (void *const *)call->to);
    else if (call->count <= SINGLY)
        run_singly(self, kernels, call);
    else
        run_batch(self, call, kernels);
}

void
run_call(const Function *self, const Kernels *kernels, Call *call)
{
    run(self, kernels, call);
}

/* Answers a call of plain arrays. NULL: it is not one, or an error is set. */
static PyObject *
answer_plain(Function *self, Call *call, PyObject *const *values)
{
    const Kernels *kernels = read_inputs(self, call, values) ? kernels_for(self, call) : NULL;
    if (!kernels || (call->out && !read_out(self, call)))
        return NULL;
    if (!call->threads && !(call->threads = call->count > self->few ? default_threads() : 1))
        return NULL;
    PyObject *results = call->out ? Py_NewRef(call->out) : new_results(self, call);
    if (results)
        run(self, kernels, call);
    return results;
}

static PyObject *libraries; /* dict: type -> what answers calls of arrays of that type, in Python */

/* Answers a call of arrays that all are of the same type, one of another library. NULL: it is not
   one, or an error is set. */
static PyObject *
answer_of_library(Function *self, PyObject *const *values)
{
    PyObject *type = (PyObject *)Py_TYPE(values[0]);
    PyObject *function = libraries ? PyDict_GetItemWithError(libraries, type) : NULL;
    for (int k = 1; k < self->inputs; k++)
        if ((PyObject *)Py_TYPE(values[k]) != type)
            return NULL;
    PyObject *tuple = function ? PyTuple_New(self->inputs) : NULL;
    if (!tuple)
        return NULL;
    for (int k = 0; k < self->inputs; k++)
        PyTuple_SET_ITEM(tuple, k, Py_NewRef(values[k]));
    PyObject *given[] = {self->path, tuple, Py_None, Py_None};
    Py_INCREF(function);
    PyObject *results = PyObject_Vectorcall(function, given, 4, NULL);
    Py_DECREF(function);
    Py_DECREF(tuple);
    if (results == Py_NotImplemented)
        Py_CLEAR(results);
    return results;
}

static inline int
is_of_library(PyObject *value)
{
    return !PyArray_CheckExact(value) && !PyList_CheckExact(value) && !PyTuple_CheckExact(value);
}

/* Answers a call of what is not plain. NULL: it is to be handed on, or an error is set. */
static PyObject *
answer_others(Function *self, Call *call, PyObject *const *args, PyObject *names)
{
    if (!is_of_library(args[0]))
        return answer_any_shape(self, call, args);
    call->rank = 1; /* whatever it is, it is the answer */
    return names ? NULL : answer_of_library(self, args);
}

static PyObject *
function_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Function *self = (Function *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), more = nargs - self->inputs;
    Call call;
    if (more < 0 || !read_keywords(&call, args + nargs, names))
        goto hand_on;
    if (more == 1 && !call.option)
        self = chosen_before(self, Py_None, args[nargs - 1]);
    else if (more == 0 && call.option)
        self = chosen_before(self, call.option, call.value);
    else if (more)
        goto hand_on;
    if (!self)
        goto hand_on;
    PyObject *results = answer_plain(self, &call, args);
    if (!results && !PyErr_Occurred())
        results = answer_others(self, &call, args, names);
    if (results)
        return call.out || call.rank ? results : as_numbers(self, results);
    if (PyErr_Occurred())
        return NULL;

hand_on:
    return PyObject_Vectorcall(((Function *)callable)->path, args, nargsf, names);
}

/* The type. ---------------------------------------------------------------------------------- */

static int
read_shape(PyObject *lengths, Shape *shape)
{
    if (!PyTuple_Check(lengths) || PyTuple_GET_SIZE(lengths) > MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "shape %R; at most %d axes", lengths, MAX_RANK);
        return 0;
    }
    shape->rank = (int)PyTuple_GET_SIZE(lengths);
    shape->numbers = 1;
    for (int i = 0; i < shape->rank; i++) {
        shape->dims[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(lengths, i));
        shape->numbers *= shape->dims[i];
    }
    return !PyErr_Occurred();
}

/* Reads a tuple of 1 to most shapes; answers with how many they are, 0 with an error set. */
static int
read_shapes(PyObject *given, Shape *shapes, int most)
{
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    if (count < 1 || count > most) {
        PyErr_Format(PyExc_ValueError, "%zd arguments or results; from 1 to %d", count, most);
        return 0;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        if (!read_shape(PyTuple_GET_ITEM(given, k), &shapes[k]))
            return 0;
    return (int)count;
}

/* Function(path, table, arguments, shapes, few, many, chosen) */
static PyObject *
function_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    Function *self = (Function *)type->tp_alloc(type, 0);
    PyObject *path, *arguments, *shapes, *chosen;
    if (!self)
        return NULL;
    self->vectorcall = function_call;
    if (!PyArg_ParseTuple(args, "Ow*O!O!n(nn)O!", &path, &self->table, &PyTuple_Type, &arguments,
                          &PyTuple_Type, &shapes, &self->few, &self->many[0], &self->many[1],
                          &PyDict_Type, &chosen))
        goto fail;
    self->path = Py_NewRef(path);
    self->chosen = Py_NewRef(chosen);
    if (self->table.len != 2 * sizeof(Kernels)) {
        PyErr_Format(PyExc_ValueError, "a table of %zd bytes", self->table.len);
        goto fail;
    }
    self->inputs = read_shapes(arguments, self->arguments, MAX_INPUTS);
    self->results = self->inputs ? read_shapes(shapes, self->shapes, MAX_RESULTS) : 0;
    if (!self->results)
        goto fail;
    return (PyObject *)self;

fail:
    Py_DECREF(self);
    return NULL;
}

static void
function_dealloc(Function *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weakrefs)
        PyObject_ClearWeakRefs((PyObject *)self);
    if (self->table.obj)
        PyBuffer_Release(&self->table);
    Py_XDECREF(self->path);
    Py_XDECREF(self->chosen);
    Py_XDECREF(self->dict);
    for (int k = 0; k < 2 * RECYCLED * SPARES; k++)
        Py_XDECREF(self->spares[k / SPARES / RECYCLED][k / SPARES % RECYCLED].arrays[k % SPARES]);
    Py_TYPE(self)->tp_free(self);
}

/* A cycle through a Function runs through its path's attributes or through the dict of what was
   chosen too, and is broken there. */
static int
function_traverse(Function *self, visitproc visit, void *arg)
{
    Py_VISIT(self->path);
    Py_VISIT(self->chosen);
    Py_VISIT(self->dict);
    return 0;
}

static PyObject *
function_getattro(Function *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr((PyObject *)self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(self->path, name);
}

static PyObject *
function_repr(Function *self)
{
    return PyObject_Repr(self->path);
}

static PyObject *
function_doc(Function *self, void *Py_UNUSED(closure))
{
    return PyObject_GetAttrString(self->path, "__doc__");
}

static PyGetSetDef function_getset[] = {
    {"__doc__", (getter)function_doc, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, NULL, NULL, NULL},
    {0},
};

static PyTypeObject FunctionType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "armdyn.engine._call.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = function_new,
    .tp_dealloc = (destructor)function_dealloc,
    .tp_weaklistoffset = offsetof(Function, weakrefs),
    .tp_dictoffset = offsetof(Function, dict),
    .tp_traverse = (traverseproc)function_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, vectorcall),
    .tp_getattro = (getattrofunc)function_getattro,
    .tp_repr = (reprfunc)function_repr,
    .tp_getset = function_getset,
};

static PyObject *
answer_by(PyObject *Py_UNUSED(module), PyObject *given)
{
    if (!PyDict_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "answer_by(dict)");
        return NULL;
    }
    Py_XSETREF(libraries, Py_NewRef(given));
    Py_RETURN_NONE;
}

PyTypeObject *
function_type(void)
{
    return &FunctionType;
}

static PyMethodDef methods[] = {
    {"march", march, METH_VARARGS, MARCH_DOC},
    {"answer_by", answer_by, METH_O,
     "answer_by(libraries): who answers calls of arrays of other libraries, by their type"},
    {"exchanged", (PyCFunction)(void (*)(void))exchanged, METH_FASTCALL, EXCHANGED_DOC},
    {"launched", (PyCFunction)(void (*)(void))launched, METH_FASTCALL, LAUNCHED_DOC},
    {0},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "armdyn.engine._call",
    .m_doc = "The fast call path, see armdyn/engine/_call.c.",
    .m_size = -1,
    .m_methods = methods,
};

/* Gives the type a __call__ that Python can be read of, see traced.py; a call goes to tp_call. */
static int
add_traced_call(void)
{
    PyObject *traced = PyImport_ImportModule("armdyn.engine.traced");
    PyObject *call = traced ? PyObject_GetAttrString(traced, "call") : NULL;
    int done = call ? PyDict_SetItemString(FunctionType.tp_dict, "__call__", call) : -1;
    PyType_Modified(&FunctionType);
    Py_XDECREF(call);
    Py_XDECREF(traced);
    return done;
}

PyMODINIT_FUNC
PyInit__call(void)
{
    import_array();
    pool_begin();
    OUT = PyUnicode_InternFromString("out");
    THREADS = PyUnicode_InternFromString("threads");
    DOUBLE = PyArray_DescrFromType(NPY_DOUBLE);
    FLOAT = PyArray_DescrFromType(NPY_FLOAT);
    PyObject *self = PyModule_Create(&module);
    if (!OUT || !THREADS || exchange_begin() < 0 || !self ||
        PyModule_AddType(self, &FunctionType) < 0 || add_traced_call() < 0 ||
        PyModule_AddIntMacro(self, INTERFACE) < 0)
        return NULL;
    return self;
}
