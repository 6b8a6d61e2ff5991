/* Rows of numbers, gathered for a kernel and scattered after it, block by block.

   This is the second half of a call whose arrays are not plain; _shapes.c looks at them first.
   Nothing here knows of Python: it runs without the interpreter's lock. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#include "_rows.h"

/* Copies. ------------------------------------------------------------------------------------ */

/* memcpy, since a number may lie at any address; compilers make one instruction of it. */
#define COPY(NAME, FROM, TO)                                                                     \
    static void NAME(End from, End to, npy_intp outer, npy_intp inner)                           \
    {                                                                                            \
        for (npy_intp i = 0; i < outer; i++) {                                                   \
            const char *source = from.at + i * from.outer;                                       \
            char *target = to.at + i * to.outer;                                                 \
            for (npy_intp j = 0; j < inner; j++) {                                               \
                FROM found;                                                                      \
                memcpy(&found, source + j * from.inner, sizeof found);                           \
                TO number = (TO)found;                                                           \
                memcpy(target + j * to.inner, &number, sizeof number);                           \
            }                                                                                    \
        }                                                                                        \
    }

COPY(double_to_double, double, double)
COPY(float_to_float, float, float)
COPY(float_to_double, float, double)
COPY(int8_to_double, int8_t, double)
COPY(int16_to_double, int16_t, double)
COPY(int32_to_double, int32_t, double)
COPY(int64_to_double, int64_t, double)
COPY(uint8_to_double, uint8_t, double)
COPY(uint16_to_double, uint16_t, double)
COPY(uint32_to_double, uint32_t, double)
COPY(uint64_to_double, uint64_t, double)

int
size_of(int type)
{
    switch (type) {
    case NPY_DOUBLE: return sizeof(double);
    case NPY_FLOAT: return sizeof(float);
    case NPY_BYTE: case NPY_UBYTE: return sizeof(char);
    case NPY_SHORT: case NPY_USHORT: return sizeof(short);
    case NPY_INT: case NPY_UINT: return sizeof(int);
    case NPY_LONG: case NPY_ULONG: return sizeof(long);
    case NPY_LONGLONG: case NPY_ULONGLONG: return sizeof(long long);
    default: return 0;
    }
}

/* The copy between a type and that of a kernel, which is float only where all arguments are. */
static Copy
copy_of(int type, int kernel_type)
{
    if (type == NPY_FLOAT)
        return kernel_type == NPY_FLOAT ? float_to_float : float_to_double;
    if (type == NPY_DOUBLE)
        return double_to_double;
    int without_sign = type == NPY_UBYTE || type == NPY_USHORT || type == NPY_UINT ||
                       type == NPY_ULONG || type == NPY_ULONGLONG;
    switch (size_of(type)) {
    case 1: return without_sign ? uint8_to_double : int8_to_double;
    case 2: return without_sign ? uint16_to_double : int16_to_double;
    case 4: return without_sign ? uint32_to_double : int32_to_double;
    default: return without_sign ? uint64_to_double : int64_to_double;
    }
}

/* Rows. -------------------------------------------------------------------------------------- */

/* As few axes as lead to the same numbers in the same order: those of length one are dropped, and
   two become one where the second ends at the next step of the first. */
static void
merge_axes(Axes *merged, const Axes *axes, int first, int end)
{
    int last = -1;
    for (int i = first; i < end; i++) {
        npy_intp length = axes->lengths[i], stride = axes->strides[i];
        if (length == 1)
            continue;
        if (last >= 0 && merged->strides[last] == length * stride)
            merged->lengths[last] *= length;
        else
            merged->lengths[++last] = length;
        merged->strides[last] = stride;
    }
    if (last < 0) {
        merged->lengths[++last] = 1;
        merged->strides[last] = 0;
    }
    merged->count = last + 1;
}

/* Whether merged axes lead from one neighbour to the next, so many bytes long. */
static int
is_dense(const Axes *merged, npy_intp bytes)
{
    return merged->count == 1 && (merged->lengths[0] == 1 || merged->strides[0] == bytes);
}

void
split_into_rows(Rows *rows, const View *view, int batch_axes, int kernel_type)
{
    merge_axes(&rows->batch, &view->axes, 0, batch_axes);
    merge_axes(&rows->row, &view->axes, batch_axes, view->axes.count);
    rows->data = view->data;
    rows->buffer = 0;
    rows->size = rows->bytes = size_of(kernel_type);
    for (int i = batch_axes; i < view->axes.count; i++)
        rows->bytes *= view->axes.lengths[i];
    int in_place = view->type == kernel_type && (uintptr_t)view->data % rows->size == 0 &&
                   is_dense(&rows->row, rows->size) && is_dense(&rows->batch, rows->bytes);
    rows->copy = in_place ? NULL : copy_of(view->type, kernel_type);
}

