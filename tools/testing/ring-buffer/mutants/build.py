# SPDX-License-Identifier: GPL-2.0
"""Builds of the sources with all mutants in them, of which a number chooses one."""

import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import source

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.abspath(os.path.join(HERE, "../../.."))
RING = "kernel/trace/ring_buffer/"
OTHERS = tuple(f"kernel/trace/{name}/" for name in ("snapshot", "instance", "channel", "dat", "proc_view",
                                                    "perf_sample", "stop", "recorder"))
OUT = os.path.join(TOP, "build/mutants")
ROOT = os.path.join(OUT, "root")
INVALID = os.path.join(OUT, "invalid")
JOBS = f"-j{os.cpu_count()}"
CC = "ccache gcc" if shutil.which("ccache") else "gcc"      # as make kunit builds
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
ENV["ASAN_OPTIONS"] = "detect_leaks=0"                      # the harness counts memory that is not freed

CPU_SECONDS = 60        # no test takes as much; with more it does not end
QUICK_CPU_SECONDS = 15  # nor a short one
IDLE_LOOKS = 20         # processes that were asleep, without any progress, so often in turn wait for ever
IDLE_TICKS = 10         # of a look to the next: the clock of a user-mode kernel goes on


class Hung(Exception):
    """A test waits for ever."""


def progress_of(group):
    """The processor time of the processes of a group, in ticks; None if one of them runs."""
    ticks = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            if fields[0] not in "St":       # t: the processes that a user-mode kernel traces
                return None
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def has_ended(pid):
    """Is it a process that nobody has waited for yet?"""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, wrong, **options):
    """Run a command, to its end or to the first line that matches wrong: (status, lines, match)."""
    limit = (run.seconds, run.seconds)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, errors="replace",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit), **options)
    hung, over = threading.Event(), threading.Event()

    def watch():
        idle, last = 0, 0
        while not over.wait(1):
            if has_ended(process.pid):
                kill_group(process.pid)     # what a user-mode kernel has left behind keeps the output open
            now = progress_of(process.pid)
            idle = idle + 1 if now is not None and now - last <= IDLE_TICKS else 0
            last = now or last
            if idle >= IDLE_LOOKS:
                hung.set()
                kill_group(process.pid)

    threading.Thread(target=watch, daemon=True).start()
    lines, match = [], None
    for line in process.stdout:
        lines.append(line.rstrip())
        match = re.search(wrong, line)
        if match:
            break
    if match:
        kill_group(process.pid)
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    over.set()
    process.returncode = status = os.waitstatus_to_exitcode(status)
    run.last.seconds = usage.ru_utime + usage.ru_stime
    if hung.is_set():
        raise Hung
    return status, lines, match and match.group(match.lastindex)


run.seconds = CPU_SECONDS
run.last = threading.local()     # .seconds: processor time of the last command of this thread


