# SPDX-License-Identifier: GPL-2.0
"""
Litmus tests as programs: parse a file, and run a thread of it for every value
that its reads could return.

The language is the part of herd's C that these tests need: registers, 'if', marked
accesses, exchanges, barriers, RCU.  A plain access to memory, a loop or an unknown
function is an error, never a guess.
"""
import re

TOKEN = re.compile(r"""\s*(?:
    (?P<name>[A-Za-z_]\w*) | (?P<num>\d+) |
    (?P<op>==|!=|&&|\|\||/\\|\\/|<=|>=|[-+*&|^!~<>=(){}\[\],;:])
)""", re.X)

# name: (kind, tag).  A kind ending in '*' takes an lvalue, the others a pointer.
READS = {
    "READ_ONCE": ("*", None), "rcu_dereference": ("*", None),
    "smp_load_acquire": ("", "acquire"),
    "atomic_read": ("", None), "atomic_read_acquire": ("", "acquire"),
}
WRITES = {
    "WRITE_ONCE": ("*", None), "rcu_assign_pointer": ("*", "release"),
    "smp_store_release": ("", "release"),
    "atomic_set": ("", None), "atomic_set_release": ("", "release"),
}
FENCES = {
    "smp_mb": "mb", "smp_rmb": "rmb", "smp_wmb": "wmb", "synchronize_rcu": "gp",
    "rcu_read_lock": "lock", "rcu_read_unlock": "unlock",
}
RMWS = {stem + order: (stem.endswith("cmpxchg"), order[1:] or "full")
        for stem in ("xchg", "cmpxchg", "atomic_xchg", "atomic_cmpxchg")
        for order in ("", "_relaxed", "_acquire", "_release")}

# The rest of an operation without its order; None: nothing.
WEAKER = {
    "smp_load_acquire": "atomic_read", "atomic_read_acquire": "atomic_read",
    "smp_store_release": "atomic_set", "atomic_set_release": "atomic_set",
    "rcu_assign_pointer": "WRITE_ONCE",
    "smp_mb": None, "smp_rmb": None, "smp_wmb": None, "synchronize_rcu": None,
    "rcu_read_lock": None,
}
WEAKER.update({name: re.sub("xchg.*", "xchg_relaxed", name)
               for name, (_, order) in RMWS.items() if order != "relaxed"})


class Unsupported(Exception):
    """The file holds constructs that this program does not know."""


class Event:
    """One access or barrier.  The masks are sets of events of the same thread."""

    def __init__(self, kind, loc=None, val=None, tag=None, addr=0, data=0, ctrl=0, rmw=None):
        self.kind, self.loc, self.val, self.tag = kind, loc, val, tag
        self.addr, self.data, self.ctrl, self.rmw = addr, data, ctrl, rmw


