"""The chosen ensemble of a run, opened once and asked as often as wanted."""

import ctypes
import json
import re
import threading

import numpy

from ._library import CLASSIFICATION, Context, ForecastStruct, UsageError, library
from ._rows import Rows


# The columns of a regression, as `tutti predict` names them, and what has them here.
_VALUES = [(key, key) for key in ("mean", "aleatoric", "epistemic", "total")] + [
    ("epistemic_between", "between"),
    ("epistemic_within", "within"),
    ("lower", "lower"),
    ("upper", "upper"),
]


class Forecast:
    """What an ensemble says of rows, with its uncertainty. Arrays are [rows, outputs]; [rows] of a single target.

    Regression, in the target's unit: `mean`, and standard deviations: `aleatoric` (noise in the data), `epistemic` (what
    the ensemble does not know), `total` (both). Classification: `probabilities` [rows, classes], `labels` [rows], and in
    nats `entropy` [rows] (total), `expected_entropy` (aleatoric), `mutual_information` (epistemic). `between` and
    `within` are the parts of the epistemic uncertainty between the members and within them, where members tell theirs;
    otherwise None. `evaluation` has the metrics, if the rows had their targets. Of a regression, `lower` and `upper` are the
    ends of the intervals that were asked for, and `quantiles` [rows, outputs, quantiles]; otherwise None. `unread` [rows] says
    which rows could not be read, where that was tolerated, and `reasons`, a list [rows], why: a text, or None of a row that
    was read; where all were, both are None. The numbers of unread rows are NaN, and their labels None.
    """

    def __init__(self, struct, names, asked=()):
        shape = (struct.rows, struct.outputs)
        numbers = _copy(struct.predicted, shape + (4,))
        parts = _copy(struct.parts, shape + (2,)) if struct.parts else None
        self.names, self.asked = names, list(asked)
        self.lower = self.upper = self.quantiles = None
        self.unread = _copy(struct.unread, shape[:1]).astype(bool) if struct.unread else None
        self.reasons = [text and text.decode() for text in struct.reasons[: struct.rows]] if struct.reasons else None
        self.evaluation = json.loads(struct.evaluation) if struct.evaluation else None
        self.classification = struct.kind == CLASSIFICATION
        if self.classification:
            self.probabilities = numbers[..., 0]
            self.expected_entropy, self.mutual_information, self.entropy = (numbers[:, 0, i] for i in (1, 2, 3))
            self.labels = _classes_of(names)[self.probabilities.argmax(axis=1)]
            if self.unread is not None:
                self.labels = numpy.where(self.unread, None, self.labels)
            self.between, self.within = (parts[:, 0, 0], parts[:, 0, 1]) if parts is not None else (None, None)
            return
        single = struct.outputs == 1
        numbers, parts = (a[:, 0] if single and a is not None else a for a in (numbers, parts))
        self.mean, self.aleatoric, self.epistemic, self.total = (numbers[..., i] for i in range(4))
        self.between, self.within = (parts[..., 0], parts[..., 1]) if parts is not None else (None, None)
        if struct.intervals:
            ends = _copy(struct.intervals, shape + (2,))
            ends = ends[:, 0] if single else ends
            self.lower, self.upper = ends[..., 0], ends[..., 1]
        if struct.quantiles:
            values = _copy(struct.quantiles, shape + (len(self.asked),))
            self.quantiles = values[:, 0] if single else values

    def columns(self):
        """The same as a dict of columns, named as `tutti predict` names them; for pandas.DataFrame."""
        if self.classification:
            found = {"label": self.labels}
            found.update((f"p_{name}", self.probabilities[:, k]) for k, name in enumerate(self.names))
            found.update((key, getattr(self, key)) for key in ("entropy", "expected_entropy", "mutual_information"))
            if self.between is not None:
                found.update(mutual_information_between=self.between, mutual_information_within=self.within)
            return found
        found = {}
        single = len(self.names) == 1
        for k, name in enumerate(self.names):
            for key, attribute in _VALUES:
                values = getattr(self, attribute)
                if values is not None:
                    found[key if single else f"{key}_{name}"] = values if single else values[:, k]
            for i, p in enumerate(self.asked):
                values = self.quantiles if single else self.quantiles[:, k]
                found[f"q{p:.15g}" if single else f"q{p:.15g}_{name}"] = values[:, i]
        return found

    def __repr__(self):
        rows = len(self.labels if self.classification else self.mean)
        return f"<Forecast of {rows} rows: {', '.join(self.columns())}>"