/* Counts on through all axes but the last; answers with the place that this leads to. */
static inline char *
next_stretch(const Axes *axes, npy_intp *at, char *here)
{
    for (int i = axes->count - 2; i >= 0; i--) {
        here += axes->strides[i];
        if (++at[i] < axes->lengths[i])
            return here;
        here -= axes->lengths[i] * axes->strides[i];
        at[i] = 0;
    }
    return here;
}

/* Copies states along the last batch axis, from the array or to it. Of two loops, the inner one
   takes the smaller steps in the array. */
static void
copy_stretch(const Rows *rows, char *array, char *buffer, npy_intp count, int to_array)
{
    const Axes *row = &rows->row;
    int last = row->count - 1;
    npy_intp numbers = row->lengths[last], number_step = row->strides[last];
    npy_intp state_step = rows->batch.strides[rows->batch.count - 1];
    int by_state = count == 1 || Py_ABS(number_step) <= Py_ABS(state_step) || state_step == 0;
    End far = {array, state_step, number_step}, near = {buffer, rows->bytes, rows->size};
    if (!by_state) {
        far = (End){array, number_step, state_step};
        near = (End){buffer, rows->size, rows->bytes};
    }
    npy_intp lines = 1, at[MAX_AXES] = {0};
    for (int i = 0; i < last; i++)
        lines *= row->lengths[i];
    for (npy_intp line = 0; line < lines; line++) {
        rows->copy(to_array ? near : far, to_array ? far : near, by_state ? count : numbers,
                   by_state ? numbers : count);
        near.at += numbers * rows->size;
        far.at = next_stretch(row, at, far.at);
    }
}

/* Copies a block of states between the array and the buffer. */
static void
copy_block(const Rows *rows, char *buffer, npy_intp first, npy_intp count, int to_array)
{
    const Axes *batch = &rows->batch;
    int last = batch->count - 1;
    npy_intp at[MAX_AXES];
    char *array = rows->data;
    for (int i = last; i >= 0; i--) {
        at[i] = first % batch->lengths[i];
        first /= batch->lengths[i];
        array += at[i] * batch->strides[i];
    }
    while (count > 0) {
        npy_intp stretch = batch->lengths[last] - at[last];
        if (stretch > count)
            stretch = count;
        copy_stretch(rows, array, buffer, stretch, to_array);
        buffer += stretch * rows->bytes;
        count -= stretch;
        array = next_stretch(batch, at, array - at[last] * batch->strides[last]);
        at[last] = 0;
    }
}

/* Whether the same row serves all states, so that a buffer filled once serves all blocks. */
static inline int
is_still(const Rows *rows)
{
    return rows->batch.count == 1 && rows->batch.strides[0] == 0;
}

/* The run. ----------------------------------------------------------------------------------- */

static void
run_block(const Run *run, char **places, npy_intp count)
{
    char **in = places, **out = places + run->inputs;
    if (run->kernels.batch) {
        run->kernels.batch((const void *const *)in, (void *const *)out, count);
        return;
    }
    for (npy_intp i = 0; i < count; i++) {
        run->kernels.single((const void *const *)in, (void *const *)out);
        for (int k = 0; k < run->inputs + run->results; k++)
            places[k] += run->rows[k].bytes;
    }
}

void
run_over_rows(const Run *run, npy_intp first, npy_intp end, char *buffers)
{
    char *places[MAX_INPUTS + MAX_RESULTS];
    int all = run->inputs + run->results;
    for (npy_intp at = first; at < end; at += run->block) {
        npy_intp left = end - at, count = left < run->block ? left : run->block;
        for (int k = 0; k < all; k++) {
            const Rows *rows = &run->rows[k];
            places[k] = rows->copy ? buffers + rows->buffer : rows->data + at * rows->bytes;
            if (k < run->inputs && rows->copy && (at == first || !is_still(rows)))
                copy_block(rows, places[k], at, count, 0);
        }
        run_block(run, places, count);
        for (int k = run->inputs; k < all; k++)
            if (run->rows[k].copy)
                copy_block(&run->rows[k], buffers + run->rows[k].buffer, at, count, 1);
    }
}
