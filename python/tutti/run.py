"""Runs: started by the program, and looked at by the library."""

import json
import math
import shutil
import signal
import subprocess
import threading

from ._library import NO_TRIAL, VISIT, Context, Error, UsageError, library, overrides_of, setting

_RECIPE_USAGE = 2  # exit code of the program where the caller can mend what is wrong
_CATALOGUE = 1  # enum tutti_run_file


def search(recipe, out, settings=None, workers=None, resume=False, program="tutti"):
    """Run a recipe to its end in the directory `out`, as `tutti run` does, and return the Run.

    `settings` are what --set takes: {"data.path": "houses.csv", "run.budget": 100}. Ctrl-C stops the search; what has
    been trained is kept, and resume=True goes on with it.
    """
    found = shutil.which(program)
    if not found:
        raise UsageError(f"the program {program} is not in PATH; install Tutti, or name its file as program=", "usage")
    command = [found, "run", str(recipe), "--out", str(out), "--json", "--quiet"]
    for key, value in (settings or {}).items():
        command += ["--set", setting(key, value)]
    command += ["--workers", str(workers)] if workers is not None else []
    command += ["--resume"] if resume else []
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as running:
        try:
            message = running.communicate()[1].strip()
        except BaseException:  # Ctrl-C: the program, which does not see it itself, ends in order
            running.send_signal(signal.SIGINT)
            running.wait()
            raise
    if running.returncode != 0:
        message = message or f"tutti run ended with code {running.returncode}"
        raise (UsageError(message, "usage") if running.returncode == _RECIPE_USAGE else Error(message, "failed"))
    return Run(out)


class Run:
    """A run directory, finished or at work. `trust` is as for Model."""

    def __init__(self, directory, trust=False):
        self.directory = str(directory)
        self._context = Context(trust=trust)
        self._lock = threading.RLock()

    def _ask(self, name, *arguments):
        """The JSON that a function of a view gives; the view is opened anew, since a run may be at work."""
        with self._lock:
            view = self._context.make("tutti_view_open", self.directory.encode())
            try:
                return json.loads(self._context.text(name, view, *arguments))
            finally:
                library.tutti_view_close(view)

    def status(self):
        """Counts, the best trials, the builder's state, the ensemble."""
        return self._ask("tutti_view_status")

    def evaluate(self, settings=None):
        """The ensemble's metrics on all splits; settings as {"evaluation.ece_bins": 10}."""
        return self._ask("tutti_view_evaluate", None, *overrides_of(settings))

    def select(self, settings=None, split=None):
        """Choose another ensemble from the trained models, without keeping it: {"selector.size": 3}."""
        return self._ask("tutti_view_select", split.encode() if split else None, *overrides_of(settings))

    def trials(self):
        """A record for each trial, with its hyperparameters; for pandas.DataFrame(run.trials())."""
        with self._lock:
            return self._trials()

    def _trials(self):
        path = self._context.text("tutti_run_file_path", self.directory.encode(), _CATALOGUE)
        catalogue = self._context.make("tutti_catalogue_open", path.encode(), False)
        records = []

        @VISIT
        def visit(_, trial):
            records.append(_record(trial.contents))
            return 0

        try:
            self._context.call("tutti_catalogue_visit", catalogue, visit, None)
        finally:
            library.tutti_catalogue_close(catalogue)
        return records

    def __repr__(self):
        return f"<tutti.Run in {self.directory}>"


def _number(value):
    return None if math.isnan(value) else value


def _record(trial):
    candidate = json.loads(trial.candidate)
    return {
        "trial": trial.number,
        "state": library.tutti_state_name(trial.state).decode() if trial.done else "asked",
        "loss": _number(trial.loss),
        "seconds": trial.seconds if trial.done else None,
        "origin": (trial.origin or b"").decode(),
        "parent": None if trial.parent == NO_TRIAL else trial.parent,
        "failure": (trial.failure or b"").decode(),
        **candidate.get("hyperparameters", {}),
        "candidate": candidate,
        "report": json.loads(trial.report) if trial.done and trial.report else None,
    }
