# SPDX-License-Identifier: GPL-2.0
#
# gdb helper commands and functions for Linux kernel debugging
#
#  lx-trace-dat: the records of ftrace as a trace.dat
#
# It uses no other file of this directory, so it can be sourced alone, in a kernel without
# CONFIG_GDB_SCRIPTS. All structures come from the debug info of vmlinux; a number that is
# only a macro in the kernel stands below, with the name of its header.

import gdb
import struct

# kernel/trace/ring_buffer/subbuf.h
RB_TAIL_BITS = 18
RB_TAIL_MASK = (1 << RB_TAIL_BITS) - 1
RB_PUB_FINAL = 1 << RB_TAIL_BITS
RB_PUB_SEQ_SHIFT = RB_TAIL_BITS + 1
RB_SLOT_EMPTY = 1
RB_SLOT_ID_SHIFT = 2
RB_SLOT_ID_MASK = (1 << 22) - 1
RB_SLOT_SEQ_SHIFT = 24
# kernel/trace/ring_buffer/internal.h
RB_VOID = 1
RB_READER_WAITS = 1
RB_READER_INHERITED = 2
# kernel/trace/ring_buffer/format.h
RB_UNIT = 4
RB_MISSED_EVENTS = 1 << 31
RB_MISSED_STORED = 1 << 30
RB_DELTA_BITS = 27
RB_ABS_BITS = 59
TYPE_MAX, TYPE_PADDING, TYPE_EXTEND, TYPE_STAMP = 28, 29, 30, 31
# include/linux/sched.h
TASK_COMM_LEN = 16

U64 = (1 << 64) - 1


def ahead(word, seq, shift):
    """How far the sequence above @shift bits of a word is ahead of @seq."""
    bits = 64 - shift
    diff = ((word >> shift) - seq) & ((1 << bits) - 1)
    return diff - (1 << bits) if diff >> (bits - 1) else diff


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Memory:
    """The memory of the kernel, with the types of vmlinux."""

    def __init__(self):
        self.types = {}
        self.symbols = {}
        self.order = "big" if "big" in gdb.execute("show endian", to_string=True) else "little"
        self.mark = ">" if self.order == "big" else "<"
        self.long = gdb.lookup_type("long").sizeof
        self.tables = {}

    def symbol(self, name, default=None):
        """The address of a variable, with or without debug info."""
        # (gdb takes long to look one up, above all one that is not there.)
        if name not in self.symbols:
            try:
                self.symbols[name] = int(gdb.parse_and_eval("(unsigned long)&%s" % name))
            except gdb.error:
                self.symbols[name] = None
        if self.symbols[name] is not None:
            return self.symbols[name]
        if default is None:
            raise gdb.GdbError("vmlinux has no symbol %s" % name)
        return default

    def constant(self, name):
        return int(gdb.parse_and_eval(name))

    def type(self, name):
        if name not in self.types:
            self.types[name] = gdb.lookup_type(name)
        return self.types[name]

    def offset(self, name, field):
        return [f for f in self.type(name).fields() if f.name == field][0].bitpos // 8

    def read(self, addr, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(addr, size))
        except gdb.MemoryError:
            return self.read_mapped(addr, size)

    def read_mapped(self, addr, size):
        """A core of kdump maps only what the kernel maps linearly, so walk the page tables."""
        data = bytearray()
        while size:
            phys, left = self.translate(addr)
            part = min(size, left)
            try:
                data += gdb.selected_inferior().read_memory(self.linear() + phys, part)
            except gdb.MemoryError:
                self.fail(addr)
            addr += part
            size -= part
        return bytes(data)

    @staticmethod
    def fail(addr):
        raise gdb.GdbError("cannot read memory at 0x%x" % addr)

    def linear(self):
        """Where x86-64 maps all memory."""
        if "linear" not in self.tables:
            where = self.symbol("page_offset_base", 0)
            self.tables["linear"] = self.number(where) if where else 0xffff888000000000
        return self.tables["linear"]

    def translate(self, addr):
        """The physical address of @addr, and bytes up to the end of its page."""
        table = self.symbol("init_top_pgt", 0)
        # Only what is mapped by a table, and not the linear mapping itself
        if not table or addr < self.linear() + (1 << 46):
            self.fail(addr)
        five = self.symbol("__pgtable_l5_enabled", 0)
        shift = 48 if five and self.number(five, 4) else 39
        while True:
            entry = self.entry(table, addr >> shift & 511)
            size = 1 << shift
            if not entry & 1:
                self.fail(addr)
            page = entry & 0x000ffffffffff000
            if shift == 12 or entry & 0x80 and shift <= 30:
                return (page & ~(size - 1)) + addr % size, size - addr % size
            table = self.linear() + page
            shift -= 9

    def entry(self, table, index):
        if table not in self.tables:
            try:
                memory = gdb.selected_inferior().read_memory(table, 4096)
            except gdb.MemoryError:
                self.fail(table)
            self.tables[table] = struct.unpack(self.mark + "512Q", bytes(memory))
        return self.tables[table][index]

    def number(self, addr, size=None):
        return int.from_bytes(self.read(addr, size or self.long), self.order)

    def numbers(self, addr, count, size):
        letter = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
        return struct.unpack("%s%d%s" % (self.mark, count, letter), self.read(addr, count * size))

    def load(self, addr, name):
        """A copy of the structure at @addr."""
        kind = self.type(name)
        return gdb.Value(self.read(addr, kind.sizeof), kind)

    def string(self, addr):
        """A string that ends with a 0."""
        if not addr:
            return "(null)"
        data = b""
        while b"\0" not in data and len(data) < 4096:
            # Not beyond a page: the next one may not be there.
            at = addr + len(data)
            data += self.read(at, min(256, 4096 - at % 4096))
        return data.split(b"\0")[0].decode(errors="replace")

    def pack(self, value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, self.order)

    def list(self, head, name, link="list"):
        """The addresses of the structures in a list, from its head on."""
        offset = self.offset(name, link)
        at, seen = self.number(head), set()
        while at != head:
            if at in seen:
                raise gdb.GdbError("the list at 0x%x is damaged" % head)
            seen.add(at)
            yield at - offset
            at = self.number(at)


