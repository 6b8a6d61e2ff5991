/* Calls on tensors of a library that exchanges them in C, as torch does (DLPackExchangeAPI, a table of
   functions that stands on the type of its tensors): read where they lie, answered in new tensors.

   It takes what kernels can use as it lies, without gradients: on the CPU it runs them, on a GPU it
   launches them. All else is the caller's, who is armdyn/arrays/torch.py. */

#define NO_IMPORT_ARRAY
#include "_exchange.h"

#include <string.h>

#define CPU 1      /* kDLCPU */
#define CUDA 2     /* kDLCUDA */
#define FLOATING 2 /* kDLFloat */

/* From dlpack.h, version 1. */
typedef struct {
    uint32_t major, minor;
} Version;

typedef struct {
    void *data;
    int32_t device, device_id, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *lengths, *strides;
    uint64_t offset;
} Tensor;

typedef struct Managed {
    Version version;
    void *context;
    void (*deleter)(struct Managed *);
    uint64_t flags;
    Tensor tensor;
} Managed;

typedef void (*Complain)(void *context, const char *kind, const char *message);

typedef struct {
    Version version;
    void *earlier;
    int (*allocate)(Tensor *like, Managed **made, void *context, Complain complain);
    int (*managed_from_object)(void *object, Managed **made);
    int (*to_object)(Managed *tensor, void **object);
    int (*from_object)(void *object, Tensor *tensor);
    int (*stream)(int32_t device, int32_t number, void **stream);
} Api;

/* What launches of a kernel on a device begin with: see Head in engine/cuda.py. */
#define HEAD 8              /* words */
#define STREAM 5            /* the places of two that each launch fills */
#define WARPS 6
#define MAX_GIVEN (2 * MAX_INPUTS + MAX_RESULTS + 1) /* words that stand behind them */

typedef int (*Launcher)(const int64_t *block, size_t bytes);

typedef struct {
    int64_t words[HEAD];
    const Launcher *launcher; /* NULL, or where it stands NULL: Python is to prepare it, or say why not */
} Head;

static PyObject *REQUIRES_GRAD, *IS_NEG, *HEADS;