def write_if_new(path, text):
    """Did the file change? Only then has it a new time, and is compiled again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and open(path).read() == text:
        return False
    with open(path, "w") as f:
        f.write(text)
    return True


class Build:
    """The sources with mutants in them, and the code of each one.

    files:  all sources, {path: source.File}
    wanted: the mutants to build, {number: source.Mutant}
    functions: (path, name) of each function, by the index that it has in rb_entered
    """

    def __init__(self, name, files, wanted, functions):
        self.name, self.files, self.functions = name, files, functions
        self.wanted = {number: m for number, m in wanted.items() if self.has(m.path)}
        self.invalid, self.code = set(), {}

    def make(self):
        """Build without those that do not compile: they are kept, so that the next time nothing is built twice."""
        kept = json.load(open(INVALID)) if os.path.exists(INVALID) else {}
        texts = hashlib.md5("".join(path + file.text for path, file in sorted(self.files.items())).encode()).hexdigest()
        if kept.get(self.name, {}).get("of") == texts:
            self.invalid = set(kept[self.name]["numbers"])
        for _ in range(8):
            where = self.weave()
            status, output = self.run_make()
            if not status:
                kept[self.name] = {"of": texts, "numbers": sorted(self.invalid)}
                with open(INVALID, "w") as f:
                    json.dump(kept, f)
                self.read_code()
                return
            bad, number = set(), None
            for line in output.splitlines():
                function = re.search(r"[Ii]n function \S+?__mutant(\d+)", line)
                number = int(function.group(1)) if function else number
                if "undefined reference" in line:
                    bad.add(number)
                error = re.match(r"(\S+?):(\d+):(?:\d+:)? error:", line)
                if error:           # in a macro of a header it has the line of that
                    path = os.path.normpath(error.group(1)).partition("kernel/trace/")[2]
                    bad.add(where[path].get(int(error.group(2))) if path in where else number)
            if not bad or bad & {None, 0}:
                with open(os.path.join(OUT, "log"), "w") as f:
                    f.write(output)
                sys.exit(f"the sources do not build as {self.name}, or not with copies of functions:\n" + output[-4000:])
            self.invalid |= bad
        sys.exit(f"{self.name} does not build without any of the mutants")

    def weave(self):
        """Write the sources: {path below kernel/trace: {line: number of the mutant}}."""
        where = {}
        index = {function: i for i, function in enumerate(self.functions)}
        for path, file in self.files.items():
            if not self.has(path):
                continue
            here = {n: m for n, m in self.wanted.items() if m.path == path and n not in self.invalid}
            first = self.first_lines.replace("COUNT", str(len(self.functions))) if path.endswith("/alloc.c") else \
                "extern int rb_mutant;\nextern unsigned char rb_entered[];\n"
            text, lines = file.woven(here, first, {name: i for (p, name), i in index.items() if p == path})
            write_if_new(os.path.join(self.sources, path), text)
            where[path.partition("kernel/trace/")[2]] = dict(enumerate(lines, 1))
        return where

    def read_code(self):
        """{name of a copy: its code}, without its addresses."""
        for path in self.objects():
            name, code = None, []
            dump = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", "--no-addresses", path],
                                  capture_output=True, text=True).stdout
            for line in dump.splitlines() + ["<end>:"]:
                begin = re.match(r"<(\S+)>:$", line)
                if begin:
                    if name and "__mutant" in name:
                        while code and re.search(r"\bnop|xchg +%ax,%ax|data16|cs nop", code[-1]):
                            code.pop()
                        self.code[path, name] = "\n".join(code)
                    name, code = begin.group(1), []
                elif line.strip():
                    line = re.sub(r"__mutant\d+", "", line)
                    code.append(re.sub(r"\b[0-9a-f]+ (?=<)", "", line).strip())

    def has_code(self, number):
        """Was it built? Its place may depend on the configuration."""
        m = self.wanted.get(number)
        return m and any(name.split(".")[0] == source.copy_name(m.function, number) for _, name in self.code)

    def same(self, number):
        """Is its code that of the function as it is, in each file that has it?"""
        m = self.wanted.get(number)
        if not m:
            return True
        base, copy = source.copy_name(m.function, 0), source.copy_name(m.function, number)
        for path, name in self.code:
            if name.split(".")[0] == copy:
                if self.code[path, name] != self.code.get((path, name.replace(copy, base))):
                    return False
            elif name.split(".")[0] == base and (path, name.replace(base, copy)) not in self.code:
                return False
        return True


class Native(Build):
    """The native harness: the ring buffer as a program, perhaps with a sanitizer."""

    sources = os.path.join(OUT, "native")

    # The number comes from the environment; the entered functions go to a file.
    first_lines = """int rb_mutant;