def pointer(value):
    return int(value) & U64


def array(value):
    """The bytes of an array of char, up to a 0."""
    data = bytes(int(value[i]) & 255 for i in range(value.type.range()[1] + 1))
    return data.split(b"\0")[0].decode(errors="replace")


class Ring:
    """The ring of a CPU, and its reader as it would be after rb_reader_settle()."""

    LOSSES = "overrun", "commit_overrun", "dropped"

    def __init__(self, mem, addr):
        self.mem = mem
        ring = mem.load(addr, "struct rb_ring")
        self.ring = ring
        self.nr = int(ring["nr"])
        self.order = int(ring["order"])
        self.generation = int(ring["generation"])
        self.successor = pointer(ring["successor"])
        self.successor_num = int(ring["successor_num"])
        self.first_seq = int(ring["first_seq"])
        self.slots = mem.numbers(addr + mem.offset("struct rb_ring", "slots"), self.nr, 8)
        self.ids = mem.numbers(pointer(ring["subbufs"]), int(ring["nr_subbufs"]), mem.long)
        self.fresh = pointer(ring["tail"]) == mem.symbol("rb_fresh")
        self.commit = self.subbuf(pointer(ring["commit"]))
        reader = ring["reader"]
        self.sb = self.subbuf(pointer(reader["sb"]))
        self.taken = pointer(reader["next"])
        self.seq = int(reader["seq"])
        self.pos = int(reader["pos"])
        self.time = int(reader["time"])
        self.num = int(reader["num"])
        self.lost = int(reader["lost"])
        self.flags = int(reader["unsettled"])
        self.counted = [self.counter(ring[name]) for name in self.LOSSES]
        self.carried = [int(reader["carried"][name]) for name in self.LOSSES]
        if not self.successor:
            self.settle(int(reader["generation"]))

    def subbuf(self, addr):
        return self.mem.load(addr, "struct rb_subbuf")

    @staticmethod
    def counter(value):
        """Of an atomic64_t, local_t or local64_t."""
        while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            value = value[value.type.strip_typedefs().fields()[0]]
        return int(value) & U64

    def publish(self, sb):
        return self.counter(sb["publish"])

    def losses(self):
        """How many records were lost, in the order of LOSSES."""
        mask = (1 << 8 * self.mem.long) - 1
        return [sum(both) & mask for both in zip(self.counted, self.carried)]

    def settle(self, generation):
        if generation != self.generation or self.flags & RB_READER_WAITS:
            self.renew()
        elif self.flags & RB_READER_INHERITED:
            self.disown()

    def renew(self):
        """The ring was emptied: only what was written since then counts."""
        seq = int(self.commit["seq"])
        self.lost = 0
        self.taken = 0
        waits = self.fresh or self.generation & RB_VOID or signed(seq - self.first_seq & U64) < 0
        self.flags = RB_READER_WAITS if waits else 0
        self.seq = self.first_seq - 1 & U64
        self.num = int(self.ring["first_num"])
        self.pos = self.bytes(self.publish(self.sb))
        before = [int(self.ring["first_lost"][name]) for name in self.LOSSES]
        self.carried = [-count for count in (self.counted if waits else before)]

    def disown(self):
        """The sub-buffer that a resize gave the reader would be overwritten by now."""
        following = self.seq + 1 & U64
        word = self.slots[following % self.nr]
        if self.pos or ahead(word, following, RB_SLOT_SEQ_SHIFT) <= 0:
            return
        records = int(self.sb["first"]) + int(self.sb["count"]) - self.num
        self.pos = self.bytes(self.publish(self.sb))
        self.num += records
        self.lost += records
        self.carried[0] += records

    @staticmethod
    def bytes(pub):
        return (pub & RB_TAIL_MASK) * RB_UNIT

    def locate(self, seq):
        """As rb_locate(). Return: the sequence, the sub-buffer or None, its publish word."""
        for _ in range(2 * self.nr + 2):
            word = self.slots[seq % self.nr]
            diff = ahead(word, seq, RB_SLOT_SEQ_SHIFT)
            if diff > 0:
                pub = self.publish(self.commit)
                step = max(diff, ahead(pub, seq, RB_PUB_SEQ_SHIFT)) - self.nr + 1
                if step <= 0:
                    return seq, None, 0
                seq = seq + step & U64
                continue
            if diff < 0:
                return seq, None, 0
            if word & RB_SLOT_EMPTY:
                # The reader was stopped where it had the sub-buffer but had not yet said so.
                sb = self.subbuf(self.taken) if self.taken else None
            else:
                sb = self.subbuf(self.ids[word >> RB_SLOT_ID_SHIFT & RB_SLOT_ID_MASK])
            if sb is None:
                return seq, None, 0
            pub = self.publish(sb)
            if ahead(pub, seq, RB_PUB_SEQ_SHIFT) or not pub & (RB_PUB_FINAL | RB_TAIL_MASK):
                return seq, None, 0
            return seq, sb, pub
        return seq, None, 0

    def subbufs(self):
        """Sub-buffers with something unread, oldest first."""
        if self.flags & RB_READER_WAITS:
            return
        seq, sb, pub, pos = self.seq, self.sb, self.publish(self.sb), self.pos
        for _ in range(self.nr + 2):
            if self.bytes(pub) > pos:
                yield sb, pub, pos
            if not pub & RB_PUB_FINAL:
                return
            seq, sb, pub = self.locate(seq + 1 & U64)
            pos = 0
            if sb is None:
                return