def _copy(pointer, shape):
    if 0 in shape:
        return numpy.empty(shape)
    return numpy.ctypeslib.as_array(pointer, shape=shape).copy()


# A number as Tutti names a class: no zeros in front, as in "007", and no "nan".
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?")


def _classes_of(names):
    """Classes [classes] by their names: numbers where all names are numbers (integers where all are), otherwise texts."""
    if not all(_NUMBER.fullmatch(name) for name in names):
        return numpy.asarray(names)
    numbers = numpy.array([float(name) for name in names])
    if len(set(numbers)) < len(names):  # as "1" and "1.0", which folders of images may be
        return numpy.asarray(names)
    whole = (numbers == numpy.trunc(numbers)).all() and (abs(numbers) <= 2**53).all()
    return numbers.astype(numpy.int64) if whole else numbers


def _texts_of(y, names):
    """The classes in y as texts, with those by which the model calls what is true and false."""
    for words in ("False", "True"), ("false", "true"), ("FALSE", "TRUE"):
        if y.dtype.kind in "bO" and set(words) & set(names):
            texts = [words[bool(one)] if isinstance(one, (bool, numpy.bool_)) else one for one in y.tolist()]
            return numpy.array(texts, dtype=object)
    if y.dtype.kind not in "OU":
        raise UsageError(f"expected classes that are texts, as '{names[0]}', found {y.dtype}", "usage")
    return y


def _numbers_of(y):
    """The classes in y as numbers; what is missing is NaN."""
    try:
        return y.astype(float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"expected classes that are numbers, as in the training data: {error}", "usage") from None


def _probability(level):
    """A level as a number that the library takes; 0: none."""
    if level is None:
        return 0.0
    try:
        number = float(level)
    except (TypeError, ValueError):
        number = numpy.nan
    if not 0 < number < 1:
        raise UsageError(f"expected a level of intervals between 0 and 1, found {level}", "usage")
    return number


def _quantiles(quantiles):
    """Quantiles [count] as numbers; a number is one, None are none."""
    try:
        at = numpy.ascontiguousarray(() if quantiles is None else quantiles, dtype=float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"quantiles: expected numbers between 0 and 1: {error}", "usage") from None
    if at.ndim > 1:
        raise UsageError(f"quantiles: expected numbers between 0 and 1, found an array of shape {at.shape}", "usage")
    return numpy.atleast_1d(at)


def _refuse_of_classes(argument, what, asked):
    if asked:
        raise UsageError(
            f"{argument}: the run predicts classes, which have probabilities and no {what}; see predict_proba", "usage"
        )


