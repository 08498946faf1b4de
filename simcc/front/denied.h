/* What CUDA's device code has not, or the simulated device has not. */
#ifndef SIM_FRONT_DENIED_H
#define SIM_FRONT_DENIED_H

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

/* What a message calls this symbol; "" where device code may call it. */
inline std::string denied(llvm::StringRef symbol)
{
	using llvm::Regex;
	static const char *const table[][2] = {
		/* an expression, and a name where the symbol itself says little */
		{"^(malloc|free|calloc|realloc|aligned_alloc|posix_memalign)$", ""},
		{"^_Zn[wa]", "new"},
		{"^_Zd[la]", "delete"},
		{"^cuda[A-Z][A-Za-z0-9_]*$", ""},
		{"^_ZNSt6thread", "std::thread"},
		{"^pthread_[A-Za-z0-9_]+$", ""},
		{"^(exit|_exit|_Exit|quick_exit|abort|atexit|system|getenv)$", ""},
		{"^(f?open|fclose|fread|fwrite|read|write|fseek|ftell|rewind|remove|rename|perror)$", ""},
		{"^(v?f(printf|scanf)|v?sn?printf|v?s?scanf|fput[cs]|puts|putc|putchar|fflush)$", ""},
		{"^(f?getc|getchar|fgets)$", ""},
		{"^(mem(cmp|r?chr|mem|ccpy)|str(n?len|n?cpy|n?cmp|n?cat|r?chr|str|n?dup))$", ""},
		{"^(strtok[A-Za-z0-9_]*|strto[a-z]+|ato[fil]+)$", ""},
		{"^(s?rand(om)?|rand_r|[dlm]rand48|time|u?sleep|nanosleep|gettimeofday|clock_gettime)$", ""},
		{"^(qsort|bsearch)$", ""},
		{"^_ZNSt6chrono", "std::chrono"},
		{"^__cxa_(throw|rethrow|allocate_exception)$", "throw"},
		{"^__cxa_guard_", "a static variable initialized at run time"},
		{"^__dynamic_cast$", "dynamic_cast"},
		{"^__cxa_bad_typeid$", "typeid"},
		{"^__(mul|div)[sdx]c3$", "_Complex"},
		{"^(_ZNSo|_ZStls|_ZSt4endl)", "std::ostream"},
		{"^__(sync|atomic)_", "a compiler atomic"},
	};
	static std::vector<std::pair<Regex, const char *>> compiled;
	if (compiled.empty())
		for (const auto &[expression, called] : table)
			compiled.emplace_back(Regex(expression), called);
	/* What glibc makes of sscanf and strtol, by the year of C's standard. */
	static const Regex standards("^__isoc[0-9][0-9]_");
	const std::string plain = standards.sub("", symbol);
	for (const auto &[expression, called] : compiled)
		if (expression.match(plain))
			return *called ? called : plain;
	return "";
}

/* Why, behind its name in a message. What GPUs have, and what is no function, the simulated device has not. Of the runtime
 * they have what dynamic parallelism needs. */
inline std::string why_denied(llvm::StringRef name)
{
	static const llvm::Regex on_gpus(
		"^(malloc|free|new|delete|throw|dynamic_cast|typeid|_Complex|a .*)$|"
		"^cuda(Malloc|Free|(Memcpy|Memset)(2D|3D)?Async|(Peek|Get)(AtLast|Last)Error|GetError(String|Name)|"
		"GetDevice(Count)?|DeviceGet(Attribute|Limit|CacheConfig|SharedMemConfig)|RuntimeGetVersion|"
		"Stream(CreateWithFlags|Destroy|WaitEvent)|Event(CreateWithFlags|Record|Destroy)|FuncGetAttributes|"
		"Occupancy.*|LaunchDevice.*|GetParameterBuffer.*)$");
	return on_gpus.match(name) ? "in device code is not supported by the simulated device"
	                           : "is a function of the host, which a kernel cannot call";
}

/* What to do in its place, behind its name in a message. */
inline std::string instead_of(llvm::StringRef name)
{
	static const llvm::Regex numbers("^(s?rand(om)?|rand_r|[dlm]rand48)$");
	return numbers.match(name) ? ": make random numbers on the host, or from the thread's index" : "";
}

#endif
