"""The frames of functions: variables that were given no value, and functions that call nothing.

A part of the assembly pass (assembly.py).
"""

from __future__ import annotations

STORES = ((16, "movups\t%xmm15"), (8, "movq\t%xmm15"), (4, "movd\t%xmm15"), (1, "movb\t$127"))


def enter_leaf() -> list[str]:
    """Notes what a function returns to that has no hook to look after it."""
    return [
        "\tmovq\t(%rsp), %r11",
        "\tmovq\t%r11, %fs:sim_leaf_return@tpoff",
        "\tmovq\t%rbp, %fs:sim_leaf_frame@tpoff",
    ]


def leave_leaf(number: int, function: int) -> list[str]:
    """Before such a function returns: to where it was called from, with its caller's frame pointer?

    On the host nobody asks: a signal may have come between.
    """
    label = f".Lsim_leaf_{number}"
    return [
        "\tmovq\t(%rsp), %r11",
        "\txorq\t%fs:sim_leaf_return@tpoff, %r11",
        f"\tjne\t{label}_lost",
        "\tcmpq\t%fs:sim_leaf_frame@tpoff, %rbp",
        f"\tje\t{label}",
        f"{label}_lost:",
        "\tcmpq\t$0, %fs:sim_lane@tpoff",
        f"\tje\t{label}",
        f"\tleaq\t.Lsim_function_{function}(%rip), %rdi",
        "\tjmp\tsim_leaf_overrun@PLT",
        f"{label}:",
    ]


def fill_variables(size: int, number: int) -> list[str]:
    """Makes the variables of a function hold bytes 0x7F, where the stack pointer has just gone below them.

    3.4e38 as a float: it shows in a sum and in a maximum, and is no value that the block before or the engine has left
    there. From above to below: a frame too large for the stack meets the guard page, whatever lies behind it. Of the
    registers only %r11 and %xmm15 hold nothing yet. `number` makes a label.
    """
    looped = size - size % 64 if size > 256 else 0
    lines, at = ["\tmovups\tsim_empty_local(%rip), %xmm15"], size
    for width, instruction in STORES:
        while at - looped >= width:
            at -= width
            lines.append(f"\t{instruction}, {at}(%rsp)")
    if looped:
        label = f".Lsim_fill_{number}"
        lines += [f"\tleaq\t{looped}(%rsp), %r11", f"{label}:"]
        lines += (f"\tmovups\t%xmm15, -{16 * i}(%r11)" for i in range(1, 5))
        lines += ["\tsubq\t$64, %r11", "\tcmpq\t%rsp, %r11", f"\tja\t{label}"]
    return lines
