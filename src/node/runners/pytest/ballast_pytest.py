"""Runs this node's part of a test suite with pytest, and records how long each file took, with a Ballast server.

    pytest -p ballast_pytest

The plugin is active where the number of nodes is known, as in a CI job. It needs Python 3.8 and pytest 7.
"""

import datetime
import hashlib
import http.client
import json
import math
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

# The build puts the version of Ballast here, and the tables of src/node/ci/systems.ts. The last system is none that is known.
VERSION = ""
SYSTEMS = []
FORGES = {}
FORGES_BY_HOST = {}

# Which node this is ---------------------------------------------------------------------------------------------------

IDENTITY = {
    "nodeIndex": ("node_index", "BALLAST_NODE_INDEX", "the index of this node (from 0)"),
    "nodeTotal": ("node_total", "BALLAST_NODE_TOTAL", "the number of nodes"),
    "buildId": ("ci_build_id", "BALLAST_BUILD_ID", "the id of the CI run (the same for all its nodes)"),
    "branch": ("branch", "BALLAST_BRANCH", "the branch"),
    "commitHash": ("commit_hash", "BALLAST_COMMIT_HASH", "the commit"),
}

# The same conversions are in systems.ts.
READERS = {
    "fromOne": lambda text: str(int(text) - 1) if re.fullmatch(r"[1-9][0-9]*", text) else text,
    "reference": lambda text: re.sub(r"^refs/(heads|tags)/", "", text),
    "hash": lambda text: text if re.fullmatch(r"[0-9a-fA-F]{7,64}", text) else None,
    "remote": lambda text: re.sub(r"^origin/", "", text),
}


class Failure(Exception):
    """What ends the run, with the exit code: 3 for the server, as of Ballast's client, 4 for usage, as of pytest."""

    def __init__(self, message, code=3):
        super().__init__(message)
        self.code = code


class Unreachable(Failure):
    """Every attempt ended without an answer or with a server error."""


class Refused(Failure):
    """The server refused the request or broke the protocol. A retry would get the same answer."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def detect_system(environment):
    def is_marked(mark):
        if isinstance(mark, str):
            return bool(environment.get(mark))
        return environment.get(mark["name"]) == mark["value"]

    return next(system for system in SYSTEMS if all(map(is_marked, system["marks"])))


def detect(field, environment):
    """Returns the value that the CI system sets, or None."""
    for variable in detect_system(environment)[field]:
        name = variable if isinstance(variable, str) else variable["name"]
        text = environment.get(name, "").strip()
        value = READERS[variable["read"]](text) if text and not isinstance(variable, str) else text
        if value:
            return value
    return None


def find_value(field, environment, git):
    """Returns what Ballast's variable, the CI system or Git says, or None."""
    value = environment.get(IDENTITY[field][1], "").strip() or detect(field, environment)
    if not value and field == "branch":
        # Git prints HEAD when no branch is checked out.
        name = git("--abbrev-ref", "HEAD")
        value = None if name == "HEAD" else name
    if not value and field == "commitHash":
        value = git("HEAD")
    if not value and field == "nodeIndex" and find_value("nodeTotal", environment, git) == "1":
        value = "0"
    return value or None


