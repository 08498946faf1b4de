"""CUDA's declaration specifiers: kernels, device functions and variables, shared arrays.

A part of the source pass (source.py). Every function here rewrites tokens of `code` from the specifier at index i on.
"""

from __future__ import annotations

from passes.overloads import BUILTIN_TYPE, is_called_by_name, mark_shared_names, remember_overload, rewrite_parameters
from passes.tokens import TAKES_PARENTHESES, Code, Function, Kernel

# What the simulated device does not have: word -> (what the message calls it, only before this token, only in device
# code).
UNSUPPORTED = {
    "__managed__": ("__managed__", "", False),
    "__cluster_dims__": ("__cluster_dims__", "", False),
    "texture": ("texture<>", "<", False),
    "surface": ("surface<>", "<", False),
    "asm": ("inline PTX (asm)", "", True),
    "__asm": ("inline PTX (asm)", "", True),
    "__asm__": ("inline PTX (asm)", "", True),
}

# A const object of these types is a compile-time constant (an array bound, say), for nvcc too.
INTEGRAL = frozenset(
    """bool char short int long unsigned signed size_t auto
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t""".split()
)

# Built-in variables of device code. Host code may use the names for its own variables, and often does.
BUILTIN = {
    "threadIdx": "(sim_thread_index())",
    "blockIdx": "(sim_block_index())",
    "blockDim": "(sim_block_dim())",
    "gridDim": "(sim_grid_dim())",
}

LAMBDA_SPECIFIERS = ("__host__", "__device__", "__forceinline__", "__noinline__")
# Words in front of a function that are no part of its type, but for what stands in brackets.
NO_TYPE = frozenset(
    """__global__ static extern "C" inline __inline__ const __forceinline__ __noinline__ __host__ __device__ ( < [
    __launch_bounds__ __attribute__ __maxnreg__ __cluster_dims__ __block_size__ template""".split()
)
MUST_BE_LAUNCHED = "a __global__ function call must be configured"
RECORDS = ("struct", "union", "class")


def rewrite_declarations(code: Code) -> None:
    text, out = code.text, code.out
    words = [i for i in range(code.count) if text[i] in WORDS]
    for i in words:
        if text[i] in DECLARATION:
            DECLARATION[text[i]](code, i)
    mark_shared_names(code)
    for i in words:
        word = text[i]
        if word in UNSUPPORTED:
            refuse_unsupported(code, i, *UNSUPPORTED[word])
        elif word == "__global__":
            if i in code.kernel_at:
                out[i] = kernel_attributes(code, code.kernel_at[i])
        elif word in BUILTIN and code.device[i] and text[i - 1] not in (".", "->", "::"):
            out[i] = BUILTIN[word]


def refuse_unsupported(code: Code, i: int, name: str, before: str, only_device: bool) -> None:
    if (before and code.text[i + 1] != before) or (only_device and not code.device[i]):
        return
    code.error(i, f"'{name}' is not supported by the simulated device")


def drop_with_parentheses(code: Code, i: int) -> None:
    code.drop(i, code.partner[i + 1] if code.text[i + 1] == "(" else i)


# ---- functions ----


def function_at(code: Code, i: int) -> Function | None:
    """The function declared by the specifier at i; None where the declaration is no function."""
    text = code.text
    while True:
        token = text[i]
        if token in ("", ";", "=", "{", "}") or (token == "[" and text[i + 1] != "["):
            return None
        if token == "operator":
            opened = i + 1
            while text[opened] not in ("(", ";", ""):
                opened += 1
            if text[opened + 1] == ")" and text[opened + 2] == "(":
                opened = code.after(opened)
            return function_with(code, i, opened)
        if token == "(":
            if text[i + 1] in ("*", "&"):  # a pointer to a function is a variable
                return None
            return function_with(code, i - 1, i)
        if token == "<":
            close = code.angle_close(i)
            if close is None:
                return None
            if text[close + 1] == "(":
                return function_with(code, i - 1, close + 1)
            i = close + 1
        elif token in TAKES_PARENTHESES and text[i + 1] == "(":
            i = code.after(i + 1)
        else:
            i = code.after(i)


