# SPDX-License-Identifier: GPL-2.0
"""Single-line mutants of C source: possible faults, one at a time.

A mutant replaces a few tokens of one line. The operators are mistakes that people make:

  compare   < for <=, == for !=, and so on
  one       "+ 1" or "- 1" is missing
  negate    a condition of if, while, for or ?: is the other way round
  part      a part of a condition made with && or || is missing
  drop      a statement is missing: a call, an assignment, return, break, continue, goto
  result    another constant is returned
  field     another member of the same type in the same structure

Weaker memory order is not here: a processor with strong order cannot show it.
"""

import re
from collections import namedtuple

TOKEN = re.compile(r"""
    (?P<skip>\s+ | /\*.*?\*/ | //[^\n]* | \#(?:\\\n|/\*.*?\*/|[^\n])*) |
    (?P<text>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*') |
    (?P<word>\w+) |
    (?P<sign>-> | \+\+ | -- | << =? | >> =? | <= | >= | == | != | && | \|\| | [-+*/%&|^]= | \.\.\. | .)
    """, re.X | re.S)

Token = namedtuple("Token", "text start end")

# text[start:end] becomes new.
Mutant = namedtuple("Mutant", "path line function operator start end new")

# A function: its name, its first token, and those of the list of arguments and of the body.
Function = namedtuple("Function", "name first arguments begin end")

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OPEN, CLOSE = "([{", ")]}"

# Statements that only tell, check or mark: the program is the same without them.
TELLING = re.compile(r"""pr_\w+ | printk\w* | WARN\w* | BUG\w* | BUILD_BUG\w* | lockdep_\w+ | snap_assert_\w+ | might_\w+ |
    cond_resched | rb_race_point | barrier | cpu_relax | smp_\w*mb | static_assert | EXPORT_\w+ | MODULE_\w+ |
    DEFINE_\w+ | DECLARE_\w+ | prefetch\w* | trace_\w*printk | module_\w+ | \w+_initcall | __setup | kfree_sensitive |
    do_ftrace_record_recursion | merge_count | merge_race_point
    """, re.X)


