"""libtutti-engine by ctypes: where it is, its functions, its errors. The headers in include/tutti describe them."""

import ctypes
import ctypes.util
import os
import shutil
import sys
import warnings
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from ctypes import byref, sizeof

import numpy  # loads its own OpenBLAS, before Tutti's is


class Error(Exception):
    """What the library says is wrong. `status` is its kind, as in "corrupt"; `trace` the places that it passed."""

    def __init__(self, message, status, trace=""):
        super().__init__(message)
        self.status, self.trace = status, trace


class UsageError(Error, ValueError):
    """An argument, a recipe or a file is wrong, and the caller can mend it."""


class Shape(Structure):
    _fields_ = [("height", ctypes.c_int32), ("width", ctypes.c_int32), ("channels", ctypes.c_int32)]


class ForecastStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("rows", c_size_t),
        ("outputs", c_size_t),
        ("predicted", POINTER(c_double)),  # [rows][outputs] of mean, aleatoric, epistemic, total
        ("evaluation", c_char_p),
        ("parts", POINTER(c_double)),  # [rows][outputs] of between, within; or NULL
        ("digits", c_int),
        ("level", c_double),
        ("quantile_count", c_size_t),
        ("quantiles_at", POINTER(c_double)),
        ("uncalibrated", c_bool),
        ("intervals", POINTER(c_double)),  # [rows][outputs][2], or NULL
        ("quantiles", POINTER(c_double)),  # [rows][outputs][quantile_count], or NULL
        ("tolerant", c_bool),
        ("unread", POINTER(c_uint8)),  # [rows], or NULL
        ("reasons", POINTER(c_char_p)),  # [rows], each a text or NULL; or NULL
    ]


class TrialStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("number", c_uint64),
        ("candidate", c_char_p),
        ("parent", c_uint64),
        ("origin", c_char_p),
        ("asked_after", c_uint64),
        ("done", c_bool),
        ("state", c_int),
        ("loss", c_double),
        ("told", c_uint64),
        ("seconds", c_double),
        ("worker", c_uint32),
        ("failure", c_char_p),
        ("report", c_char_p),
        ("at", c_double),
    ]


LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
VISIT = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(TrialStruct))
CLASSIFICATION = 1  # enum tutti_task_kind
F32, U8 = 0, 4  # enum tutti_element
NO_TRIAL = 2**64 - 1

# Result, arguments. Texts that the caller frees are c_void_p: ctypes would lose the pointer of a c_char_p.
_FUNCTIONS = {
    "tutti_context_create": (c_int, [POINTER(c_void_p)]),
    "tutti_context_destroy": (None, [c_void_p]),
    "tutti_error_message": (c_char_p, [c_void_p]),
    "tutti_error_trace_text": (c_char_p, [c_void_p]),
    "tutti_status_name": (c_char_p, [c_int]),
    "tutti_log_to": (None, [c_void_p, LOG, c_void_p]),
    "tutti_threads_set": (None, [c_void_p, ctypes.c_uint]),
    "tutti_trust_runs": (None, [c_void_p, c_bool]),
    "tutti_free": (None, [c_void_p]),
    "tutti_rows_create": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "tutti_rows_destroy": (None, [c_void_p]),
    "tutti_rows_add_column": (c_int, [c_void_p, c_void_p, c_char_p]),
    "tutti_rows_add_numbers": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_double)]),
    "tutti_rows_add_truths": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_bool)]),
    "tutti_rows_add_cell": (c_int, [c_void_p, c_void_p, c_size_t, c_char_p]),
    "tutti_rows_expect_images": (c_int, [c_void_p, c_void_p, c_char_p, Shape, c_int]),
    "tutti_rows_add_images": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t]),
    "tutti_model_open": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "tutti_model_close": (None, [c_void_p]),
    "tutti_model_kind": (c_int, [c_void_p]),
    "tutti_model_outputs": (c_size_t, [c_void_p]),
    "tutti_model_output": (c_char_p, [c_void_p, c_size_t]),
    "tutti_model_inputs": (c_size_t, [c_void_p]),
    "tutti_model_input": (c_char_p, [c_void_p, c_size_t]),
    "tutti_model_members": (c_size_t, [c_void_p]),
    "tutti_model_predict": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(ForecastStruct)]),
    "tutti_forecast_release": (None, [POINTER(ForecastStruct)]),
    "tutti_view_open": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "tutti_view_close": (None, [c_void_p]),
    "tutti_view_status": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "tutti_view_evaluate": (c_int, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(c_char_p), POINTER(c_void_p)]),
    "tutti_view_select": (
        c_int,
        [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(c_char_p), POINTER(c_void_p)],
    ),
    "tutti_run_file_path": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_void_p)]),
    "tutti_catalogue_open": (c_int, [c_void_p, c_char_p, c_bool, POINTER(c_void_p)]),
    "tutti_catalogue_close": (None, [c_void_p]),
    "tutti_catalogue_visit": (c_int, [c_void_p, c_void_p, VISIT, c_void_p]),
    "tutti_state_name": (c_char_p, [c_int]),
}


