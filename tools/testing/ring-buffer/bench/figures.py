#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""figures.py --md|--rst < bench.json

Writes what run-bench -o measured as tables: in Markdown the short one of the README, with
the operations that tell most; with --rst all operations of our ring buffer and of the base's,
and one record beside other ring buffers.  The chart of chart.py has the same numbers.
"""
import sys

from chart import PEERS, load, origin

OPERATIONS = [
    ("write 32 rdtsc", "reserve and commit, clock: rdtsc"),
    ("write 32 counter", "reserve and commit, clock: a counter"),
    ("write nested 32", "reserve and commit, every second one nested"),
    ("write 32, other CPU consumes", "reserve and commit, another CPU consumes"),
    ("discard 32", "reserve and discard"),
    ("drop when full 32", "drop a record, the ring is full"),
    ("consume 32", "consume"),
    ("iterate 32", "iterate"),
    ("read_page swap, a page", "read a page by exchange"),
    ("read_page copy 32, 1000 bytes", "read 1000 bytes of a page by copying"),
    ("swap_cpu idle", "swap one CPU"),
    ("cut, 1 CPU", "cut 1 CPU; base: swap"),
    ("cut, 8 CPUs", "cut 8 CPUs; base: swap each"),
    ("reset", "reset"),
    ("resize half and back", "resize to half and back"),
    ("alloc and free", "allocate and free"),
]

SHORT = {"write 32 rdtsc", "write 32, other CPU consumes", "drop when full 32", "consume 32",
         "iterate 32", "read_page swap, a page", "cut, 8 CPUs", "reset", "resize half and back"}


def table(rows):
    """In reStructuredText: a title for each column, then the rows"""
    yield ".. csv-table::"
    yield "   :header-rows: 1"
    yield ""
    for row in rows:
        yield "   " + ", ".join(f'"{cell}"' if "," in cell else cell for cell in row)


def ns(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def ratio(over, under):
    return f"{over / under:.2f}" if over and under else "-"


def short(times):
    yield "| Operation | ours, ns | base, ns | ours / base |"
    yield "| --- | ---: | ---: | ---: |"
    for name, label in OPERATIONS:
        if name in SHORT and name in times:
            result = times[name]
            yield (f'| {label} | {ns(result["B"])} | {ns(result["A"])} | '
                   f'**{result["ratio"]:.2f}** |')


def operations(times, instructions):
    yield ("Operation", "ours, ns", "base, ns", "ours / base", "quartiles", "base / base",
           "instructions, ratio")
    for name, label in OPERATIONS:
        if name not in times:
            continue
        result = times[name]
        noise = result.get("noise", {}).get("median", 0)
        counted = ratio(instructions.get((name, "B")), instructions.get((name, "A")))
        yield (label, ns(result["B"]), ns(result["A"]), f'{result["ratio"]:.2f}',
               f'{result["low"]:.2f} .. {result["high"]:.2f}', f"{noise:.2f}", counted)


def peers(times, instructions):
    """One record beside others: a row for each clock, one for the instructions."""
    result = {clock: times.get(f"write 32 {clock}", {}) for clock in ("rdtsc", "counter")}
    shown = [(ring, label) for ring, label in PEERS if ring in ("A", "B") or
             any(ring in times_of for times_of in result.values())]
    yield "One 32-byte record", *(label for _, label in shown)
    for clock, times_of in result.items():
        cells = [times_of.get(ring, 0) for ring, _ in shown]
        cells = [cell["ns"] if isinstance(cell, dict) else cell for cell in cells]
        yield f"ns, clock: {clock}", *(ns(c) if c else "-" for c in cells)
    cells = [instructions.get(("write 32 rdtsc", ring), 0) for ring, _ in shown]
    yield "instructions, clock: rdtsc", *(f"{c:.0f}" if c else "-" for c in cells)


def main():
    bench, times, instructions = load()
    print(f"Measured at {origin(bench)}; base: {bench['base']}.")
    print()
    if "--rst" not in sys.argv:
        print("\n".join(short(times)))
        return
    print("\n".join(table(operations(times, instructions))))
    print()
    print("\n".join(table(peers(times, instructions))))


if __name__ == "__main__":
    main()
