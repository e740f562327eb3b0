"""Rows of Python's arrays and tables as rows of the library."""

import ctypes
import decimal
import fractions
import math

import numpy

from . import _library
from ._library import library


def _has_truths(values):
    if isinstance(values, (list, tuple)):
        return any(_has_truths(value) for value in values)
    return isinstance(values, (bool, numpy.bool_))


def _array(values):
    """As an array; of lists, in which numpy makes texts of numbers beside texts, and numbers of truths beside numbers, all
    stay what they are."""
    if hasattr(values, "dtype"):
        return numpy.asanyarray(values)
    try:
        array = numpy.asanyarray(values)
        mixed = array.dtype.kind in "US" or (array.dtype.kind in "iuf" and _has_truths(values))
    except UnicodeDecodeError:  # bytes beside texts
        mixed = True
    return numpy.array(values, dtype=object) if mixed else array


def _columns_of(X):
    """The names (None: there are none) and the columns of anything that has some."""
    if isinstance(X, dict):
        return [str(name) for name in X], [_array(column) for column in X.values()]
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):  # a pandas.DataFrame, or one of its kind
        return [str(name) for name in X.columns], [numpy.asarray(X[name]) for name in X.columns]
    try:
        X = _array(X)
    except ValueError as error:
        raise _library.UsageError(f"expected rows of one length: {error}", "usage") from None
    if X.dtype.names:
        return list(X.dtype.names), [X[name] for name in X.dtype.names]
    if X.ndim != 2:
        raise _library.UsageError(
            f"expected rows: an array of two dimensions [rows, columns], found {X.ndim} of shape {X.shape}; "
            "for a single row, X.reshape(1, -1)",
            "usage",
        )
    return None, [X[:, c] for c in range(X.shape[1])]


def _encoded(text, what):
    if "\0" in text:
        raise _library.UsageError(f"{what}: {text!r} has a zero byte, which no text of the data can have", "usage")
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone half of a character
        raise _library.UsageError(f"{what}: {text!r} cannot be written in UTF-8", "usage") from None


def _is_missing(value):
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ArithmeticError):  # pandas.NA and Decimal("sNaN"), which answer no question
        return True


def _text_of(value, what):
    if _is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise _library.UsageError(f"{what}: {value!r} is no UTF-8; decode it first", "usage") from None
    if hasattr(value, "isoformat"):  # a date
        return value.isoformat()
    return str(value)


def _texts_of_dates(values):
    """Seconds as ISO 8601 has them, with their fractions."""
    for value, second in zip(values, values.astype("datetime64[s]")):
        yield "" if numpy.isnat(value) else str(second) if second == value else str(value).rstrip("0")


def _number_of(value):
    try:
        number = float(value)
        whole = number.is_integer() and abs(number) < 2**53  # float16's 10008 is written 1.001e+04
        if whole or isinstance(value, float) or not isinstance(value, numpy.floating):
            return number
        return float(str(value))  # float32's 0.1 is 0.1
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _doubles(values):
    """Fractions of fewer bits, of which there are as few different ones as categories can be, are what they are written as:
    float32's 0.1 is 0.1, as it is in the training file."""
    most, first = 1000, 10000
    if values.dtype.kind == "f" and values.dtype.itemsize < 8 and len(numpy.unique(values[:first])) <= most:
        different, places = numpy.unique(values, return_inverse=True)
        if len(different) <= most:
            return numpy.array([_number_of(value) for value in different], dtype=numpy.float64)[places]
    return numpy.ascontiguousarray(values, dtype=numpy.float64)


def _add_values(context, rows, column, name, values):
    """Strings count as the words of the training file do, dates as written in ISO 8601, fractions as numbers; None and NaN
    as missing."""
    where = f"column {column if name is None else repr(name)}"
    for row, value in enumerate(values):
        what = f"row {row}, {where}"
        if isinstance(value, numpy.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, (numpy.ndarray, list, tuple, dict, set)):
            raise _library.UsageError(f"{what}: expected a value in each cell, found {value!r:.60}", "usage")
        if isinstance(value, (float, numpy.floating, decimal.Decimal, fractions.Fraction)) and not _is_missing(value):
            number = ctypes.c_double(_number_of(value))
            context.call("tutti_rows_add_numbers", rows, column, 1, ctypes.byref(number))
        else:
            text = _encoded(_text_of(value, what), what)
            context.call("tutti_rows_add_cell", rows, column, text)


def _filled(values):
    """A masked array as another, where what is masked is missing."""
    if values.dtype.kind in "iuf":
        return numpy.ma.array(_doubles(values.data), mask=values.mask).filled(numpy.nan)
    return values.filled(numpy.datetime64("NaT")) if values.dtype.kind == "M" else values.astype(object).filled(None)


def _add_column(context, rows, number, name, values):
    if values.ndim != 1:
        raise _library.UsageError(f"column {name or number}: expected one dimension, found shape {values.shape}", "usage")
    context.call("tutti_rows_add_column", rows, None if name is None else _encoded(name, "a column's name"))
    if isinstance(values, numpy.ma.MaskedArray):
        values = _filled(values)
    if values.dtype.kind == "b":
        values = numpy.ascontiguousarray(values)
        context.call("tutti_rows_add_truths", rows, number, len(values), values.ctypes.data_as(ctypes.POINTER(ctypes.c_bool)))
    elif values.dtype.kind in "iuf":
        values = _doubles(values)
        context.call("tutti_rows_add_numbers", rows, number, len(values), values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    elif values.dtype.kind == "M":
        _add_values(context, rows, number, name, _texts_of_dates(values))
    elif values.dtype.kind in "OUS":
        _add_values(context, rows, number, name, values.tolist())
    else:
        raise _library.UsageError(
            f"column {name or number}: expected numbers or texts, found {values.dtype}; convert it as it was in the "
            "training data",
            "usage",
        )


def _fill_table(context, rows, X):
    names, columns = _columns_of(X)
    lengths = {len(column) for column in columns if column.ndim}
    if len(lengths) > 1:
        raise _library.UsageError(f"expected columns of one length, found {sorted(lengths)}", "usage")
    for number, column in enumerate(columns):
        _add_column(context, rows, number, names and names[number], column)


def _fill_images(context, rows, X):
    X = numpy.asarray(X)
    if X.dtype.kind not in "biuf":
        raise _library.UsageError(f"expected images of numbers, found {X.dtype}", "usage")
    if X.ndim == 3:
        X = X[..., None]
    if X.ndim != 4:
        raise _library.UsageError(f"expected images [rows, height, width, channels], found shape {X.shape}", "usage")
    element = _library.U8 if X.dtype == numpy.uint8 else _library.F32
    X = numpy.ascontiguousarray(X, dtype=numpy.uint8 if element == _library.U8 else numpy.float32)
    shape = _library.Shape(*X.shape[1:])
    context.call("tutti_rows_expect_images", rows, b"X", shape, element)
    context.call("tutti_rows_add_images", rows, len(X), X.ctypes.data, X.nbytes)


class Rows:
    """A tutti_rows; use it in a `with`."""

    def __init__(self, context, X, images):
        self.handle = context.make("tutti_rows_create", b"X")
        try:
            (_fill_images if images else _fill_table)(context, self.handle, X)
        except BaseException:
            self.close()
            raise

    def close(self):
        library.tutti_rows_destroy(self.handle)
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