class Parser:
    def __init__(self, text):
        self.tokens, pos = [], 0
        text = text.rstrip()
        while pos < len(text):
            m = TOKEN.match(text, pos)
            if not m:
                raise Unsupported("cannot read: " + text[pos:pos + 30].strip())
            self.tokens.append(m.group().strip())
            pos = m.end()
        self.at = 0

    def peek(self, ahead=0):
        i = self.at + ahead
        return self.tokens[i] if i < len(self.tokens) else ""

    def next(self):
        if self.at == len(self.tokens):
            raise Unsupported("the file ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token):
        if not self.accept(token):
            raise Unsupported(f"'{token}' expected, not '{self.peek()}'")

    # Expressions: ('num', n) ('name', s) ('call', f, args) (op, a, b) (op, a)
    LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="),
              ("<", ">", "<=", ">="), ("+", "-"))

    def expr(self, level=0):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.expr(level + 1)
        while self.peek() in self.LEVELS[level]:
            left = (self.next(), left, self.expr(level + 1))
        return left

    def unary(self):
        token = self.next()
        if token in ("*", "&", "!", "-"):
            return ("u" + token, self.unary())
        if token == "(":
            if re.match(r"(int|long|unsigned|void|u64|u32|struct)$", self.peek()):
                while self.next() != ")":       # a cast
                    pass
                return self.unary()
            inner = self.expr()
            self.expect(")")
            return inner
        if token.isdigit():
            return ("num", int(token))
        if not re.match(r"[A-Za-z_]", token):
            raise Unsupported(f"'{token}' in an expression")
        if not self.accept("("):
            return ("name", token)
        args = []
        while not self.accept(")"):
            args.append(self.expr())
            self.accept(",")
        return ("call", token, args)

    def block(self):
        if not self.accept("{"):
            return self.statement()
        body = []
        while not self.accept("}"):
            body += self.statement()
        return body

    def statement(self):
        if self.peek() in ("while", "for", "do", "goto", "return"):
            raise Unsupported(f"'{self.peek()}'")
        if self.accept("if"):
            self.expect("(")
            cond = self.expr()
            self.expect(")")
            then = self.block()
            other = self.block() if self.accept("else") else []
            return [("if", cond, then, other)]
        if re.match(r"\w", self.peek()) and re.match(r"[\w*]", self.peek(1)):
            return self.declaration()
        if self.peek() == "*":
            raise Unsupported("a plain store: use WRITE_ONCE()")
        if self.peek(1) == "=":
            name = self.next()
            self.next()
            body = [("let", name, self.expr())]
        else:
            body = [("do", self.expr())]
        self.expect(";")
        return body

    def declaration(self):
        while re.match(r"\w", self.peek()) and re.match(r"[\w*]", self.peek(1)):
            self.next()
        body = []
        while not self.accept(";"):
            while self.accept("*"):
                pass
            name = self.next()
            value = self.expr() if self.accept("=") else ("num", 0)
            body.append(("let", name, value))
            self.accept(",")
        return body


