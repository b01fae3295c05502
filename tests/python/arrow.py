"""A producer of Arrow's C stream interface in a few lines: numbers with missing ones, and texts by a dictionary, in
batches."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, pointer, py_object

import numpy


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


ReleaseSchema, ReleaseArray = CFUNCTYPE(None, POINTER(Schema)), CFUNCTYPE(None, POINTER(Array))
GetSchema, GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema)), CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
LastError, ReleaseStream = CFUNCTYPE(c_void_p, POINTER(Stream)), CFUNCTYPE(None, POINTER(Stream))
Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
                   ("n_children", c_int64), ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)),
                   ("release", ReleaseSchema), ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                  ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))),
                  ("dictionary", POINTER(Array)), ("release", ReleaseArray), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", GetSchema), ("get_next", GetNext), ("get_last_error", LastError),
                   ("release", ReleaseStream), ("private_data", c_void_p)]
FORMATS = {"f8": b"g", "f4": b"f", "i8": b"l", "i4": b"i"}


def drop_schema(schema):
    schema.contents.release = ReleaseSchema()


def drop_array(array):
    array.contents.release = ReleaseArray()


class Producer:
    """Columns in batches of `size`. All that it passes on stays alive as long as the producer. `before` is called
    before each batch. `once`: a stream can be read only once, as with readers of pyarrow."""

    def __init__(self, columns, size, before=lambda: None, once=False):
        self.columns, self.size, self.before, self.once = columns, size, before, once
        self.keep, self.at, self.releases = [], 0, 0

    def hold(self, thing):
        self.keep.append(thing)
        return thing

    def schema(self, form, name, children=(), dictionary=None):
        pointers = self.hold((POINTER(Schema) * max(len(children), 1))(*[pointer(child) for child in children]))
        made = Schema(format=form, name=name.encode(), n_children=len(children), children=pointers,
                      release=self.hold(ReleaseSchema(drop_schema)))
        if dictionary is not None:
            made.dictionary = pointer(dictionary)
        return self.hold(made)

    def array(self, length, buffers, children=(), dictionary=None):
        pointers = self.hold((POINTER(Array) * max(len(children), 1))(*[pointer(child) for child in children]))
        where = [None if values is None else self.hold(values).ctypes.data for values in buffers]
        made = Array(length=length, n_buffers=len(buffers), n_children=len(children), children=pointers,
                     buffers=self.hold((c_void_p * len(where))(*where)), release=self.hold(ReleaseArray(drop_array)))
        if dictionary is not None:
            made.dictionary = pointer(dictionary)
        return self.hold(made)

    def column_schema(self, name, values):
        if values.dtype == object:
            return self.schema(b"i", name, dictionary=self.schema(b"u", ""))
        return self.schema(FORMATS[values.dtype.str[1:]], name)

    def column_array(self, values):
        if values.dtype == object:
            levels, codes = numpy.unique(values.astype(str), return_inverse=True)
            ends = numpy.cumsum([0] + [len(level) for level in levels]).astype("int32")
            texts = numpy.frombuffer("".join(levels).encode(), dtype="uint8").copy()
            return self.array(len(values), [None, codes.astype("int32")],
                              dictionary=self.array(len(levels), [None, ends, texts]))
        seen = numpy.packbits(values == values, bitorder="little")
        return self.array(len(values), [seen, values.copy()])

    def get_schema(self, _, out):
        children = [self.column_schema(name, values) for name, values in self.columns.items()]
        out[0] = self.schema(b"+s", "", children)
        return 0

    def get_next(self, _, out):
        self.before()
        rows = len(next(iter(self.columns.values())))
        if self.at >= rows:
            out.contents.release = ReleaseArray()
            return 0
        until = min(self.at + self.size, rows)
        children = [self.column_array(values[self.at:until]) for values in self.columns.values()]
        out[0] = self.array(until - self.at, [None], children)
        self.at = until
        return 0

    def release(self, stream):
        self.releases += 1
        stream.contents.release = ReleaseStream()

    def __arrow_c_stream__(self, requested_schema=None):
        self.at = self.at if self.once else 0
        stream = self.hold(Stream(get_schema=GetSchema(self.get_schema), get_next=GetNext(self.get_next),
                                  get_last_error=LastError(lambda _: None), release=ReleaseStream(self.release)))
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
        return capsule(ctypes.addressof(stream), b"arrow_array_stream", None)
