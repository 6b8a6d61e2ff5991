"""The LLVM module of the fast call path, see armdyn/front.py; it is the same for all functions.

In its text, ``load T, %x.name`` stands for the field of that name in the structure at %x, and
``load T, %x[%i]`` for the i-th of the values at %x.
"""

from __future__ import annotations

import re
import sys

HEADER = 16  # bytes of an object before its own fields: a count of references and the type
FIELDS = {"type": 8}  # where fields lie in an object, an array and its dtype [bytes]
FIELDS |= {"data": 16, "nd": 24, "dimensions": 32, "descr": 56, "flags": 64}
FIELDS |= {"byteorder": 26, "type_num": 28}
FIELDS |= {"inputs": 0, "n": 8, "results": 16, "table": 24}  # in a plan, before its results
FIELDS |= {"rank": 0, "bytes": 8}  # in a result, before its lengths
PLAN, RESULT = 4, 2  # words before the results, and before the lengths of each
MOST_AXES = 64  # of an array of NumPy's; so many lengths has each result
MOST_INPUTS, MOST_RESULTS = 4, 32
DOUBLE = 12  # the number of this type
READABLE = 0x1 | 0x100  # flags: C order, aligned
WRITABLE = READABLE | 0x400
SWAPPED = ord(">" if sys.byteorder == "little" else "<")

DECLARATIONS = """
@ndarray = external global i8
@none = external global i8
@out = external global i8
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyArray_Return(ptr)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyTuple_Size(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
"""

LOOKS = f"""
; The memory of a plain float64 array with this shape and these flags; null for all else.
define internal ptr @memory(ptr %object, i64 %rank, ptr %lengths, i32 %needed) {{
  %type = load ptr, %object.type
  %is_array = icmp eq ptr %type, @ndarray
  br i1 %is_array, label %look, label %no
look:
  %dtype = load ptr, %object.descr
  %number = load i32, %dtype.type_num
  %order = load i8, %dtype.byteorder
  %nd = load i32, %object.nd
  %axes = zext i32 %nd to i64
  %flags = load i32, %object.flags
  %set = and i32 %flags, %needed
  %dimensions = load ptr, %object.dimensions
  %is_double = icmp eq i32 %number, {DOUBLE}
  %is_native = icmp ne i8 %order, {SWAPPED}
  %is_float64 = and i1 %is_double, %is_native
  %has_rank = icmp eq i64 %axes, %rank
  %has_flags = icmp eq i32 %set, %needed
  %is_usable = and i1 %has_rank, %has_flags
  %is_plain = and i1 %is_float64, %is_usable
  br i1 %is_plain, label %axis, label %no
axis:
  %i = phi i64 [0, %look], [%next, %compare]
  %next = add i64 %i, 1
  %past = icmp eq i64 %i, %rank
  br i1 %past, label %yes, label %compare
compare:
  %length = load i64, %dimensions[%i]
  %right = load i64, %lengths[%i]
  %same = icmp eq i64 %length, %right
  br i1 %same, label %axis, label %no
yes:
  %data = load ptr, %object.data
  ret ptr %data
no:
  ret ptr null
}}

; Whether so many bytes have none in common with any input.
define internal i1 @apart(ptr %first, i64 %bytes, ptr %from, i64 %inputs, i64 %n) {{
start:
  %end = getelementptr i8, ptr %first, i64 %bytes
  br label %input
input:
  %k = phi i64 [0, %start], [%next, %compare]
  %next = add i64 %k, 1
  %past = icmp eq i64 %k, %inputs
  br i1 %past, label %done, label %compare
compare:
  %other = load ptr, %from[%k]
  %other_end = getelementptr double, ptr %other, i64 %n
  %before = icmp ule ptr %end, %other
  %after = icmp ule ptr %other_end, %first
  %clear = or i1 %before, %after
  br i1 %clear, label %input, label %done
done:
  ret i1 %past
}}
"""

RESULTS = f"""
; A new array for the k-th result; null, and an exception, where there is no memory for it.
define internal ptr @new_array(ptr %plan, i64 %k, ptr %to) {{
  %words = mul i64 %k, {RESULT + MOST_AXES}
  %place = add i64 %words, {PLAN}
  %result = getelementptr i64, ptr %plan, i64 %place
  %lengths = getelementptr i64, ptr %result, i64 {RESULT}
  %axes = load i64, %result.rank
  %rank = trunc i64 %axes to i32
  %array = call ptr @PyArray_New(ptr @ndarray, i32 %rank, ptr %lengths, i32 {DOUBLE},
                                 ptr null, ptr null, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %done, label %note
note:
  %data = load ptr, %array.data
  %to_k = getelementptr ptr, ptr %to, i64 %k
  store ptr %data, ptr %to_k
  br label %done
done:
  ret ptr %array
}}

; New arrays for all results, in a tuple.
define internal ptr @new_arrays(ptr %plan, i64 %results, ptr %to) {{
start:
  %tuple = call ptr @PyTuple_New(i64 %results)
  %none = icmp eq ptr %tuple, null
  br i1 %none, label %fail, label %result
result:
  %k = phi i64 [0, %start], [%next, %keep]
  %next = add i64 %k, 1
  %past = icmp eq i64 %k, %results
  br i1 %past, label %done, label %make
make:
  %array = call ptr @new_array(ptr %plan, i64 %k, ptr %to)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %fail, label %keep
keep:
  call i32 @PyTuple_SetItem(ptr %tuple, i64 %k, ptr %array)
  br label %result
done:
  ret ptr %tuple
fail:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
}}

; The tuple, with numbers in place of arrays without axes: what NumPy's own functions return.
define internal ptr @as_numbers(ptr %tuple, i64 %results) {{
start:
  br label %result
result:
  %k = phi i64 [0, %start], [%next, %keep]
  %next = add i64 %k, 1
  %past = icmp eq i64 %k, %results
  br i1 %past, label %done, label %convert
convert:
  %array = call ptr @PyTuple_GetItem(ptr %tuple, i64 %k)
  call void @Py_IncRef(ptr %array)
  %number = call ptr @PyArray_Return(ptr %array)
  %failed = icmp eq ptr %number, null
  br i1 %failed, label %fail, label %keep
keep:
  call i32 @PyTuple_SetItem(ptr %tuple, i64 %k, ptr %number)
  br label %result
done:
  ret ptr %tuple
fail:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
}}
"""

