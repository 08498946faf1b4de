"""The words a region may use: the language's, the device's, and those of a task's place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ARITHMETIC = frozenset(
    "bool char short int long unsigned signed float double size_t int8_t int16_t int32_t int64_t "
    "uint8_t uint16_t uint32_t uint64_t".split()
)
VECTORS = frozenset("float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2".split())
CASTABLE_VECTORS = frozenset({"float2", "float4"})  # pointers to them: loads and stores of 8 and 16 bytes
STATEMENTS = frozenset("if else for while do break continue return switch case default".split())
OTHER_WORDS = frozenset("const constexpr auto sizeof true false struct static_cast reinterpret_cast".split())

BUILT_IN = frozenset("threadIdx blockIdx blockDim gridDim".split())
CONSTANTS = frozenset("warpSize INFINITY NAN".split())
COMPONENTS = frozenset("x y z w".split())

_MATH = (
    "fabs fmax fmin fma exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt rcbrt pow sinh cosh tanh sin cos "
    "tan asin acos atan atan2 asinh acosh atanh erf erfc floor ceil round trunc rint nearbyint copysign "
    "fmod fdim hypot ldexp"
)
FUNCTIONS = frozenset(
    [name for stem in _MATH.split() for name in (stem, f"{stem}f")]
    + """abs min max isnan isinf isfinite signbit
    __expf __exp10f __logf __log2f __log10f __powf __sinf __cosf __tanf __fdividef __saturatef
    __frcp_rn __fsqrt_rn __frsqrt_rn __fmaf_rn __fadd_rn __fsub_rn __fmul_rn __fdiv_rn __mul24 __mulhi __umulhi
    __float2int_rn __float2int_rz __float2int_rd __float2int_ru __int2float_rn __float_as_int __int_as_float
    __float_as_uint __uint_as_float
    __popc __ffs __clz __brev
    make_float2 make_float3 make_float4 make_int2 make_int4 make_uint2 make_uint4 __ldg __ldcg __ldca __ldcs
    __syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __syncwarp __threadfence __threadfence_block
    __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync __activemask
    __reduce_add_sync __reduce_max_sync __reduce_min_sync
    atomicAdd atomicMax atomicMin atomicExch atomicCAS""".split()
)

# Words of the language that a region has no use for, and what to write instead.
INSTEAD = {
    "goto": "use a loop, break or continue",
    "static": "a local variable without static, one for each thread",
    "extern": "only what the function has is there; declare a local variable",
    "volatile": "a plain variable; __syncthreads() orders memory between threads",
    "register": "leave it out",
    "typedef": "write the type",
    "using": "write the type",
    "asm": "write it in CUDA C",
    "new": "a local variable or array",
    "delete": "a local variable or array",
    "nullptr": "a pointer that the function has",
    "and": "&&",
    "or": "||",
    "not": "!",
    "__shared__": "the shared memory that the function has",
}
KEYWORDS = frozenset(
    """alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept const_cast consteval constinit decltype delete dynamic_cast enum explicit export extern friend goto
    import inline module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected
    public register requires static static_assert template this thread_local throw try typedef typeid typename typeof
    union using virtual void volatile wchar_t xor xor_eq __shared__
    quad_t""".split()  # u_quad_t is a type of some C libraries
)


@dataclass
class Names:
    """What a task's place offers: classroom/tasks/ID/names, words separated by blanks, # for comments.

    q                  a variable or constant          f()          a function, always called
    .m                 a member, after . or ->         f<>()        a function with template arguments
    struct:partial     a type                          T::KEYS      a constant of a type
    declares:end       a variable that the region must declare for the lines after it
    """

    variables: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    templates: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    scoped: set[tuple[str, str]] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)


_FORMS = {
    "variables": r"(\w+)",
    "members": r"\.(\w+)",
    "functions": r"(\w+)\(\)",
    "templates": r"(\w+)<>\(\)",
    "types": r"struct:(\w+)",
    "declared": r"declares:(\w+)",
    "scoped": r"(\w+)::(\w+)",
}


def parse_names(text: str, path: str | Path = "-") -> Names:
    """Raises ValueError, FILE:LINE: ..., for a word that is none of the forms."""
    names = Names()
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.partition("#")[0].split():
            for kind, form in _FORMS.items():
                if match := re.fullmatch(form, word, re.ASCII):
                    getattr(names, kind).add(match[1] if kind != "scoped" else match.groups())
                    break
            else:
                forms = "a name, .member, f(), f<>(), struct:TYPE, T::NAME or declares:NAME"
                raise ValueError(f"{path}:{number}: {word}: expected {forms}")
    return names
