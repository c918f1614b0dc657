"""RacingTuner: iterated racing as a scikit-learn-style estimator."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator

from skde.algorithms import ALGORITHMS, Algorithm
from skde.callbacks import callback_list, stops
from skde.engines import check_device
from skde.functions.forms import check_form
from skde.tuning.default_spaces import space_of
from skde.tuning.held_out import HeldOutCosts, measure_held_out
from skde.tuning.loop import TuningLoop, TuningSetting, describe_setting
from skde.tuning.progress import describe_progress
from skde.tuning.report import write_report
from skde.tuning.results import TunerResults
from skde.tuning.rules import PRESETS, Rules, n_iterations, plan_races, race_budget
from skde.tuning.space import Space, as_space
from skde.tuning.statistical_tests import TESTS
from skde.tuning.study_storage import STUDY, StudyRecord, open_storage, refuse_missing
from skde.tuning.targets.base import Target, TargetLimits
from skde.tuning.targets.conversion import as_target
from skde.tuning.time_notice import TimeNotice
from skde.tuning.work_queue import QueuedTarget, WorkQueue, check_shared, pause, work, worker_timeout
from skde.utils.progress_bar import ProgressBar
from skde.utils.random_state import first_seed
from skde.utils.validation import (
    check_bool,
    check_choice,
    check_int,
    check_jobs,
    check_real,
    check_verbose,
    nearest,
    quote,
    suggest_names,
)


class RacingTuner(TunerResults, BaseEstimator):
    """Configure an algorithm by iterated racing, within a number of experiments.

    Many configurations race on instances: on every step, each runs on the same instance with the same seed, and after
    the fifth step a test eliminates those that are worse than the best, so that experiments go to the good ones. The
    best of a race are the parents of the configurations of the next. The trials of the Optuna study are the
    configurations, and their intermediate values the costs by step.

    Parameters
    ----------
    space : Space, callable, mapping or None
        The configurations: a `Space`, a function of an Optuna trial, or a mapping of names to distributions. None: the
        default space of an algorithm of skde (`space_of`).
    instances : sequence
        At least one, or two with `deterministic`: for an algorithm of skde problems, their names, pairs (objective,
        bounds), or functions of the step's seed that return one of these; for an estimator data sets, as (X, y) or
        Bunch; for functions and programs, their own instances. With one instance the steps of a race are its seeds.
    max_experiments : int, default 30000
        Runs of one configuration on one instance, in all races together, >= 1.
    run_max_time : float or None, default 1.0
        Time limit of one experiment in seconds, > 0. Algorithms of skde stop by themselves, each run by its own clock;
        programs are killed after three times as long and ten seconds more; functions and estimators have no limit.
    run_max_evals : int or None, default None
        Evaluations of one experiment, >= 1, for algorithms of skde, instead of seconds: the tuning is then the same on
        every machine.
    test : {"friedman", "t", "t-holm", "t-bonferroni"}, default "friedman"
        The test that eliminates. Friedman's test uses ranks, so instances may have costs of any size; paired t-tests
        use means, and are for costs that can be averaged.
    preset : {"elitist", "irace-2011", "small-budget"} or Rules, default "elitist"
        The kind of race: the best keep their results; every race starts without results; or, for some hundred
        experiments, early tests and a model of all results (docs/tuning.md). Rules(...) has a test, which replaces
        `test`.
    storage : str, path, optuna.storages.BaseStorage or None, default None
        Where the study is: in memory, in a journal file of this name, or in a database with this URL. A stored tuning
        can be resumed after a kill.
    study_name : str, default "skde-tuning"
        The study's name: a storage may hold several tunings.
    n_jobs : int or None, default 1
        Processes of joblib for functions, programs and estimators; threads for algorithms of skde.
    use_workers : bool, default False
        Whether this process leaves the experiments to workers: other processes, on any machine, that call `work`.
    device : {"auto", "cpu", "cuda", "cuda:N"}, default "auto"
        Where algorithms of skde run. The configurations of a step are runs of one batch; on the CPU with a limit of
        seconds, as many as there are threads.
    vectorized : {"auto"} or bool, default "auto"
        Whether Python functions that are instances of an algorithm take arrays of points, or one point; "auto": a fit
        finds it out.
    deterministic : bool, default False
        Whether costs do not depend on the seed: then there is one step for each instance, and a race ends after the
        last one.
    random_state : int, RandomState, Generator or None, default None
        Makes draws and seeds repeatable. If costs are repeatable too, the tuning is the same for any number of
        processes, in one piece or resumed; a guided one, which uses LAPACK, perhaps not on another processor.
    callbacks : callable, list of callables or None, default None
        Called with the tuner after every race; a tuning that is resumed also calls them for the races before. One that
        returns a true value, or raises StopIteration, ends the tuning.
    verbose : int, default 0
        1: a progress bar, and a line on the time that the experiments take. The logger "skde.tuning" has this line with
        0, too.

    Attributes
    ----------
    best_params_ : dict
        The best configuration.
    best_estimator_ : object
        The algorithm or estimator with it; not for functions and programs.
    elites_ : list of EliteConfiguration
        The best configurations, the best first.
    results_ : list of Result
        Every experiment.
    races_ : list of dict
        The races: configurations, steps and experiments, survivors, rejected configurations with the reasons, and the
        reason of the end.
    finished_ : bool
        Whether the experiments are used up; not after Ctrl-C.
    n_experiments_ : int
        Number of experiments that count. Several processes may have done a few more, of configurations that were
        rejected meanwhile.
    target_ : str
        The target, as text.
    study_ : optuna.Study
        The study, described in docs/tuning.md. The best configuration need not have the best value, because it is
        chosen by the races.

    Notes
    -----
    Source: M. Lopez-Ibanez, J. Dubois-Lacoste, L. Perez Caceres, T. Stuetzle, M. Birattari, The irace package: iterated
    racing for automatic algorithm configuration, Operations Research Perspectives 3 (2016), and its technical report of
    2011. Differences: of two configurations left, one is dropped that is nowhere better and somewhere worse, not one
    that is the same everywhere; of two that Wilcoxon's test tells apart, the one with the larger signed ranks; the
    steps up to the first test are handed out at once where experiments run side by side.

    A test after every step is many tests. With the level 0.05 for each, as in irace, the best of five equal
    configurations is eliminated in about 10 % of races of 30 steps and in 14 % of 100 steps by Friedman's test, and in
    more by t-tests that are not adjusted. `Rules(elitist=True, spending=True)` spends the level over the tests of a
    race, which keeps it.

    Examples
    --------
    >>> from optuna.distributions import FloatDistribution
    >>> from skde.tuning import RacingTuner
    >>> tuner = RacingTuner({"x": FloatDistribution(-1, 1)}, [1.0, 10.0, 100.0], max_experiments=300, random_state=0)
    >>> tuner = tuner.fit(lambda config, instance, seed: instance * (config["x"] - 0.5) ** 2)
    >>> abs(tuner.best_params_["x"] - 0.5) < 0.1
    True
    """

    @suggest_names
    def __init__(
        self,
        space: Any,
        instances: Sequence[Any],
        *,
        max_experiments: int = 30_000,
        run_max_time: float | None = 1.0,
        run_max_evals: int | None = None,
        test: str = "friedman",
        preset: str | Rules = "elitist",
        storage: Any = None,
        study_name: str = STUDY,
        n_jobs: int | None = 1,
        use_workers: bool = False,
        device: str = "auto",
        vectorized: bool | str = "auto",
        deterministic: bool = False,
        random_state: Any = None,
        callbacks: Callable[[RacingTuner], Any] | Sequence[Callable[[RacingTuner], Any]] | None = None,
        verbose: int = 0,
    ) -> None:
        self.space = space
        self.instances = instances
        self.max_experiments = max_experiments
        self.run_max_time = run_max_time
        self.run_max_evals = run_max_evals
        self.test = test
        self.preset = preset
        self.storage = storage
        self.study_name = study_name
        self.n_jobs = n_jobs
        self.use_workers = use_workers
        self.device = device
        self.vectorized = vectorized
        self.deterministic = deterministic
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    # -- fit and resume ------------------------------------------------------------------------------------------------

    def fit(self, target: Any) -> RacingTuner:
        """Race.

        Parameters
        ----------
        target : str, Algorithm, estimator, callable or sequence of str
            An algorithm of skde or its name; a scikit-learn estimator, with the cost 1 - score on a random quarter of a
            data set; a function (config, instance, seed) -> cost, config being a dict; or a command line, called as
            irace's targetRunner (docs/tuning.md).

        Returns
        -------
        self : RacingTuner

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The results so far can be read, and `resume` continues.
        ValueError, TypeError
            For parameters that are not allowed, a budget too small for a race, a storage that holds a tuning already.
        RuntimeError
            When all configurations of a race fail. One that fails alone is rejected, and the race continues.
        """
        return self._run(target, resume=False)

    def resume(self, target: Any = None) -> RacingTuner:
        """Continue a tuning that was interrupted or killed; it decides as an uninterrupted one.

        Parameters
        ----------
        target : optional
            As in `fit`; needed if this object was not fitted.

        Returns
        -------
        self : RacingTuner

        Raises
        ------
        ValueError
            If there is nothing to resume, or the tuning has other settings.
        """
        if target is not None:
            return self._run(target, resume=True)
        if not hasattr(self, "_loop"):
            raise ValueError("resume needs the target of the tuning in the storage: resume(target)")
        # From the record, as after a kill: an interruption may have come between any two steps of the loop.
        before = self._loop
        self._loop = TuningLoop(before.setting, before.record.reload(), before.results)
        return self._run_loop()

    def work(self, target: Any) -> int:
        """Run experiments of another process's tuning with use_workers=True, until it ends or goes on without workers.

        The other process may be on another machine, begin later, and be killed and resumed meanwhile. A worker may be
        killed at any time: another one repeats its experiments after three times run_max_time and ten seconds.

        Parameters
        ----------
        target : str, Algorithm, estimator, callable or sequence of str
            As in the other process, like all parameters except n_jobs, use_workers and device. n_jobs is the number of
            an algorithm's threads.

        Returns
        -------
        n_experiments : int
            Number of experiments of this worker.

        Raises
        ------
        ValueError
            For another tuning, and for a storage that processes cannot share: SQLite and memory.
        """
        self._check_options()
        checked = self._as_target(target, self.n_jobs)
        name = self._check_name()
        setting, identity = self._identify(target, checked, 0)
        check_shared(self.storage)
        storage = open_storage(self.storage)
        queue = WorkQueue(storage, name)
        since = time.monotonic()
        while not StudyRecord.exists(storage, name):
            pause(since)
        identity["random_state"] = StudyRecord.identity(storage, name)["random_state"]
        record = StudyRecord(storage, identity, resume=True, name=name)
        return work(queue, record.params, setting.instances, checked, lambda: record.has_workers)

    def _run(self, target: Any, resume: bool) -> RacingTuner:
        self._check_options()
        checked = self._as_target(target, self.n_jobs)
        workers, name = check_bool("use_workers", self.use_workers), self._check_name()
        stored_seed = resume and self.random_state is None
        # All checks come before the storage is opened, which makes its file.
        setting, identity = self._identify(target, checked, 0 if stored_seed else None)
        if workers:
            check_shared(self.storage)
            worker_timeout(self._limits())
        if resume:
            refuse_missing(self.storage, name)
        storage = open_storage(self.storage)
        if stored_seed:
            identity["random_state"] = StudyRecord.identity(storage, name)["random_state"]
            setting = replace(setting, seed=identity["random_state"])
        loop = TuningLoop(setting, StudyRecord(storage, identity, resume, name, workers))
        if workers:
            checked = QueuedTarget(checked, WorkQueue(storage, name), self._limits())
        self._loop, self._target = loop, checked
        return self._run_loop()

    def _identify(self, given: Any, target: Target, seed: int | None) -> tuple[TuningSetting, dict[str, Any]]:
        """Return the inputs of decisions, as an object and as data."""
        setting = self._setting(given, seed)
        target.check(setting.instances)
        setting.space.check_names(target.parameter_names, target.describe())
        return setting, {**describe_setting(setting), "target": target.describe(), "limits": asdict(self._limits())}

    def _run_loop(self) -> RacingTuner:
        """Run the loop; after Ctrl-C, which the caller receives, the results so far are there."""
        loop = self._loop
        self._held_out: dict[int, HeldOutCosts] = {}
        bar = None
        if self.verbose:
            bar = ProgressBar(partial(describe_progress, loop), loop.setting.max_experiments, "run")
        longest = self._target.longest(loop.setting.instances, loop.setting.max_experiments)
        notice = TimeNotice(loop, longest, None if bar is None else partial(bar.write, file=sys.stderr))

        def on_result(loop: TuningLoop) -> None:
            notice(loop)
            if bar is not None:
                bar.move()

        loop.on_result = on_result
        loop.on_race_end = partial(stops, callback_list(self.callbacks), self)
        try:
            loop.run(self._target)
        finally:
            loop.on_result = loop.on_race_end = None
            if bar is not None:
                bar.close()
        return self

    def _check_name(self) -> str:
        """Return the name of the study."""
        if not (isinstance(self.study_name, str) and self.study_name):
            raise ValueError(f"study_name must be a name, got {self.study_name!r}")
        return self.study_name

    # -- checks --------------------------------------------------------------------------------------------------------

    def _check_options(self) -> None:
        """Check the options that decisions do not depend on, also if the target does not use them."""
        check_jobs(self.n_jobs)
        check_bool("use_workers", self.use_workers)
        check_device(self.device)
        check_verbose(self.verbose)
        callback_list(self.callbacks)

    def _as_target(self, target: Any, n_jobs: int | None) -> Target:
        return as_target(target, self._limits(), n_jobs, self.device, check_form("vectorized", self.vectorized))

    def _limits(self) -> TargetLimits:
        seconds, evals = self.run_max_time, self.run_max_evals
        if seconds is not None:
            seconds = check_real("run_max_time", seconds, 0, low_open=True, high_open=True)
        return TargetLimits(seconds, None if evals is None else check_int("run_max_evals", evals, 1))

    def _rules(self) -> Rules:
        test = check_choice("test", self.test, TESTS)
        if isinstance(self.preset, Rules):
            return self.preset
        return replace(PRESETS[check_choice("preset", self.preset, PRESETS)], test=test)

    def _space(self, target: Any) -> Space:
        if self.space is not None:
            return as_space(self.space)
        if isinstance(target, Algorithm) or (isinstance(target, str) and target in ALGORITHMS):
            return space_of(target)
        hint = nearest(target, ALGORITHMS)
        raise ValueError(f"space must be given: only algorithms of skde have a default, got {quote(target)}{hint}")

    def _setting(self, target: Any, seed: int | None = None) -> TuningSetting:
        """Check the inputs of decisions, and return them."""
        # An iterator can be read once only, and a set has another order in another process.
        refused = (str, bytes, Mapping, Set, Iterator)
        if not isinstance(self.instances, Iterable) or isinstance(self.instances, refused):
            raise TypeError(
                f"instances must be a sequence of at least 1, got {self.instances!r} ({type(self.instances).__name__})"
            )
        deterministic = check_bool("deterministic", self.deterministic)
        instances = list(self.instances)
        if not instances:
            raise ValueError("instances must be at least 1, got 0")
        if deterministic and len(instances) < 2:
            raise ValueError(
                "instances must be at least 2 with deterministic=True, got 1: a race compares configurations over "
                "steps, and one instance without seeds is one step"
            )
        space, rules = self._space(target), self._rules()
        budget = check_int("max_experiments", self.max_experiments, 1)
        least = rules.least_budget(space.n_parameters)
        if budget < least:
            n = space.n_parameters
            raise ValueError(
                f"max_experiments must be at least {least} for {n} parameters, got {budget}: the first of "
                f"{n_iterations(n)} races needs more than the {rules.n_survivors(n)} configurations that it keeps, and "
                f"{rules.first_test} steps and more of each"
            )
        first = rules.configurations(race_budget(budget, 1, n_iterations(space.n_parameters)), 1)
        if first < len(space.initial):
            raise ValueError(
                f"max_experiments is too small for {len(space.initial)} initial configurations: the first race is for "
                f"{first}"
            )
        if seed is None:
            seed = first_seed(self.random_state)
        return TuningSetting(space, instances, rules, budget, seed, deterministic)

    def predict_budget(self, target: Any = None) -> dict[str, Any]:
        """Return the plan of a fit: its races, experiments and time.

        Parameters
        ----------
        target : str or Algorithm, optional
            The target, if its default space is tuned.

        Returns
        -------
        prediction : dict
            n_parameters; n_iterations; n_survivors, with which a race ends; least, the smallest max_experiments; races,
            the planned ones, each with its experiments and configurations, on the assumption that each uses its
            experiments; seconds, the longest time that experiments with a time limit can take one after the other.
        """
        setting = self._setting(target, 0)
        rules, n = setting.rules, setting.space.n_parameters
        limits = self._limits()
        return {
            "n_parameters": n,
            "n_iterations": n_iterations(n),
            "n_survivors": rules.n_survivors(n),
            "least": rules.least_budget(n),
            "races": plan_races(rules, n, setting.max_experiments),
            "seconds": limits.seconds * setting.max_experiments if limits.seconds and not limits.evals else None,
        }

    def report(self, path: str | os.PathLike[str], *, held_out: int = 20) -> RacingTuner:
        """Write the results into one HTML file without further files.

        Its parts: the costs of the best configuration and of the default, the best configurations as Python, the cost
        of the tuning, ranks by instance, the values of the parameters by race, all configurations in parallel
        coordinates, the importance of the parameters. With `deterministic` the held-out steps are the instances.

        Parameters
        ----------
        path : str or path
            The file; an existing file is replaced.
        held_out : int, default 20
            Number of steps, >= 0, with seeds that the tuning did not use, on which this process runs the best
            configuration and the default, once for all reports; 0: none. The default is the algorithm or estimator as
            given to `fit`, else the space's first initial configuration.

        Returns
        -------
        self : RacingTuner

        Raises
        ------
        RuntimeError
            Without matplotlib.
        OSError
            If the file cannot be written.
        """
        self._require_fit()
        check_int("held_out", held_out, 0)
        write_report(self, path, self._measure_held_out(held_out) if held_out else None)
        return self

    def _measure_held_out(self, n_steps: int) -> HeldOutCosts:
        """Return the costs of the best configuration and of the default on held-out steps."""
        best = self.elites_[0]
        if n_steps not in self._held_out:
            target = self._target.local
            self._held_out[n_steps] = measure_held_out(self._loop.setting, target, best.number, best.params, n_steps)
        return self._held_out[n_steps]
