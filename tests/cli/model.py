"""The package tutti against the program's own predictions, in a folder with the runs of model.sh."""

import csv
import ctypes
import datetime
import decimal
import fractions
import gc
import json
import math
import os
import pickle
import shutil
import struct
import subprocess
import sys
import threading
import unittest
import warnings

import numpy

import tutti
from tutti import _library


def table():
    """table.csv as columns: floats where all cells are numbers, otherwise texts."""
    with open("table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for name in rows[0]:
        words = [row[name] for row in rows]
        try:
            columns[name] = numpy.array([float(word) for word in words])
        except ValueError:
            columns[name] = numpy.array(words, dtype=object)
    return columns


def read(path):
    with open(path) as file:
        return json.load(file)


def predicted(run):
    return read(run + ".json")


def images():
    with open("images.idx", "rb") as file:
        magic, rows, height, width = struct.unpack(">IIII", file.read(16))
        assert magic == 0x803
        return numpy.frombuffer(file.read(), dtype=numpy.uint8).reshape(rows, height, width)


class Threads(unittest.TestCase):
    def test_openblas_has_one(self):
        """A Gaussian process needs OpenBLAS, whose threads would each take memory; NumPy's stay, and the environment does."""
        code = """
import os, numpy
before = len(os.listdir("/proc/self/task"))
import tutti
assert "OPENBLAS_NUM_THREADS" not in os.environ
model = tutti.Model("process")
model.predict({"x1": [0.5], "x2": [0.25], "group": ["a"]})
print(len(os.listdir("/proc/self/task")) - before)
"""
        environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))