class Thread:
    """Runs one thread; each read takes its value from a list of choices."""

    def __init__(self, body, domain):
        self.body, self.domain = body, domain

    def traces(self):
        choices = []            # [index, number of values] of each read so far
        while True:
            yield self.run(choices)
            while choices and choices[-1][0] + 1 == choices[-1][1]:
                choices.pop()
            if not choices:
                return
            choices[-1][0] += 1

    def run(self, choices):
        self.events, self.regs, self.ctrl = [], {}, 0
        self.choices, self.taken = choices, 0
        self.block(self.body)
        return self.events, {name: val for name, (val, _) in self.regs.items()}

    def block(self, body):
        for statement in body:
            if statement[0] == "if":
                val, taint = self.value(statement[1])
                self.ctrl |= taint
                self.block(statement[2] if val else statement[3])
            elif statement[0] == "let":
                self.regs[statement[1]] = self.value(statement[2])
            else:
                self.value(statement[1])

    def emit(self, *args, **kwargs):
        self.events.append(Event(*args, ctrl=self.ctrl, **kwargs))
        return 1 << len(self.events) - 1

    def read(self, loc, addr, tag):
        values = sorted(self.domain.get(loc, {0}), key=str)
        if self.taken == len(self.choices):
            self.choices.append([0, len(values)])
        val = values[self.choices[self.taken][0]]
        self.taken += 1
        return val, self.emit("R", loc, val, tag, addr=addr)

    def value(self, e):
        """The value of an expression, and the reads that it comes from."""
        op = e[0]
        if op == "num":
            return e[1], 0
        if op == "name":
            # Not a register: a variable, passed by its address.
            return self.regs.get(e[1], (e[1], 0))
        if op == "u&":
            if e[1][0] != "name" or e[1][1] in self.regs:
                raise Unsupported("'&' of no variable")
            return e[1][1], 0
        if op == "u*":
            raise Unsupported("a plain load: use READ_ONCE()")
        if op == "call":
            return self.call(e[1], e[2])
        args = [self.value(a) for a in e[1:]]
        taint = 0
        for _, t in args:
            taint |= t
        return self.compute(op, *[v for v, _ in args]), taint

    @staticmethod
    def compute(op, a, b=None):
        if op in ("==", "!="):
            return int((a == b) == (op == "=="))
        if isinstance(a, str) or isinstance(b, str):
            # A null test is all that addresses are good for.
            if op == "u!":
                return 0
            if op in ("&&", "||"):
                return int(bool(a) and bool(b) if op == "&&" else bool(a) or bool(b))
            raise Unsupported(f"'{op}' of an address")
        return int({
            "u!": lambda: not a, "u-": lambda: -a,
            "+": lambda: a + b, "-": lambda: a - b, "&": lambda: a & b,
            "|": lambda: a | b, "^": lambda: a ^ b,
            "&&": lambda: bool(a and b), "||": lambda: bool(a or b),
            "<": lambda: a < b, ">": lambda: a > b,
            "<=": lambda: a <= b, ">=": lambda: a >= b,
        }[op]())

    def place(self, e, lvalue):
        if lvalue:
            if e[0] != "u*":
                raise Unsupported("an access to no '*pointer'")
            e = e[1]
        loc, taint = self.value(e)
        if not isinstance(loc, str):
            raise Unsupported(f"{loc} is no address")
        return loc, taint

    def call(self, name, args):
        if name.startswith("atomic64_") or name.startswith("atomic_long_"):
            name = re.sub("^atomic(64|_long)", "atomic", name)
        if name in READS:
            lvalue, tag = READS[name]
            return self.read(*self.place(args[0], lvalue), tag)
        if name in WRITES:
            lvalue, tag = WRITES[name]
            loc, addr = self.place(args[0], lvalue)
            val, data = self.value(args[1])
            self.emit("W", loc, val, tag, addr=addr, data=data)
            return 0, 0
        if name in FENCES:
            self.emit("F", tag=FENCES[name])
            return 0, 0
        if name in RMWS:
            return self.exchange(args, *RMWS[name])
        raise Unsupported(f"{name}()")

    def exchange(self, args, compare, order):
        loc, addr = self.place(args[0], "")
        rest = [self.value(a) for a in args[1:]]
        start = len(self.events)
        if order == "full":
            self.emit("F", tag="mb")
        val, taint = self.read(loc, addr, "acquire" if order == "acquire" else None)
        if compare and val != rest[0][0]:
            # One that fails is a plain READ_ONCE().
            self.events[start:] = [self.events[-1]]
            self.events[start].tag = None
            return val, 1 << start
        self.emit("W", loc, rest[-1][0], "release" if order == "release" else None,
                  addr=addr, data=rest[-1][1], rmw=len(self.events) - 1)
        if order == "full":
            self.emit("F", tag="mb")
        return val, taint


