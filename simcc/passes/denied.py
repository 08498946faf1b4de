"""What device code may not call. A part of the assembly pass (assembly.py)."""

from __future__ import annotations

import re

# What CUDA's device code has not, or the simulated device has not: symbol => what the message calls it, or the symbol.
DENIED = (
    (r"(?:malloc|free|calloc|realloc|aligned_alloc|posix_memalign)$", ""),
    (r"_Zn[wa]", "new"),
    (r"_Zd[la]", "delete"),
    (r"cuda[A-Z]\w*$", ""),
    (r"_ZNSt6thread", "std::thread"),
    (r"pthread_\w+$", ""),
    (r"(?:exit|_exit|_Exit|quick_exit|abort|atexit|system|getenv)$", ""),
    (r"(?:f?open|fclose|fread|fwrite|read|write|fseek|ftell|rewind|remove|rename|perror)$", ""),
    (r"(?:v?f(?:printf|scanf)|v?sn?printf|v?s?scanf|fput[cs]|putc|fflush|f?getc|getchar|fgets)$", ""),
    (r"(?:mem(?:cmp|r?chr|mem|ccpy)|str(?:n?len|n?cpy|n?cmp|n?cat|r?chr|str|n?dup|tok\w*|to[a-z]+)|ato[fil]+)$", ""),
    (r"(?:s?rand(?:om)?|rand_r|[dlm]rand48|time|u?sleep|nanosleep|gettimeofday|clock_gettime|qsort|bsearch)$", ""),
    (r"_ZNSt6chrono", "std::chrono"),
    (r"__cxa_(?:throw|rethrow|allocate_exception)$", "throw"),
    (r"__cxa_guard_acquire$", "a static variable initialized at run time"),
    (r"(?:_ZNSo|_ZStls|_ZSt4endl)", "std::ostream"),
    (r"__tsan_atomic|__(?:sync|atomic)_", "a compiler atomic"),
)
ANY_DENIED = re.compile("|".join(f"({symbol})" for symbol, _ in DENIED), re.ASCII)


def denied(symbol: str) -> str | None:
    """What a message calls this symbol; None where device code may call it."""
    symbol = re.sub(r"^__isoc\d\d_", "", symbol)  # what glibc makes of sscanf and strtol, by the year of C's standard
    found = ANY_DENIED.match(symbol)
    return (DENIED[found.lastindex - 1][1] or symbol) if found else None


def denied_calls(functions: dict) -> list[str]:
    """Walks the call graph from the kernels, and returns the error messages.

    A call inside a function of our headers, or of a system header, is reported at the line of the user's that leads
    there. `functions` are the assembly pass's, by symbol.
    """
    queue = [(function, None) for function in functions.values() if function.is_kernel]
    seen = {function.symbol for function, _ in queue}
    errors: dict[str, bool] = {}
    for function, reached_from in queue:  # grows on the way
        for symbol, location in function.edges:
            where = location or reached_from
            callee = functions.get(symbol)
            if callee:
                if symbol not in seen:
                    seen.add(symbol)
                    queue.append((callee, where))
                continue
            name = denied(symbol)
            if name is not None:
                place = f"{where.file}:{where.line}: " if where else ""
                errors[f"{place}error: '{name}' in device code is not supported by the simulated device"] = True
    return list(errors)


def is_user_file(name: str, files: dict[str, bool]) -> bool:
    return name in files or f"./{name}" in files