unsigned char rb_entered[(COUNT + 4095) / 4096 * 4096] __attribute__((aligned(4096)));
char *getenv(const char *name);
int atoi(const char *text);
int open(const char *path, int flags, ...);
int ftruncate(int fd, long size);
void *mmap(void *at, unsigned long size, int protection, int flags, int fd, long offset);
static void __attribute__((constructor)) rb_mutant_set(void)
{
	int fd;

	rb_mutant = atoi(getenv("RB_MUTANT"));
	if (rb_mutant >= 0)
		return;
	fd = open(getenv("RB_ENTERED"), 0102 /* O_RDWR | O_CREAT */, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(rb_entered)) ||
	    mmap(rb_entered, sizeof(rb_entered), 3 /* read, write */, 0x11 /* MAP_SHARED | MAP_FIXED */, fd, 0) != rb_entered)
		__builtin_trap();
}
"""

    def __init__(self, files, wanted, functions, sanitizer):
        self.sanitizer = sanitizer
        self.out = os.path.join(TOP, "build/native", "mutants-" + sanitizer if sanitizer else "mutants")
        super().__init__("the native harness " + sanitizer, files, wanted, functions)

    def has(self, path):
        return path.startswith(RING)

    def run_make(self):
        for name in ("Makefile", "race.h"):
            write_if_new(os.path.join(self.sources, RING, name), open(os.path.join(TOP, RING, name)).read())
        result = subprocess.run(["make", "-C", HERE, "--no-print-directory", "-sk", "IMPL=mutants", f"SAN={self.sanitizer}",
                                 JOBS, f"RB={os.path.join(self.sources, RING)}"], env=ENV, capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def objects(self):
        return glob.glob(os.path.join(self.out, "rb-*.o"))

    def list(self, *options):
        """The names of the scenarios."""
        output = subprocess.run([os.path.join(self.out, "rb-test"), "-l", *options], capture_output=True, text=True,
                                env={**ENV, "RB_MUTANT": "0"}).stdout
        return [line.split()[0] for line in output.splitlines()]

    def test(self, number, name, **env):
        """The failure of the scenario, or None."""
        status, _, wrong = run([os.path.join(self.out, "rb-test"), "-f", "-j1", "-e", name], r"^not ok (\S+)",
                               env={**ENV, "RB_MUTANT": str(number), **env})
        return wrong or (f"{name}, which ends with {status}" if status else None)

    def entered(self, name):
        """The functions that the scenario enters."""
        path = os.path.join(OUT, f"entered-{threading.get_ident()}")
        wrong = self.test(-1, name, RB_ENTERED=path)
        if wrong:
            sys.exit(f"not ok: {wrong} fails, and nothing is broken")
        with open(path, "rb") as f:
            found = [f"{p}:{function}" for (p, function), byte in zip(self.functions, f.read()) if byte]
        os.remove(path)
        return found


class Kernel(Build):
    """A user-mode kernel with the unit tests, in which the guest's .tc files run as well."""

    sources = os.path.join(OUT, "um")

    # The number comes from the command line; a file of sysfs has the entered functions, which are also printed at the end.
    first_lines = """#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
int rb_mutant;
unsigned char rb_entered[COUNT];
core_param(rb_mutant, rb_mutant, int, 0);

static int rb_entered_get(char *buffer, const struct kernel_param *kp)
{
	int i;

	for (i = 0; i < COUNT; i++)
		buffer[i] = '0' + rb_entered[i];
	return sprintf(buffer + i, "=rb_entered\\n") + i;
}

static const struct kernel_param_ops rb_entered_ops = { .get = rb_entered_get };
module_param_cb(rb_entered, &rb_entered_ops, NULL, 0400);

static int rb_entered_print(struct notifier_block *nb, unsigned long action, void *data)
{
	static char text[COUNT + 20];
	int i;

	/* printk() cuts a longer line. */
	rb_entered_get(text, NULL);
	text[COUNT] = '\\0';
	for (i = 0; i < COUNT; i += 500)
		pr_info("%.500s=rb_entered\\n", text + i);
	return NOTIFY_DONE;
}

static int __init rb_entered_init(void)
{
	static struct notifier_block nb = { .notifier_call = rb_entered_print };

	return register_reboot_notifier(&nb);
}
late_initcall(rb_entered_init);
"""
    COMPLAINT = r"|(?=BUG: |WARNING: |INFO: |Kernel panic|suspicious RCU|inconsistent lock)(\w+)"

    def has(self, path):
        return True

    def run_make(self):
        # Beside the sources with mutants: the unit tests use functions of the headers, too.
        for path in glob.glob(os.path.join(RING, "tests/*.[ch]")) + [RING + "race.h"]:
            write_if_new(os.path.join(self.sources, path), open(path).read())
        arguments = ["make", "-sk", "-C", os.path.join(TOP, "build/linux"), "ARCH=um", "SUBARCH=x86_64", f"CC={CC}",
                     f"O={self.sources}", JOBS]
        wanted = os.path.join(self.sources, "wanted")
        text = "".join(open(os.path.join(HERE, f)).read() for f in (
            "kunit.config", "kunit-um.config", "mutants/config", TOP + "/kernel/trace/ring_buffer/tests/.kunitconfig"))
        steps = [["linux"]]
        if write_if_new(wanted, text + "CONFIG_64BIT=y\n") or not os.path.exists(os.path.join(self.sources, ".config")):
            steps.insert(0, [f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"])
        for step in steps:
            result = subprocess.run(arguments + step, env=ENV, capture_output=True, text=True)
            if result.returncode:
                break
        return result.returncode, result.stdout + result.stderr

    def objects(self):
        return [p for path in (RING, *OTHERS) for p in glob.glob(os.path.join(self.sources, path, "*.o"))]

    def boot(self, number, wrong, *arguments):
        return run([os.path.join(self.sources, "linux"), "mem=384M", "con=null", "con0=null,fd:1",
                    "rcupdate.rcu_expedited=1",
                    "rcupdate.rcu_cpu_stall_suppress=1",    # it measures the time of day; run() the processor's
                    f"rb_mutant={number}", *arguments], wrong + self.COMPLAINT, env=ENV)

    def boot_units(self, number, glob_of_suites):
        return self.boot(number, r"^ *(?:not ok \d+ (?:- )?|# )(\w+)(?:$|: EXPECTATION|: ASSERTION)",
                         "kunit.enable=1", f"kunit.filter_glob={glob_of_suites}", "kunit_shutdown=poweroff")

    def boot_files(self, number, files, wrong=r"^\[(\d+)\] .*\[(?:FAIL|UNRESOLVED|UNSUPPORTED)\]|^um-init: (done)"):
        return self.boot(number, wrong, "kunit.enable=0", "rootfstype=hostfs", f"rootflags={ROOT}", "ro",
                         "init=/guest/um-init", "tc=" + ",".join(files))

    def test_units(self, number, glob_of_suites):
        """The failure of the suites, or None."""
        _, lines, name = self.boot_units(number, glob_of_suites)
        if name or any(re.match(r" *not ok", line) for line in lines):
            return "KUnit " + (name or "")
        return None if any("reboot: Power down" in line for line in lines) else "KUnit, which stops"

    def test_files(self, number, files):
        """The first of the .tc files that does not pass, or None. Each has a boot, for the limits of run()."""
        for file in files:
            _, _, name = self.boot_files(number, [file])
            if name != "done":
                return file if name else f"{file}, which stops"
        return None

    def entered(self, lines):
        """The functions that were entered, from the console."""
        digits = "".join(re.findall(r"\b([01]+)=rb_entered", "\n".join(lines)))
        return [":".join(function) for function, digit in zip(self.functions, digits) if digit == "1"]


class Guest(Build):
    """The kernel with several CPUs, in QEMU: for .tc files that want more than a user-mode kernel has."""

    sources = os.path.join(OUT, "guest")
    first_lines = Kernel.first_lines
    SECONDS = 1800      # of a run, in which no test takes as much

    def has(self, path):
        return True

    def make(self):
        """Build it, from what was built without mutants."""
        if not os.path.isdir(self.sources):
            built = os.path.join(TOP, "build/kernel")
            subprocess.run(["cp", "-a", "--reflink=auto", built, self.sources], check=True)
            # The host's tools know their directory, and would be built again, and all else with them.
            for path in glob.glob(os.path.join(self.sources, "tools/**/.*.cmd"), recursive=True):
                text = open(path).read()
                write_if_new(path, text.replace(built + "/", self.sources + "/"))
        super().make()

    def run_make(self):
        write_if_new(os.path.join(self.sources, RING, "race.h"), open(os.path.join(TOP, RING, "race.h")).read())
        status = subprocess.run([os.path.join(TOP, "tools/testing/qemu/build-kernel"), os.path.join(TOP, "build/linux"),
                                 self.sources], env=ENV, capture_output=True).returncode
        return status, open(os.path.join(self.sources, "build.log")).read()

    def objects(self):
        return []       # the user-mode kernel says which are the same

    def failures(self, number, files):
        """Which of the .tc files fail; "the kernel" if it complains or does not come to their end."""
        out = os.path.join(OUT, f"guest-{threading.get_ident()}")
        status = subprocess.run([os.path.join(TOP, "tools/testing/qemu/run-guest"), "-q", "-k", self.sources,
                                 "-i", os.path.join(OUT, "root.cpio"), "-o", out, "-t", str(self.SECONDS),
                                 "-x", f"rb_mutant={number}", "files=ftracetest " + " ".join(files)],
                                capture_output=True).returncode
        with open(os.path.join(out, "files.verdicts"), "a+") as f:
            f.seek(0)
            failed = {line.split()[0] for line in f if line.split()[1] != "PASS"}
        return failed | ({"the kernel"} if status else set())


def root_is_old():
    """Has a .tc file changed since make_root()?"""
    files = glob.glob(os.path.join(TOP, "tools/testing/selftests/**"), recursive=True)
    return not os.path.isdir(ROOT) or os.path.getmtime(ROOT) < max(os.path.getmtime(f) for f in files)


def make_root():
    """The guest's file system, as a folder."""
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(ROOT)
    image = os.path.join(OUT, "root.cpio")
    subprocess.run([os.path.join(TOP, "tools/testing/qemu/build-image"), image, os.path.join(TOP, "build/linux"),
                    os.path.join(TOP, "build/kernel")], check=True)
    subprocess.run(["cpio", "-idm", "--quiet"], stdin=open(image, "rb"), cwd=ROOT, check=True)