class Pages:
    """The pages of a CPU, as trace_pipe_raw would give them."""

    def __init__(self, mem, ring, size):
        self.mem = mem
        self.size = size
        self.header = mem.offset("struct rb_data_page", "data")
        self.pages = []
        self.num = ring.num
        self.lost = ring.lost
        self.read(ring)
        # While a resize moves the records, the newer ones are in the next ring already.
        seen = set()
        while ring.successor:
            if ring.successor in seen:
                raise gdb.GdbError("the rings of a resize are damaged")
            seen.add(ring.successor)
            num = self.num - ring.successor_num & U64
            ring = Ring(mem, ring.successor)
            self.num = num
            self.read(ring)

    def read(self, ring):
        for sb, pub, pos in ring.subbufs():
            size = min(self.header + ring.bytes(pub), self.size)
            data = self.mem.read(pointer(sb["page"]), size)
            first, count = int(sb["first"]), int(sb["count"])
            # A resize was moving it: the ring before had it, too.
            if not pos and pub & RB_PUB_FINAL and signed(first + count - self.num & U64) < 0:
                continue
            if pos:
                time = ring.time
            else:
                time = int.from_bytes(data[:8], self.mem.order)
                self.lost += signed(first - self.num & U64)
                self.num = first
            final = pub & RB_PUB_FINAL
            # Others may hold only stamps, of discarded records.
            if final and self.num == first + count:
                continue
            records = self.add(data[self.header + pos:], time)
            self.num = first + count if final else self.num + records

    def add(self, data, time):
        """Add a page with the records in @data. Two, where the number of losses needs room."""
        records = 0
        room = self.size - self.header
        if self.lost and len(data) > room - self.mem.long:
            end, records, later = self.fit(data, time, room - self.mem.long)
            if end:
                self.put(data[:end], time)
                data, time = data[end:], later
        more = self.fit(data, time, len(data))[1]
        self.put(data, time)
        return records + more

    def fit(self, data, time, limit):
        """The end of the records that fit into @limit bytes, their number, the last time."""
        end, records, last, pos = 0, 0, time, 0
        while pos + 4 <= len(data):
            head, = struct.unpack_from(self.mem.mark + "I", data, pos)
            if self.mem.order == "big":
                kind, delta = head >> RB_DELTA_BITS, head & (1 << RB_DELTA_BITS) - 1
            else:
                kind, delta = head & 31, head >> 5
            length = 4 + kind * 4
            if kind in (0, TYPE_PADDING, TYPE_EXTEND, TYPE_STAMP):
                if pos + 8 > len(data):
                    break
                value, = struct.unpack_from(self.mem.mark + "I", data, pos + 4)
                length = 8 if kind in (TYPE_EXTEND, TYPE_STAMP) else value + 4
                value = (value << RB_DELTA_BITS) + delta
            if kind == TYPE_STAMP:
                time = value | time & ~((1 << RB_ABS_BITS) - 1)
            else:
                time += value if kind == TYPE_EXTEND else delta
            pos += length
            if pos > limit:
                break
            if kind <= TYPE_MAX:
                end, last = pos, time
                records += 1
        return end, records, last

    def put(self, data, time):
        commit = len(data)
        stored = b""
        if self.lost:
            commit |= RB_MISSED_EVENTS
            if self.size - self.header - len(data) >= self.mem.long:
                commit |= RB_MISSED_STORED
                stored = self.mem.pack(self.lost, self.mem.long)
        self.lost = 0
        head = self.mem.pack(time, 8) + self.mem.pack(commit, self.mem.long)
        self.pages.append((head.ljust(self.header, b"\0") + data + stored).ljust(self.size, b"\0"))