def _candidates():
    """Where the library may be, best first: as told, beside the program, where the system's linker looks."""
    if os.environ.get("TUTTI_LIBRARY"):
        return [os.environ["TUTTI_LIBRARY"]]
    program = shutil.which("tutti")
    beside = []
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        beside = [os.path.join(prefix, "lib", "libtutti-engine.so")]
    found = ctypes.util.find_library("tutti-engine")
    return [path for path in beside if os.path.exists(path)] + ([found] if found else [])


def _load_openblas():
    """Load the OpenBLAS of Tutti's plugins with one thread, as the program does: each thread takes its memory when the
    library is loaded, and waits for ever where `ulimit -v` or `-d` leaves none. NumPy keeps its threads, and the
    environment is as before."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        return
    os.environ[name] = "1"
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        pass  # who needs it says so
    finally:
        del os.environ[name]


def _load():
    _load_openblas()
    candidates = _candidates()
    if not candidates:
        raise ImportError(
            "libtutti-engine.so is neither beside the program `tutti` of PATH nor where the system looks for "
            "libraries: install Tutti, or name the library's file in the environment variable TUTTI_LIBRARY"
        )
    library = ctypes.CDLL(candidates[0])
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{candidates[0]} has no function {name}: it is of another version of Tutti") from None
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def _log_to(warned):
    """A function that puts the warnings of a context into a list. An exception cannot leave a function that C calls, as it
    would where warnings are errors: they wait for its return."""

    @LOG
    def take(_, level, message):
        if level >= 2:
            warned.append(message.decode("utf-8", "replace"))

    return take


def _levels_to_caller():
    """The stacklevel by which the function that calls this warns whoever called the package, however deep that is."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    return level


class Context:
    """A tutti_context. It belongs to one thread at a time; who shares it locks."""

    def __init__(self, threads=1, trust=False):
        self.handle = c_void_p()
        if library.tutti_context_create(byref(self.handle)) != 0:
            raise MemoryError
        self._warned = []
        self._log = _log_to(self._warned)
        library.tutti_log_to(self.handle, self._log, None)
        library.tutti_threads_set(self.handle, threads)
        library.tutti_trust_runs(self.handle, trust)

    def __del__(self):
        if getattr(self, "handle", None):
            library.tutti_context_destroy(self.handle)

    def _error(self, status):
        """What a failed call has left in the context."""
        name = library.tutti_status_name(status).decode()
        message = library.tutti_error_message(self.handle).decode("utf-8", "replace")
        trace = library.tutti_error_trace_text(self.handle).decode("utf-8", "replace")
        return (UsageError if name == "usage" else Error)(message, name, trace)

    def call(self, name, *arguments):
        """Call a function of the library: warn of what it has warned of, and raise its error."""
        status = getattr(library, name)(self.handle, *arguments)
        error = self._error(status) if status != 0 else None
        messages = self._warned[:]
        self._warned.clear()
        try:
            for message in messages:
                warnings.warn(message, stacklevel=_levels_to_caller())
        finally:
            if error:
                raise error

    def make(self, name, *arguments):
        """Call a function whose last argument takes what it makes; that pointer."""
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        return made

    def text(self, name, *arguments):
        """Likewise for a text, which is freed."""
        made = self.make(name, *arguments)
        try:
            return ctypes.string_at(made).decode("utf-8")
        finally:
            library.tutti_free(made)


def overrides_of(settings):
    """{"selector.size": 3} as the count and array of texts that the library takes."""
    texts = [f"{key}={_value(value)}".encode() for key, value in (settings or {}).items()]
    return len(texts), (c_char_p * len(texts))(*texts)


def _value(value):
    """A setting as a recipe writes it."""
    if isinstance(value, (bool, numpy.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return " ".join(_value(item) for item in value)
    return repr(float(value)) if isinstance(value, float) else str(value)  # repr: NumPy's names their type


def setting(key, value):
    return f"{key}={_value(value)}"
