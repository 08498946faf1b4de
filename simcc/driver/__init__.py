"""What simcc is made of: its command line, and the compilers that it calls.

clang compiles a .cu file with ../front, twice (cuda.py); .c and .cpp files are any compiler's. The link adds the
engine, libsim.a.

    options.py     the command line
    process.py     commands, files, and how a build ends
    compilers.py   which compilers
    build.py       compiling C and C++, linking, the library
    cuda.py        compiling CUDA
    messages.py    what clang says, for the user
    toolkit.py     a real CUDA Toolkit on the same machine, which is kept out

Text is bytes: a file, an argument or a path of any encoding is a str of which each character is one byte (Latin-1).
Only process.py turns it into what the system wants. Patterns are compiled with re.ASCII for the same reason.

simcc is called for every file of a build, so start-up counts: nothing here imports argparse, typing, dataclasses or
subprocess, and a module is imported where the first file needs it.
"""
