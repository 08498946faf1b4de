"""The tables behind the code of an instrumented object: their layout is engine/tables.h.

A part of the assembly pass (assembly.py). Records of a function that lies in a COMDAT group (a template) join that
group, so that of two objects with the same instance the linker keeps one copy of code and records together.
"""

from __future__ import annotations

from passes.process import escaped
from passes.symbols import array_name, enclosing_function, split_signature, variable_name


class Tables:
    """Writes the tables of one object to `out`. `functions` are by symbol, `names` the demangled symbols."""

    def __init__(self, out: list[str], functions: dict, objects: list, sizes: dict, names: dict[str, str]) -> None:
        self.out = out
        self.functions = functions
        self.objects = objects
        self.sizes = sizes
        self.names = names
        self.strings: dict[str, str] = {}
        self.arrays = {item.symbol for item in objects if item.is_shared}

    def write(self) -> None:
        for function in self.functions.values():
            self.function(function)
        # by name, so that reports list variables alike with every compiler
        for item in sorted(self.objects, key=lambda item: self.names[item.symbol]):
            if item.is_shared:
                self.shared(item)
            else:
                self.variable(item)
        if any(callee.startswith("sim_threadfence") for f in self.functions.values() for callee, _ in f.edges):
            self.open("sim_fences", None)
            self.out.append("\t.byte\t1")
        self.out.append('\t.section\t.rodata.sim_strings,"a",@progbits')
        for text, label in self.strings.items():
            self.out += (f"{label}:", f'\t.string\t"{escaped(text)}"')

    def open(self, section: str, group: str | None) -> None:
        """`group` puts the records into a COMDAT group."""
        flags = '"aw",@progbits' if group is None else f'"awG",@progbits,{group},comdat'
        self.out += (f"\t.section\t{section},{flags}", "\t.p2align\t3")

    def string(self, text: str) -> str:
        """The label of a string."""
        return self.strings.setdefault(text, f".Lsim_string_{len(self.strings)}")

    def function(self, function) -> None:
        symbol, group, index = function.symbol, function.group, function.index
        signature = self.names[symbol]
        name, arguments = split_signature(signature)
        shared = self.shared_of(function)
        if shared:
            self.open(".data.rel.sim", group)
            self.out.append(f".Lsim_shared_of_{index}:")
            self.out += (f"\t.quad\tsim_shared.{array}" for array in shared)
        self.open("sim_functions", group)
        self.out += (
            f".Lsim_function_{index}:",
            f"\t.quad\t{self.string(name)}",
            f"\t.quad\t{self.string(signature)}",
            f"\t.quad\t{self.string(arguments)}",
            f"\t.quad\t{self.string(function.file or '')}",
            f"\t.quad\t{symbol}",
            f"\t.quad\t.Lsim_end_{index}-{symbol}",
            f"\t.quad\t{f'.Lsim_shared_of_{index}' if shared else 0}",
            f"\t.long\t{len(shared)}",
            f"\t.long\t{int(function.is_kernel)}",
        )
        if not function.sites:
            return
        self.open("sim_sites", group)
        for site in function.sites:
            where = site.where
            self.out += (
                f"\t.quad\t{site.label}",
                f"\t.quad\t{self.string(where.file)}",
                f"\t.quad\t.Lsim_function_{index}",
                f"\t.long\t{where.line}",
                f"\t.short\t{min(where.column, 65535)}",
                f"\t.byte\t{site.op}",
                f"\t.byte\t{site.size}",
            )

    def shared_of(self, function) -> list[str]:
        """The shared arrays that a function and what it calls in this object use: a kernel is launched, not called."""
        if not self.arrays:
            return []
        seen, found, queue = {function.symbol}, set(), [function]
        for reached in queue:  # grows on the way
            found |= reached.uses & self.arrays
            for symbol, _ in reached.edges:
                if symbol in self.functions and symbol not in seen and not self.functions[symbol].is_kernel:
                    seen.add(symbol)
                    queue.append(self.functions[symbol])
        return sorted(found)

    def shared(self, item) -> None:
        """A weak record in a group of its own: every object that has the array of a template describes it, one stays.

        Arrays that are local to the object need a name that no other object has, and keep a local record.
        """
        symbol = item.symbol
        name, function = self.shared_names(symbol)
        record = f"sim_shared.{symbol}"
        weak = item.group is not None
        self.open("sim_shared", record if weak else None)
        if weak:
            self.out.append(f"\t.weak\t{record}")
        self.out += (
            f"{record}:",
            f"\t.quad\t{self.string(name)}",
            f"\t.quad\t{self.string(function)}",
            f"\t.quad\t{symbol}@tpoff",
            f"\t.quad\t{self.sizes[symbol]}",
            f"\t.quad\t{item.align}",
        )

    def shared_names(self, symbol: str) -> tuple[str, str]:
        """The array's name and the signature of the function that declares it ("" at file scope)."""
        name = array_name(self.names[symbol])
        if symbol.startswith("_ZZ"):
            for owner in self.functions:
                if owner.startswith("_Z") and symbol.startswith(f"_ZZ{owner[2:]}E"):
                    return name, self.names[owner]
            return name, enclosing_function(self.names[symbol])
        if "." in symbol:
            for function in self.functions.values():
                if symbol in function.uses:
                    return name, self.names[function.symbol]
        return name, ""

    def variable(self, item) -> None:
        symbol = item.symbol
        self.open("sim_variables", None)
        self.out += (
            f"\t.quad\t{self.string(variable_name(self.names[symbol]))}",
            f"\t.quad\t{symbol}",
            f"\t.quad\t{self.sizes[symbol]}",
            f"\t.quad\t{int(item.section == 'sim_constant')}",
        )