class Buffer:
    """A trace_buffer."""

    def __init__(self, mem, addr):
        self.mem = mem
        self.buffer = mem.load(addr, "struct trace_buffer")
        self.rings = {}
        cpus = self.cpus(addr)
        # (A constant in a kernel that does not count its CPUs.)
        count = mem.symbol("nr_cpu_ids", 0)
        self.nr_cpus = mem.number(count, 4) if count else max(cpus, default=0) + 1
        for cpu in cpus:
            part = mem.number(pointer(self.buffer["parts"]) + cpu * mem.long)
            self.rings[cpu] = Ring(mem, pointer(mem.load(part, "struct rb_cpu")["read_ring"]))

    def cpus(self, addr):
        """The CPUs that have their part."""
        mask = self.buffer["cpumask"]
        # A cpumask_var_t is an array of one cpumask, or a pointer to one, as long as needed.
        if mask.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            start = pointer(mask)
            count = self.mem.symbol("nr_cpu_ids", 0)
            bits = self.mem.number(count, 4) if count else 8 * self.mem.type("struct cpumask").sizeof
        else:
            start = addr + self.mem.offset("struct trace_buffer", "cpumask")
            bits = 8 * mask.type.sizeof
        long = self.mem.long
        words = self.mem.numbers(start, (bits + 8 * long - 1) // (8 * long), long)
        return [i for i in range(bits) if words[i // (8 * long)] >> i % (8 * long) & 1]

    def order(self):
        return max([ring.order for ring in self.rings.values()], default=int(self.buffer["order"]))

    def page_size(self):
        """PAGE_SIZE is in no debug info, but a page less its headers is the longest payload."""
        longest = int(self.buffer["longest"]) + self.mem.offset("struct rb_data_page", "data") + 8
        size = 1 << (longest - 1).bit_length()
        if int(self.buffer["flags"]) & self.mem.constant("RB_FL_GLOBAL"):
            return size
        return size >> int(self.buffer["order"])


class Symbols:
    """kallsyms, as /proc/kallsyms shows them to root."""

    def __init__(self, mem):
        self.mem = mem
        self.lines = []
        if mem.symbol("kallsyms_num_syms", 0):
            self.add_kernel()
        if mem.symbol("modules", 0):
            for module in mem.list(mem.symbol("modules"), "struct module"):
                self.add_module(mem.load(module, "struct module"))

    def text(self):
        return "".join(self.lines).encode()

    def add(self, addr, kind, name, module=""):
        self.lines.append("%0*x %s %s%s\n" % (2 * self.mem.long, addr, kind, name, module))

    def add_kernel(self):
        mem = self.mem
        start = mem.symbol("kallsyms_names")
        names = mem.read(start, mem.symbol("kallsyms_markers") - start)
        tokens = self.tokens()
        pos = 0
        for addr in self.addresses():
            length = names[pos]
            pos += 1
            if length & 0x80:
                length = length & 0x7f | names[pos] << 7
                pos += 1
            name = "".join(map(tokens.__getitem__, names[pos:pos + length]))
            pos += length
            self.add(addr, name[0], name[1:])

    def addresses(self):
        """The addresses of the kernel's symbols."""
        mem = self.mem
        count = mem.number(mem.symbol("kallsyms_num_syms"), 4)
        start = mem.symbol("kallsyms_offsets")
        offsets = struct.unpack("%s%di" % (mem.mark, count), mem.read(start, 4 * count))
        base = mem.symbol("kallsyms_relative_base", 0)
        if not base:
            # Linux 7: each offset is from its own place. (A 32-bit kernel is taken for one that
            # can be moved: else they are the addresses.)
            mask = (1 << 8 * mem.long) - 1
            return [start + 4 * i + offset & mask for i, offset in enumerate(offsets)]
        base = mem.number(base)
        # With CONFIG_KALLSYMS_ABSOLUTE_PERCPU, negative offsets are those of the kernel's text.
        if any(offset < 0 for offset in offsets):
            return [offset if offset >= 0 else base - 1 - offset for offset in offsets]
        return [base + (offset & 0xffffffff) for offset in offsets]

    def tokens(self):
        mem = self.mem
        index = mem.numbers(mem.symbol("kallsyms_token_index"), 256, 2)
        table = mem.read(mem.symbol("kallsyms_token_table"), index[255] + 64)
        return [table[at:table.index(b"\0", at)].decode() for at in index]

    def add_module(self, module):
        mem = self.mem
        if int(module["state"]) == mem.constant("MODULE_STATE_UNFORMED"):
            return
        kallsyms = pointer(module["kallsyms"])
        if not kallsyms:
            return
        kallsyms = mem.load(kallsyms, "struct mod_kallsyms")
        count = int(kallsyms["num_symtab"])
        if mem.long == 8:
            entry, place = struct.Struct(mem.mark + "IBBHQQ"), (0, 3, 4)
        else:
            entry, place = struct.Struct(mem.mark + "IIIBBH"), (0, 5, 1)
        table = mem.read(pointer(kallsyms["symtab"]), count * entry.size)
        kinds = mem.read(pointer(kallsyms["typetab"]), count)
        name = "\t[%s]" % array(module["name"])
        for i, symbol in enumerate(entry.iter_unpack(table)):
            at, section, addr = (symbol[n] for n in place)
            # (Not those of other modules.)
            if section and at:
                self.add(addr, chr(kinds[i]), mem.string(pointer(kallsyms["strtab"]) + at), name)


class Formats:
    """The format files of all events."""

    def __init__(self, mem):
        self.mem = mem
        self.fields = {}
        self.common = self.lines(mem.symbol("ftrace_common_fields"))
        self.systems = {"ftrace": []}
        self.custom = mem.constant("TRACE_EVENT_FL_CUSTOM")
        self.tracepoint = mem.constant("TRACE_EVENT_FL_TRACEPOINT")
        for addr in mem.list(mem.symbol("ftrace_events"), "struct trace_event_call"):
            call = mem.load(addr, "struct trace_event_call")
            kind = mem.load(pointer(call["class"]), "struct trace_event_class")
            # It may just be registered or removed.
            head = self.head(addr, call, kind)
            if not head or not pointer(kind["system"]):
                continue
            text = "name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: %s\n" % (
                self.name(call), int(call["event"]["type"]), self.common, self.lines(head),
                mem.string(pointer(call["print_fmt"])))
            self.systems.setdefault(mem.string(pointer(kind["system"])), []).append(text)

    def name(self, call):
        flags = int(call["flags"])
        if not flags & self.custom and flags & self.tracepoint:
            tracepoint = self.mem.load(pointer(call["tp"]), "struct tracepoint")
            return self.mem.string(pointer(tracepoint["name"]))
        return self.mem.string(pointer(call["name"]))

    def head(self, addr, call, kind):
        """The head of an event's list of fields, as trace_get_fields() finds it."""
        function = pointer(kind["get_fields"])
        if not function:
            return pointer(call["class"]) + self.mem.offset("struct trace_event_class", "fields")
        if function == self.mem.symbol("syscall_get_enter_fields", 0):
            return pointer(call["data"]) + self.mem.offset("struct syscall_metadata",
                                                           "enter_fields")
        if function == self.mem.symbol("user_event_get_fields", 0):
            return pointer(call["data"]) + self.mem.offset("struct user_event", "fields")
        return 0

    def lines(self, head):
        if head not in self.fields:
            fields = list(self.mem.list(head, "struct ftrace_event_field", "link"))
            # New ones are put in front.
            self.fields[head] = "".join(map(self.line, reversed(fields)))
        return self.fields[head]

    def line(self, addr):
        field = self.mem.load(addr, "struct ftrace_event_field")
        kind = self.mem.string(pointer(field["type"]))
        name = self.mem.string(pointer(field["name"]))
        if "[" in kind and not kind.startswith("__data_loc"):
            kind = kind[:kind.index("[")]
            name += "[%s]" % (int(field["len"]) or "")
        return "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (
            kind, name, int(field["offset"]), int(field["size"]), bool(int(field["is_signed"])))


class TraceDat:
    """A file of version 6, see kernel/trace/dat/internal.h for its parts."""

    CPUSTAT, TRACECLOCK, UNAME = 2, 4, 5

    def __init__(self, mem, name, buffer, clock):
        self.mem = mem
        self.name = name
        self.buffer = buffer
        self.clock = clock
        self.size = buffer.page_size() << buffer.order()
        self.out = bytearray()

    def put(self, *values):
        """Bytes, strings, and pairs of a number and its size."""
        for value in values:
            if isinstance(value, tuple):
                value = self.mem.pack(*value)
            elif isinstance(value, str):
                value = value.encode() + b"\0"
            self.out += value

    def put_sized(self, size, data):
        self.put((len(data), size), data)

    def write(self, path):
        self.put(b"\x17\x08\x44tracing6\0", (self.mem.order == "big", 1), (self.mem.long, 1),
                 (self.size, 4))
        self.put_headers()
        self.put_formats()
        self.put_sized(4, Symbols(self.mem).text())
        self.put_sized(4, self.printk())
        self.put_sized(8, self.cmdlines())
        self.put((self.buffer.nr_cpus, 4))
        self.put_options()
        self.put("flyrecord")
        return self.write_pages(path)

    def put_headers(self):
        offset = self.mem.offset("struct rb_data_page", "commit")
        data = self.mem.offset("struct rb_data_page", "data")
        field = "\tfield: %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n"
        page = (field % ("u64 timestamp", 0, 8, 0) +
                field % ("local_t commit", offset, self.mem.long, 1) +
                field % ("int overwrite", offset, 1, 1) +
                field % ("char data", data, self.size - data,
                         int(gdb.parse_and_eval("(char)-1 < 0"))))
        event = ("# compressed entry header\n"
                 "\ttype_len    :    5 bits\n"
                 "\ttime_delta  :   27 bits\n"
                 "\tarray       :   32 bits\n"
                 "\n"
                 "\tpadding     : type == %d\n"
                 "\ttime_extend : type == %d\n"
                 "\ttime_stamp : type == %d\n"
                 "\tdata max type_len  == %d\n" %
                 (TYPE_PADDING, TYPE_EXTEND, TYPE_STAMP, TYPE_MAX))
        self.put("header_page")
        self.put_sized(8, page.encode())
        self.put("header_event")
        self.put_sized(8, event.encode())

    def put_formats(self):
        systems = Formats(self.mem).systems
        self.put_system(systems.pop("ftrace"))
        self.put((len(systems), 4))
        for name, formats in systems.items():
            self.put(name)
            self.put_system(formats)

    def put_system(self, formats):
        self.put((len(formats), 4))
        for text in formats:
            self.put_sized(8, text.encode())

    def printk(self):
        """The formats of trace_printk(), as printk_formats shows them."""
        mem = self.mem
        formats = []
        for name in ("trace_bprintk_fmt", "tracepoint_str"):
            start, stop = (mem.symbol("__%s___%s" % (end, name), 0) for end in ("start", "stop"))
            formats += mem.numbers(start, (stop - start) // mem.long, mem.long)
        if mem.symbol("trace_bprintk_fmt_list", 0):
            for addr in mem.list(mem.symbol("trace_bprintk_fmt_list"), "struct trace_bprintk_fmt"):
                formats.append(pointer(mem.load(addr, "struct trace_bprintk_fmt")["fmt"]))
        text = ""
        for addr in filter(None, formats):
            line = mem.string(addr)
            for char, escape in ("\n", "\\n"), ("\t", "\\t"), ('"', '\\"'):
                line = line.replace(char, escape)
            text += '0x%x : "%s"\n' % (addr, line)
        return text.encode()

    def cmdlines(self):
        mem = self.mem
        addr = mem.number(mem.symbol("savedcmd"))
        if not addr:
            return b""
        # As a whole it is larger than gdb's max-value-size.
        at = {name: addr + mem.offset("struct saved_cmdlines_buffer", name)
              for name in ("cmdline_num", "map_cmdline_to_pid", "saved_cmdlines")}
        count = mem.number(at["cmdline_num"], 4)
        pids = mem.numbers(mem.number(at["map_cmdline_to_pid"]), count, 4)
        names = mem.read(at["saved_cmdlines"], count * TASK_COMM_LEN)
        lines = b""
        for i, pid in enumerate(pids):
            if pid != 0xffffffff:
                name = names[i * TASK_COMM_LEN:(i + 1) * TASK_COMM_LEN].split(b"\0")[0]
                lines += b"%d %s\n" % (pid, name)
        return lines

    def put_option(self, number, data):
        self.put((number, 2))
        self.put_sized(4, data)

    def put_options(self):
        self.put("options  ")
        # Then the clocks follow the table of CPUs. trace-cmd 3.1 wants a byte here.
        self.put_option(self.TRACECLOCK, b"\0")
        names = gdb.parse_and_eval("init_uts_ns")["name"]
        uname = " ".join(array(names[part]) for part in ("sysname", "nodename", "release",
                                                         "machine"))
        self.put_option(self.UNAME, uname.encode() + b"\0")
        for cpu, ring in self.buffer.rings.items():
            text = "Buffer: %s\nCPU: %d\n" % (self.name, cpu)
            text += "overrun: %d\ncommit overrun: %d\ndropped events: %d\n" % tuple(ring.losses())
            self.put_option(self.CPUSTAT, text.encode())
        self.put((0, 2))

    def clocks(self):
        clocks = gdb.parse_and_eval("trace_clocks")
        names = [self.mem.string(pointer(clocks[i]["name"]))
                 for i in range(clocks.type.range()[1] + 1)]
        names[self.clock] = "[%s]" % names[self.clock]
        return (" ".join(names) + "\n").encode()

    def write_pages(self, path):
        clocks = self.clocks()
        pages = [Pages(self.mem, self.buffer.rings[cpu], self.size).pages
                 if cpu in self.buffer.rings else [] for cpu in range(self.buffer.nr_cpus)]
        begin = len(self.out) + 16 * len(pages) + 8 + len(clocks)
        begin += -begin % self.size
        at = begin
        for cpu in pages:
            self.put((at, 8), (len(cpu) * self.size, 8))
            at += len(cpu) * self.size
        self.put_sized(8, clocks)
        try:
            with open(path, "wb") as out:
                out.write(self.out.ljust(begin, b"\0"))
                for cpu in pages:
                    out.write(b"".join(cpu))
        except OSError as error:
            raise gdb.GdbError("cannot write %s: %s" % (path, error.strerror))
        return sum(map(len, pages))


class LxTraceDat(gdb.Command):
    """Write the records of ftrace to a trace.dat, for trace-cmd report and KernelShark.

lx-trace-dat FILE [INSTANCE] [--snapshot]

FILE:       the file
INSTANCE:   name of a directory in tracefs' instances/, kept snapshots included; without it,
            the records of the top directory
--snapshot: those of the file "snapshot" in place of those of "trace"

The kernel is one that has stopped: a vmcore or a gdbserver. Nothing is consumed. Records that
were not committed are left out, lost ones are marked.

A kernel with random addresses needs them: symbol-file -o 0xOFFSET vmlinux, with OFFSET from the
line KERNELOFFSET= of the vmcore's notes (strings vmcore | grep -m 1 KERNELOFFSET)."""

    def __init__(self):
        super().__init__("lx-trace-dat", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        words = gdb.string_to_argv(arg)
        snapshot = "--snapshot" in words
        words = [word for word in words if word != "--snapshot"]
        if not 1 <= len(words) <= 2:
            raise gdb.GdbError("usage: lx-trace-dat FILE [INSTANCE] [--snapshot]")
        mem = Memory()
        self.check(mem)
        name = words[1] if len(words) > 1 else ""
        instance = self.find(mem, name)
        addr, clock = self.records(mem, instance, snapshot)
        buffer = Buffer(mem, addr)
        pages = TraceDat(mem, name or "global", buffer, clock).write(words[0])
        gdb.write("%s: %d pages of records\n" % (words[0], pages))

    @staticmethod
    def check(mem):
        if not gdb.selected_inferior().pid and not gdb.selected_inferior().threads():
            raise gdb.GdbError("no kernel: use core-file VMCORE or target remote first")
        # The list has at least the top directory, but not in vmlinux itself, where gdb reads what
        # the core does not have.
        head = mem.symbol("ftrace_trace_arrays")
        try:
            following = mem.number(head)
            good = following != head and mem.number(following + mem.long) == head
        except gdb.GdbError:
            good = False
        if not good:
            raise gdb.GdbError("the addresses of vmlinux are not those of the kernel, see "
                               "help lx-trace-dat")
        try:
            mem.type("struct rb_subbuf")
        except gdb.error:
            raise gdb.GdbError("vmlinux has no debug info of kernel/trace/ring_buffer/")

    @staticmethod
    def find(mem, name):
        names = []
        for addr in mem.list(mem.symbol("ftrace_trace_arrays"), "struct trace_array"):
            instance = mem.load(addr, "struct trace_array")
            this = mem.string(pointer(instance["name"])) if pointer(instance["name"]) else ""
            if this == name:
                return instance
            names.append(this)
        raise gdb.GdbError("no instance %s, there are: %s" %
                           (name, " ".join(filter(None, names)) or "none"))

    @staticmethod
    def records(mem, instance, snapshot):
        """The address of the trace_buffer, and the index of its clock."""
        if not snapshot:
            return pointer(instance["array_buffer"]["buffer"]), int(instance["clock_id"])
        try:
            snapshots = pointer(instance["snapshots"])
            snapshots = snapshots and mem.load(snapshots, "struct trace_snapshots")
        except gdb.error:
            raise gdb.GdbError("this kernel has no snapshots")
        last = pointer(snapshots["user"]["last"]) if snapshots else 0
        if not last:
            raise gdb.GdbError("there is no snapshot")
        last = mem.load(last, "struct trace_snap")
        return pointer(last["buf"]["buffer"]), int(last["clock_id"])


LxTraceDat()
