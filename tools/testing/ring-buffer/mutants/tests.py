# SPDX-License-Identifier: GPL-2.0
"""The tests that mutants are given to: how long each takes, and which functions it enters."""

import concurrent.futures
import glob
import hashlib
import json
import os
import re
import sys

from build import HERE, OTHERS, OUT, RING, ROOT, TOP, Hung, run

SUITE = os.path.join(ROOT, "suite/ftrace/test.d")
CACHE = os.path.join(OUT, "entered")
# The long scenarios of the native harness look at the write path; these at all the rest.
WRITES = ("write.c", "ring.c", "record.h", "subbuf.h", "quiesce.c", "internal.h")
RATHER_SHORT = ("remote.", "swap.", "cut.", "cut_all.", "global.", "storm.", "reader.c", "reader.i", "reader.map", "pair.")

# These prove figures, which takes many minutes in a guest.
NO_GUEST = ("instances/many.tc", "instances/churn.tc", "instances/cost.tc")
# The folder of .tc files for each folder of the source.
FOLDER = {"ring_buffer": "ring_buffer", "snapshot": "snapshot", "instance": "instances", "channel": "channels",
          "dat": "dat", "proc_view": "proc_view", "perf_sample": "perf_events", "stop": "stop"}
QUICK_SECONDS = 2


class Tests:
    """All tests; a mutant is given to those that enter its function: to those that have found another one
    there, and then to the others, the fastest ones first.

    known: {kind: {test: [seconds, functions that it enters, hash of its source and of all that it tests]}};
    kinds are asan, native, units, files
    """

    def __init__(self, asan, native, kernel, jobs, quick):
        self.asan, self.native, self.kernel, self.jobs, self.quick = asan, native, kernel, jobs, quick
        self.found = {}     # {function: tests that have found a mutant there, the last one first}
        self.known = json.load(open(CACHE)) if os.path.exists(CACHE) else {}
        sources = hash_of(sorted([*kernel.files, *glob.glob("kernel/trace/*.*")]))
        harness = sources + hash_of(sorted([*glob.glob(os.path.join(HERE, "tests/*.[ch]")),
                                            *glob.glob(RING + "tests/*.[ch]")]))
        rest = any(not m.path.startswith(RING) for m in kernel.wanted.values())
        files = sorted(os.path.relpath(p, SUITE) for kind in (FOLDER.values() if rest else [FOLDER["ring_buffer"]])
                       for p in glob.glob(os.path.join(SUITE, kind, "*.tc")))
        if native:
            unit = asan.list("-t", "unit.")     # and kunit.*
            self.look("asan", {n: harness for n in unit}, asan.entered)
            self.look("native", {n: harness for n in native.list("-q") if n not in unit}, native.entered)
        self.look("units", {s: sources + what for s, what in suites().items()}, self.entered_by_units)
        self.look("files", {f: sources + hash_of([os.path.join(SUITE, f)]) for f in files}, self.entered_by_file)

    def look(self, kind, hashes, look):
        """Run those that are new or have changed; one that does not pass is none."""
        def timed(name):
            entered = look(name)
            return name, run.last.seconds, entered

        last = self.known.get(kind, {})
        known = {name: last[name] for name, what in hashes.items() if name in last and
                 (last[name][2] == what or
                  self.quick and kind == "native" and last[name][0] > QUICK_SECONDS)}
        new = [name for name in hashes if name not in known]
        if new:
            print(f"-- looking which functions {len(new)} tests enter ({kind})", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for name, seconds, entered in pool.map(timed, new):
                known[name] = [seconds, entered, hashes[name]]
        self.known[kind] = known
        with open(CACHE, "w") as f:     # with what this run does not need
            json.dump({**self.known, kind: {**last, **known}}, f, indent=1)

    def entered_by_units(self, suite):
        _, lines, name = self.kernel.boot_units(-1, suite)
        if name or not any("reboot: Power down" in line for line in lines):
            sys.exit(f"not ok: {suite} fails ({name}), and nothing is broken")
        return self.kernel.entered(lines)

    def entered_by_file(self, file):
        """None of them if it does not pass there, such as for want of hardware."""
        _, lines, _ = self.kernel.boot_files(-1, [file], r"^um-init: (done)")
        if not re.search(r"^\[1\] .*\[PASS\]", "\n".join(lines), re.M):
            print(f"-- {file} does not pass in the user-mode kernel", flush=True)
            return []
        return self.kernel.entered(lines)

    def those(self, kind, function):
        """The tests that enter the function, the fastest ones first."""
        return [name for name, (seconds, entered, _) in sorted(self.known.get(kind, {}).items(), key=lambda t: t[1][0])
                if function in entered and not (self.quick and seconds > QUICK_SECONDS)]

    def given(self, path, function):
        """(kind, name) of the tests for a mutant there, in their order."""
        where = f"{path}:{function}"
        ring, writes = path.startswith(RING), os.path.basename(path) in WRITES
        tests = [(kind, name) for kind in ("asan", "units", "native", "files") for name in self.those(kind, where)
                 if not (kind == "native" and not writes and not name.startswith(RATHER_SHORT))
                 and not (kind == "files" and (writes or not of_folder(name, ring)))]
        found = self.found.get(where, [])
        return found + [test for test in tests if test not in found]

    def first_failure(self, number, path, function):
        """The failure with that mutant, or None; 0 is the source as it is."""
        run_one = {"asan": self.asan and self.asan.test, "native": self.native and self.native.test,
                   "units": self.kernel.test_units, "files": lambda number, name: self.kernel.test_files(number, [name])}
        try:
            for test in self.given(path, function):
                wrong = run_one[test[0]](number, test[1])
                if wrong:
                    where = f"{path}:{function}"
                    self.found[where] = [test] + [t for t in self.found.get(where, []) if t != test]
                    return wrong
            return None
        except Hung:
            return "a test that waits for ever"

    def of_guest(self, path, function):
        """.tc files for the mutant in a guest: those that enter its function, or do not pass with one CPU."""
        folder = FOLDER.get(os.path.basename(os.path.dirname(path)), "no folder") + "/"
        return [f for f, (_, entered, _) in sorted(self.known["files"].items())
                if f not in NO_GUEST and of_folder(f, path.startswith(RING)) and
                (f"{path}:{function}" in entered or (not entered and f.startswith(folder)))]


def of_folder(file, ring):
    """Is the .tc file for such a mutant? Those of the ring buffer have enough with its own."""
    return not ring or file.startswith(FOLDER["ring_buffer"] + "/")


def hash_of(paths):
    return hashlib.md5(b"".join(open(p, "rb").read() for p in paths)).hexdigest()


def suites():
    """{suite of unit tests: hash of its source}."""
    found = {}
    for path in (p for folder in (RING, *OTHERS) for p in glob.glob(os.path.join(TOP, folder, "tests/*.c"))):
        names = re.findall(r'struct kunit_suite \w+ = \{[^}]*?\.name\s*=\s*"([^"]+)"', open(path).read())
        names += ["ring_buffer_" + name for name in re.findall(r"^RBT_SUITE\((\w+)\)", open(path).read(), re.M)]
        found.update((name, hash_of([path])) for name in names)
    return found