FRONT = f"""
; A built-in function of Python. self is a tuple: the plan, the path to hand on to, and more.
define ptr @front(ptr %self, ptr %args, i64 %count, ptr %names) {{
  %from = alloca ptr, i64 {MOST_INPUTS}
  %to = alloca ptr, i64 {MOST_RESULTS}
  %bytes = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %plan = call ptr @PyBytes_AsString(ptr %bytes)
  %inputs = load i64, %plan.inputs
  %results = load i64, %plan.results
  %table = load ptr, %plan.table
  %n_at = getelementptr i8, ptr %plan, i64 {FIELDS["n"]}
  %one = icmp eq i64 %results, 1
  %single = load ptr, ptr %table
  %compiled = icmp ne ptr %single, null
  %complete = icmp eq i64 %count, %inputs
  %ready = and i1 %compiled, %complete
  br i1 %ready, label %keywords, label %hand_on
keywords:
  %bare = icmp eq ptr %names, null
  br i1 %bare, label %input, label %named
named:
  %given = call i64 @PyTuple_Size(ptr %names)
  %alone = icmp eq i64 %given, 1
  br i1 %alone, label %keyword, label %hand_on
keyword:
  %name = call ptr @PyTuple_GetItem(ptr %names, i64 0)
  %value = load ptr, %args[%count]
  %nothing = icmp eq ptr %value, @none
  %asked = select i1 %nothing, ptr null, ptr %value
  %is_out = icmp eq ptr %name, @out
  %simple = and i1 %is_out, %one
  br i1 %simple, label %input, label %hand_on
input:
  %target = phi ptr [null, %keywords], [%asked, %keyword], [%target, %read]
  %k = phi i64 [0, %keywords], [0, %keyword], [%next, %read]
  %next = add i64 %k, 1
  %past = icmp eq i64 %k, %inputs
  br i1 %past, label %output, label %look
look:
  %argument = load ptr, %args[%k]
  %memory = call ptr @memory(ptr %argument, i64 1, ptr %n_at, i32 {READABLE})
  %strange = icmp eq ptr %memory, null
  br i1 %strange, label %hand_on, label %read
read:
  %from_k = getelementptr ptr, ptr %from, i64 %k
  store ptr %memory, ptr %from_k
  br label %input
output:
  %fresh = icmp eq ptr %target, null
  br i1 %fresh, label %new, label %given_out
given_out:
  %result = getelementptr i64, ptr %plan, i64 {PLAN}
  %lengths = getelementptr i64, ptr %result, i64 {RESULT}
  %rank = load i64, %result.rank
  %room = call ptr @memory(ptr %target, i64 %rank, ptr %lengths, i32 {WRITABLE})
  %unfit = icmp eq ptr %room, null
  br i1 %unfit, label %hand_on, label %fit
fit:
  %size = load i64, %result.bytes
  %n = load i64, %plan.n
  %own = call i1 @apart(ptr %room, i64 %size, ptr %from, i64 %inputs, i64 %n)
  br i1 %own, label %write, label %hand_on
write:
  store ptr %room, ptr %to
  call void %single(ptr %from, ptr %to)
  call void @Py_IncRef(ptr %target)
  ret ptr %target
new:
  br i1 %one, label %new_one, label %new_tuple
new_one:
  %array = call ptr @new_array(ptr %plan, i64 0, ptr %to)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %fail, label %answer_one
answer_one:
  call void %single(ptr %from, ptr %to)
  %answer = call ptr @PyArray_Return(ptr %array)
  ret ptr %answer
new_tuple:
  %tuple = call ptr @new_arrays(ptr %plan, i64 %results, ptr %to)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %fail, label %answer_all
answer_all:
  call void %single(ptr %from, ptr %to)
  %answers = call ptr @as_numbers(ptr %tuple, i64 %results)
  ret ptr %answers
fail:
  ret ptr null
hand_on:
  %path = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %other = call ptr @PyObject_Vectorcall(ptr %path, ptr %args, i64 %count, ptr %names)
  ret ptr %other
}}
"""


def text() -> str:
    """The module, whose function ``front`` is of the kind METH_FASTCALL | METH_KEYWORDS."""

    def field(found: re.Match[str]) -> str:
        name, kind, base, place = found.groups()
        step = f"i8, ptr {base}, i64 {FIELDS[place]}"
        return f"{name}.at = getelementptr {step}\n  {name} = load {kind}, ptr {name}.at"

    def element(found: re.Match[str]) -> str:
        name, kind, base, place = found.groups()
        step = f"{kind}, ptr {base}, i64 {place}"
        return f"{name}.at = getelementptr {step}\n  {name} = load {kind}, ptr {name}.at"

    short = DECLARATIONS + LOOKS + RESULTS + FRONT
    short = re.sub(r"(%\w+) = load (\w+), (%\w+)\.(\w+)", field, short)
    return re.sub(r"(%\w+) = load (\w+), (%\w+)\[(%\w+)\]", element, short)
