"""Has pytest run one piece of a test file, and tells the cases of all files to Ballast's client. PYTEST_DONT_REWRITE

The client puts this file and piece.json into one folder. It needs Python 3.6 and pytest 6, and makes no other difference to a run.
"""

import json
import os
import time

import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def read_piece():
    """Returns the piece to run, or None: whole files. If the piece cannot be read, whole files run, so that no case is lost."""
    try:
        with open(os.path.join(FOLDER, "piece.json"), encoding="utf-8") as piece_file:
            return json.load(piece_file)
    except (OSError, ValueError):
        return None


PIECE = read_piece()
NAMES = frozenset(PIECE["names"]) if PIECE else frozenset()

started_files = set()
# By the real path of the file: the names of its cases, in order. Empty until everything is collected.
listed = {}
# By real path and name: the time of its items, and how many of them, and of their subtests, ended in each way.
results = {}
# By real path, name, and worker of pytest-xdist: the item that runs.
running = {}
broken_collectors = []
# This process, and what it writes at its end.
reporter = {"process": None, "target": None}


def restore_environment():
    """Tests, and the runs of pytest that they start, get the environment that they would have without this plugin."""
    for variable, added in (("PYTEST_ADDOPTS", "-p ballast_piece "), ("PYTHONPATH", FOLDER + os.pathsep)):
        value = os.environ.get(variable, "")
        if value == added[:-1]:
            del os.environ[variable]
        elif value.startswith(added):
            os.environ[variable] = value[len(added) :]


def is_file(node):
    # Before pytest 8, a package is a file, too.
    return isinstance(node, pytest.File) and not isinstance(node, pytest.Package)


def real_path(file_node):
    # pytest 6 has no `path`.
    return os.path.realpath(str(getattr(file_node, "path", None) or file_node.fspath))


def case_of(item):
    """Returns the real path of the file that an item was collected from, and its name there, or None: it is from no file.

    The name is what the node id has behind the file. The node id itself may change: pytest-xdist adds the group of --dist=loadgroup.
    """
    names = []
    for node in reversed(item.listchain()):
        if is_file(node):
            return real_path(node), "::".join(reversed(names))
        # Before pytest 7, the instance of a class is a node.
        if node.name != "()":
            names.append(node.name)
    return None


def is_selected(case):
    if PIECE is None or case is None or case[0] != PIECE["file"]:
        return True
    return (case[1] in NAMES) != PIECE["isRest"]


def write_report(text):
    """Tests may have removed the folder, or filled the disk: then nothing is reported, and the client runs whole files."""
    part = reporter["target"] + ".part"
    try:
        with open(part, "w", encoding="utf-8") as report_file:
            report_file.write(text)
        os.replace(part, reporter["target"])
    except OSError:
        pass


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart():
    reporter["process"] = os.getpid()
    reporter["target"] = os.path.join(FOLDER, "cases-{}-{}.json".format(os.getpid(), time.monotonic()))
    # The client then knows that this process began, even if a test ends it.
    write_report("")


def pytest_collectstart(collector):
    # Not in the controller of pytest-xdist, which collects nothing: its workers inherit the environment.
    restore_environment()
    if is_file(collector):
        started_files.add(real_path(collector))


def pytest_collectreport(report):
    if report.failed:
        broken_collectors.append(report.nodeid)


# The outermost wrapper: other plugins choose from the same items in each piece as in the whole file.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    yield
    listed.update((path, {}) for path in started_files)
    selected, deselected = [], []
    for item in items:
        case = case_of(item)
        if case is not None:
            listed.setdefault(case[0], {})[case[1]] = True
        (selected if is_selected(case) else deselected).append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = selected


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    outcome = yield
    case = case_of(item)
    if outcome.excinfo is None and case is not None:
        # A report keeps its attributes on its way from a worker of pytest-xdist or a process of pytest-forked.
        outcome.get_result().ballast_case = list(case)


def outcome_of(report):
    """Returns the outcome that a phase gives its item, or None: it gives none. It is what pytest counts for its exit code."""
    if report.outcome == "passed":
        return "passed" if report.when == "call" else None
    return "expected_failure" if hasattr(report, "wasxfail") else report.outcome


# From best to worst. An item has the worst outcome of its phases.
FROM_MOST = ("passed", "expected_failure", "skipped", "failed")


def pytest_runtest_logreport(report):
    if not hasattr(report, "ballast_case"):
        return
    case = tuple(report.ballast_case)
    result = results.setdefault(case, {"seconds": 0, "outcomes": {}})
    item = running.setdefault((case, getattr(report, "node", None)), {"phases": [], "subtests": []})
    outcome = outcome_of(report)
    # The report of a subtest has a context. Its time is part of the test's.
    if hasattr(report, "context"):
        item["subtests"].append(outcome)
        return
    result["seconds"] += report.duration
    item["phases"].append(outcome)
    if report.outcome not in ("passed", "skipped", "failed"):
        # "rerun" of pytest-rerunfailures: the attempt does not count.
        item.update(phases=[], subtests=[])
    elif report.when == "teardown":
        ended = [each for each in FROM_MOST if each in item["phases"]][-1:]
        for each in ended + item["subtests"]:
            result["outcomes"][each] = result["outcomes"].get(each, 0) + 1
        item.update(phases=[], subtests=[])


# Before hooks of the project, which may end the process.
@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    # A test may have forked this process.
    if broken_collectors or os.getpid() != reporter["process"]:
        return
    files = {path: {"listed": list(names), "cases": []} for path, names in listed.items()}
    # A worker of pytest-xdist knows all cases. The controller knows none, but gets the reports of all workers.
    if not hasattr(session.config, "workerinput"):
        for (path, name), result in results.items():
            cases = files.setdefault(path, {"listed": [], "cases": []})["cases"]
            cases.append([name, result["outcomes"], result["seconds"]])
    write_report(json.dumps(files))
