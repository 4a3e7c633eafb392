#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""chart.py < bench.json > bench.svg

Draws what run-bench -o measured: on the left the time of operations as a ratio to the
base, on the right a 32-byte record beside other ring buffers. The colours follow the
dark or light scheme of the viewer; the picture has its own background.
"""
import json
import sys
from html import escape

# The operations of the chart, and their labels
RATIOS = [
    ("Write, rdtsc", [
        ("write 8 rdtsc", "8 bytes"),
        ("write 32 rdtsc", "32 bytes"),
        ("write 128 rdtsc", "128 bytes"),
        ("write nested 32", "32 bytes, every second nested"),
        ("write 32, other CPU consumes", "32 bytes, another CPU consumes"),
        ("write 32, other CPU iterates", "32 bytes, another CPU iterates"),
    ]),
    ("Write, other clocks", [
        ("write 32 counter", "32 bytes, counter"),
        ("write 32 lfence;rdtsc", "32 bytes, lfence;rdtsc"),
    ]),
    ("Not written", [
        ("discard 32", "discard"),
        ("drop when full 32", "drop when full"),
    ]),
    ("Read, 32 bytes", [
        ("consume 32", "consume"),
        ("iterate 32", "iterate"),
        ("iterator start and finish", "start and finish an iterator"),
        ("read_page swap, a page", "read_page, swap"),
        ("read_page copy 32, 1000 bytes", "read_page, copy"),
    ]),
    ("Whole buffer", [
        ("swap_cpu idle", "swap a CPU's ring"),
        ("swap all, 8 CPUs", "swap the rings of 8 CPUs"),
        ("cut, 8 CPUs", "cut 8 CPUs; base: swap"),
        ("reset", "reset"),
        ("resize half and back", "resize to half and back"),
        ("alloc and free", "allocate and free"),
    ]),
]
PEERS = [("B", "ours"), ("A", "base"), ("lttng", "LTTng"), ("perf", "perf"),
         ("bpf", "BPF *"), ("minimal", "minimum"), ("floor", "clock and stores")]

ROW, HEAD, WIDTH = 19, 30, 940
LEFT_X, LEFT_W, LEFT_MAX = 235, 230, 1.25       # of the ratios
RIGHT_X, RIGHT_W = 690, 170                     # of the peers

# Plain properties, no variables: not every viewer knows those
STYLE = """text { font: 12px system-ui, sans-serif } .head { font-weight: 600 } \
.end { text-anchor: end } .mid { text-anchor: middle } .spread { stroke-width: 1.5 }
.back { fill: #ffffff } text { fill: #1f2328 } text.dim { fill: #59636e } \
.ours { fill: #0969da } .base { fill: #8c959f } .peer { fill: #c0c8d0 } \
.grid { stroke: #d1d9e0 } .one { stroke: #1f2328 } .spread { stroke: #0a3069 }
@media (prefers-color-scheme: dark) { \
.back { fill: #0d1117 } text { fill: #f0f6fc } text.dim { fill: #9198a1 } \
.ours { fill: #4493f8 } .base { fill: #7d8590 } .peer { fill: #4d5661 } \
.grid { stroke: #3d444d } .one { stroke: #f0f6fc } .spread { stroke: #cae8ff } }"""


def load():
    """The standard input: all of it, times by operation, and instructions by that and ring buffer."""
    bench = json.load(sys.stdin)
    return (bench, {result["name"]: result for result in bench["times"]},
            {(count["name"], count["of"]): count["instructions"]
             for count in bench["instructions"]})


def origin(bench):
    """Commit, day, machine and compiler of the run."""
    return (f'commit {bench["commit"]}, {bench["date"]}, {bench["processor"]}, '
            f'{bench["compiler"]}')


class Picture:
    """Collects elements; y grows downwards."""

    def __init__(self):
        self.parts = []

    def text(self, x, y, what, kind=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(what)}</text>')

    def bar(self, x, y, width, kind, title):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" '
                          f'height="12" class="{kind}"><title>{escape(title)}</title></rect>')

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'class="{kind}"/>')


def draw_ratios(pic, times, top):
    """Returns where it ends."""
    def x_of(ratio):
        return LEFT_X + LEFT_W * min(ratio, LEFT_MAX) / LEFT_MAX

    pic.text(20, top, "Time, ours / base", "head")
    pic.text(20, top + 16, "shorter is faster; median and quartiles of the turns", "dim")
    y = top + 46
    start = y - 12
    rows = []
    for head, operations in RATIOS:
        operations = [(label, times[name]) for name, label in operations if name in times]
        if not operations:
            continue
        for label, result in [(head, None), *operations]:
            rows.append((y, label, result))
            y += ROW
        y += 6
    for tick in (0, 0.25, 0.5, 0.75, 1.25):
        pic.line(x_of(tick), start, x_of(tick), y - 12, "grid")
        pic.text(x_of(tick), y + 3, f"{tick:g}", "dim mid")
    for at, label, result in rows:
        if not result:
            pic.text(20, at, label, "dim")
            continue
        ratio, low, high = result["ratio"], result["low"], result["high"]
        pic.text(LEFT_X - 8, at, label, "end")
        title = (f'{result["name"]}: {ratio:.3f} ({low:.3f} .. {high:.3f}), '
                 f'base {result["A"]:.1f} ns, ours {result["B"]:.1f} ns')
        if "noise" in result:
            title += f', base / base {result["noise"]["median"]:.3f}'
        pic.bar(LEFT_X, at - 10, x_of(ratio) - LEFT_X, "ours", title)
        if ratio <= LEFT_MAX:
            pic.line(x_of(low), at - 4, x_of(high), at - 4, "spread")
        cut = " →" if ratio > LEFT_MAX else ""
        pic.text(LEFT_X + LEFT_W + 8, at, f"{ratio:.2f}{cut}")
    pic.line(x_of(1), start, x_of(1), y - 12, "one")
    pic.text(x_of(1), y + 3, "base", "mid")
    return y + 10


def draw_group(pic, head, bars, top, unit):
    """bars: (ring buffer, label, value). Returns where it ends."""
    pic.text(RIGHT_X - 130, top, head, "dim")
    y = top + ROW
    most = max(value for _, _, value in bars)
    for ring, label, value in bars:
        kind = {"A": "base", "B": "ours"}.get(ring, "peer")
        width = RIGHT_W * value / most
        pic.text(RIGHT_X - 8, y, label, "end")
        pic.bar(RIGHT_X, y - 10, width, kind, f"{label}: {value:.1f} {unit}")
        pic.text(RIGHT_X + width + 6, y, f"{value:.0f}" if value >= 100 else f"{value:.1f}")
        y += ROW
    return y + 8


def draw_peers(pic, times, instructions, top):
    """Returns where it ends."""
    pic.text(RIGHT_X - 130, top, "One 32-byte record, beside others", "head")
    pic.text(RIGHT_X - 130, top + 16, "same harness, compiler and flags", "dim")
    y = top + 46
    for clock in ("counter", "rdtsc"):
        result = times.get(f"write 32 {clock}")
        if not result:
            continue
        bars = [(ring, label, result[ring] if ring in ("A", "B") else result[ring]["ns"])
                for ring, label in PEERS if ring in result]
        y = draw_group(pic, f"ns, {clock} as clock", bars, y, "ns")
    bars = [(ring, label, instructions["write 32 rdtsc", ring]) for ring, label in PEERS
            if ("write 32 rdtsc", ring) in instructions]
    if bars:
        y = draw_group(pic, "instructions, rdtsc as clock", bars, y, "instructions")
    for note in ("* one buffer and lock for all CPUs; no time, no",
                 "  overwriting: the payload carries the clock",
                 "minimum: clock, compare-and-exchange, header,",
                 "  payload, publish; no sub-buffers, no reader"):
        pic.text(RIGHT_X - 130, y, note, "dim")
        y += 15
    return y


def main():
    bench, times, instructions = load()
    pic = Picture()
    end = max(draw_ratios(pic, times, HEAD), draw_peers(pic, times, instructions, HEAD)) + 14
    pic.text(20, end, f'base: kernel/trace/ring_buffer.c of {bench["base"]}; in user space, '
             f'CPU time of the thread, in turns in one process', "dim")
    pic.text(20, end + 15, origin(bench), "dim")
    height = end + 30
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
          f'width="{WIDTH}" height="{height}" role="img" '
          f'aria-label="Times of ring buffer operations, ours against the base and others">')
    print("<!-- SPDX-License-Identifier: GPL-2.0 -->")
    print(f"<style>\n{STYLE}\n</style>")
    print(f'<rect width="{WIDTH}" height="{height}" rx="6" class="back"/>')
    print("\n".join(pic.parts))
    print("</svg>")


if __name__ == "__main__":
    main()