def function_with(code: Code, name_at: int, parameters: int) -> Function:
    text = code.text
    i = code.after(parameters)
    while text[i] not in (";", "=", "{", ""):
        if text[i] == ":":  # a constructor's initializers: its body is the last brace before `;`
            i = after_initialisers(code, i)
            break
        i = code.after(i)
    return Function(text[name_at], name_at, parameters, i if text[i] == "{" else None)


def after_initialisers(code: Code, i: int) -> int:
    """Behind `: a(1), b{2}`, that is at the `{` of the body."""
    while True:
        while code.text[i] not in ("(", "{", ";", ""):
            i += 1
        if code.text[i] not in ("(", "{"):
            return i
        i = code.after(i)
        if code.text[i] != ",":
            return i


def rewrite_kernel(code: Code, i: int) -> None:
    """A kernel stays one symbol, in optimized builds too, and says in the assembly that it is one."""
    start = code.declaration_start(i)
    if code.text[start] == "template" and code.text[start + 1] != "<":
        code.drop(i)  # an explicit instantiation takes no attributes
        return
    function = function_at(code, i + 1)
    if not function:
        code.error(i, "__global__ belongs to a function")
        return
    if not returns_void(code, start, function.name_at):
        code.error(i, "a __global__ function must have a void return type")
    code.kernel_at[i] = function.name
    remember_kernel(code, function, start)
    if function.body is None:
        return
    code.mark_device_code(function.body, 2)
    code.out[function.body] += ' __asm__ volatile("# sim_kernel"); ::sim_enter_kernel(__func__);'


def returns_void(code: Code, start: int, name_at: int) -> bool:
    """False only if that can be told from the words: a name may be that of void."""
    words = []
    while start < name_at:
        words.append(code.text[start])
        start = code.after_item(start)
    if "void" in words:
        return "*" not in words
    types = [word for word in words if word not in NO_TYPE]
    return bool(types) and BUILTIN_TYPE.isdisjoint(types)


def kernel_attributes(code: Code, name: str) -> str:
    """A direct call of a kernel does not compile, if it can be told from a launch.

    A launch of a template whose arguments are deduced, or of a kernel with defaults, is a direct call too, and an
    optimizer makes direct calls of launches.
    """
    attributes = ["noinline"]
    if code.compiler == "gcc":
        attributes.append("noclone")
    kernel = code.kernels[name]
    if not (code.fast or kernel.template or is_called_by_name(kernel)):
        attributes.append(f'error("{MUST_BE_LAUNCHED}: {name}<<<grid, block>>>(...)")')
    return f"__attribute__(({', '.join(attributes)}))"


def remember_kernel(code: Code, function: Function, start: int) -> None:
    kernel = code.kernels.setdefault(function.name, Kernel())
    kernel.named_at.add(function.name_at)
    declared = rewrite_parameters(code, function)
    packs = [n for n, parameter in enumerate(declared.parameters) if "..." in code.text[slice(*parameter)]]
    most = float("inf") if packs else len(declared.parameters)
    kernel.declared.append((min([declared.least(), *packs]), most, function.name_at))
    if code.text[start] != "template":
        remember_overload(kernel, declared, function.body is not None)
        return
    kernel.template = True
    close = code.angle_close(start + 1)
    if close is None or close == start + 2:  # template <>: a specialization of one already seen
        return
    total = code.count_items(start + 1, close)
    pack = "..." in code.text[start + 2 : close]
    kernel.arguments = None if pack else total
    parameters = code.count_items(function.parameters, code.partner[function.parameters])
    kernel.shapes.add((total, parameters))