def tokens_of(text):
    """The tokens that count. Macros and includes are not mutated, nor comments."""
    return [Token(m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if not m.group("skip")]


def pairs_of(tokens):
    """For each bracket the place of its partner."""
    partner, stack = {}, []
    for i, t in enumerate(tokens):
        if t.text in OPEN:
            stack.append(i)
        elif t.text in CLOSE and stack:
            partner[i] = stack.pop()
            partner[partner[i]] = i
    return partner


def members_of(texts):
    """{member: another one of its type, in the same structure}, where that is one structure only."""
    groups, seen = [], {}
    for text in texts:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for body in re.findall(r"^(?:struct|union) \w+ \{(.*?)^\}", text, re.S | re.M):
            types = {}
            for kind, stars, name in re.findall(r"^\s*((?:\w+\s+)*\w+)\s+(\**)(\w+)\s*(?:\[\w*\])?[^;\n]*;", body, re.M):
                types.setdefault((" ".join(kind.split()), stars), []).append(name)
                seen[name] = seen.get(name, 0) + 1
            groups += types.values()
    return {name: group[(i + 1) % len(group)] for group in groups if len(group) > 1
            for i, name in enumerate(group) if seen[name] == 1}


class File:
    """One source file, and its mutants."""

    def __init__(self, path, text, members):
        self.path, self.text, self.members = path, text, members
        self.tokens = tokens_of(text)
        self.partner = pairs_of(self.tokens)
        self.lines = [0] + [m.end() for m in re.finditer("\n", text)]

    def mutants(self):
        """All of them, in the order of the file."""
        found = {}
        for function in self.functions():
            for operator, start, stop, new in self.inside(function.begin, function.end):
                line = self.text.count("\n", 0, start) + 1
                found.setdefault((start, stop, new), Mutant(self.path, line, function.name, operator, start, stop, new))
        return [found[key] for key in sorted(found)]

    def functions(self):
        """Each function: a body at the left margin."""
        t, i, first = self.tokens, 0, 0
        while i < len(t):
            if t[i].text == ";":
                first = i + 1
            if t[i].text == "{" and i in self.partner:
                end = self.partner[i]
                before = i - 1
                while before > 0 and t[before].text.startswith("__"):    # __must_hold and the like
                    before -= 1
                if t[before].text == ")" and self.partner.get(before):
                    while t[self.partner[before] - 1].text.startswith("__") and t[self.partner[before] - 2].text == ")":
                        before = self.partner[before] - 2
                    arguments = self.partner[before]
                    yield Function(t[arguments - 1].text, first, arguments, i, end)
                i = end
                first = i + 1
            i += 1

    def woven(self, numbered, prefix, index):
        """The source with mutants {number: mutant} in it, of which rb_mutant chooses one.

        Each one is a copy of its function, with its number in the name; 0 is the function as it is.
        With a negative one, a function notes in rb_entered that it is entered: index has its place there.
        Returns that text with prefix in front, and for each of its lines the number of the mutant
        there, or None.
        """
        text, lines, at = "", [], 0

        def add(more, number=None):
            nonlocal text
            text += more
            lines.extend([number] * (more.count("\n")))

        add(prefix)
        for function in self.functions():
            t = self.tokens
            here = {n: m for n, m in numbered.items() if t[function.begin].start < m.start < t[function.end].start}
            start, body, end = t[function.first].start, t[function.begin].start, t[function.end].end
            head = [x.text for x in t[function.first:function.arguments - 1]]
            kind = [x for x in head if x not in NOT_OF_COPY]
            words = self.source(function.arguments, function.begin)
            add(self.text[at:start])
            if here:
                add(self.text[start:body].rstrip() + ";\n\n")
            for number, mutant in [(0, None)] * bool(here) + sorted(here.items()):
                code = self.text[body:end] if not mutant else \
                    self.text[body:mutant.start] + mutant.new + self.text[mutant.end:end]
                used = "__maybe_unused" if mutant else "__used"      # nothing calls the copy to compare with
                add(f"static {used} __attribute__((noipa)) {' '.join(kind)} {copy_name(function.name, number)}{words}\n"
                    f"{code}\n\n", number)
            add(self.text[start:body])
            values = ", ".join(self.names(function.arguments))
            void = "void" in kind and "*" not in kind
            add("{\n\tif (unlikely(rb_mutant)) {\n\t\tif (rb_mutant < 0)\n"
                f"\t\t\trb_entered[{index[function.name]}] = 1;\n\t\tswitch (rb_mutant) {{\n")
            for number in sorted(here):
                call = f"{copy_name(function.name, number)}({values});"
                add(f"\tcase {number}: " + (f"{call} return;" if void else f"return {call}") + "\n")
            add("\t\t}\n\t}\n" + self.text[body:end] + "\n}")
            at = end
        add(self.text[at:])
        return text, lines + [None]

    def names(self, opening):
        """The names of the arguments behind a bracket."""
        t, found, begin = self.tokens, [], opening + 1
        for i in range(begin, self.partner[opening] + 1):
            if t[i].text == "," and self.level(opening, i) == 1 or i == self.partner[opening]:
                words = t[begin:i]
                pointer = [k for k in range(begin, i) if t[k].text == "(" and t[k + 1].text == "*"]
                array = [k for k in range(begin, i) if t[k].text == "["]
                if pointer:
                    found.append(t[pointer[0] + 2].text)
                elif words and [x.text for x in words] != ["void"]:
                    found.append(t[array[0] - 1].text if array else words[-1].text)
                begin = i + 1
        return found

    def level(self, opening, i):
        """How many brackets are open at token i, that of opening with them."""
        return sum((t.text in OPEN) - (t.text in CLOSE) for t in self.tokens[opening:i])

    def inside(self, begin, end):
        """(operator, start, end, new) for the text between two tokens."""
        t = self.tokens
        for i in range(begin + 1, end):
            word, before, after = t[i].text, t[i - 1].text, t[i + 1].text
            if word in OTHER:
                yield "compare", t[i].start, t[i].end, OTHER[word]
            if word in "+-" and after == "1" and re.match(r"\w|[)\]]", before) and before not in ("return", "case"):
                yield "one", t[i].start, t[i + 1].end, ""
            if word == "->" and after in self.members and t[i + 2].text != "(":
                yield "field", t[i + 1].start, t[i + 1].end, self.members[after]
            if word in ("if", "while") and after == "(" or word == "for" and after == "(":
                yield from self.condition(word, i + 1)
            if word == "?":
                yield from self.negation(self.operand_start(i), i)
            if word in ("&&", "||"):
                yield from self.parts(i)
            if word == "return":
                yield from self.result(i)
            if before in (";", "{", "}", ":") or before == ")" and self.ends_head(i - 1) or before in ("else", "do"):
                yield from self.dropped(i)

    def source(self, first, last):
        """The text of the tokens [first, last)."""
        return self.text[self.tokens[first].start:self.tokens[last - 1].end]

    def negation(self, first, last):
        """The condition [first, last) the other way round."""
        if first >= last:
            return
        level, single = 0, [k for k in range(first, last)]
        top = []
        for k in single:
            if self.tokens[k].text in CLOSE:
                level -= 1
            if not level:
                top.append(self.tokens[k].text)
            if self.tokens[k].text in OPEN:
                level += 1
        if ("==" in top or "!=" in top) and "&&" not in top and "||" not in top:
            return      # "compare" makes the same
        source = self.source(first, last)
        yield "negate", self.tokens[first].start, self.tokens[last - 1].end, f"!({source})"

    def condition(self, word, opening):
        close = self.partner[opening]
        first = opening + 1
        if word == "for":
            semis = [k for k in range(first, close) if self.tokens[k].text == ";"]
            if len(semis) != 2:
                return
            first, close = semis[0] + 1, semis[1]
        yield from self.negation(first, close)

    def operand_start(self, i):
        """Where the expression in front of token i begins, up to an operator that binds less."""
        t = self.tokens
        k = i - 1
        while k >= 0:
            if t[k].text in CLOSE:
                k = self.partner[k]
            elif t[k].text in OPEN or t[k].text in ("=", ",", ";", "return", "?", ":", "|=", "&=", "+=", "-="):
                break
            k -= 1
        return k + 1

    def operand_end(self, i):
        t = self.tokens
        k = i + 1
        while k < len(t):
            if t[k].text in OPEN:
                k = self.partner[k]
            elif t[k].text in CLOSE or t[k].text in (",", ";", "?", ":"):
                break
            k += 1
        return k

    def parts(self, i):
        """The two neighbours of && or ||, each left out."""
        t, word = self.tokens, self.tokens[i].text
        neutral = "1" if word == "&&" else "0"
        first, last = self.operand_start(i), self.operand_end(i)
        for way in (-1, 1):
            k = i + way
            while first <= k < last:
                if way < 0 and t[k].text in CLOSE or way > 0 and t[k].text in OPEN:
                    k = self.partner[k]
                elif t[k].text == "||" or word == "&&" and t[k].text == "&&":
                    break
                k += way
            a, b = (k + 1, i) if way < 0 else (i + 1, k)
            source = self.source(a, b)
            if "\n" not in source:
                yield "part", t[a].start, t[b - 1].end, neutral

    def result(self, i):
        """Another constant for the one that is returned."""
        t = self.tokens
        value = "".join(x.text for x in t[i + 1:i + 4]).split(";")[0]
        new = {"true": "false", "false": "true", "0": "1", "NULL": None}.get(value)
        if re.fullmatch(r"-E[A-Z]+", value):
            new = "0"
        if new:
            end = next(k for k in range(i, len(t)) if t[k].text == ";")
            yield "result", t[i + 1].start, t[end - 1].end, new

    def ends_head(self, i):
        """Is this ) the end of if (...), while (...) or for (...)?"""
        before = self.tokens[self.partner[i] - 1].text if i in self.partner else ""
        return before in ("if", "while", "for") or "for_each" in before

    def dropped(self, i):
        """The statement that begins here, left out."""
        t, k = self.tokens, i
        word, after = t[i].text, t[i + 1].text
        if not re.match(r"[A-Za-z_*(+-]", word) or TELLING.fullmatch(word) or "for_each" in word:
            return
        if word in ("if", "for", "while", "do", "switch", "else", "case", "default", "struct", "const", "static",
                    "unsigned", "union", "enum", "int", "long", "bool", "return") and not (word, after) == ("return", ";"):
            return
        simple = word in ("break", "continue", "goto", "return")
        if not simple and word not in ("*", "(", "++", "--") and \
           after not in ("(", "->", ".", "[", "=", "++", "--", "+=", "-=", "|=", "&=", "<<=", ">>=", "^="):
            return
        while t[k].text != ";":
            if t[k].text in OPEN:
                k = self.partner[k]
            elif t[k].text in CLOSE or t[k].text == ":":
                return
            k += 1
        if word == "while":
            return
        yield "drop", t[i].start, t[k].end, ";"


# Missing in a copy of a function: it stands for itself, and contains all of its code.
NOT_OF_COPY = ("static", "inline", "__always_inline", "noinline", "asmlinkage", "__visible")


def copy_name(function, number):
    return f"{function}__mutant{number}"


def describe(text, mutant):
    """The two lines, before and after, in one; stays the same when other lines change."""
    begin = text.rfind("\n", 0, mutant.start) + 1
    end = text.find("\n", mutant.end)
    before = text[begin:end]
    after = text[begin:mutant.start] + mutant.new + text[mutant.end:end]
    flat = [" ".join(line.split()) for line in (before, after)]
    return f"{mutant.path}: {mutant.function}: {flat[0]} => {flat[1]}"


def files_of(sources):
    """{path: File} of sources, {path: text}."""
    members = members_of(sources.values())
    return {path: File(path, text, members) for path, text in sources.items()}