class Model:
    """The ensemble of the run in `directory`; its files are not needed any more once it is open.

    `threads` is how many threads a prediction may use. `trust` lets plugins be loaded from folders that the run's recipe
    names: loading a plugin runs its code. Several threads may share a model: their questions are answered one by one.
    """

    def __init__(self, directory, threads=1, trust=False):
        self._opened = (str(directory), threads, trust)
        self._context = Context(threads, trust)
        self._lock = threading.Lock()
        self._model = self._context.make("tutti_model_open", str(directory).encode())
        self.directory = str(directory)
        self.kind = "classification" if library.tutti_model_kind(self._model) == CLASSIFICATION else "regression"
        self.outputs = [
            library.tutti_model_output(self._model, i).decode() for i in range(library.tutti_model_outputs(self._model))
        ]
        self.inputs = [
            library.tutti_model_input(self._model, i).decode() for i in range(library.tutti_model_inputs(self._model))
        ]
        self.members = library.tutti_model_members(self._model)

    def __reduce__(self):  # a copy, or what is unpickled, opens the directory again
        return Model, self._opened

    def __del__(self):
        if getattr(self, "_model", None):
            library.tutti_model_close(self._model)

    @property
    def classes(self):
        """The classes, in the order of the columns of `predict_proba`; None for regression.

        Where the names of all classes are numbers, they are numbers (integers where all are), otherwise texts.
        """
        return _classes_of(self.outputs) if self.kind == "classification" else None

    @property
    def classes_(self):
        """`classes`, by scikit-learn's name; as there, a regression has no such attribute."""
        if self.kind != "classification":
            raise AttributeError("classes_: this is a regression")
        return self.classes

    def forecast(self, X, level=None, quantiles=(), uncalibrated=False, tolerant=False):
        """Predict rows, with their uncertainty: a Forecast.

        Of a regression, `level` asks for central intervals of that probability (0.95), and `quantiles` (numbers, or one) for these. Classes
        have neither: a UsageError. A run's calibrator acts on all of it, unless `uncalibrated`. With `tolerant`, a row that
        cannot be read is no error: its predictions are NaN, and `unread` and `reasons` of the Forecast say so and why;
        warnings tell of the first ten.
        """
        at = _quantiles(quantiles)
        if self.kind == "classification":
            _refuse_of_classes("level", "intervals", level is not None)
            _refuse_of_classes("quantiles", "quantiles", at.size > 0)
        level = _probability(level)
        with self._lock, Rows(self._context, X, images=not self.inputs) as rows:
            struct = ForecastStruct(size=ctypes.sizeof(ForecastStruct), level=level, quantile_count=at.size)
            struct.quantiles_at = at.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            struct.uncalibrated = uncalibrated
            struct.tolerant = tolerant
            try:
                self._context.call("tutti_model_predict", self._model, rows.handle, ctypes.byref(struct))
                return Forecast(struct, self.outputs, at.tolist())
            finally:
                library.tutti_forecast_release(ctypes.byref(struct))

    def predict(self, X, return_std=False):
        """Means, or the most probable classes; with return_std also the total standard deviations."""
        forecast = self.forecast(X)
        if self.kind == "classification":
            if return_std:
                raise UsageError("return_std: a classification has probabilities; use predict_proba or forecast", "usage")
            return forecast.labels
        return (forecast.mean, forecast.total) if return_std else forecast.mean

    def predict_proba(self, X):
        """Probabilities [rows, classes], in the order of `classes_`."""
        if self.kind != "classification":
            raise UsageError("predict_proba: this is a regression; use predict or forecast", "usage")
        probabilities = self.forecast(X).probabilities
        return probabilities / probabilities.sum(axis=1, keepdims=True)  # members sum to 1 as floats do

    def score(self, X, y):
        """The share of right classes, or R2, as in scikit-learn: of several targets, the mean of theirs. The R2 of a
        constant target is 1 if it is predicted exactly, and otherwise 0; of fewer than two rows it is NaN."""
        y, predicted = numpy.asarray(y), self.predict(X)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape != predicted.shape:
            raise UsageError(f"expected targets of shape {predicted.shape}, found {y.shape}", "usage")
        if self.kind == "classification":
            y = _numbers_of(y) if predicted.dtype.kind in "if" else _texts_of(y, self.outputs)
            return float(numpy.mean(predicted == y))
        try:
            y = y.astype(float)
        except (TypeError, ValueError) as error:
            raise UsageError(f"expected targets that are numbers: {error}", "usage") from None
        if len(y) < 2:
            return float("nan")
        left, spread = ((y - predicted) ** 2).sum(axis=0), ((y - y.mean(axis=0)) ** 2).sum(axis=0)
        constant = (y == y[:1]).all(axis=0)  # not spread == 0: means are rounded
        return float(numpy.mean(numpy.where(constant, left == 0, 1 - left / numpy.where(constant, 1, spread))))

    def __repr__(self):
        return f"<tutti.Model of {self.members} members from {self.directory}: {self.kind} of {', '.join(self.outputs)}>"