def rewrite_device(code: Code, i: int) -> None:
    """In front of a function it means nothing to a CPU; in front of a variable it is where that variable lives."""
    function = function_at(code, i + 1)
    if is_lambda(code, i):
        if function:
            code.mark_device_code(function.body, 1)
        code.drop(i)
        return
    if not function:
        rewrite_variable(code, i)
        return
    code.drop(i)
    start = code.declaration_start(i)
    if function.body is not None:
        code.device_functions.append(function)
    for_host = "__host__" in code.text[start : function.name_at + 1]
    code.mark_device_code(function.body, 1 if for_host else 2)


def is_lambda(code: Code, i: int) -> bool:
    """[=] __host__ __device__ (int i) { ... }"""
    while code.text[i] in LAMBDA_SPECIFIERS:
        i -= 1
    opened = code.partner[i] if code.text[i] == "]" else None
    return opened is not None and code.text[opened + 1] != "["  # [[ opens an attribute


def rewrite_forceinline(code: Code, i: int) -> None:
    """Instrumented, a device function stays a function: inlining would give one line of the source several sites."""
    if is_lambda(code, i):
        code.drop(i)
        return
    j = code.declaration_start(i)
    inline = False
    while code.text[j] not in ("(", "{", ";", ""):
        inline = inline or code.text[j] in ("inline", "__inline", "__inline__")
        j += 1
    words = [] if inline else ["inline"]
    if code.fast:
        words.append("__attribute__((always_inline))")
    code.out[i] = " ".join(words)


def rewrite_noinline(code: Code, i: int) -> None:
    if code.text[i - 1] not in ("(", ","):  # also the spelling of a gcc attribute, where it must stay
        code.out[i] = "__attribute__((noinline))"


def rewrite_align(code: Code, i: int) -> None:
    close = code.partner[i + 1] if code.text[i + 1] == "(" else None
    if close is not None:
        code.out[i] = "__attribute__((aligned"
        code.out[close] += "))"


# ---- variables ----


def rewrite_variable(code: Code, i: int) -> None:
    """A __device__ or __constant__ variable goes to a section of its own.

    Its const goes too: compilers do not instrument reads of constants, and the count would silently be 0.
    """
    start = code.declaration_start(i)
    end, array, initialized = declarator_end(code, i + 1)
    words = set(code.text[start:end])
    if code.text[i] == "__device__" and "__constant__" in words:
        code.drop(i)
        return
    integral = not words.isdisjoint(INTEGRAL)
    if not array and initialized and ("constexpr" in words or ("const" in words and integral and "*" not in words)):
        code.drop(i)  # a compile-time constant, never loaded
        return
    section = "sim_constant" if code.text[i] == "__constant__" else "sim_device"
    place = f'section("{section}"), '
    if code.text[start] == "template":
        code.variable_templates[code.text[end - 1]] = section
        if code.compiler == "gcc":
            place = ""  # gcc ignores it for a template, or since 14 finds it in conflict with variables that are none
        if not initialized and "extern" not in words:
            # clang takes one with a section and without a value for a constant, whose reads it would not report
            behind = code.skip_to(end, (";", ","))
            code.out[behind] = " = {}" + code.out[behind]
    was_const = drop_const(code, start, end)
    # const gave it internal linkage
    static = "static " if was_const and words.isdisjoint(("static", "extern", "inline")) else ""
    code.out[i] = f"{static}__attribute__(({place}aligned(256)))"


def declarator_end(code: Code, i: int) -> tuple[int, bool, bool]:
    """From a specifier to the end of the first declarator's name: (index, is it an array, is it initialized)."""
    text = code.text
    while text[i]:
        token = text[i]
        if token == "[" and text[i + 1] != "[":
            behind = i
            while text[behind] == "[":
                behind = code.after(behind)
            return i, True, text[behind] in ("=", "{")
        if token in (";", ","):
            return i, False, False
        if token == "=" or (token == "{" and not {text[i - 2], text[i - 1]} & {"struct", "union", "class", "enum"}):
            return i, False, True
        i = code.after_item(i)
    return i, False, False