def rev_parse(*args):
    try:
        run = subprocess.run(
            ["git", "rev-parse", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.decode("utf-8", "replace").strip() or None if run.returncode == 0 else None


def identify(environment, git=rev_parse):
    """Returns the fields of a request that say which node of which CI run this is, and a list of errors."""
    identity, missing, errors = {}, [], []
    for field, (name, variable, description) in IDENTITY.items():
        value = find_value(field, environment, git)
        is_number = field in ("nodeIndex", "nodeTotal")
        minimum = 1 if field == "nodeTotal" else 0
        if value is None:
            missing.append(field)
        elif is_number and not (re.fullmatch(r"[0-9]{1,9}", value) and int(value) >= minimum):
            errors.append(f"{description} is {json.dumps(value)}: it must be a whole number from {minimum} on ({variable})")
        else:
            identity[name] = int(value) if is_number else value
    errors = [f"{IDENTITY[field][2]} is not known: set {IDENTITY[field][1]}{tried(field, environment)}" for field in missing] + errors
    is_own_machine = len(missing) > 1 and ("nodeTotal" in missing or "buildId" in missing)
    if is_own_machine and detect_system(environment) is SYSTEMS[-1]:
        errors.append(f"no CI system was detected: {OWN_MACHINE_HINT}")
    if not errors and identity["node_index"] >= identity["node_total"]:
        index, total = identity["node_index"], identity["node_total"]
        errors.append(f"the index of this node is {index}, but the last of {total} node{'' if total == 1 else 's'} has the index {total - 1}")
    return identity, errors


OWN_MACHINE_HINT = "to try Ballast on your own machine, set BALLAST_NODE_TOTAL=1 BALLAST_BUILD_ID=1, and another BALLAST_BUILD_ID for each run"


def tried(field, environment):
    system = detect_system(environment)
    names = [each if isinstance(each, str) else each["name"] for each in system[field]]
    git = ", and git does not know it either" if field in ("branch", "commitHash") else ""
    unset = "" if system is SYSTEMS[-1] else f" ({system['name']} does not set it)"
    return (f"; tried {', '.join(names)} ({system['name']})" if names else unset) + git


# src/node/ci/links.ts has the same rules.
def node_links(environment):
    """Returns where people find what this node does: the addresses that the variables of the CI system tell, without passwords."""
    of_system = detect_system(environment)["links"]
    address = repository_address(filled(of_system.get("repository"), environment))
    forge = of_system.get("forge") or FORGES_BY_HOST.get(urllib.parse.urlsplit(address).netloc) if address else None
    paths = FORGES.get(forge, {})
    links = {"job_url": web_address(filled(of_system.get("job"), environment)), "commit_url": web_address(filled(of_system.get("commit"), environment))}
    for name, path in (("commit_url", paths.get("commit")), ("diff_url", paths.get("diff"))):
        links[name] = links.get(name) or (path and address + path)
    return {name: link for name, link in links.items() if link and len(link) <= 1000}


def filled(template, environment):
    """Puts the values of variables in their places; None: one of them is not set."""
    values = {name: environment.get(name, "").strip() for name in re.findall(r"\{(\w+)\}", template or "")}
    return template and all(values.values()) and re.sub(r"\{(\w+)\}", lambda match: values[match[1]], template) or None


def web_address(text):
    # The ids of Bitbucket have braces.
    text = (text or "").replace("{", "%7B").replace("}", "%7D")
    try:
        parts = urllib.parse.urlsplit(text)
        is_usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
        host = parts.hostname and (parts.hostname if is_usual else f"{parts.hostname}:{parts.port}")
    except ValueError:
        return None
    is_usable = parts.scheme in ("http", "https") and host and not re.search(r"\s", text)
    return urllib.parse.urlunsplit(parts._replace(netloc=host)) if is_usable else None


def repository_address(text):
    """The page of a repository, of which Git may have another address: git@host:path, ssh://git@host/path, https://host/path.git."""
    by_ssh = re.match(r"(?:ssh://)?[^/@\s]+@([^/:@\s]+)(?::\d+/|[:/])(.+)$", text or "")
    address = web_address(f"https://{by_ssh[1]}/{by_ssh[2]}" if by_ssh else text)
    if not address:
        return None
    scheme, host, path = urllib.parse.urlsplit(address)[:3]
    return f"{'https' if host in FORGES_BY_HOST else scheme}://{host}{re.sub(r'[.]git$', '', path.rstrip('/'))}"


# What the tests run on ------------------------------------------------------------------------------------------------

# src/node/ci/work-tree.ts has the same rules, and says why. Here Git runs one process after the other.
STRICT = ["core.fsmonitor=false", "core.untrackedCache=false", "core.checkStat=default", "core.trustctime=true", "core.ignoreCase=false"]
if sys.platform != "win32":
    STRICT += ["core.fileMode=true", "core.symlinks=true"]
LIST = ["ls-files", "-z", "-v", "--stage", "--full-name", "--"]

# src/node/ci/proof-keys.ts has the same limits.
MAX_KEYS, MAX_KEY_CHARACTERS = 20, 1000


def proof_keys(environment):
    """Returns hashes of what else the tests depend on, and a list of errors."""
    texts = [line.strip() for line in environment.get("BALLAST_PROOF_KEYS", "").split("\n") if line.strip()]
    errors = [f"there are {len(texts)} lines in BALLAST_PROOF_KEYS: give at most {MAX_KEYS}"] if len(texts) > MAX_KEYS else []
    for text in texts:
        if len(text) > MAX_KEY_CHARACTERS:
            errors.append(f"a line of BALLAST_PROOF_KEYS has {len(text)} characters: give at most {MAX_KEY_CHARACTERS:,}, such as its hash")
    return [sha256(text) for text in texts], errors


def sha256(text):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def checkout(keys, cwd, paths):
    """Returns the fields of a request that say what the tests of a folder run on."""
    tree, folder, why = read_tree(cwd, dict(os.environ))
    outside = tree and file_outside(paths, cwd, folder)
    why = why or (outside and f"{outside} is outside of the repository")
    all_keys = {*keys, *([sha256(f"folder={folder}")] if folder else [])}
    # A path in an error may not be UTF-8.
    doubt = why and why[:500].encode("utf-8", "replace").decode()
    known = {name: value for name, value in (("tree", tree), ("tree_doubt", doubt)) if value is not None}
    return {**known, "proof_keys": sorted(all_keys)}


def read_tree(cwd, environment, seconds=20):
    """Returns the tree that a folder has checked out, the folder in the repository, and why files may differ from the tree. Without a tree: why."""
    try:
        return read_work_tree(cwd, environment, time.monotonic() + seconds)
    except subprocess.TimeoutExpired:
        return None, "", f"git took longer than {seconds} s"
    # Whatever is wrong with Git, the tests run.
    except Exception as error:
        return None, "", str(error)


def file_outside(paths, cwd, folder):
    """Returns the first path that lies outside of the work tree, or links to a file there."""
    root = os.path.normpath(os.path.join(os.path.realpath(cwd), re.sub("[^/]+", "..", folder)))
    return next((path for path in paths if not os.path.realpath(os.path.join(cwd, path)).startswith(os.path.join(root, ""))), None)


def read_work_tree(cwd, environment, deadline):
    def git(*args, text=""):
        return run_git(cwd, environment, deadline, args, text)

    facts = git("rev-parse", "--is-inside-work-tree", "HEAD^{tree}", "--show-prefix", "--git-path", "info/attributes", "--glob=refs/replace/*")
    lines = facts.rstrip().split("\n")
    is_inside, tree, folder, attributes, *replacements = [*lines, *[""] * (4 - len(lines))]
    if is_inside != "true":
        raise OSError("the folder is in no work tree")
    if not all(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", each) for each in [tree, *replacements]) or "\ufffd" in folder:
        raise OSError("the path of the folder has a line break, or is not UTF-8")
    up = re.sub("[^/]+", "..", folder)
    entries = entries_of(git(*LIST, ":(top)"))
    is_committed = folder == "" or any(path.startswith(folder) for _, _, path in entries)
    why = (
        status_change(git("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames"))
        or mark_change(entries)
        or (None if is_committed else f"no file in {folder} is committed")
        or ("refs/replace has objects that stand for others" if replacements else None)
        or ("info/attributes has attributes that are not committed" if size_of(os.path.join(cwd, attributes)) else None)
        or filter_change(entries_of(git(*LIST, ":(top)", ":(top,exclude,attr:!filter)", ":(top,exclude,attr:-filter)")), cwd, up, git)
        or submodule_change(entries, cwd + "/" + up, without_repository(environment), deadline)
    )
    return tree, folder, why


def entries_of(text):
    """The entries of the index: mark, mode, path."""
    return re.findall(r"(\S) ([0-9]+) [^\t]+\t([^\0]+)\0", text)


def size_of(path):
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


# The files of Ballast that a CI job fetches from its server. No test depends on them.
CLIENT_FILE = re.compile(r"\?\? (.*/)?ballast((-(jest|node-test|playwright|vitest))?\.mjs|_pytest\.py)", re.DOTALL)


def status_change(status):
    entry = next((each for each in status.split("\0") if each and not CLIENT_FILE.fullmatch(each)), None)
    if entry is None:
        return None
    states, path = entry[:2], entry[3:]
    if re.search("U|AA|DD", states):
        return f"{path} has a conflict"
    if re.search("[?A]", states):
        return f"{path} is not committed"
    return f"{path} is {'deleted' if 'D' in states else 'changed'}"


def mark_change(entries):
    for mark, _, path in entries:
        if mark != "H":
            return f"{path} is marked {'skip-worktree: the checkout is sparse' if mark == 'S' else 'assume-unchanged'}"
    return None


def filter_change(entries, cwd, up, git):
    paths = [path for _, mode, path in entries if mode.startswith("100")]
    if not paths:
        return None
    fields = git("check-attr", "-z", "--stdin", "filter", text="".join(f"{up}{path}\0" for path in paths)).split("\0")
    for place, path in enumerate(paths):
        if fields[place * 3 + 2] != "lfs":
            return f"{path} has what a filter made of it"
        with open(f"{cwd}/{up}{path}", "rb") as file:
            if file.read(12) == b"version http":
                return f"{path} is a pointer of Git LFS"
    return None


def submodule_change(entries, top, environment, deadline):
    for path in [path for _, mode, path in entries if mode == "160000"]:
        _, folder, why = read_work_tree(top + path, environment, deadline)
        if folder != "":
            return f"the submodule {path} is not checked out"
        if why is not None:
            return f"in the submodule {path}, {why}"
    return None


def run_git(cwd, environment, deadline, args, text):
    env = {**environment, "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "0"}
    env.pop("GIT_ATTR_SOURCE", None)
    settings = [word for setting in STRICT for word in ("-c", setting)]
    command = ["git", "--no-optional-locks", "--no-replace-objects", *settings, *args]
    timeout = max(0, deadline - time.monotonic())
    run = subprocess.run(command, cwd=cwd, env=env, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    complaint = re.search(r"^(?:fatal|error|warning): (.*)", run.stderr.decode("utf-8", "replace"), re.M)
    if complaint or run.returncode != 0:
        why = complaint[1] if complaint else f"git ended with {run.returncode}"
        raise OSError("there is no commit yet" if "'HEAD^{tree}'" in why else why)
    return run.stdout.decode("utf-8", "replace")


def without_repository(environment):
    return {name: value for name, value in environment.items() if not re.match("GIT_(?!CONFIG|TRACE)", name)}


# Settings -------------------------------------------------------------------------------------------------------------

# Set while a session is active: sessions that its tests start, as those of a plugin do, run all that they collect.
SESSION_VARIABLE = "BALLAST_PYTEST_SESSION"

# Other plugins that run a part of the suite, by the option that says how many parts there are.
OTHER_SPLITTERS = {"splits": "pytest-split", "num_shards": "pytest-shard", "test_group_count": "pytest-test-groups"}


class Token(str):
    """Not shown where pytest prints the variables of a function."""

    def __repr__(self):
        return "'***'"


def is_wanted(option, environment):
    """Returns whether this session is to run a part of the suite."""
    tells_only = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "help", "version", "markers", "cacheshow")
    if environment.get(SESSION_VARIABLE) or any(getattr(option, name, False) for name in tells_only):
        return False
    if option.ballast or environment.get("BALLAST_NODE_TOTAL"):
        return True
    # GitLab sets a total of 1 in every job.
    total = detect("nodeTotal", environment)
    return total is not None and (total != "1" or bool(environment.get("BALLAST_URL")))


def read_settings(option, environment):
    """Returns what to ask for, and where. Raises a usage error of pytest that lists every missing or invalid value."""
    identity, errors = identify(environment)
    url, token = environment.get("BALLAST_URL", "").strip(), environment.get("BALLAST_TOKEN", "").strip()
    retries = environment.get("BALLAST_RETRIES") or "3"
    if not url:
        errors.append("the address of the server is not known: set BALLAST_URL")
    elif not is_server_url(url):
        # A password or a query may be secret.
        shown = re.sub(r"\?.+", "?***", re.sub(r"^(https?://)?.*@", r"\1***@", url, flags=re.S), flags=re.S)
        errors.append(f"BALLAST_URL is {json.dumps(shown)}, which is not a server address: set one such as https://ballast.example.com")
    if not token:
        errors.append("the test-suite token is not known: set BALLAST_TOKEN")
    elif not re.fullmatch(r"[\x21-\x7e]+", token):
        errors.append("BALLAST_TOKEN has characters that no token has: check that it was copied completely and without other text")
    if not re.fullmatch(r"[0-9]{1,6}", retries):
        errors.append(f"BALLAST_RETRIES is {json.dumps(retries)}: it must be a whole number")
    keys, key_errors = proof_keys(environment)
    mutes, mute_errors = read_mutes(os.curdir, datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"))
    errors += key_errors + mute_errors
    for name, plugin in OTHER_SPLITTERS.items():
        if (getattr(option, name, None) or 1) > 1:
            errors.append(f"{plugin} would leave out tests of this node, and no other node would run them: leave out its options")
    if getattr(pytest, "version_tuple", (6,))[0] < 7:
        errors.append(f"this is pytest {pytest.__version__}, and the plugin needs pytest 7 or later")
    if errors:
        hint = "without a split, run pytest with -p no:ballast_pytest"
        raise pytest.UsageError("\n".join(f"ballast: {escape(error)}" for error in [*errors, hint]))
    told = {"links": node_links(environment), "proof_keys": keys, "mutes": mutes}
    return {"url": url, "token": Token(token), "retries": int(retries), "identity": identity, **told, "fallback": option.ballast_fallback}


def is_server_url(text):
    try:
        url = urllib.parse.urlsplit(text)
        url.port  # noqa: B018  (raises ValueError)
    except ValueError:
        return False
    is_plain = url.query == url.fragment == "" and url.username is None and url.password is None
    return url.scheme in ("http", "https") and bool(url.hostname) and is_plain and not re.search(r"[\x00-\x20\x7f-\uffff?#]", text)


# The server -----------------------------------------------------------------------------------------------------------

TIMEOUT_SECONDS = 15
MAX_BYTES = 64 * 2**20
MAX_PAUSE_SECONDS = 30


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would lose the body and could send the token to another server."""

    def redirect_request(self, *_):
        return None


class Reply:
    def __init__(self, status, body, headers):
        self.status, self.body, self.headers = status, body, headers
        try:
            self.json = json.loads(body.decode("utf-8")) if body else None
        except ValueError:
            self.json = None

    def message(self):
        """Returns the errors of a Ballast server, or an excerpt of any other body."""
        errors = self.json.get("errors") if isinstance(self.json, dict) else None
        if isinstance(errors, list) and errors:
            text = "; ".join(each if isinstance(each, str) else json.dumps(each) for each in errors)
            return text if len(text) <= 500 else f"{text[:500]}..."
        return json.dumps(self.body.decode("utf-8", "replace")[:200]) if self.body else "an empty body"


class Api:
    """The client of the HTTP API. It repeats failed requests, follows no redirects and checks every answer."""

    def __init__(self, settings):
        self.base = re.sub(r"/v1$", "", settings["url"].rstrip("/"))
        self.token, self.retries = settings["token"], settings["retries"]
        context = ssl.create_default_context() if self.base.startswith("https:") else None
        handlers = [NoRedirects, *([urllib.request.HTTPSHandler(context=context)] if context else [])]
        self.opener = urllib.request.build_opener(*handlers)

    def post(self, path, message, parse, retries=None):
        """Returns what `parse` makes of the answer. Raises Unreachable, or Refused if `parse` returns None."""
        return self.send("POST", path, message, parse, retries)

    def get(self, path, parse):
        return self.send("GET", path, None, parse)

    def send(self, method, path, message, parse, retries=None):
        target = self.base + path
        retries = self.retries if retries is None else retries
        for count in range(retries + 1):
            reply, reason = self.attempt(method, target, message, count)
            if reason is None:
                return checked(f"{method} {target}", reply, parse)
            if count < retries:
                after = reply.headers.get("Retry-After", "") if reply else ""
                time.sleep(min(MAX_PAUSE_SECONDS, int(after) if re.fullmatch(r"[0-9]{1,6}", after) else 2**count))
        times = f", {retries + 1} times" if retries > 0 else ""
        raise Unreachable(f"no answer from {method} {target}{times} ({reason})")

    def attempt(self, method, target, message, count):
        """Returns the reply, and why it does not count as an answer, or None."""
        headers = {
            "Content-Type": "application/json",
            # A cached answer would be mistaken for the current state of the build.
            "Cache-Control": "no-cache",
            "SERVICE-TEST-SUITE-TOKEN": self.token,
            "KNAPSACK-PRO-TEST-SUITE-TOKEN": self.token,
            "SERVICE-CLIENT-NAME": "ballast-pytest",
            "SERVICE-CLIENT-VERSION": VERSION,
            "X-Retry-Count": str(count),
        }
        request = urllib.request.Request(target, message and json.dumps(message).encode(), headers, method=method)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        try:
            try:
                response = self.opener.open(request, timeout=TIMEOUT_SECONDS)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                reply = Reply(response.code, read(response, deadline), response.headers)
        except (OSError, http.client.HTTPException) as error:
            return None, network_failure(error)
        # 408 and 429: the server did not process the request.
        if reply.status >= 500 or reply.status in (408, 429):
            return reply, f"it answered {reply.status}: {reply.message()}"
        return reply, None


def read(response, deadline):
    chunks, size = [], 0
    while True:
        chunk = response.read1(65536)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise Failure(f"the server sent more than {MAX_BYTES} bytes, more than Ballast ever sends: set BALLAST_URL to a Ballast server")
        if time.monotonic() > deadline:
            raise TimeoutError(f"the answer was not complete after {TIMEOUT_SECONDS} s")
    expected = response.headers.get("Content-Length")
    if expected is not None and expected.isdigit() and size < int(expected):
        raise http.client.IncompleteRead(b"".join(chunks), int(expected) - size)
    return b"".join(chunks)


def checked(request, reply, parse):
    accepted = parse(reply)
    if accepted is not None:
        return accepted
    status, location = reply.status, reply.headers.get("Location")
    if status >= 400:
        raise Refused(f"{request} was refused with {status}: {reply.message()}", status)
    if status >= 300 and location is not None:
        raise Refused(f"{request} was answered with {status}, a redirect to {location[:500]}: set BALLAST_URL to that address", status)
    raise Refused(
        f"{request} was not answered by a server of Ballast's protocol: status {status}, {reply.message()}; "
        "set BALLAST_URL to the address of the server itself, not of a proxy that answers for it",
        status,
    )


def network_failure(error):
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    text = " ".join(str(cause).split()) or type(cause).__name__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"{text}: set SSL_CERT_FILE to a file of certificates to trust"
    return text


def split_parser(node_index, digest):
    """Accepts the files of a node, unless the split was made from another list."""

    def is_planned(file):
        if not isinstance(file, dict) or "time_execution" not in file:
            return False
        path, seconds = file.get("path"), file["time_execution"]
        is_time = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and math.isfinite(seconds) and seconds >= 0
        return isinstance(path, str) and path != "" and (seconds is None or is_time)

    def parse(reply):
        body = reply.json
        if reply.status != 200 or not isinstance(body, dict) or "code" in body:
            return None
        name, index, files = body.get("build_distribution_id"), body.get("node_index"), body.get("test_files")
        is_split = isinstance(name, str) and name != "" and isinstance(files, list) and all(map(is_planned, files))
        is_of_node = index == node_index and not isinstance(index, bool) and body.get("test_files_digest") == digest
        return body if is_split and is_of_node else None

    return parse


def split_or_miss_parser(node_index, digest):
    """For a request without the list of test files. A miss has a code."""
    parse_split = split_parser(node_index, digest)

    def parse(reply):
        body = reply.json
        is_miss = isinstance(body, dict) and body.get("code") == "TEST_SUITE_SPLIT_CACHE_MISS" and "test_files" not in body
        return body if reply.status == 200 and is_miss else parse_split(reply)

    return parse


def parse_recording(reply):
    """Returns whether the server stored the run, and its message."""
    message = reply.json.get("message") if isinstance(reply.json, dict) else None
    message = message if isinstance(message, str) else None
    if reply.status == 201 and (not reply.body or message is not None):
        return True, message
    return (False, message) if reply.status == 202 and message else None


def no_tests_parser(about):
    """Returns whether no test ran in any file of the CI run. Refuses an answer about another request."""

    def parse(reply):
        body = reply.json if reply.status in (200, 409) and isinstance(reply.json, dict) else {}
        answered, no_test_ran, counts = body.get("about"), body.get("no_test_ran"), (body.get("recorded"), body.get("test_files"))
        is_about = isinstance(answered, dict) and all(str(answered.get(name)) == str(value) for name, value in about.items())
        if not is_about or not isinstance(no_test_ran, bool) or not all(isinstance(count, int) for count in counts):
            return None
        return no_test_ran and counts[0] >= counts[1]

    return parse


def digest_of(paths):
    """The SHA-256, in hex, of the paths, sorted by UTF-16 code units, with a NUL after each."""
    return hashlib.sha256("".join(f"{path}\0" for path in sorted(paths, key=lambda path: path.encode("utf-16-be"))).encode()).hexdigest()


def split_request(settings, digest):
    return {**settings["identity"], "fixed_test_suite_split": True, "test_files_digest": digest}


def ask_for_part(settings, paths, told):
    """Returns the id of the split, and the files of this node with their expected seconds, slowest first."""
    api, index, digest = Api(settings), settings["identity"]["node_index"], digest_of(paths)
    message = split_request(settings, digest)

    def post(parse, **fields):
        return api.post("/v1/build_distributions/subset", {**message, **told, **fields}, parse)

    def send_list():
        return post(split_parser(index, digest), cache_read_attempt=False, test_files=[{"path": path} for path in paths])

    try:
        answer = post(split_or_miss_parser(index, digest), cache_read_attempt=True)
        if "code" in answer:
            try:
                answer = send_list()
            except Refused as error:
                if error.status != 409:
                    raise
                # Another node has just sent another list. The second answer names the difference.
                answer = send_list()
    except Refused as error:
        if error.status == 409:
            raise Failure(str(error), code=4) from error
        raise
    part = [[file["path"], file["time_execution"]] for file in answer["test_files"]]
    listed = set(paths)
    unlisted = [path for path, _ in part if path not in listed]
    if unlisted:
        raise Failure(
            f"the split of this CI run has {count_of(unlisted, 'test file')} that this node does not collect ({abbreviate(unlisted)}); "
            f"this node collects {count_of(paths, 'test file')} ({abbreviate(paths)}): "
            "give all nodes of a suite the same tests, and each suite a project of its own",
            code=4,
        )
    return answer["build_distribution_id"], part


# Collection -----------------------------------------------------------------------------------------------------------

# A package is a file in pytest 7, and a folder from 8 on.
FOLDERS = (pytest.Session, pytest.Package, getattr(pytest, "Directory", pytest.Package))


class Collection:
    """Lists the test files without importing them, asks for the part of this node, and collects only that. Runs in each worker of xdist."""

    def __init__(self, config, settings):
        self.config, self.settings = config, settings
        self.plan = None
        self.part = {}
        # Of folders, made while the files were listed.
        self.reports = {}
        self.unlisted = []
        # By file: its distinct tests, the seconds of its import.
        self.counts, self.seconds = {}, {}
        self.failed = set()
        self.names = {}
        # True if a report has the plan.
        self.is_told = False

    def file_of(self, node):
        """Returns the path of the file that a test or a collector belongs to, relative to the current folder, with slashes."""
        top = next(each for each in node.listchain() if not isinstance(each, FOLDERS))
        path = str(top.path)
        if path not in self.names:
            self.names[path] = os.path.relpath(path, str(self.config.invocation_params.dir)).replace(os.sep, "/")
        return self.names[path]

    def walk(self, nodes):
        for node in nodes:
            if isinstance(node, FOLDERS):
                report = self.reports[node] = node.ihook.pytest_make_collect_report(collector=node)
                if report.passed:
                    yield from self.walk(report.result)
                elif report.failed:
                    self.unlisted.append(node.nodeid)
            else:
                yield node

    def pytest_collectreport(self, report):
        # The session is collected first: the report has what its arguments name, and no file was imported yet.
        if self.plan is None and report.nodeid == "" and report.passed:
            paths = sorted({self.file_of(node) for node in self.walk(report.result)})
            self.plan = self.make_plan(paths)
            self.part = {path: place for place, (path, _) in enumerate(self.plan["part"])}

    def make_plan(self, paths):
        """Returns what the process that records must know, as plain data: a worker of xdist sends it."""
        plan = {"listed": len(paths), "digest": None, "split": None, "told": {}, "part": [], "error": None, "warnings": []}
        try:
            misnamed = [path for path in paths if path != path.encode("utf-8", "replace").decode()]
            if self.unlisted:
                raise Failure(f"the list of test files is not known, because {abbreviate(self.unlisted)} could not be collected")
            if misnamed:
                raise Failure(f"the names of these test files are not UTF-8: {abbreviate(map(ascii, misnamed))}; rename them", code=4)
            if paths:
                plan["digest"] = digest_of(paths)
                folder = str(self.config.invocation_params.dir)
                plan["told"] = {**self.settings["links"], **checkout(self.settings["proof_keys"], folder, paths)}
                plan["split"], plan["part"] = ask_for_part(self.settings, paths, plan["told"])
        except Unreachable as error:
            if not self.settings["fallback"]:
                advice = "no test was run. Run this node again when the server answers, or give --ballast-fallback to run every test file"
                return {**plan, "error": [error.code, f"{error}; {advice}"]}
            all_files = "the only test file" if len(paths) == 1 else f"all {len(paths)} test files"
            plan["warnings"] = [
                f"{error}.",
                f"--ballast-fallback: this node runs {all_files}, because it cannot know what other nodes run.",
            ]
            plan["part"] = [[path, None] for path in paths]
        except Failure as error:
            plan["error"] = [error.code, str(error)]
        return plan

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if self.plan is None:
            return None
        if isinstance(collector, FOLDERS):
            return self.reports.pop(collector, None)
        if self.file_of(collector) not in self.part:
            return pytest.CollectReport(collector.nodeid, "passed", None, [])
        return None

    @pytest.hookimpl(specname="pytest_make_collect_report", hookwrapper=True)
    def pytest_measure_collect_report(self, collector):
        start = time.perf_counter()
        outcome = yield
        if isinstance(collector, FOLDERS):
            return
        path = self.file_of(collector)
        self.seconds[path] = self.seconds.get(path, 0) + time.perf_counter() - start
        if outcome.get_result().failed:
            self.failed.add(path)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        # Files that the arguments name with a test in them are imported while they are listed.
        others = [item for item in items if self.file_of(item) not in self.part]
        if others:
            self.config.hook.pytest_deselected(items=others)
        items[:] = sorted((item for item in items if self.file_of(item) in self.part), key=lambda item: self.part[self.file_of(item)])

    def pytest_collection_finish(self, session):
        tests = {}
        for item in session.items:
            tests.setdefault(self.file_of(item), set()).add(item.nodeid)
        self.counts = {path: len(ids) for path, ids in tests.items()}
        if self.plan is not None:
            self.plan["failed"] = [path for path in self.part if path in self.failed]
            self.plan["empty"] = [path for path in self.part if path not in self.counts and path not in self.failed and path in self.seconds]

    def pytest_report_collectionfinish(self):
        if self.plan is None or self.plan["error"]:
            return None
        return f"ballast: {describe_part(self.plan)}"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item):
        outcome = yield
        path = self.file_of(item)
        # Reports are what reaches the controller of xdist, even if a worker dies.
        outcome.get_result().ballast_file = [path, self.counts.get(path, 0), self.seconds.get(path, 0)]
        # The controller ends its workers at a signal, and gets no other message of them.
        if hasattr(self.config, "workeroutput") and not self.is_told:
            outcome.get_result().ballast_plan, self.is_told = self.plan, True

    def pytest_sessionfinish(self):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["ballast"] = self.plan


def describe_part(plan):
    seconds = [expected for _, expected in plan["part"] if expected is not None]
    measured = f", expected to take {sum(seconds):.1f} s" if seconds else ""
    return f"this node runs {len(plan['part'])} of {count_of(plan['listed'], 'test file')}{measured}"


# Muted failures -------------------------------------------------------------------------------------------------------

# The same rules are in mutes.ts.
MUTES_FILE = ".ballast/muted"
MUTES_BYTES, MOST_MUTES = 65536, 200
MUTE = re.compile(r"(.+?)(?:\s+until=(\S*))?(?:\s+owner=(.*?))?(?:\s+reason=(.*))?")
MUTE_FORM = "write PATH until=YYYY-MM-DD owner=WHO reason=WHY, or PATH::CASE in the place of PATH"


def read_mutes(folder, today):
    """Returns what the repository mutes, each with its line and why, and a list of errors."""
    try:
        with open(os.path.join(folder, MUTES_FILE), "rb") as file:
            data = file.read(MUTES_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        return {}, [f"cannot read {MUTES_FILE}: {error}"]
    if len(data) > MUTES_BYTES:
        return {}, [f"{MUTES_FILE} has more than {MUTES_BYTES} bytes: fix tests, and remove their lines"]
    mutes, errors = {}, []
    for number, content in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        if not content.strip() or content.strip().startswith("#"):
            continue
        name, until, owner, reason = (text or "" for text in MUTE.fullmatch(content.strip()).groups())
        fault = fault_of(name, until, owner, reason, today)
        if fault is None and name in mutes:
            fault = f"is muted by line {mutes[name]['line']}, too: keep one of the lines"
        if fault is not None:
            errors.append(f"{MUTES_FILE}:{number}: {json.dumps(name, ensure_ascii=False)} {fault}")
        mutes.setdefault(name, {"line": number, "text": f"{MUTES_FILE}:{number}, until {until}, {owner}: {reason}"})
    if len(mutes) > MOST_MUTES:
        errors.append(f"{MUTES_FILE} mutes {len(mutes)} failures, and the limit is {MOST_MUTES}: fix tests, and remove their lines")
    return mutes, errors


def fault_of(name, until, owner, reason, today):
    path, colons, case = name.partition("::")
    if not path or (colons and not case):
        return f"lacks its {'test case' if path else 'path'}: {MUTE_FORM}"
    if not until:
        return f"has no last day: {MUTE_FORM}"
    try:
        is_day = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", until) and datetime.date.fromisoformat(until)
    except ValueError:
        is_day = None
    if not is_day:
        return f"has until={until}, which is not a day: {MUTE_FORM}"
    if not owner or not reason:
        return f"has no {'reason' if owner else 'owner'}: {MUTE_FORM}"
    if until < today:
        return f"expired: its last day was {until}, and today is {today} in UTC; let {owner} fix the test and remove the line, or have a later day reviewed"
    return None


def names_of(path, nodeid):
    """The names in a mute that are those of a test: path::name, path::Class::name."""
    head, bracket, parameters = nodeid.partition("::")[2].partition("[")
    scopes = head.split("::")
    scopes[-1] += bracket + parameters
    return {f"{path}::{'::'.join(scopes[place:])}" for place in range(len(scopes))}


# Results --------------------------------------------------------------------------------------------------------------

# 0 would mean that the file was not measured.
MIN_SECONDS = 0.001


class FileRun:
    """What the reports tell about the tests of a file."""

    def __init__(self):
        self.tests = self.import_seconds = self.seconds = 0
        self.finished = set()
        self.has_run = self.has_failed = self.is_flaky = False
        # The ids of the tests that failed.
        self.failures = set()

    @property
    def outcome(self):
        return {"outcome": "failed"} if self.has_failed else {"outcome": "flaky"} if self.is_flaky else {}


class Results:
    """Adds up the times of the files, records them at the end, and says what may be lost. Runs once, in the controller of xdist."""

    def __init__(self, config, settings, collection):
        self.config, self.settings, self.collection = config, settings, collection
        self.runs = {}
        self.workers = 1
        # What the workers of xdist planned.
        self.plans = []
        # A test failed whose file is not known.
        self.has_other_failure = False
        # As pytest counts them. A plugin may count more, such as too little coverage.
        self.failures = 0
        self.lines = []

    def pytest_report_header(self):
        identity = self.settings["identity"]
        return escape(
            f"ballast: node {identity['node_index']} of {identity['node_total']} (from 0), CI run {identity['ci_build_id']}, {self.settings['url']}"
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        self.workers = node.workerinput["workercount"]
        # Workers may be on other machines, with other variables.
        node.workerinput["ballast"] = {**self.settings, "token": str(self.settings["token"])}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        plan = getattr(node, "workeroutput", {}).get("ballast")
        if plan is not None:
            self.plans.append(plan)

    def pytest_collectreport(self, report):
        self.failures += report.failed

    def pytest_runtest_logreport(self, report):
        self.failures += report.failed
        if hasattr(report, "ballast_plan"):
            self.plans.append(report.ballast_plan)
        if not hasattr(report, "ballast_file"):
            self.has_other_failure = self.has_other_failure or report.failed
            return
        path, tests, import_seconds = report.ballast_file
        run = self.runs.setdefault(path, FileRun())
        run.has_failed = run.has_failed or report.failed
        if report.failed:
            run.failures.add(report.nodeid)
        # Of pytest-rerunfailures, for an attempt before the last.
        run.is_flaky = run.is_flaky or report.outcome == "rerun"
        # The report of a subtest has a context. Its time is in that of its test.
        if hasattr(report, "context"):
            return
        run.tests, run.import_seconds = tests, max(run.import_seconds, import_seconds)
        run.seconds += report.duration
        # A test that is skipped before its call has not run.
        run.has_run = run.has_run or report.when == "call" or report.failed
        if report.when == "teardown":
            run.finished.add(report.nodeid)

    def pytest_sessionfinish(self, session):
        try:
            self.finish(session)
        except Failure as error:
            self.fail(session, error.code, str(error))
        guard.is_finished = True

    def finish(self, session):
        plans = self.plans if self.collection is None else [self.collection.plan]
        plan = plans[0] if plans else None
        if plan is None:
            # A collection that failed or was interrupted is red by itself.
            raise Failure("no test file of this node is known, so nothing was recorded")
        for warning in plan["warnings"]:
            self.lines.append((f"WARNING: {warning}", "yellow"))
        error = next((each["error"] for each in plans if each["error"]), None)
        if error:
            raise Failure(error[1], error[0])
        if len({each["split"] for each in plans}) > 1:
            raise Failure(f"the workers of xdist got parts of different splits: {LOST}")
        if not plan["part"]:
            if plan["listed"] > 0 and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
                self.lines.append((f"there are more nodes than test files ({plan['listed']}): nothing is left for this node", None))
                session.exitstatus = pytest.ExitCode.OK
            return
        self.report(session, plan)

    def report(self, session, plan):
        recorded, unfinished = [], []
        for path, _ in plan["part"]:
            file = self.recorded_file(path, plan)
            if file is None:
                unfinished.append(path)
            else:
                recorded.append(file)
        is_green = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        is_interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        is_explained = is_green or is_interrupted or any(file.get("outcome") == "failed" for file in recorded)
        if self.has_other_failure or not is_explained:
            recorded = [{**file, "outcome": "failed"} for file in recorded]
        muted = set()
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and session.testsfailed == self.failures and not self.has_other_failure:
            muted = {file["path"] for file in recorded if file.get("outcome") == "failed" and self.is_muted(file["path"], plan)}
            recorded = [{**file, "ran": True, "outcome": "muted"} if file["path"] in muted else file for file in recorded]
        has_no_test = is_green and recorded != [] and all(file.get("no_test") for file in recorded)
        try:
            if recorded:
                self.record(session, recorded)
            if plan["split"] is not None and session.exitstatus != pytest.ExitCode.INTERRUPTED:
                self.assert_split_exists(plan)
                has_no_test = has_no_test and self.is_whole_run_without_tests()
        except Unreachable as error:
            if not self.settings["fallback"]:
                raise
            # What ran on other nodes is not known.
            has_no_test = has_no_test and plan["split"] is None
            self.lines.append((f"WARNING: the times are not recorded: {error}", "yellow"))
        if muted:
            why = [f"{path} ({'; '.join(each['text'] for name, each in self.settings['mutes'].items() if name.split('::')[0] == path)})" for path in sorted(muted)]
            self.lines.append((f"{count_of(muted, 'muted failure')}: {abbreviate(why)}", "yellow"))
        if unfinished:
            text = f"{count_of(unfinished, 'test file')} of this node did not run to the end, and {'was' if len(unfinished) == 1 else 'were'} not recorded: {abbreviate(unfinished)}"
            self.fail(session, pytest.ExitCode.TESTS_FAILED, text)
        elif has_no_test:
            code = session.exitstatus or pytest.ExitCode.TESTS_FAILED
            files = "the only test file" if len(plan["part"]) == 1 else f"any of the {len(plan['part'])} test files"
            self.fail(session, code, f"no test ran in {files} of this node, nor in any other of this CI run")
        elif muted and not any(file.get("outcome") == "failed" for file in recorded):
            session.exitstatus = pytest.ExitCode.OK
        elif session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            self.lines.append((f"no test was selected in the {count_of(plan['part'], 'test file')} of this node", None))
            session.exitstatus = pytest.ExitCode.OK

    def is_muted(self, path, plan):
        """Returns whether the repository mutes each failure of a file. A file that could not be imported has no tests that are known."""
        mutes = self.settings["mutes"]
        failures = self.runs[path].failures if path in self.runs and path not in plan.get("failed", []) else set()
        return path in mutes or (failures and all(not names_of(path, nodeid).isdisjoint(mutes) for nodeid in failures))

    def recorded_file(self, path, plan):
        """Returns what to record for a file; None: it did not run to the end."""
        run = self.runs.get(path)
        if path in plan.get("failed", []):
            return {"path": path, "time_execution": 0, "outcome": "failed"}
        if path in plan.get("empty", []) or (run and not run.has_run and len(run.finished) >= run.tests):
            return {"path": path, "time_execution": 0, "ran": True, "no_test": True, "outcome": "skipped"}
        if run is None or len(run.finished) < run.tests:
            return None
        # The sum of the work: every worker imports the file.
        return {"path": path, "time_execution": max(MIN_SECONDS, run.seconds + run.import_seconds * self.workers), **run.outcome}

    def record(self, session, files):
        # After an interrupt the CI system may not wait.
        retries = 0 if session.exitstatus == pytest.ExitCode.INTERRUPTED else None
        identity = self.settings["identity"]
        try:
            is_stored, message = Api(self.settings).post("/v1/build_subsets", {**identity, "test_files": files, "tells_outcomes": True}, parse_recording, retries)
        except Unreachable as error:
            raise Unreachable(f"{error}; the times of {count_of(files, 'test file')} are not recorded") from error
        if message:
            self.lines.append((message, None))
        if is_stored:
            seconds = sum(file["time_execution"] for file in files)
            node = f"node {identity['node_index']} of {identity['node_total']}"
            self.lines.append((f"recorded {count_of(files, 'test file')}, {seconds:.1f} s, as {node}", None))

    def assert_split_exists(self, plan):
        # A request without what the node told would count as one of another process.
        message = {**split_request(self.settings, plan["digest"]), **plan["told"], "cache_read_attempt": True}
        parse = split_or_miss_parser(message["node_index"], plan["digest"])
        answer = Api(self.settings).post("/v1/build_distributions/subset", message, parse)
        if answer.get("build_distribution_id") != plan["split"]:
            raise Failure(f"the server no longer has the split that this node ran a part of ({plan['split']}): {LOST}")

    def is_whole_run_without_tests(self):
        """Returns whether all files of the CI run are recorded, and no test ran in any. The node that records last finds that out."""
        identity = self.settings["identity"]
        names = ("commit_hash", "branch", "node_total", "ci_build_id")
        about = {**{name: identity[name] for name in names}, "request_id": os.urandom(16).hex()}
        return Api(self.settings).get(f"/v1/builds/completeness?{urllib.parse.urlencode(about)}", no_tests_parser(about))

    def fail(self, session, code, text):
        self.lines.append((f"ERROR: {text}", "red"))
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = code

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter):
        lines, self.lines = self.lines, []
        if lines:
            terminalreporter.write_sep("=", "ballast")
        for text, colour in lines:
            terminalreporter.write_line(f"ballast: {escape(text)}", **({colour: True} if colour else {}))

    def pytest_unconfigure(self):
        # With --no-summary, or without the terminal's plugin.
        for text, _ in self.lines:
            sys.stderr.write(f"ballast: {escape(text)}\n")
        self.lines = []


LOST = (
    "its data was lost or restored. Other nodes got parts of another split, so some test files may not have run: "
    "run all nodes of this CI run again"
)

# Early ends -----------------------------------------------------------------------------------------------------------


class ExitGuard:
    """Makes pytest end with 1 instead of 0 before its session has ended: a conftest.py, a test, or the code under test may end it."""

    def __init__(self, config):
        self.config, self.is_finished = config, False
        self.exit, self.pid = os._exit, os.getpid()
        os._exit = self.exit_process

    def exit_process(self, status):
        """Replaces os._exit, which runs no hook. Processes that tests fork may end so."""
        self.exit(self.judged(status, "os._exit(0)") if os.getpid() == self.pid else status)

    def judged(self, status, call):
        """Returns the exit code to end with."""
        if status != pytest.ExitCode.OK or self.is_finished:
            return status
        capture = self.config.pluginmanager.get_plugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture()
        sys.stderr.write(
            f"ballast: ERROR: a call of {call} ended pytest early, and nothing was recorded: this node fails; "
            "remove the call from the conftest.py files, the tests or the code under test\n"
        )
        sys.stderr.flush()
        return int(pytest.ExitCode.TESTS_FAILED)

    def judge(self, outcome):
        """Judges the outcome of a hook."""
        error = outcome.excinfo[1] if outcome.excinfo else None
        if isinstance(error, SystemExit):
            error.code = self.judged(error.code or 0, "sys.exit(0)")
        elif error is None and outcome.get_result() == pytest.ExitCode.OK:
            outcome.force_result(self.judged(pytest.ExitCode.OK, "pytest.exit with the exit code 0"))

    def end(self):
        if os._exit == self.exit_process:
            os._exit = self.exit


# Of the session that runs a part of the suite. Its tests may start others in this process.
guard = None


def watch(config):
    global guard
    if guard is None or guard.config is not config:
        guard = ExitGuard(config)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if is_wanted(early_config.known_args_namespace, os.environ):
        watch(early_config)
    outcome = yield
    if guard is not None and guard.config is early_config:
        guard.judge(outcome)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config):
    outcome = yield
    if guard is not None and guard.config is config:
        guard.judge(outcome)


# The plugin -----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser):
    group = parser.getgroup("ballast", "Ballast: run the part of this node, and record the times")
    group.addoption("--ballast", action="store_true", help="be active even if the number of nodes is not known: what is missing is an error")
    group.addoption(
        "--ballast-fallback", action="store_true", help="when the server cannot be reached, run all test files (default: run none and fail)"
    )


def pytest_configure(config):
    worker_input = getattr(config, "workerinput", None)
    if worker_input is not None:
        settings = worker_input.get("ballast")
        if settings is not None:
            settings["token"] = Token(settings["token"])
            config.pluginmanager.register(Collection(config, settings), "ballast_collection")
        return
    if not is_wanted(config.option, os.environ):
        return
    settings = read_settings(config.option, os.environ)
    # A conftest.py may load the plugin.
    watch(config)
    # As pytest-xdist decides: it runs the tests itself where no worker is asked for, whatever --dist says.
    is_controller = getattr(config.option, "dist", "no") != "no" and bool(config.option.tx)
    collection = None if is_controller else Collection(config, settings)
    if collection is not None:
        config.pluginmanager.register(collection, "ballast_collection")
    config.pluginmanager.register(Results(config, settings, collection), "ballast_results")
    os.environ[SESSION_VARIABLE] = str(os.getpid())
    for number in END_SIGNALS:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, interrupt)


# Windows has no SIGHUP. Python itself handles SIGINT.
END_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def interrupt(number, _frame):
    """Ends pytest as at SIGINT, so that it records what has run. A second signal ends it at once."""
    signal.signal(number, signal.SIG_DFL)
    # A process that a test started by fork has this handler, too.
    if os.environ.get(SESSION_VARIABLE) != str(os.getpid()):
        os.kill(os.getpid(), number)
    raise KeyboardInterrupt


def pytest_unconfigure(config):
    if config.pluginmanager.has_plugin("ballast_results"):
        for number in END_SIGNALS:
            if signal.getsignal(number) is interrupt:
                signal.signal(number, signal.SIG_DFL)
        os.environ.pop(SESSION_VARIABLE, None)
        guard.end()


def pytest_report_header(config):
    is_active = config.pluginmanager.has_plugin("ballast_results")
    if is_active or not os.environ.get("BALLAST_URL") or detect("nodeTotal", os.environ) or os.environ.get(SESSION_VARIABLE):
        return None
    return "ballast: not active, because the number of nodes is not known: set BALLAST_NODE_TOTAL"


def count_of(items, noun):
    count = items if isinstance(items, int) else len(items)
    return f"{count} {noun}{'' if count == 1 else 's'}"


def abbreviate(texts, most=5):
    texts = list(texts)
    shown = ", ".join(texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown


def escape(text):
    """Escapes what a terminal obeys or hides: paths and messages of servers may have it."""
    return "".join(each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text)