/* Whether nothing stands between a tensor's memory and its numbers: -1 with an error set. */
static int
is_bare(PyObject *object)
{
    PyObject *asked = PyObject_GetAttr(object, REQUIRES_GRAD);
    Py_XDECREF(asked);
    if (asked != Py_False)
        return asked ? 0 : -1;
    asked = PyObject_VectorcallMethod(IS_NEG, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(asked);
    return asked == Py_False ? 1 : asked ? 0 : -1;
}

static int
is_contiguous(const Tensor *tensor)
{
    int64_t step = 1;
    for (int i = tensor->rank - 1; tensor->strides && i >= 0; i--) {
        if (tensor->lengths[i] != 1 && tensor->strides[i] != step)
            return 0;
        step *= tensor->lengths[i];
    }
    return 1;
}

/* Whether the axes of a state in a tensor are those of such a shape, after so many others. */
static int
ends_with(const Tensor *tensor, int rank, const Shape *shape)
{
    if (tensor->rank != rank + shape->rank)
        return 0;
    for (int i = 0; i < shape->rank; i++)
        if (tensor->lengths[rank + i] != shape->dims[i])
            return 0;
    return 1;
}

/* Reads the arguments, all of which lie on a device: 1 if they are plain, 0 if not, -1 with an error
   set. ``where`` becomes the device. */
static int
read_tensors(const Function *self, const Api *api, PyObject *values, Call *call, npy_intp *batch,
             Tensor *where)
{
    for (int k = 0; k < self->inputs; k++) {
        Tensor tensor;
        PyObject *object = PyTuple_GET_ITEM(values, k);
        int bare = Py_TYPE(object) == Py_TYPE(PyTuple_GET_ITEM(values, 0)) ? is_bare(object) : 0;
        if (bare <= 0)
            return bare;
        if (api->from_object(object, &tensor)) { /* it has no memory, such as a sparse one */
            PyErr_Clear();
            return 0;
        }
        int type = tensor.bits == 64 ? NPY_DOUBLE : NPY_FLOAT;
        if (k == 0)
            *where = tensor;
        if (tensor.device != where->device || tensor.device_id != where->device_id ||
            (tensor.device != CPU && tensor.device != CUDA) || tensor.code != FLOATING || tensor.lanes != 1 ||
            (tensor.bits != 64 && tensor.bits != 32) || !is_contiguous(&tensor))
            return 0;
        if (k == 0) {
            call->type = type;
            call->rank = tensor.rank - self->arguments[0].rank;
            if (call->rank < 0 || call->rank + MAX_RANK > MAX_AXES)
                return 0;
            call->count = 1;
            for (int i = 0; i < call->rank; i++)
                call->count *= batch[i] = (npy_intp)tensor.lengths[i];
        }
        if (type != call->type || !ends_with(&tensor, call->rank, &self->arguments[k]))
            return 0;
        for (int i = 0; i < call->rank; i++)
            if (tensor.lengths[i] != batch[i])
                return 0;
        call->in[k] = (char *)tensor.data + tensor.offset;
    }
    return call->count > 0;
}

static void
complain(void *Py_UNUSED(context), const char *kind, const char *message)
{
    PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
}

/* Makes a tensor for the k-th result, on a device. */
static Managed *
new_tensor(const Function *self, const Api *api, Call *call, int k, const Tensor *where)
{
    const Shape *shape = &self->shapes[k];
    int64_t lengths[MAX_AXES];
    Tensor like = {.code = FLOATING, .lanes = 1, .lengths = lengths};
    like.device = where->device;
    like.device_id = where->device_id;
    like.bits = call->type == NPY_DOUBLE ? 64 : 32;
    like.rank = call->rank + shape->rank;
    for (int i = 0; i < call->rank; i++)
        lengths[i] = call->batch[i];
    for (int i = 0; i < shape->rank; i++)
        lengths[call->rank + i] = shape->dims[i];
    Managed *made = NULL;
    if (api->allocate(&like, &made, NULL, complain)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    call->to[k] = (char *)made->tensor.data + made->tensor.offset;
    return made;
}

/* Hands results over to the library: one tensor, or a tuple of them. */
static PyObject *
as_objects(const Function *self, const Api *api, Managed **made)
{
    PyObject *results = self->results > 1 ? PyTuple_New(self->results) : NULL;
    int fine = self->results == 1 || results;
    for (int k = 0; k < self->results; k++) {
        void *object = NULL;
        if (!fine)
            made[k]->deleter(made[k]);
        else if (api->to_object(made[k], &object))
            fine = 0;
        else if (results)
            PyTuple_SET_ITEM(results, k, object);
        else
            results = object;
    }
    if (!fine)
        Py_CLEAR(results);
    return results;
}

/* A call that is looked at: by which functions, of what, on which device. */
typedef struct {
    Function *function;
    const Api *api;
    Call call;
    npy_intp batch[MAX_AXES];
    Tensor where;
    Managed *made[MAX_RESULTS];
} Exchange;

/* Reads (function, api, values), where there are as many arguments as the form says: 1 if kernels can
   use the values as they lie, 0 if not, -1 with an error. */
static int
read_exchange(Exchange *all, PyObject *const *args, int as_many, const char *form)
{
    if (!as_many || !PyTuple_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, form);
        return -1;
    }
    if (Py_TYPE(args[0]) != function_type()) /* None, of a function that is no more */
        return 0;
    all->function = (Function *)args[0];
    all->api = PyCapsule_GetPointer(args[1], "dlpack_exchange_api");
    if (!all->api)
        return -1;
    if (all->api->version.major != 1 || !all->api->from_object ||
        PyTuple_GET_SIZE(args[2]) != all->function->inputs)
        return 0;
    memset(&all->call, 0, sizeof(all->call));
    all->call.batch = all->batch;
    return read_tensors(all->function, all->api, args[2], &all->call, all->batch, &all->where);
}

/* Makes tensors for all results: 0, or -1 with an error set. */
static int
new_tensors(Exchange *all)
{
    for (int k = 0; k < all->function->results; k++) {
        all->made[k] = new_tensor(all->function, all->api, &all->call, k, &all->where);
        if (!all->made[k]) {
            while (k-- > 0)
                all->made[k]->deleter(all->made[k]);
            return -1;
        }
    }
    return 0;
}

PyObject *
exchanged(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    Exchange all;
    int plain = read_exchange(&all, args, nargs == 3, "exchanged(function, api, values)");
    if (plain < 0)
        return NULL;
    const Kernels *kernels =
        plain && all.where.device == CPU ? kernels_for(all.function, &all.call) : NULL;
    if (!kernels)
        Py_RETURN_NOTIMPLEMENTED;
    if (!(all.call.threads = all.call.count > all.function->few ? default_threads() : 1) ||
        new_tensors(&all) < 0)
        return NULL;
    run_call(all.function, kernels, &all.call);
    return as_objects(all.function, all.api, all.made);
}

/* On a GPU. ---------------------------------------------------------------------------------- */

/* What a launch on the device begins with, if it can be done from here, else NULL. */
static const Head *
head_of(const Exchange *all, const Py_buffer *heads)
{
    Py_ssize_t devices = heads->len / (Py_ssize_t)sizeof(Head) / 2, device = all->where.device_id;
    if (device < 0 || device >= devices)
        return NULL;
    const Head *head = (const Head *)heads->buf + device;
    if (all->call.type == NPY_FLOAT)
        head += devices;
    return head->launcher && *head->launcher ? head : NULL;
}

/* Launches a kernel by its heads: the driver's code, or -1 where that is left to Python. The lock is
   let go, for the driver waits where its queue is full. */
static int
launch(const Exchange *all, const Py_buffer *heads, void *stream)
{
    const Function *self = all->function;
    const Call *call = &all->call;
    const Head *head = head_of(all, heads);
    if (!head)
        return -1;
    int64_t block[HEAD + MAX_GIVEN], *next = block + HEAD;
    memcpy(block, head->words, sizeof(head->words));
    block[STREAM] = (int64_t)(intptr_t)stream;
    block[WARPS] = (call->count + 31) / 32;
    for (int k = 0; k < self->inputs; k++) {
        *next++ = (int64_t)(intptr_t)call->in[k];
        *next++ = self->arguments[k].numbers;
    }
    for (int k = 0; k < self->results; k++)
        *next++ = (int64_t)(intptr_t)call->to[k];
    *next++ = call->count;
    Launcher launcher = *head->launcher;
    int code;
    Py_BEGIN_ALLOW_THREADS
    code = launcher(block, (char *)next - (char *)block);
    Py_END_ALLOW_THREADS
    return code;
}

/* Addresses as a tuple of ints, or of pairs with how many numbers lie from row to row. */
static PyObject *
addresses(char *const *at, const Shape *shapes, int count, int pairs)
{
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *item = pairs ? Py_BuildValue("(Nn)", PyLong_FromVoidPtr(at[k]), shapes[k].numbers)
                               : PyLong_FromVoidPtr(at[k]);
        if (item)
            PyTuple_SET_ITEM(tuple, k, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Launches a kernel by its method ``launch``, which says what is wrong: 0, or -1. */
static int
launch_in_python(Exchange *all, PyObject *kernel, void *stream)
{
    const Function *self = all->function;
    PyObject *inputs = addresses(all->call.in, self->arguments, self->inputs, 1);
    PyObject *outputs = addresses(all->call.to, self->shapes, self->results, 0);
    const char *type = all->call.type == NPY_FLOAT ? "float32" : "float64";
    PyObject *done = NULL;
    if (inputs && outputs)
        done = PyObject_CallMethod(kernel, "launch", "OOnsiN", inputs, outputs,
                                   (Py_ssize_t)all->call.count, type, all->where.device_id,
                                   PyLong_FromVoidPtr(stream));
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* Has Python make the kernel for the device, where it is not there yet: 0, or -1 with an error, such
   as that of a forked process. */
static int
prepare(const Exchange *all, const Py_buffer *heads, PyObject *kernel)
{
    if (head_of(all, heads))
        return 0;
    const char *type = all->call.type == NPY_FLOAT ? "float32" : "float64";
    PyObject *done = PyObject_CallMethod(kernel, "prepare", "si", type, all->where.device_id);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

PyObject *
launched(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    Exchange all;
    Py_buffer heads;
    void *stream = NULL;
    int plain = read_exchange(&all, args, nargs == 4, "launched(function, api, values, kernel)");
    if (plain < 0)
        return NULL;
    if (!plain)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *kept = PyObject_GetAttr(args[3], HEADS);
    int fine = kept && PyObject_GetBuffer(kept, &heads, PyBUF_SIMPLE) == 0;
    Py_XDECREF(kept);
    if (!fine)
        return NULL;
    fine = !prepare(&all, &heads, args[3]) &&
           !all.api->stream(all.where.device, all.where.device_id, &stream) && !new_tensors(&all);
    if (fine && launch(&all, &heads, stream) && launch_in_python(&all, args[3], stream)) {
        for (int k = 0; k < all.function->results; k++)
            all.made[k]->deleter(all.made[k]);
        fine = 0;
    }
    PyBuffer_Release(&heads);
    return fine ? as_objects(all.function, all.api, all.made) : NULL;
}

int
exchange_begin(void)
{
    REQUIRES_GRAD = PyUnicode_InternFromString("requires_grad");
    IS_NEG = PyUnicode_InternFromString("is_neg");
    HEADS = PyUnicode_InternFromString("heads");
    return REQUIRES_GRAD && IS_NEG && HEADS ? 0 : -1;
}
