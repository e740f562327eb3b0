#!/usr/bin/env python3
"""Writes svm.json, reference numbers of support vector machines: python3 tests/golden/svm.py > tests/golden/svm.json

scikit-learn (1.9.1 wrote this) has a libsvm of its own; machines are fitted to a tolerance of 1e-11, so
that what is compared is the optimum. Inputs are rounded to float32. Classes first appear in ascending order, as libsvm numbers
them; decisions are those of the pairs (0, 1), (0, 2), (1, 2), positive for the first."""
import json

import numpy as np
from sklearn.svm import SVC, SVR

random = np.random.default_rng(20140001)
inputs = random.normal(size=(45, 3)).astype("f4")
points = random.normal(size=(12, 3)).astype("f4")
labels = np.digitize(inputs[:, 0] * inputs[:, 1] + inputs[:, 2] + 0.4 * random.normal(size=45), [-0.6, 0.5])
first = [int(np.argmax(labels == c)) for c in range(3)]
order = first + [i for i in range(45) if i not in first]
inputs, labels = inputs[order], labels[order]
targets = (np.sin(inputs[:, 0]) + 0.5 * inputs[:, 1] ** 2 + 0.2 * random.normal(size=45)).astype("f4")


def numbers(array):
    return np.asarray(array, float).tolist()


golden = {"inputs": numbers(inputs), "labels": labels.tolist(), "targets": numbers(targets), "points": numbers(points),
          "classification": [], "regression": []}
for c, gamma in ((0.3, 0.2), (5, 0.5), (400, 0.05)):
    machine = SVC(C=c, gamma=gamma, tol=1e-11, decision_function_shape="ovo").fit(inputs, labels)
    golden["classification"].append({"c": c, "gamma": gamma, "decisions": numbers(machine.decision_function(points)),
                                     "labels": machine.predict(points).tolist()})
for c, gamma, epsilon in ((0.5, 0.3, 0.1), (20, 0.1, 0.3), (200, 1.0, 0.01)):
    machine = SVR(C=c, gamma=gamma, epsilon=epsilon, tol=1e-11).fit(inputs, targets)
    golden["regression"].append({"c": c, "gamma": gamma, "epsilon": epsilon, "values": numbers(machine.predict(points))})
print(json.dumps(golden))
