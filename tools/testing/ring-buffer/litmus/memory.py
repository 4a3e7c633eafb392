# SPDX-License-Identifier: GPL-2.0
"""
The memory model: is a candidate execution one that the kernel's memory model allows?

This is the Linux kernel memory model (tools/memory-model) for programs of marked
accesses: coherence, atomicity, happens-before, propagation and RCU, under the
names that the model's own text uses.  Left out are parts that these tests do not contain:
plain accesses, locks, SRCU and the smp_mb__*() family.

A relation is a list of bit sets: bit j of r[i] says that i is related to j.
"""


def compose(a, *rest):
    for b in rest:
        out = []
        for row in a:
            acc = 0
            while row:
                low = row & -row
                acc |= b[low.bit_length() - 1]
                row ^= low
            out.append(acc)
        a = out
    return a


def union(*rels):
    out = list(rels[0])
    for r in rels[1:]:
        out = [x | y for x, y in zip(out, r)]
    return out


def both(a, b):
    return [x & y for x, y in zip(a, b)]


def only(dom, r, rng):
    """The part of r from events of dom to events of rng."""
    return [row & rng if dom >> i & 1 else 0 for i, row in enumerate(r)]


def invert(r):
    out = [0] * len(r)
    for i, row in enumerate(r):
        while row:
            low = row & -row
            out[low.bit_length() - 1] |= 1 << i
            row ^= low
    return out


def plus(r):
    """Transitive closure."""
    out = list(r)
    for k in range(len(out)):
        via, bit = out[k], 1 << k
        out = [row | via if row & bit else row for row in out]
    return out


def maybe(r):
    """r or nothing."""
    return [row | 1 << i for i, row in enumerate(r)]


def star(r):
    return maybe(plus(r))


def reflexive(r):
    return any(row >> i & 1 for i, row in enumerate(r))


def cyclic(r):
    return reflexive(plus(r))


class Execution:
    """
    The events of one run of all threads.  Those without a thread are the initial
    writes.  Parts that do not depend on the reads-from relation are computed once.
    """

    def __init__(self, events, thread, drop_dependencies_of=None):
        n = self.n = len(events)
        self.events, self.thread = events, thread

        def having(test):
            return sum(1 << i for i, e in enumerate(events) if test(e))

        R = having(lambda e: e.kind == "R")
        W = having(lambda e: e.kind == "W")
        M = R | W
        every = (1 << n) - 1
        inside = [sum(1 << j for j in range(n) if thread[j] == thread[i] is not None)
                  for i in range(n)]
        self.internal = inside
        self.external = [every & ~row for row in inside]
        self.po = po = [inside[i] & ~((1 << i + 1) - 1) for i in range(n)]
        self.same = [sum(1 << j for j in range(n) if events[j].loc == e.loc)
                     if e.loc is not None else 0 for e in events]

        def around(tag):
            fence = having(lambda e: e.kind == "F" and e.tag == tag)
            return compose(only(every, po, fence), po)

        self.gp_events = having(lambda e: e.tag == "gp")
        gp = compose(only(every, po, self.gp_events), maybe(po))
        self.strong = union(only(M, around("mb"), M), gp)
        self.po_rel = only(M, po, having(lambda e: e.tag == "release"))
        acq_po = only(having(lambda e: e.tag == "acquire"), po, M)
        self.wmb = only(W, around("wmb"), W)
        rmb = only(R, around("rmb"), R)
        fence = union(self.strong, self.po_rel, acq_po, self.wmb, rmb)

        def dependency(which):
            rel = [0] * n
            for i, e in enumerate(events):
                mask = getattr(e, which)
                if thread[i] == drop_dependencies_of is not None:
                    mask = 0
                while mask:
                    low = mask & -mask
                    rel[low.bit_length() - 1] |= 1 << i
                    mask ^= low
            return rel

        addr, data, ctrl = (dependency(w) for w in ("addr", "data", "ctrl"))
        self.dep = union(addr, data)
        self.ppo = union(only(every, addr, R), only(every, union(self.dep, ctrl), W),
                         both(fence, inside))
        self.rmw = [0] * n
        for i, e in enumerate(events):
            if e.rmw is not None:
                self.rmw[e.rmw] |= 1 << i
        self.sections = self.find_sections()

    def find_sections(self):
        """From each outermost rcu_read_unlock() to its rcu_read_lock()."""
        rel, depth, start = [0] * self.n, {}, {}
        for i, e in enumerate(self.events):
            t = self.thread[i]
            if e.tag == "lock":
                depth[t] = depth.get(t, 0) + 1
                if depth[t] == 1:
                    start[t] = i
            elif e.tag == "unlock":
                depth[t] -= 1
                if not depth[t]:
                    rel[i] |= 1 << start[t]
        return rel

    def allowed(self, rf, co):
        """rf: from a write to its reads.  co: the order of writes to one place."""
        fr = compose(invert(rf), co)
        if cyclic(union(both(self.po, self.same), rf, co, fr)):
            return False
        ext, inside = self.external, self.internal
        if any(both(self.rmw, compose(both(fr, ext), both(co, ext)))):
            return False

        rfe, rfi = both(rf, ext), both(rf, inside)
        overwrite = union(co, fr)
        ppo = union(self.ppo, both(overwrite, inside), compose(self.dep, rfi))
        cumul = union(compose(maybe(rfe), union(self.strong, self.po_rel)), self.wmb)
        cumul = compose(cumul, star(compose(rf, self.rmw)))
        prop = compose(maybe(both(overwrite, ext)), star(cumul), maybe(rfe))
        apart = [row & ~(1 << i) for i, row in enumerate(prop)]
        hb = union(ppo, rfe, both(apart, inside))
        if cyclic(hb):
            return False

        hbs = star(hb)
        pb = compose(prop, self.strong, hbs)
        if cyclic(pb):
            return False
        return not self.gp_events or self.rcu(prop, hbs, star(pb))

    def rcu(self, prop, hbs, pbs):
        """
        A chain with as many grace periods as read-side critical sections is a
        strong fence between CPUs.
        """
        gp = [1 << i if self.gp_events >> i & 1 else 0 for i in range(self.n)]
        rscs, po = self.sections, self.po
        link = compose(maybe(po), hbs, pbs, prop, po)
        order = union(gp, compose(gp, link, rscs), compose(rscs, link, gp))
        while True:
            more = union(order, compose(gp, link, order, link, rscs),
                         compose(rscs, link, order, link, gp),
                         compose(order, link, order))
            if more == order:
                break
            order = more
        fence = compose(po, order, maybe(po))
        return not reflexive(compose(prop, fence, hbs, pbs))