class Litmus:
    """A parsed file: .name, .result, .labels, .init, .threads, .filter, .exists"""

    def __init__(self, text):
        m = re.match(r"\s*C\s+(\S+)", text)
        if not m:
            raise Unsupported("no line 'C NAME'")
        self.name = m.group(1)
        self.result = (re.findall(r"Result:\s*(\w+)", text) or [None])[0]
        code = re.sub(r"\(\*\s.*?\*\)|/\*.*?\*/|//[^\n]*", " ", text[m.end():], flags=re.S)
        p = Parser(code)
        self.init = self.parse_init(p)
        self.threads = []
        while re.match(r"P\d+$", p.peek()):
            if p.next() != f"P{len(self.threads)}":
                raise Unsupported("threads are not in order")
            while p.next() != ")":
                pass
            self.threads.append(p.block())
        self.filter = self.exists = None
        while p.peek():
            word = p.next()
            if word == "locations":
                while p.next() != "]":
                    pass
            elif word in ("exists", "filter"):
                setattr(self, word, self.parse_or(p))
            else:
                raise Unsupported(f"'{word}' behind the threads")
        if not self.exists:
            raise Unsupported("no exists clause")

    @staticmethod
    def parse_init(p):
        init = {}
        p.expect("{")
        while not p.accept("}"):
            if p.accept(";"):
                continue
            name = p.next()
            while p.peek() not in ("=", ";", "}", "["):
                token = p.next()
                name = token if re.match(r"\w", token) else name
            if p.accept("="):
                p.accept("&")
                value = p.next()
                init[name] = int(value) if value.isdigit() else value
            else:
                init[name] = 0
        return init

    # Conditions: ('/\\', a, b) ('\\/', a, b) ('~', a) ('=', place, value)
    def parse_or(self, p):
        left = self.parse_and(p)
        while p.peek() == "\\/":
            left = (p.next(), left, self.parse_and(p))
        return left

    def parse_and(self, p):
        left = self.parse_one(p)
        while p.peek() == "/\\":
            left = (p.next(), left, self.parse_one(p))
        return left

    def parse_one(self, p):
        if p.accept("~"):
            return ("~", self.parse_one(p))
        if p.accept("("):
            inner = self.parse_or(p)
            p.expect(")")
            return inner
        place = p.next()
        if p.accept(":"):
            place = (int(place), p.next())
        p.expect("=")
        p.accept("&")
        value = p.next()
        return ("=", place, int(value) if value.isdigit() else value)


def holds(cond, regs, memory):
    """Is the condition true of these registers (by thread) and this memory?"""
    op = cond[0]
    if op == "/\\":
        return holds(cond[1], regs, memory) and holds(cond[2], regs, memory)
    if op == "\\/":
        return holds(cond[1], regs, memory) or holds(cond[2], regs, memory)
    if op == "~":
        return not holds(cond[1], regs, memory)
    place, value = cond[1:]
    if isinstance(place, str):
        return memory.get(place, 0) == value
    if place[1] not in regs[place[0]]:
        # A declaration gives a register its 0; this one is a slip of the pen.
        raise Unsupported(f"{place[0]}:{place[1]} is no register")
    return regs[place[0]][place[1]] == value


def traces(test):
    """For each thread, all possible runs, given all possible writes."""
    domain = {loc: {val} for loc, val in test.init.items()}
    while True:
        all_traces = [list(Thread(body, domain).traces()) for body in test.threads]
        grown = {loc: set(vals) for loc, vals in domain.items()}
        for thread in all_traces:
            for events, _ in thread:
                for e in events:
                    if e.loc is not None:
                        grown.setdefault(e.loc, {test.init.get(e.loc, 0)})
                    if e.kind == "W":
                        grown[e.loc].add(e.val)
        if grown == domain:
            return all_traces
        if max(map(len, grown.values())) > 16:
            raise Unsupported("values that grow without end")
        domain = grown


def weaker(body, site):
    """
    The statements with the order of the site-th ordered operation taken away, or
    None if there are not as many; and the operation's name.
    """
    state = {"left": site, "hit": None}

    def expr(e):
        if e[0] == "call":
            args = [expr(a) for a in e[2]]
            name = re.sub("^atomic(64|_long)_", "atomic_", e[1])
            if name in WEAKER:
                state["left"] -= 1
                if state["left"] == -1:
                    state["hit"] = name
                    less = WEAKER[name]
                    if less is None:
                        return ("num", 0)
                    # From one that takes a pointer to another, or the same.
                    return ("call", less, args)
            if name == "rcu_read_unlock" and state["hit"] == "rcu_read_lock":
                return ("num", 0)
            return ("call", e[1], args)
        return tuple(expr(a) if isinstance(a, tuple) else a for a in e)

    def block(b):
        return [("if", expr(s[1]), block(s[2]), block(s[3])) if s[0] == "if" else
                tuple(expr(a) if isinstance(a, tuple) else a for a in s) for s in b]

    result = block(body)
    return (result, state["hit"]) if state["hit"] else (None, None)
