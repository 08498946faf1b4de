"""What simcc is made of: its command line, the compilers it calls, and the passes over source and assembly.

One .cu file goes through: preprocess, source (CUDA to C++), compile to assembly with the thread sanitizer's hooks,
assembly (a record for every access), private (device code belongs to its file), assemble. The link adds the engine,
libsim.a, in place of the sanitizer's library.

    options.py     the command line
    process.py     commands, files, and how a build ends
    compilers.py   which compiler, and the options it takes for device code
    build.py       compiling and linking
    toolkit.py     a real CUDA Toolkit on the same machine, which is kept out

    source.py      first pass; tokens.py, declarations.py, overloads.py, launches.py, missing.py and places.py are its
                   parts
    llvm.py        clang only, between source and assembly
    assembly.py    second pass; frames.py, symbols.py, denied.py and tables.py are its parts
    private.py     last pass

Text is bytes: a file, an argument or a path of any encoding is a str of which each character is one byte (Latin-1).
Only process.py turns it into what the system wants. Patterns are compiled with re.ASCII for the same reason.

simcc is called for every file of a build, so start-up counts: nothing here imports argparse, typing, dataclasses or
subprocess, and a module is imported where the first file needs it.
"""