class Predictions(unittest.TestCase):
    def same(self, run, forecast):
        wanted = predicted(run)
        columns = forecast.columns()
        self.assertEqual(set(columns), set(wanted) - {"rows", "evaluation"}, run)
        for name, values in columns.items():
            if name == "label":
                self.assertEqual([str(value) for value in values], wanted[name])
                continue
            # The program prints 9 digits.
            numpy.testing.assert_allclose(values, wanted[name], rtol=6e-9, atol=1e-300, err_msg=f"{run}: {name}")
        self.assertEqual(wanted["rows"], len(next(iter(columns.values()))))

    def test_named_columns_in_any_order(self):
        columns = dict(reversed(list(table().items())))
        for run in ("small", "two", "nomu"):
            self.same(run, tutti.Model(run).forecast(columns, level=0.95))
        self.same("classes", tutti.Model("classes").forecast(columns))

    def test_metrics_where_the_targets_are_among_the_columns(self):
        for run in ("small", "classes"):
            forecast = tutti.Model(run).forecast(table())
            (found,), (wanted,) = forecast.evaluation, predicted(run)["evaluation"]
            self.assertEqual([m["name"] for m in found["metrics"]], [m["name"] for m in wanted["metrics"]])
            for metric, same in zip(found["metrics"], wanted["metrics"]):
                if same["value"] is None:
                    self.assertIsNone(metric["value"])
                else:
                    numpy.testing.assert_allclose(metric["value"], same["value"], rtol=6e-9, err_msg=metric["name"])

    def test_structured_arrays(self):
        columns = table()
        rows = numpy.empty(len(columns["x1"]), dtype=[(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            rows[name] = values
        self.same("small", tutti.Model("small").forecast(rows, level=0.95))

    def test_arrays_by_position(self):
        model = tutti.Model("numbers")
        columns = table()
        names = list(columns)
        by_name = model.forecast(columns)
        # All columns of the file but the target, where those that are ignored are not read; or the inputs alone.
        rows = numpy.array([columns[name] for name in names if name != "y"], dtype=object).T
        numpy.testing.assert_array_equal(model.forecast(rows).mean, by_name.mean)
        inputs = numpy.array([columns[name] for name in model.inputs]).T
        numpy.testing.assert_array_equal(model.forecast(inputs).mean, by_name.mean)

    def test_numbers_row_by_row(self):
        # The C function for tables of numbers alone.
        model = tutti.Model("numbers")
        X = numpy.array([[-0.5, 0.25], [0.75, 0.125], [0.1, -0.9]])
        function = _library.library.tutti_model_predict_numbers
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        function.argtypes = [pointer, pointer, size, size, pointer, pointer]
        struct = _library.ForecastStruct(size=ctypes.sizeof(_library.ForecastStruct))
        self.assertEqual(function(model._context.handle, model._model, 3, 2, X.ctypes.data, ctypes.byref(struct)), 0)
        found = [struct.predicted[4 * row] for row in range(struct.rows)]  # mean, aleatoric, epistemic, total
        _library.library.tutti_forecast_release(ctypes.byref(struct))
        self.assertEqual(found, list(model.forecast(X).mean))

    def test_images(self):
        model = tutti.Model("stripes")
        self.assertEqual(model.inputs, [])
        self.same("stripes", model.forecast(images()))
        self.same("stripes", model.forecast(images()[..., None]))
        with self.assertRaisesRegex(tutti.UsageError, "expected images of 12 x 12 x 1"):
            model.forecast(images()[:, :10])

    def test_parts_of_the_epistemic_uncertainty(self):
        forecast = tutti.Model("nomu").forecast(table())
        wanted = predicted("nomu")
        numpy.testing.assert_allclose(forecast.between, wanted["epistemic_between"], rtol=6e-9)
        numpy.testing.assert_allclose(forecast.within, wanted["epistemic_within"], rtol=6e-9)
        self.assertIsNone(tutti.Model("small").forecast(table()).within)

    def test_scikit_learn_style(self):
        model, columns = tutti.Model("small"), table()
        mean, std = model.predict(columns, return_std=True)
        self.assertEqual(mean.shape, columns["x1"].shape)
        self.assertTrue((std > 0).all())
        residual = ((columns["y"] - mean) ** 2).mean() / columns["y"].var()
        self.assertAlmostEqual(model.score(columns, columns["y"]), 1 - residual, places=12)
        classes = tutti.Model("classes")
        probabilities = classes.predict_proba(columns)
        numpy.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
        self.assertEqual(list(classes.predict(columns)), list(classes.classes_[probabilities.argmax(axis=1)]))
        # Each column is that of the class which classes_ names there, as the program predicts it.
        wanted, told = predicted("classes"), classes.forecast(columns).probabilities
        numpy.testing.assert_allclose(probabilities, told, rtol=1e-6)
        for name, column in zip(classes.classes_, told.T, strict=True):
            numpy.testing.assert_allclose(column, wanted[f"p_{name}"], rtol=6e-9)
        self.assertGreater(len(set(probabilities[0])), 1)
        self.assertFalse(hasattr(model, "classes_"))
        right = (classes.predict(columns) == columns["kind"]).mean()
        self.assertEqual(classes.score(columns, columns["kind"]), right)
        self.assertEqual(tutti.Model("two").predict(columns).shape, (len(mean), 2))
        self.assertAlmostEqual(model.score(columns, columns["y"][:, None]), 1 - residual, places=12)
        with self.assertRaisesRegex(tutti.UsageError, "expected targets of shape"):
            model.score(columns, columns["y"][:-1])
        # Of several targets, whatever their scales, the mean; of a constant one, 0 or 1.
        two = tutti.Model("two").predict(columns)
        observed = two * [1, 100] + numpy.sin(numpy.arange(two.size)).reshape(two.shape)
        each = 1 - ((observed - two) ** 2).sum(axis=0) / ((observed - observed.mean(axis=0)) ** 2).sum(axis=0)
        self.assertAlmostEqual(tutti.Model("two").score(columns, observed), each.mean(), places=12)
        self.assertEqual(model.score(columns, numpy.full(len(mean), 0.1)), 0)
        one = {name: column[:1] for name, column in columns.items()}
        self.assertTrue(numpy.isnan(model.score(one, one["y"])))

    def test_quantiles(self):
        model, columns = tutti.Model("two"), table()
        forecast = model.forecast(columns, level=0.5, quantiles=[0.25, 0.5, 0.75])
        self.assertEqual(forecast.quantiles.shape, (len(columns["x1"]), 2, 3))
        numpy.testing.assert_array_equal(forecast.quantiles[..., 0], forecast.lower)
        numpy.testing.assert_array_equal(forecast.quantiles[..., 2], forecast.upper)
        self.assertTrue((forecast.lower < forecast.quantiles[..., 1]).all())
        self.assertIsNone(model.forecast(columns).lower)
        with self.assertRaisesRegex(tutti.UsageError, "level of intervals between 0 and 1, found 2"):
            model.forecast(columns, level=2)
        for level in 0, 0.0, 1, -1, float("nan"), "much":
            with self.assertRaisesRegex(tutti.UsageError, f"level of intervals between 0 and 1, found {level}"):
                model.forecast(columns, level=level)

    def test_one_quantile_is_a_number(self):
        model, columns = tutti.Model("small"), table()
        wanted = model.forecast(columns, quantiles=[0.25]).quantiles
        for one in 0.25, numpy.float64(0.25), numpy.array(0.25), (0.25,), numpy.array([0.25, 0.5])[:1]:
            numpy.testing.assert_array_equal(model.forecast(columns, quantiles=one).quantiles, wanted)
        self.assertEqual(set(model.forecast(columns, quantiles=0.25).columns()) - set(model.forecast(columns).columns()), {"q0.25"})
        both = model.forecast(columns, quantiles=numpy.array([0.25, 0, 0.5])[::2]).quantiles
        numpy.testing.assert_array_equal(both[:, :1], wanted)
        self.assertIsNone(model.forecast(columns, quantiles=None).quantiles)
        for wrong in "some", [[0.5]], [0.5, None], 0, [0.5, 1]:
            with self.assertRaisesRegex(tutti.UsageError, "quantiles.* between 0 and 1"):
                model.forecast(columns, quantiles=wrong)

    def test_classes_have_neither_intervals_nor_quantiles(self):
        model = tutti.Model("classes")
        for asked, wanted in ({"level": 0.9}, "level: .* no intervals"), ({"quantiles": [0.5]}, "quantiles: .* no quantiles"):
            with self.assertRaisesRegex(tutti.UsageError, wanted) as raised:
                model.forecast(None, **asked)  # before any row is looked at
            self.assertIsInstance(raised.exception, ValueError)
            self.assertIn("predict_proba", str(raised.exception))
        self.assertIsNone(model.forecast(table(), level=None, quantiles=()).quantiles)

    def test_masked_cells_are_missing(self):
        columns = table()
        for name in ("x1", "group"):
            masked = dict(columns)
            masked[name] = numpy.ma.array(columns[name], mask=numpy.arange(len(columns[name])) == 5)
            with self.assertRaisesRegex(tutti.UsageError, f"row 5, column '{name}'"):
                tutti.Model("small").forecast(masked)

    def test_texts_with_zero_bytes(self):
        columns = dict(table())
        columns["group"] = columns["group"].copy()
        columns["group"][0] = "a\0b"
        with self.assertRaisesRegex(tutti.UsageError, "zero byte"):
            tutti.Model("small").forecast(columns)

    def test_copies(self):
        model = pickle.loads(pickle.dumps(tutti.Model("small")))
        self.same("small", model.forecast(table(), level=0.95))

    def test_missing_cells_and_unknown_categories(self):
        model, columns = tutti.Model("small"), table()
        for missing in (None, float("nan"), ""):
            broken = dict(columns, group=columns["group"].copy())
            broken["group"][2] = missing
            with self.assertRaisesRegex(tutti.UsageError, "X: row 2, column 'group'"):
                model.forecast(broken)
        broken = dict(columns, group=columns["group"].copy())
        broken["group"][3] = "never seen"
        with self.assertRaisesRegex(tutti.UsageError, "row 3, column 'group'.*never seen"):
            model.forecast(broken)

    def test_wrong_rows_are_refused(self):
        model, columns = tutti.Model("small"), table()
        without = {name: values for name, values in columns.items() if name != "x2"}
        with self.assertRaisesRegex(tutti.UsageError, "there is no 'x2'"):
            model.forecast(without)
        with self.assertRaisesRegex(tutti.UsageError, r"reshape\(1, -1\)"):
            model.forecast(numpy.zeros(4))
        with self.assertRaisesRegex(tutti.UsageError, "expected .* columns as in the training data"):
            model.forecast(numpy.zeros((2, 17)))
        with self.assertRaisesRegex(tutti.UsageError, "columns of one length"):
            model.forecast(dict(columns, x1=columns["x1"][:-1]))
        with self.assertRaisesRegex(tutti.UsageError, "expected a number, found '1970-01-01T00:00:00'"):
            model.forecast(dict(columns, x1=numpy.zeros(len(columns["x1"]), dtype="datetime64[s]")))
        with self.assertRaisesRegex(tutti.UsageError, "expected numbers or texts, found complex128"):
            model.forecast(dict(columns, x1=numpy.zeros(len(columns["x1"]), dtype=complex)))
        with self.assertRaisesRegex(tutti.UsageError, "regression"):
            model.predict_proba(columns)
        self.same("small", model.forecast(columns, level=0.95))  # and it goes on as before

    def test_lists_of_several_kinds(self):
        """numpy would make texts of bytes and of numbers beside texts, or refuse to, and numbers of truths."""
        model, columns = tutti.Model("small"), table()
        words = [word.encode() if r % 2 else word for r, word in enumerate(columns["group"])]
        self.same("small", model.forecast(dict(columns, group=words), level=0.95))
        with self.assertRaisesRegex(tutti.UsageError, "row 0, column 'group'.*grün"):
            model.forecast(dict(columns, group=["grün".encode(), *columns["group"][1:]]))
        kept = tutti._rows._array([[True, 1.5], [0.5, False]])
        self.assertEqual([type(value) for value in kept.ravel().tolist()], [bool, float, float, bool])
        self.assertEqual(tutti._rows._array([numpy.True_, 1.5]).dtype, object)
        self.assertEqual(tutti._rows._array([[1, 1.5]]).dtype, float)
        for kind in numpy.float32, numpy.float16:  # may be categories
            self.assertEqual(tutti._rows._doubles(numpy.array([0.1, -99.9, numpy.nan, 0.1], dtype=kind))[[0, 1, 3]].tolist(), [0.1, -99.9, 0.1])
        for kind, whole in (numpy.float32, [-2147483648, 123456792, 16777216]), (numpy.float16, [10008, -2049]):
            values = numpy.array(whole, dtype=kind)  # no shorter number that is next to it, as 1.001e+04
            self.assertEqual(tutti._rows._doubles(values).tolist(), [float(value) for value in values])
            self.assertEqual([tutti._rows._number_of(value) for value in values], [float(value) for value in values])
        many = numpy.arange(2000, dtype=numpy.float32) / 7
        numpy.testing.assert_array_equal(tutti._rows._doubles(many), many.astype(float))
        numpy.testing.assert_array_equal(tutti._rows._doubles(numpy.repeat(many, 7)), numpy.repeat(many, 7).astype(float))
        self.assertEqual(tutti._rows._doubles(numpy.array([], dtype=numpy.float32)).tolist(), [])
        masked = numpy.ma.array(numpy.array([0.1, 5], dtype=numpy.float32), mask=[False, True])
        self.assertEqual(tutti._rows._filled(masked)[0], 0.1)
        words = columns["group"].copy()
        words[3] = numpy.zeros(2)
        with self.assertRaisesRegex(tutti.UsageError, "a value in each cell"):
            model.forecast(dict(columns, group=words))
        for word, message in ("Zürich".encode("latin1"), "is no UTF-8"), ("\udc00", "cannot be written in UTF-8"):
            words[3] = word
            with self.assertRaisesRegex(tutti.UsageError, f"row 3, column 'group': .*{message}"):
                model.forecast(dict(columns, group=words), tolerant=True)
        for one in 5, "red", dict(x1=0.5, x2=0.5, group="red"):
            with self.assertRaisesRegex(tutti.UsageError, "expected (rows|one dimension)"):
                model.predict(one)
        with self.assertRaisesRegex(tutti.UsageError, "targets that are numbers"):
            model.score(columns, ["much"] * len(words))

    def test_some_targets_missing_warns(self):
        columns = table()
        columns["y"][4] = float("nan")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            forecast = tutti.Model("small").forecast(columns)
        self.assertIsNone(forecast.evaluation)
        self.assertIn("1 of 120 rows, the first of them row 4, has no target", str(caught[0].message))
        with warnings.catch_warnings(record=True) as by_predict:
            warnings.simplefilter("always")
            tutti.Model("small").predict(columns)
        # Whichever function it was that called the library, the line here is named.
        self.assertEqual([c.filename for c in (caught[0], by_predict[0])], [__file__, __file__])

    def test_warnings_are_of_the_model_that_was_asked(self):
        """Another thread may have asked another model, and its call has not yet come back to Python."""
        columns = table()
        columns["y"][4] = float("nan")
        first, second = tutti.Model("small"), tutti.Model("small")
        forecast = _library.ForecastStruct(size=ctypes.sizeof(_library.ForecastStruct))
        with tutti.model.Rows(first._context, columns, images=False) as rows:
            arguments = first._context.handle, first._model, rows.handle, ctypes.byref(forecast)
            self.assertEqual(_library.library.tutti_model_predict(*arguments), 0)
        _library.library.tutti_forecast_release(ctypes.byref(forecast))
        for model, wanted in (second, []), (first, ["1 of 120 rows"]):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.predict(table())
            self.assertEqual([str(w.message)[3:16] for w in caught], wanted)

    def test_a_call_that_fails_warns_itself(self):
        columns = dict(table(), group=numpy.full(120, "never seen"))
        model = tutti.Model("small")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.assertRaisesRegex(tutti.UsageError, "none of 120 rows can be read"):
                model.forecast(columns, tolerant=True)
        self.assertEqual(len(caught), 10)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.predict(table())
        self.assertEqual(caught, [])

    def test_numbers_of_numpy_among_objects(self):
        columns = table()
        wanted = tutti.Model("small").predict(columns)
        for kind in numpy.float64, numpy.float32, float:
            values = columns["x1"].astype(kind)
            found = tutti.Model("small").predict(dict(columns, x1=numpy.array([kind(value) for value in values], dtype=object)))
            numpy.testing.assert_allclose(found, wanted, rtol=1e-4)

    def test_no_rows(self):
        none = {name: values[:0] for name, values in table().items()}
        self.assertEqual(tutti.Model("small").predict(none).shape, (0,))
        self.assertEqual(tutti.Model("classes").predict(none).shape, (0,))

    def test_an_open_model_does_not_need_its_directory(self):
        shutil.copytree("small", "copy")
        model = tutti.Model("copy")
        shutil.rmtree("copy")
        self.same("small", model.forecast(table(), level=0.95))
        with self.assertRaisesRegex(tutti.UsageError, "expected a run directory"):
            tutti.Model("copy")

    def test_a_damaged_weight_file_is_refused(self):
        shutil.copytree("small", "damaged")
        member = read("small/ensemble.json")["members"][0]["trial"]
        path = f"damaged/trials/{member:06d}/weights.safetensors"
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        with self.assertRaises(tutti.Error) as caught:
            tutti.Model("damaged")
        self.assertEqual(caught.exception.status, "corrupt")
        self.assertIn(path, str(caught.exception))
        shutil.rmtree("damaged")

    def test_threads_share_a_model(self):
        model, columns = tutti.Model("small"), table()
        wanted, found = model.predict(columns), []
        threads = [threading.Thread(target=lambda: found.append(model.predict(columns))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        for mean in found:
            numpy.testing.assert_array_equal(mean, wanted)

    def test_memory_does_not_grow(self):
        model, columns = tutti.Model("small"), table()

        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        for _ in range(20):
            model.forecast(columns)
        before = resident()
        for _ in range(200):
            model.forecast(columns)
        self.assertLess(resident() - before, 1 << 20)


class Classes(unittest.TestCase):
    """Classes that are numbers are numbers, as in scikit-learn: texts are unequal to all of them, without an error."""

    def setUp(self):
        with open("digits.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.texts = {name: numpy.array([row[name] for row in rows]) for name in rows[0]}
        self.X = {name: self.texts[name].astype(float) for name in ("x1", "x2")}

    def test_numbers_are_in_the_order_of_the_probabilities(self):
        for run, wanted, kind in (("whole", [-1, 2, 10], "i"), ("half", [0.5, 1, 1e20], "f")):
            for model in (tutti.Model(run), pickle.loads(pickle.dumps(tutti.Model(run)))):
                self.assertEqual((model.classes_.tolist(), model.classes_.dtype.kind), (wanted, kind))
                predicted, y = model.predict(self.X), self.texts[run].astype(float)
                self.assertEqual(predicted.dtype, model.classes_.dtype)
                numpy.testing.assert_array_equal(predicted, model.classes_[model.predict_proba(self.X).argmax(axis=1)])
                right = (predicted == y).mean()
                self.assertGreater(right, 0)
                # However the targets are written.
                for written in (y, y[:, None], y.astype(object), self.texts[run], self.texts[run].astype("S")):
                    self.assertEqual(model.score(self.X, written), right)
                forecast = model.forecast(dict(self.X, **{run: y}))
                (error,) = [m["value"] for m in forecast.evaluation[0]["metrics"] if m["name"] == "error"]
                self.assertAlmostEqual(right, 1 - error, places=12)
                self.assertIn(f"p_{model.outputs[0]}", forecast.columns())
                with self.assertRaisesRegex(tutti.UsageError, "expected classes that are numbers.*'none'"):
                    model.score(self.X, self.texts["mixed"])

    def test_texts_where_one_name_is_a_text(self):
        model = tutti.Model("mixed")
        self.assertEqual(model.classes_.tolist(), ["1", "2", "none"])
        self.assertEqual(model.score(self.X, self.texts["mixed"]), (model.predict(self.X) == self.texts["mixed"]).mean())
        with self.assertRaisesRegex(tutti.UsageError, "expected classes that are texts, as '1', found float64"):
            model.score(self.X, self.texts["whole"].astype(float))

    def test_names_that_no_number_has(self):
        of = tutti.model._classes_of
        for names in (["007", "8"], ["1", "1.0"], ["nan", "1"], ["1_0", "2"], ["0", "-0"], ["up", "down"]):
            self.assertEqual(of(names).tolist(), names)
        self.assertEqual(of(["-3", "0", "12"]).dtype.kind, "i")
        self.assertEqual(of(["1e-05", "1.5"]).tolist(), [1e-5, 1.5])

    def test_rows_that_cannot_be_read_have_none(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = {"x1": numpy.array([0.5, "x"], dtype=object), "x2": [0.5, 0.5]}
            labels = tutti.Model("whole").forecast(X, tolerant=True).labels
        self.assertIsInstance(labels[0], int)
        self.assertIsNone(labels[1])


class Dates(unittest.TestCase):
    """Columns of dates with formats of their own (data.date_formats)."""

    FORMATS = {"sold": "%m/%d/%Y", "day": "%Y%m%d", "seen": "%d.%m.%Y %H:%M"}

    def setUp(self):
        self.model = tutti.Model("dated")
        with open("dated.csv", newline="") as file:
            self.texts = {name: [row[name] for row in rows] for rows in [list(csv.DictReader(file))] for name in self.FORMATS}
        self.dates = {
            name: [datetime.datetime.strptime(text, format) for text in self.texts[name]] for name, format in self.FORMATS.items()
        }

    def same(self, **columns):
        """Predictions with these columns in place of the texts of the file are those of the program, to its 9 digits."""
        for name, values in self.model.forecast(self.texts | columns).columns().items():
            numpy.testing.assert_allclose(values, predicted("dated")[name], rtol=1e-8, err_msg=f"{name} of {list(columns)}")

    def test_texts_in_the_format_of_the_column(self):
        self.same()
        self.same(day=numpy.array(self.texts["day"], dtype=object), sold=numpy.array(self.texts["sold"], dtype="S"))

    def test_numbers_that_the_format_writes(self):
        self.same(day=numpy.array([int(text) for text in self.texts["day"]]))
        self.same(day=numpy.array([float(text) for text in self.texts["day"]]))

    def test_iso_texts(self):
        for name, dates in self.dates.items():
            self.same(**{name: [date.isoformat() for date in dates]})
            self.same(**{name: [date.isoformat(sep=" ", timespec="minutes") + "Z" for date in dates]})
        self.same(sold=[f"{date:%Y-%m-%d}" for date in self.dates["sold"]])

    def test_dates_of_numpy_and_python(self):
        for name, dates in self.dates.items():
            self.same(**{name: dates})
            for unit in "m", "s", "ns":
                self.same(**{name: numpy.array(dates, dtype=f"datetime64[{unit}]")})
        for name in "sold", "day":
            self.same(**{name: numpy.array(self.dates[name], dtype="datetime64[D]")})
            self.same(**{name: [date.date() for date in self.dates[name]]})

    def test_fractions_of_seconds(self):
        columns = {name: values[:1] for name, values in self.texts.items()}
        late = numpy.datetime64("2022-01-02T10:00:00.75")
        mean = lambda seen: self.model.predict(columns | {"seen": seen})[0]
        wanted = mean(["2022-01-02T10:00:00.75"])
        self.assertNotEqual(wanted, mean(["2022-01-02T10:00:00"]))
        for unit in "ms", "us", "ns":
            self.assertEqual(mean(numpy.array([late], dtype=f"datetime64[{unit}]")), wanted)
        self.assertEqual(mean([datetime.datetime(2022, 1, 2, 10, 0, 0, 750000)]), wanted)
        texts = tutti._rows._texts_of_dates(numpy.array(["2022-01-02T10:00:00.75", "1960-01-02T10:00:00.5", "NaT"], dtype="M8[ns]"))
        self.assertEqual(list(texts), ["2022-01-02T10:00:00.75", "1960-01-02T10:00:00.5", ""])

    def test_masked_dates_are_missing(self):
        for unit in "s", "ns":
            dates = numpy.ma.array(numpy.array(self.dates["seen"], dtype=f"datetime64[{unit}]"), mask=[True] + [False] * 119)
            with self.assertRaisesRegex(tutti.UsageError, "row 0, column 'seen': the value is missing"):
                self.model.predict(self.texts | {"seen": dates})

    def test_months_and_days_are_not_mixed_up(self):
        """3 April by the column's format is 3 April by ISO, and 4 March is another day."""
        row = {"day": ["20220101"], "seen": ["02.01.2022 10:00"]}
        mean = lambda sold: self.model.predict(row | {"sold": [sold]})[0]
        self.assertEqual(mean("04/03/2022"), mean("2022-04-03"))
        self.assertNotEqual(mean("04/03/2022"), mean("2022-03-04"))

    def test_what_is_no_date_is_refused(self):
        wrong = {
            "sold": ["soon", "31/12/2022", "02/30/2022", "2022-02-30", "2022/01/02", "01/02/2022x", "1.5"],
            "day": ["2022011", "20221301", 2022011, 20221301, 20220101.5],
            "seen": ["02.01.2022 25:00", "2022-01-02T25:00", "02.01.2022 10:00 pm"],
        }
        for name, values in wrong.items():
            for value in values:
                first = self.texts[name][0] if isinstance(value, str) else value
                columns = {key: texts[:2] for key, texts in self.texts.items()} | {name: numpy.array([first, value])}
                with self.assertRaisesRegex(
                    tutti.UsageError, f"X: row [01], column '{name}': expected a date, written as in the training data, found '{value}'"
                ):
                    self.model.predict(columns)


class Words(unittest.TestCase):
    """Rows that are read from the training file as Python's tools read it are those of the file."""

    def rows(self, path, delimiter=","):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        return {name: numpy.array([row[name] for row in rows], dtype=object) for name in rows[0]}

    def same(self, run, X, model=None):
        forecast = (model or tutti.Model(run)).forecast(X)
        for name, values in forecast.columns().items():
            if name == "label":
                self.assertEqual([str(value) for value in values], predicted(run)[name])
            else:
                numpy.testing.assert_allclose(values, predicted(run)[name], rtol=6e-9, atol=1e-12, err_msg=f"{run}: {name}")
        return forecast

    def truths(self):
        """The columns with bool, as pandas.read_csv gives them."""
        columns = self.rows("truths.csv")
        for name in "word", "small", "large", "answer":
            columns[name] = numpy.array([text.lower() == "true" for text in columns[name]])
        return columns | {name: columns[name].astype(float) for name in ("bit", "x", "y")}

    def test_truths(self):
        columns = self.truths()
        self.same("truths", columns)
        self.same("truths", columns | {"bit": columns["bit"].astype(bool)})
        for name in "word", "small", "large", "bit":
            self.same("truths", columns | {name: columns[name].astype(bool).astype(object)})
            self.same("truths", columns | {name: numpy.ma.array(columns[name].astype(bool), mask=False)})
        self.same("truths", self.rows("truths.csv"))
        order = ("word", "small", "large", "bit", "x", "y", "answer")
        self.same("truths", numpy.array([columns[name] for name in order], dtype=object).T)
        inputs = {name: columns[name].astype(bool) for name in ("word", "small", "large", "bit", "x")}
        numpy.testing.assert_array_equal(
            tutti.Model("truths").predict(numpy.array(list(inputs.values())).T), tutti.Model("truths").predict(inputs)
        )
        # A value that the column does not have is called as the column would call it.
        with self.assertRaisesRegex(tutti.UsageError, "column 'x': expected a number, found 'true'"):
            tutti.Model("truths").predict(columns | {"x": numpy.full(120, "true")})

    def test_true_classes(self):
        columns, model = self.truths(), tutti.Model("answers")
        forecast = self.same("answers", columns, model)
        self.assertTrue(forecast.evaluation)
        right = numpy.mean(model.predict(columns) == self.rows("truths.csv")["answer"])
        for y in columns["answer"], columns["answer"].astype(object), self.rows("truths.csv")["answer"]:
            self.assertEqual(model.score(columns, y), right)

    def test_signs_marks_and_groups(self):
        columns = self.rows("signs.csv")
        forecast = self.same("signs", columns)
        self.assertTrue(forecast.evaluation)
        self.same("signs", columns | {"count": columns["count"].astype(float), "y": columns["y"].astype(float)})
        plain = columns | {"price": numpy.array([float(text[1:].replace(",", "")) for text in columns["price"]])}
        self.same("signs", plain | {"many": [text.replace(",", "") for text in columns["many"]]})
        self.same("signs", numpy.array(list(columns.values())).T)
        with self.assertRaisesRegex(tutti.UsageError, "column 'price': expected a number, found '€900.00'"):
            tutti.Model("signs").predict({name: values[:1] for name, values in columns.items()} | {"price": ["€900.00"]})

    def test_decimal_commas(self):
        """1,234 is 1.234 in a file whose cells are separated by semicolons."""
        columns = self.rows("commas.csv", ";")
        self.same("commas", columns)
        numbers = {name: [float(text.replace(",", ".")) for text in values] for name, values in columns.items()}
        self.same("commas", numbers)
        for kind in numpy.float64, decimal.Decimal, fractions.Fraction:
            self.same("commas", {name: numpy.array([kind(x) for x in values], dtype=object) for name, values in numbers.items()})

    def test_numbers_with_three_digits_behind_the_point(self):
        """Words such as 3.125 are 3125 where the training file has decimal commas; numbers are not, of whatever type."""
        model, names = tutti.Model("commas"), [n for n in self.rows("commas.csv", ";") if n != "y"]
        wanted = model.predict({name: [1.5, 3.125, 2.25] for name in names})
        for values in (
            numpy.array([1.5, 3.125, 2.25], dtype=object),
            [decimal.Decimal("1.500"), decimal.Decimal("3.125"), decimal.Decimal("2.25")],
            [fractions.Fraction(3, 2), fractions.Fraction(25, 8), fractions.Fraction(9, 4)],
            numpy.array([numpy.float32(1.5), 3.125, "2,25"], dtype=object),
            [1.5, 3.125, "2,25"],
            [1.5, 3.125, b"2,25"],
            [1.5, numpy.array(3.125), "2,25"],
            [Rounded(1.5), Rounded(3.125), "2,25"],
        ):
            numpy.testing.assert_array_equal(model.predict({name: values for name in names}), wanted)
        rows = [[1.5, "3,125"], [3.125, "1,5"]]
        self.assertEqual(len(names), 2)
        numpy.testing.assert_array_equal(
            model.predict(rows), model.predict({names[0]: [1.5, 3.125], names[1]: [3.125, 1.5]})
        )
        for huge in fractions.Fraction(10**400), fractions.Fraction(-(10**400)), decimal.Decimal("1e999"):
            with self.assertRaisesRegex(tutti.UsageError, "inf"):
                model.predict({name: [huge] for name in names})
        with self.assertRaisesRegex(tutti.UsageError, "decimal point, and in row 1 of column .* such as 1.234"):
            model.predict({name: ["1.5", "3.125", "2.25"] for name in names})


class Rounded(float):
    """A number that is written otherwise than it is."""

    def __str__(self):
        return f"{float(self):.0f} EUR"


class Tolerance(unittest.TestCase):
    """Rows that cannot be read: an error, or left out where that is asked for."""

    def columns(self):
        columns = table()
        columns["group"] = columns["group"].copy()
        columns["group"][[2, 5]] = "never seen"
        return columns

    def test_rows_that_cannot_be_read_are_left_out(self):
        for run, asked in ("small", {"level": 0.9, "quantiles": [0.5]}), ("classes", {}):
            model, rows = tutti.Model(run), [2, 5]
            with self.assertRaisesRegex(tutti.UsageError, "row 2, column 'group'"):
                model.forecast(self.columns())
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                forecast = model.forecast(self.columns(), tolerant=True, **asked)
            self.assertTrue(any("2 of 120 rows cannot be read" in str(w.message) for w in caught), caught)
            self.assertEqual(numpy.flatnonzero(forecast.unread).tolist(), rows)
            self.assertEqual([r for r, reason in enumerate(forecast.reasons) if reason is not None], rows)
            for row in rows:
                self.assertRegex(forecast.reasons[row], f"^X: row {row}, column 'group': .*never seen")
            self.assertEqual(forecast.evaluation[0]["rows"], 118)  # of those that were predicted
            whole = model.forecast(table(), **asked).columns()
            for name, values in forecast.columns().items():
                others = numpy.delete(numpy.arange(120), rows)
                self.assertEqual(values[others].tolist(), whole[name][others].tolist(), name)
                for value in values[rows]:
                    self.assertTrue(value is None if name == "label" else numpy.isnan(value), name)

    def test_each_row_has_its_reason(self):
        """Warnings name ten of them."""
        columns = table()
        columns["group"] = numpy.array([f"Straße {row}" if row % 2 else group for row, group in enumerate(columns["group"])])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reasons = tutti.Model("small").forecast(columns, tolerant=True).reasons
        self.assertEqual(sum("Straße" in str(w.message) for w in caught), 10)
        self.assertEqual(reasons[::2], [None] * 60)
        for row in range(1, 120, 2):
            self.assertRegex(reasons[row], f"row {row}, column 'group': .*'Straße {row}'")

    def test_without_such_rows_nothing_is_unread(self):
        forecast = tutti.Model("small").forecast(table(), tolerant=True)
        self.assertIsNone(forecast.unread)
        self.assertIsNone(forecast.reasons)
        self.assertIsNotNone(forecast.evaluation)


class Runs(unittest.TestCase):
    def test_trials(self):
        trials = tutti.Run("small").trials()
        self.assertEqual([trial["trial"] for trial in trials], list(range(6)))
        best = min(trial["loss"] for trial in trials)
        summary = read("small/summary.json")
        self.assertIn(best, [value for value in _numbers(summary)])
        for trial in trials:
            self.assertEqual(trial["state"], "finished")
            self.assertTrue(1e-3 <= trial["learning_rate"] <= 1e-1)
            self.assertFalse(math.isnan(trial["loss"]))

    def test_status_select_evaluate(self):
        run = tutti.Run("small")
        ensemble = read("small/ensemble.json")
        self.assertEqual(run.status()["ensemble"]["members"], ensemble["members"])
        self.assertEqual(len(run.select({"selector.plugin": "top-m", "selector.size": 2})["members"]), 2)
        self.assertEqual(read("small/ensemble.json"), ensemble)
        self.assertTrue(run.evaluate())
        with self.assertRaisesRegex(tutti.UsageError, "selector"):
            run.select({"selector.sise": 2})

    def test_search(self):
        program = os.environ["TUTTI_PROGRAM"]
        run = tutti.search("small.ini", "again", {"run.budget": 4, "selector.size": 2}, program=program)
        self.assertEqual(len(run.trials()), 4)
        self.assertEqual(tutti.Model("again").members, 2)
        with self.assertRaisesRegex(tutti.UsageError, "budgit"):
            tutti.search("small.ini", "never", {"run.budgit": 4}, program=program)
        with self.assertRaisesRegex(tutti.UsageError, "not in PATH"):
            tutti.search("small.ini", "never", program="no-such-program")


class Settings(unittest.TestCase):
    def test_values_are_written_as_recipes_have_them(self):
        written = {
            "0.01": numpy.float64(0.01),
            "4": numpy.int64(4),
            "1e-05": 1e-05,
            "yes": numpy.bool_(True),
            "no": False,
            "1 0.5": (1, numpy.float64(0.5)),
            "3 4": numpy.array([3, 4]),
            "words": numpy.str_("words"),
        }
        for text, value in written.items():
            self.assertEqual(_library.setting("key", value), f"key={text}")


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, float):
        yield value


if __name__ == "__main__":
    unittest.main()
