"""Ensembles of neural networks that Tutti has found, from Python.

    import tutti
    tutti.search("houses.ini", "runs/houses", {"run.budget": 100})   # the program `tutti run`
    model = tutti.Model("runs/houses")
    model.predict(X)                        # means, or classes, as in scikit-learn
    f = model.forecast(X, level=0.95)       # f.mean, f.aleatoric, f.epistemic, f.total, f.lower, f.upper
    tutti.Run("runs/houses").trials()       # records, for pandas.DataFrame

X is a two-dimensional array whose columns are in the order of model.inputs, or anything with named columns: a dict of
columns, a structured array, a pandas.DataFrame. Of a model of images it is an array [rows, height, width, channels].
"""

from ._library import Error, UsageError
from .model import Forecast, Model
from .run import Run, search

__all__ = ["Error", "Forecast", "Model", "Run", "UsageError", "search"]
