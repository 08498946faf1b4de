"""The judge's reading of a region: what it takes, what it refuses, and that nothing unknown comes through."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import re
import time
import unittest

from judge import region, words
from judge.tokens import Refusal, tokens_of
from lib import tasks
from lib.chapters import PROGRAMS, ROOT

PLACE = words.parse_names(
    "q K_tile m l O P D .m .l struct:partial # a comment\nsum_over_warp() multiply_rows<>() T::ROWS T::KEYS\n"
)

# A region, and what of it must stand in the result.
TAKEN = """
float s = 0; for (int j = 0; j < 3; j++) s += q[j]; *m = s;      | u_s += q [ u_j ] ; * m = u_s ;
float4 v = *(const float4 *)(P + 3); O[0] = v.x;                 | * ( const float4 * ) ( P + 3 )
reinterpret_cast<float4 *>(O)[0] = make_float4(1, 2, 3, 4);      | reinterpret_cast < float4 * > ( O )
float x = float((1 + 2) * 3), y = int(*q), z = 2 * float((3)); | = float ( ( 1 + 2 ) * 3 )
O[0] = ((struct partial){1.0f, 2.0f}).m;                         | ( struct partial ) { 1.0f , 2.0f }
auto f = [](float *) { return 1; }; O[0] = f(q);                 | [ ] ( float * )
auto f = [](int i, float *) { return i; }; O[0] = f(1, q);       | ( int u_i , float * )
for (auto &x : rows) x = 1;                                      | auto & u_x : u_rows
if (const float *p = q) O[0] = *p;                               | if ( const float * u_p = q )
multiply_rows<D, 3>(q, K_tile, O);                               | multiply_rows < D , 3 > ( q
float t = 0; sum_over_warp(&t); multiply_rows<2>(q, &t);         | ( & u_t ) ; multiply_rows < 2 > ( q , & u_t )
O[0] = T::ROWS < 3 ? 1 : T::KEYS;                                | T :: ROWS < 3 ? 1 : T :: KEYS
const float *a = q; O[0] += *a++ * *m * *a-- & *m;               | * u_a ++ * * m * * u_a -- & * m
O[0] = a * *m - -1;                                              | u_a * * m - - 1
O[0] = 1'000 + 0xff'ff + 1'0.5'0f;                               | O [ 0 ] = 1000 + 0xffff + 10.50f ;
O[0] = 1.e5f + .5f + 0x1p-3f + 1e5 + 0b101u + 017 + 0xffu;       | 1.e5f + .5f + 0x1p-3f + 1e5 + 0b101u
O[0] = sizeof(float) + threadIdx.x + warpSize;                   | threadIdx . x + warpSize
/**/ O[0] = 1; /***/                                             | O [ 0 ] = 1 ;
O[0] = 1/**/+2;                                                  | O [ 0 ] = 1 + 2 ;
/* ü */ O[0] = INFINITY; // ü \\ in the middle                   | O [ 0 ] = INFINITY ;
switch (D) { case 32: O[0] = 1; break; default: O[0] = 2; }      | case 32 :
do { O[0] += 1; } while (O[0] < 3);                              | do { O [ 0 ] += 1 ; } while
*m = -FLT_MAX; *l = NULL ? INT_MIN : M_LOG2E;                    | - 3.402823466e+38f ; * l = nullptr ? ( - 2147483647 -
float4 v = *reinterpret_cast<const float4 *>(&q[4]);             | reinterpret_cast < const float4 * > ( & q [ 4 ] )
float *k = &(P.m[3]), *o = (&q[1]) + 2; k = &(K_tile[1][q[0]]);  | & ( P . m [ 3 ] ) , * u_o = ( & q [ 1 ] ) + 2 ;
float4 v = *(const float4 *)&P.m[4]; v = *(float4 *)(&(P.m[4])); | ( const float4 * ) & P . m [ 4 ]
float max = -INFINITY; max = fmaxf(max, std::max(q[0], max));    | float u_max = - INFINITY ; u_max = fmaxf ( u_max , ma
float a = 1, min = 2; for (int log = 0; log < 3; log++) a = min; | u_min = 2 ; for ( int u_log = 0 ; u_log < 3 ; u_log +
float sum_over_warp = 3, expf = 1; const float *round = q;       | float u_sum_over_warp = 3 , u_expf = 1 ; const float
auto f = [&q, D](int max) { return q[max]; }; O[0] = f(1);       | [ & q , D ] ( int u_max ) { return q [ u_max ] ; } ;
auto f = [&] { return 1; }; auto const g = [=, &f](void) -> void { f(); }; | [ = , & u_f ] ( void ) -> void { u_f ( ) ;
O[0] = [&](float x) { return x; }(3); if (D) [&] { O[0] = 1; }(); | [ & ] ( float u_x ) { return u_x ; } ( 3 ) ; if ( D
std::size_t n = std::min(1, 2); O[0] = std::exp(1.0f);           | size_t u_n = min ( 1 , 2 ) ; O [ 0 ] = exp ( 1.0f )
const float *__restrict__ p = q, *const __restrict r = q;        | const float * u_p = q , * const u_r = q
(void)q; (void)sum_over_warp(q);                                 | ( void ) q ; ( void ) sum_over_warp
uint lane = threadIdx.x % 32u; ushort s = uint(3);               | unsigned u_lane = threadIdx . x % 32u ; unsigned shor
const float *p = nullptr; if (q != nullptr) p = q;               | = nullptr ; if ( q != nullptr )
if constexpr (D > 32) O[0] = 1; int const n{D}; float c[D / 4]{}; | if constexpr ( D > 32 ) O [ 0 ] = 1 ; int const u_n
O[0] = __fmaf_rn(q[0], fmaxf(1, 2), static_cast<float>(sizeof(float4))); | __fmaf_rn ( q [ 0 ] , fmaxf
float *expf = 0; const float &fmaxf = O[0]; O[0] = fmaxf + *expf; | * u_expf = 0 ; const float & u_fmaxf = O [ 0 ]
O[0] = (float)*sum_over_warp(q) + q[0] * expf(1.0f);             | ( float ) * sum_over_warp ( q ) + q [ 0 ] * expf (
const auto f = [](int x) -> unsigned long { return x; };         | -> unsigned long {
memcpy(O, q, 4); exit(0); clock64(); printf(1); cudaMalloc(q);   | u_memcpy ( O , q , 4 ) ; u_exit ( 0 ) ; u_clock64 ( )
"""

# A region, and words of the refusal.
REFUSED = r"""
#/**/include <naive.cu>                                | no directives
O[0] = 1; #pragma unroll                               | on its own line
#pragma unroll 4 /* open                               | no directives
#pragma unroll 4                                       | ends in #pragma unroll
float (*f)(float) = 0;                                 | pointers to functions
O[0] = ((float (*)(float))123)(1);                     | pointers to functions
float (&r)[3] = x;                                     | pointers to functions and arrays
const float (*f)(float) = 0;                           | pointers to functions
auto f = expf;                                         | can only be called
float expf(3);                                         | a function has this name
float sum_over_warp(float x);                          | a function has this name
auto f = [&](float x) { return x; }; auto h = &f; | an address is taken only
auto f = [q, &](int x) { return x; };                  | captures with
auto f = [](auto x) { return x; };                     | type is written out
auto f = [&](int i, auto x) { return x; };             | type is written out
auto q = [&]() { return 1; };                          | choose another one
float f = [&](int x) { return x; };                    | a lambda is written
auto g = [&] { return [&] { return 1; }; }();          | a lambda is written
auto f = [] { return 1; }; auto f = [] { return 2; };  | a second lambda of this name
auto f{[&] { return 1; }};                             | a lambda is written
auto x = 1, f = [&] { return 1; };                     | a lambda is written
auto sum_over_warp = [&] { return 1; };                | choose another one
auto multiply_rows = [&] { return 1; };                | choose another one
auto fmaxf = [&] { return 1; };                        | choose another one
auto threadIdx = [&] { return 1; };                    | choose another one
auto INFINITY = [&] { return 1; };                     | choose another one
auto f = [&] { return 1; }; f = 3;                     | can only be called
float *fmaxf(3);                                       | a function has this name
float &expf(3);                                        | a function has this name
float x = fminf(1.0f, fmaxf(q[0], 2)); float z = fmaxf; | can only be called
auto partial = [&] { return 1; };                      | choose another one
auto own = [&] { return 1; };                          | choose another one
auto f = [&] { O[0] = 1; }; f; [&] { O[0] = 2; }();    | f: a function, which can only be called
auto f = [q[0]] { return 1; };                         | captures with
float x = static_cast<>(3);                            | (): casts are to numbers
auto f = [](int, float (*h)(float)) { return h(1); };  | pointers to functions
unsigned int (*f)(float);                              | unsigned (*: pointers to functions
O[0] = threadIdx.w;                                    | threadIdx.x, .y or .z
O[0] = threadIdx + x;                                  | threadIdx.x, .y or .z
float4 v = *reinterpret_cast<float4 *>(*m);            | cast a pointer
auto *a[4] = {};                                       | arrays of pointers
auto &&r = O[0];                                       | with one &
const int *p = (const int *)q;                         | casts are to numbers
auto f = [&]<int K>(float x) { return x; };            | a lambda is written
auto f = [](int x) -> int __attribute__((hot)) { return x; }; | __attribute__: not one of
f([&](int x) { return x; });                           | a lambda is written
O[0] = q[ [] { return 0; }() ];                        | [
O[0] = q [[maybe_unused]] ;                            | [
float *const *p = 0;                                   | pointers to pointers
O[0] = *(int *){q};                                    | casts are to numbers
O[0] = ((struct partial)p).m;                          | casts are to numbers
int x = 3, *p = 0, **r = 0;                            | pointers to pointers
float *a[4];                                           | arrays of pointers
float x = 1, *p[2];                                    | arrays of pointers
float4 v = *reinterpret_cast<float4 *>(&q);            | cast a pointer
float *p = &3[q];                                      | an address is taken only
float4 v = *(float4 *)&P.m;                            | cast a pointer
unknown(&q);                                           | an address is taken only
O[0] = &&label;                                        | expected a value
float &&r = 1;                                         | with one &
O->*m = 1;                                             | a member's name
O.*m = 1;                                              | a member's name
struct foo { int a; };                                 | expected struct partial
struct partial { float m; float f() { return 1; } };   | used here, not defined
struct partial; O[0] = 1;                              | used here, not defined
class early { early() { O[0] = 1; } };                 | class
switch (D) { case 0 ... 100: O[0] = 1; }               | write the arguments out
(void *)O;                                             | void
auto f = [](void *x) { return 1; };                    | void
__shared__ float x[3];                                 | shared memory that the function has
asm volatile (1);                                      | in CUDA C
_Pragma("x");                                          | no strings
int x = __LINE__;                                      | not one of the device functions
__tsan_read4(q);                                       | not one of the device functions
O[0] = threadIdx;                                      | threadIdx.x, .y or .z
sim::run();                                            | T::KEYS, T::ROWS
O[0] = std::numeric_limits<float>::max();              | write instead: INFINITY or FLT_MAX
std::swap(m, l);                                       | write instead: a third variable: float t = a;
O[0] = std::max<float>(q[0], 1);                       | call it without <...>: max(a, b)
O[0] = max<float, 3>(q[0], 1);                         | call it without <...>: max(a, b)
auto [a, b] = q;                                       | write a variable for each member
const auto &[a, b] = q;                                | write a variable for each member
[[maybe_unused]] float x = 1;                          | no attributes: leave it out
if (D) [[likely]] O[0] = 1;                            | no attributes: leave it out
<<<<<<< HEAD                                           | a merge has a conflict
O[0] = T::other;                                       | T::KEYS, T::ROWS
O[0] = T;                                              | T::KEYS, T::ROWS
O[0] = p.count;                                        | it may use .l, .m
k<<<1,1>>>();                                          | launches no kernel
O[0] = "abc"[0];                                       | no strings
char c = 'a';                                          | no characters
O[0] = u8'a';                                          | no characters
O[0] = sizeof(R"x()x");                                | no strings
O[0] = 0x1e+1;                                         | expected a number
??=include <naive.cu> O[0] = 1;                        | .cu: not a member
O[0] = 1'000_x;                                        | expected a number
ü = 3;                                                 | U+00FC
O[0] = 1 <: 3;                                         | write [
O[0] = 1; \                                            | join the lines
O[0] = 1; // comment \                                 | swallows the next line
O[0] = 1; /* open                                      | without */
} __global__ void evil() {                             | nothing is open
O[0] = (1;                                             | (: not closed
if (1)                                                 | whole statement
"""
# Words that no region has a use for, with what there is instead.
WORDS = """union enum class throw alignas decltype template operator typename try catch friend private inline virtual
quad_t and_eq char8_t const_cast dynamic_cast void goto:use_a_loop static:without_static extern:declare_a_local
volatile:__syncthreads()_orders typedef:write_the_type using:write_the_type new:a_local_variable asm:in_CUDA_C
delete:a_local_variable and:&& or:|| not:! __shared__:shared_memory_that register:leave_it_out"""


def cases(table: str) -> list[tuple[str, str]]:
    pairs = [re.split(r" +\| (?=[^|]*$|u_a)", line, maxsplit=1) for line in table.strip().splitlines()]
    return [(text, said.strip()) for text, said in pairs]


def names_of(task: str) -> words.Names:
    path = ROOT / "classroom" / "tasks" / task / "names"
    return words.parse_names(path.read_text(encoding="utf-8"), path)


def course_regions() -> list[tuple[str, str, str]]:
    """(task, where, text) of every solution, stub and answer of the course."""
    found = []
    for chapter in PROGRAMS:
        for task, text in tasks.solutions_of(chapter, tasks.read_sources(ROOT / chapter)).items():
            found.append((task, chapter, text))
    for path in sorted(ROOT.glob("classroom/tasks/*/*.cu")):
        found.append((path.parent.name, path.name, path.read_text(encoding="utf-8")))
    return found


class Region(unittest.TestCase):
    def test_takes(self) -> None:
        for text, expected in cases(TAKEN.replace("\\\\", "\\")):
            with self.subTest(text):
                self.assertIn(expected, region.rewrite(text, PLACE))

    def test_refuses_in_one_line_that_names_the_place(self) -> None:
        names = dataclasses.replace(PLACE, declared={"own"})
        for text, said in cases(REFUSED):
            with self.subTest(text):
                with self.assertRaises(Refusal) as caught:
                    region.rewrite(f"O[0] = 1;\n{text}", names)
                self.assertIn(said, caught.exception.why)
                self.assertEqual(caught.exception.line, 2)
                self.assertNotIn("\n", caught.exception.why)

    def test_refuses_words(self) -> None:
        for word, _, instead in (each.partition(":") for each in WORDS.split()):
            with self.assertRaisesRegex(Refusal, f"^line 1: {word}: not in a region") as caught:
                region.rewrite(f"{word} x;", PLACE)
            self.assertIn(instead.replace("_", " "), str(caught.exception).replace("_", " "))

    def test_refuses_at_its_edges(self) -> None:
        for text, said in (
            ("else\nO[0] = 1;", "^line 1: else: its if is not"),
            ("#/*\n*/include <naive.cu>", r"^line 1: '#/\*': a region has no directives"),
            ("// all \\ \nO[0] = 1;", r"^line 1: a comment that ends in \\ swallows"),  # blanks behind it are skipped
            ("#pragma unroll N\nfor (;;) ;", "a number or a constant"),
            *(
                (f"#pragma unroll {count}\nfor (;;) ;", "a number or a constant")
                for count in "std|D / x|T::other|max|4u|exit|NULL|__LINE__|sizeof(q)|4 _Pragma(1)".split("|")
            ),
        ):
            with self.assertRaisesRegex(Refusal, said):
                region.rewrite(text, PLACE)
        with self.assertRaisesRegex(Refusal, "^line 1: ::: expected no :: in this region$"):
            region.rewrite("O[0] = cg::size();", words.Names())
        long = "O[0] = max(" + "&q," * (region.MOST_CHARACTERS // 3)
        with self.assertRaisesRegex(Refusal, "expected at most 16384"):
            region.rewrite(long, PLACE)
        with self.assertRaisesRegex(Refusal, "not closed"):
            region.rewrite(long[: region.MOST_CHARACTERS], PLACE)
        self.assertEqual(region.rewrite("", PLACE), "")
        self.assertEqual(region.rewrite("// nothing yet\n", PLACE), "")

    def test_every_solution_stub_and_answer_passes(self) -> None:
        regions = course_regions()
        self.assertGreater(len(regions), 50)
        for task, where, text in regions:
            with self.subTest(f"{task} {where}"):
                names = names_of(task)
                if where.startswith("stub"):
                    names.declared.clear()  # a stub may leave that to the student
                region.rewrite(text, names)

    def test_a_declared_name_must_be_declared_at_the_regions_own_level(self) -> None:
        why = "expected a declaration of"
        for text, name, line in (
            ("int head = 3;", "head", 0),
            ("int a = 3, head = N;", "head", 0),
            ("size_t head(3);", "head", 0),
            ("{ N; } const auto head = N;", "head", 0),
            ("const float *K = a;", "K", 0),
            ("float *p = a, *K = a + N;", "K", 0),
            ("float const *const K = a;", "K", 0),
            ("const float &K = a[0];", "K", 0),
            ("int p = N * K;", "K", 1),
            ("a * K;", "K", 1),
            ("float p = a[0], *q = a; max(N, *K);", "K", 1),
            ("", "head", 1),
            ("int a = 3;\n\nint b = 2;", "head", 3),
            ("head = 3;", "head", 1),
            ("{ int head = 3; }", "head", 1),
            ("for (int head = 0;;) ;", "head", 1),
        ):
            names = words.parse_names(f"N a declares:{name}\n")
            with self.subTest(text):
                if line:
                    self.assertRaisesRegex(Refusal, f"^line {line}: {why} {name},", region.rewrite, text, names)
                else:
                    self.assertRegex(region.rewrite(text, names), rf"\b{name}\b")

    def test_constants_above_a_region_are_known_unless_it_declares_such_a_name(self) -> None:
        """WINDOW, the constant of a class, was known in some tasks of its file only."""
        above = "constexpr int WARP = 32;\nconstexpr float CAP = 3.0f; // CAP = 3, LATER = 4\n"
        above += "constexpr int ROWS = 4,\n\tROWS_OF_WARP = ROWS * max(2, 3);\n"
        above += "template <int D>\nconstexpr int KEYS = D;\nconstexpr int f()\n{\n\tconstexpr int OWN = 3;\n}\n"
        known = words.constants_of(above)
        self.assertEqual(known, {"WARP", "CAP", "ROWS", "ROWS_OF_WARP"})
        names = words.Names(variables={"q"}, constants=known)
        for text, result in (
            ("q[0] = WARP * CAP + KEYS;", "q [ 0 ] = WARP * CAP + u_KEYS ;"),
            ("int a = 3, ROWS = 2; q[0] = ROWS * WARP;", "int u_a = 3 , u_ROWS = 2 ; q [ 0 ] = u_ROWS * WARP ;"),
            ("float *const WARP = q;", "float * const u_WARP = q ;"),
            ("float *WARP = q; q[0] = *WARP;", "float * u_WARP = q ; q [ 0 ] = * u_WARP ;"),
            (
                "int a = max(1, WARP), b[2] = {ROWS, WARP};",
                "int u_a = max ( 1 , WARP ) , u_b [ 2 ] = { ROWS , WARP } ;",
            ),
            ("auto f = [&](int WARP) { return WARP; };", "auto u_f = [ & ] ( int u_WARP ) { return u_WARP ; } ;"),
            ("#pragma unroll ROWS\nfor (;;) ;", "#pragma unroll ROWS\nfor ( ; ; ) ;"),
            ("constexpr int ROWS = 3;\n#pragma unroll ROWS\n;", "constexpr int u_ROWS = 3 ;\n#pragma unroll u_ROWS\n;"),
        ):
            self.assertEqual(region.rewrite(text, names), result + "\n")

    def test_keeps_lines(self) -> None:
        unroll, loop = "constexpr int U = 4;\n#pragma unroll ", "\nfor (;;) ;\n"
        unrolled, looped = "constexpr int u_U = 4 ;\n#pragma unroll ", "\nfor ( ; ; ) ;\n"
        for text, written in (
            ("float a = 1;\n\n// one\n/* two\nthree */ float b = a;", "float u_a = 1 ;\n\n\n\nfloat u_b = u_a ;\n"),
            (f"{unroll}D / 4{loop}", f"{unrolled}D / 4{looped}"),
            (f"{unroll}(D/4){loop}", f"{unrolled}( D / 4 ){looped}"),
            (f"{unroll}(U + T::KEYS - 1) % 2 * 3{loop}", f"{unrolled}( u_U + T::KEYS - 1 ) % 2 * 3{looped}"),
            (f"{unroll}4 /* as a float4 */ // all{loop}", f"{unrolled}4{looped}"),
        ):
            self.assertEqual(region.rewrite(text, PLACE), written)

    def test_a_message_speaks_of_the_students_names(self) -> None:
        self.assertEqual(region.original("'u_sum' was not declared; 'menu_x'"), "'sum' was not declared; 'menu_x'")

    def test_no_region_keeps_the_grader_busy(self) -> None:
        busy = words.parse_names("q O D multiply_rows<>() declares:K\n")
        for text in (
            "O[0] = max(" + "&q," * 5300 + "q);",
            "long " * 3200 + "x = 1;",
            "auto x = 1;" * 1400,
            "float " + "*" * 16000 + "x;",
            "O[0] = max(" + "f(),&q," * 2200 + "q);",
            "#pragma unroll" + " " * 16000 + "(\n;",
            "#pragma unroll" + "/*" * 8000 + "\n;",
            "K," * 8000 + "K;",
            "q" + ",*q[1]" * 2700 + ";",
            "multiply_rows<" * 600 + "1 " * 2000 + ">(" + "&q," * 1200 + "q);",
            "x = 0x" + "f" * 16000 + "q;",
        ):
            begun = time.process_time()
            with contextlib.suppress(Refusal):
                region.rewrite(text, busy)
            self.assertLess(time.process_time() - begun, 3, text[:30])

    def test_nothing_unknown_comes_through(self) -> None:
        """Pieces of solutions and cheats, put together at random: each word of what is taken is known, or is u_...."""
        draw = random.Random(20)
        pieces = [token.text for _, _, text in course_regions() for token in tokens_of(text) if token.kind != "pragma"]
        pieces += re.findall(r"\S+", " ".join(text for text, _ in cases(REFUSED)) + " sim exit __x main u_x")
        names = names_of("02.merge")
        known = (
            words.ARITHMETIC | words.VECTORS | words.STATEMENTS | words.OTHER_WORDS | words.BUILT_IN | words.CONSTANTS
        )
        known |= words.FUNCTIONS | words.COMPONENTS | names.variables | names.members | names.functions | names.types
        taken = 0
        for _ in range(20_000):
            text = " ".join(draw.choice(pieces) for _ in range(draw.randint(1, 6))) + ";"
            try:
                result = region.rewrite(text, names)
            except Refusal:
                continue
            taken += 1
            for word in re.findall(r"(?<![\w.])[A-Za-z_]\w*", result):
                self.assertTrue(
                    word in known or word.startswith("u_") or word in ("pragma", "unroll", "void"), f"{word}: {text}"
                )
            self.assertNotRegex(result, r"[\"'\\@$`]|\[ \[|# (?!pragma unroll)")
        self.assertGreater(taken, 1000)