def drop_const(code: Code, start: int, end: int) -> bool:
    """Drops the const and constexpr of the object itself, not of what it points to. Returns whether there was one."""
    last_star, found, i = -1, [], start
    while i < end:
        if code.text[i] == "*":
            last_star = i
        elif code.text[i] in ("const", "constexpr"):
            found.append(i)
        i = code.after_item(i)
    own = [j for j in found if j > last_star or code.text[j] == "constexpr"]
    for j in own:
        code.drop(j)
    return bool(own)


def rewrite_shared(code: Code, i: int) -> None:
    """__shared__ is storage of the thread that runs the block. With extern it is the engine's dynamic shared memory."""
    text = code.text
    start = code.declaration_start(i)
    end = code.skip_to(i, (";",))
    dynamic = "extern" in text[start : end + 1]
    storage = next((j for j in range(start, end + 1) if text[j] in ("extern", "static")), None)
    code.drop(i)
    if storage is not None:
        code.drop(storage)
    first = storage if storage is not None and storage < i else i
    code.out[first] = "extern __thread" if dynamic else "static __thread __attribute__((aligned(16)))"
    code.out[start] = take_alignas(code, i, end) + code.out[start]
    shared_declarators(code, i + 1, end, code.dynamic if dynamic else code.shared)


def take_alignas(code: Code, i: int, end: int) -> str:
    """alignas must open a declaration; behind __shared__ nvcc takes it anyway."""
    for at in range(i, end + 1):
        close = code.partner[at + 1] if code.text[at] == "alignas" else None
        if close is not None:
            code.drop(at, close)
            return " ".join(code.text[at : close + 1]) + " "
    return ""


def shared_declarators(code: Code, i: int, end: int, names: dict[str, bool]) -> None:
    """Remembers each name that a __shared__ declaration declares; an initialiser is an error.

    The names of dynamic arrays are apart: the assembly pass makes them mean the one array the engine has.
    """
    text, first = code.text, i
    name, name_at, declared = "", i, False
    while i <= end:
        token = text[i]
        if token == ")":
            code.error(name_at, f"a parameter cannot be __shared__: '{name}'")
            return
        ends = token in ("[", "=", ";", ",")
        if ends or (token == "{" and text[name_at - 1] not in RECORDS and name not in RECORDS):
            if not declared:
                names[name] = True
            if token in ("=", "{"):
                refuse_initializer(code, first, i, name_at)
                return
            if token == "[":
                while text[i] == "[":
                    i = code.after(i)
                declared = True
                continue
            declared = False
        elif token in TAKES_PARENTHESES:
            i += 1
        elif token == "(" and name_at == i - 1 and name not in BUILTIN_TYPE and text[i + 1] not in ("*", "&"):
            refuse_initializer(code, first, i, name_at)
            return
        elif code.is_identifier(i) and not declared:
            name, name_at = token, i
        i = code.after_item(i)


def refuse_initializer(code: Code, first: int, i: int, name_at: int) -> None:
    """What looks like one at i: or the `;` before another statement's line is missing."""
    for at in range(first + 1, i):
        if "\n" in code.before[at] and code.is_identifier(at) and (code.text[at - 1] == "]" or at > first + 1):
            code.error(at, f"expected ';' before '{code.text[at]}'")
            return
    code.error(name_at, f"an initializer is not allowed for __shared__ variable '{code.text[name_at]}'")


DECLARATION = {
    "__global__": rewrite_kernel,
    "__device__": rewrite_device,
    "__constant__": rewrite_variable,
    "__host__": Code.drop,
    "__shared__": rewrite_shared,
    "__launch_bounds__": drop_with_parentheses,
    "__maxnreg__": drop_with_parentheses,
    "__block_size__": drop_with_parentheses,
    "__grid_constant__": Code.drop,
    "__forceinline__": rewrite_forceinline,
    "__noinline__": rewrite_noinline,
    "__align__": rewrite_align,
}
WORDS = frozenset([*DECLARATION, *UNSUPPORTED, *BUILTIN])
