/* Rows of numbers: how they lie in memory, and kernels that run over them. */

#ifndef ARMDYN_ROWS_H
#define ARMDYN_ROWS_H

#include <numpy/ndarraytypes.h>
#include <stdint.h>

#ifdef __GNUC__ /* known to the files of this extension alone, so that calls are direct */
#define OURS __attribute__((visibility("hidden")))
#else
#define OURS
#endif

#define MAX_INPUTS 16
#define MAX_RESULTS 32
#define MAX_RANK 4  /* axes of an argument or a result of one state */
#define MAX_AXES 12 /* axes of an array that is not plain, those of the batch included */

typedef void (*Batch)(const void *const *in, void *const *out, int64_t count);

typedef struct {
    void (*single)(const void *const *in, void *const *out);
    Batch batch;
    Batch stream; /* for results that outgrow the caches */
} Kernels;

/* Lengths, and the bytes from one number to the next, 0 along an axis that is broadcast. */
typedef struct {
    int count;
    npy_intp lengths[MAX_AXES];
    npy_intp strides[MAX_AXES];
} Axes;

/* An array of any layout, as it was when it was looked at. */
typedef struct {
    char *data;
    int type; /* NumPy's number of it */
    Axes axes;
} View;

/* One end of a copy: where its first number lies, and the bytes to the next along two axes. */
typedef struct {
    char *at;
    npy_intp outer;
    npy_intp inner;
} End;

/* Copies outer times inner numbers, and turns them into another type. */
typedef void (*Copy)(End from, End to, npy_intp outer, npy_intp inner);

/* An argument or a result of a batch, state by state. A kernel uses it where it lies, or else by
   way of a buffer that holds a block of states. */
typedef struct {
    char *data;
    Axes batch;     /* as few axes as lead to the same numbers */
    Axes row;       /* those of one state */
    Copy copy;      /* NULL where the kernel uses it in place */
    npy_intp size;  /* bytes of a number, as a kernel wants it */
    npy_intp bytes; /* of one state, as a kernel wants it */
    npy_intp buffer; /* where in the memory for buffers its own begins */
} Rows;

/* What is run over rows. */
typedef struct {
    Kernels kernels; /* batch is the one to run; where it is NULL, single takes state by state */
    int inputs;
    int results;
    Rows *rows; /* of the arguments, then of the results */
    npy_intp count;   /* states */
    npy_intp block;   /* states in a buffer */
    npy_intp buffers; /* bytes of all of them, 0 where none is needed */
} Run;

/* The bytes of a number, 0 for a type that is not read here. */
OURS int size_of(int type);

/* Splits an array into its batch axes, the first ones, and the axes of a state. */
OURS void split_into_rows(Rows *rows, const View *view, int batch_axes, int kernel_type);

/* Runs a kernel over the states from first to end, block by block, by way of these buffers. */
OURS void run_over_rows(const Run *run, npy_intp first, npy_intp end, char *buffers);

#endif
