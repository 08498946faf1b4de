/*
 * What the two sides of clang's code have in common: names, the C library as device code may call it, and the records of
 * the engine's tables.
 */
#ifndef SIM_FRONT_SIDE_H
#define SIM_FRONT_SIDE_H

#include <set>

#include "denied.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/Regex.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

constexpr unsigned REDZONE = 256;       /* SIM_REDZONE */
enum Op { LOAD, STORE, ATOMIC, OTHER }; /* enum sim_op */

inline std::string environment(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "";
}

inline bool starts(StringRef text, StringRef with)
{
	return text.substr(0, with.size()) == with;
}

/* ---- names ---- */

/* The position of the bracket that the last character of the text closes. */
inline size_t opening(StringRef text, char opened, char closed)
{
	int depth = 0;
	for (size_t i = text.size(); i-- > 0;) {
		if (text[i] == closed && (i == 0 || text[i - 1] != '-'))
			depth++;
		else if (text[i] == opened)
			depth--;
		if (depth == 0)
			return i;
	}
	return 0;
}

/* void ns::k<64, true>(float*) -> (k, "64, true"). */
inline std::pair<std::string, std::string> split(StringRef signature)
{
	static const Regex qualifiers("\\)[ ]*(const|volatile|&)+[ ]*$"), tags("\\[abi:[^]]*\\]"),
		operators("operator[ ]*(->|>|>>|<=>)$"),
		last("(operator.*|[~A-Za-z0-9_$.]+|\\{[^}]*\\}|\\([^()]*\\))$"),
		clone("[ ]*(\\[[^]]*\\]|\\(\\.[^)]*\\))$");
	std::string text = clone.sub("", signature);
	text = qualifiers.sub(")", text);
	if (!text.empty() && text.back() == ')')
		text.resize(opening(text, '(', ')'));
	text = tags.sub("", text);
	std::string arguments;
	if (!text.empty() && text.back() == '>' && !operators.match(text)) {
		const size_t start = opening(text, '<', '>');
		arguments = text.substr(start + 1, text.size() - start - 2);
		text.resize(start);
	}
	SmallVector<StringRef, 3> found;
	return {last.match(text, &found) ? found[1].str() : text, arguments};
}

inline std::string last_name(StringRef name)
{
	const size_t scope = name.rfind("::");
	return (scope == StringRef::npos ? name : name.substr(scope + 2)).str();
}

/* Of internal linkage: static, in a namespace without a name, or of a template whose argument is local to a function. An
 * identifier in a mangled name has its length in front. */
inline bool is_local_symbol(StringRef name)
{
	if (!name.consume_front("_Z"))
		return false;
	bool nested = name.consume_front("N");
	if (name.consume_front("L"))
		return true;
	while (!name.empty()) {
		unsigned length = 0;
		if (isDigit(name[0]) && !name.consumeInteger(10, length)) {
			const StringRef identifier = name.substr(0, length);
			if (starts(identifier, "_GLOBAL__N_"))
				return true;
			name = name.drop_front(std::min<size_t>(length, name.size()));
			if (nested && name.size() > 1 && name[0] == 'L' && isDigit(name[1]))
				return true;
			continue;
		}
		nested = false;
		if (starts(name, "IZ"))
			return true;
		name = name.drop_front();
	}
	return false;
}

/* Of a device function or variable, where the host's code may have the same name. `is_local`: of one object, even where
 * device code is the program's. */
inline std::string device_name(StringRef name, bool is_local)
{
	return (name + (is_local ? ".sim_local" : ".sim")).str();
}

/* ---- the C library ---- */

/* In device code a call of f is one of sim_f. */
const StringRef RENAMED[] = {"printf", "vprintf", "memcpy", "memmove", "memset",  "expf",   "exp",
                             "exp2f",  "exp2",    "exp10f", "exp10",   "expm1f",  "expm1",  "modf",
                             "modff",  "frexp",   "frexpf", "remquo",  "remquof", "sincos", "sincosf"};

/* And these are as they are: they read and write no memory. With an f behind, too. */
const StringRef MATHEMATICS =
	" acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc fabs fdim floor fma fmax fmin "
	"fmod "
	"hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround nan nearbyint nextafter "
	"nexttoward "
	"pow remainder rint round roundeven scalbln scalbn sin sinh sqrt tan tanh tgamma trunc j0 j1 jn y0 y1 yn abs "
	"labs "
	"llabs isinf isnan finite clock __isnan __isinf __finite __signbit __fpclassify sinpi cospi rsqrt ";

inline bool is_mathematics(StringRef name)
{
	const auto has = [](StringRef word) { return MATHEMATICS.find((" " + word + " ").str()) != StringRef::npos; };
	return has(name) || (name.size() > 1 && name.back() == 'f' && has(name.drop_back()));
}

/* What clang's code for one side of a file has in common. */
struct Side {
	Module &M;
	LLVMContext &C;
	const DataLayout &DL;
	const std::string headers = environment("SIM_HEADERS") + "/";
	const bool relocatable = environment("SIM_RELOCATABLE") == "1", fast = environment("SIM_FAST") == "1";
	Type *const nothing, *const byte, *const i16, *const i32, *const i64;
	PointerType *const pointer;
	StringMap<Constant *> strings;

	explicit Side(Module &module)
	    : M(module), C(module.getContext()), DL(module.getDataLayout()), nothing(Type::getVoidTy(C)),
	      byte(Type::getInt8Ty(C)), i16(Type::getInt16Ty(C)), i32(Type::getInt32Ty(C)), i64(Type::getInt64Ty(C)),
	      pointer(PointerType::getUnqual(byte))
	{
	}

	Constant *number(Type *type, uint64_t value) { return ConstantInt::get(type, value); }
	Constant *as_pointer(Constant *value) { return ConstantExpr::getPointerCast(value, pointer); }
	Constant *null() { return ConstantPointerNull::get(pointer); }

	Constant *string(StringRef text)
	{
		Constant *&known = strings[text];
		if (!known) {
			auto *data = ConstantDataArray::getString(C, text);
			auto *variable = new GlobalVariable(
				M, data->getType(), true, GlobalValue::PrivateLinkage, data, "sim.string");
			known = as_pointer(variable);
		}
		return known;
	}

	/* A record of one of the engine's tables. `owner`: with whose group it stays or goes; NULL: it stays. */
	GlobalVariable *record(StringRef section, ArrayRef<Constant *> fields, GlobalObject *owner)
	{
		auto *value = ConstantStruct::getAnon(C, fields);
		auto *variable = new GlobalVariable(
			M, value->getType(), false, GlobalValue::PrivateLinkage, value, "sim.record");
		variable->setSection(section);
		variable->setAlignment(Align(8));
		if (owner && owner->hasComdat())
			variable->setComdat(owner->getComdat());
		kept.push_back(variable);
		return variable;
	}

	std::vector<GlobalValue *> kept; /* nobody names them, but the linker is to have them */

	/* The user's place: the innermost that is not in our headers. */
	const DILocation *place(const DebugLoc &at)
	{
		const DILocation *location = at.get();
		while (location && starts(location->getFilename(), headers))
			location = location->getInlinedAt();
		return location;
	}

	/* As the user's command line led to it. */
	static std::string file_of(const DIFile *file)
	{
		StringRef name = file ? file->getFilename() : "";
		while (starts(name, "./"))
			name = name.drop_front(2);
		return name.str();
	}

	/* A function that the C library's headers define. */
	static bool is_of_library(const Function &F)
	{
		const DISubprogram *described = F.getSubprogram();
		return described && starts(described->getFilename(), "/usr/");
	}

	/* What a message calls a function that device code may not call; "" where it may. The typed faces of the runtime's
	 * functions, cudaMalloc(float **, ...), are called as those. */
	std::string refused_name(const Function &F)
	{
		if (F.isDeclaration() || is_of_library(F))
			return denied(F.getName());
		const DISubprogram *described = F.getSubprogram();
		return described && starts(described->getFilename(), headers) && starts(described->getName(), "cuda")
		               ? denied(described->getName().split('<').first)
		               : "";
	}

	std::set<std::pair<const DILocation *, std::string>> told;
	void error(
		const Function &F, const DebugLoc &at, const Twine &message, DiagnosticSeverity severity = DS_Error)
	{
		if (!F.isDeclaration() && !refused_name(F).empty())
			return; /* who calls it is told */
		const DILocation *where = place(at);
		if (!told.insert({where, message.str()}).second)
			return;
		C.diagnose(DiagnosticInfoUnsupported(
			F, message, DiagnosticLocation(where ? DebugLoc(where) : at), severity));
	}

	void warning(const Function &F, const DebugLoc &at, const Twine &message)
	{
		error(F, at, message, DS_Warning);
	}

	FunctionCallee engine(StringRef name, Type *result, ArrayRef<Type *> parameters)
	{
		FunctionCallee callee = M.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
		if (auto *F = dyn_cast<Function>(callee.getCallee()))
			F->addFnAttr(Attribute::NoUnwind);
		return callee;
	}

	GlobalVariable *engine_variable(StringRef name, Type *type, bool of_thread)
	{
		if (GlobalVariable *known = M.getGlobalVariable(name))
			return known;
		return new GlobalVariable(
			M, type, false, GlobalValue::ExternalLinkage, nullptr, name, nullptr,
			of_thread ? GlobalValue::LocalExecTLSModel : GlobalValue::NotThreadLocal);
	}

	/* `shared`: the records of the arrays that it uses. */
	GlobalVariable *function_record(Function &F, ArrayRef<Constant *> shared, bool is_kernel)
	{
		const std::string signature = demangle(F.getName().str());
		const auto [name, arguments] = split(signature);
		const DISubprogram *described = F.getSubprogram();
		Constant *list = null();
		if (!shared.empty()) {
			auto *all = ConstantArray::get(ArrayType::get(pointer, shared.size()), shared);
			list = as_pointer(new GlobalVariable(
				M, all->getType(), false, GlobalValue::PrivateLinkage, all, "sim.shared_of"));
		}
		return record(
			"sim_functions",
			{string(name), string(signature), string(arguments),
		         string(described ? file_of(described->getFile()) : ""), as_pointer(&F), list,
		         number(i32, shared.size()), number(i32, described ? described->getLine() : 0),
		         number(i32, is_kernel)},
			&F);
	}

	/* The globals with clang's annotation of this text. */
	SetVector<GlobalValue *> annotated(StringRef text)
	{
		SetVector<GlobalValue *> found;
		GlobalVariable *all = M.getGlobalVariable("llvm.global.annotations");
		auto *entries = all ? dyn_cast<ConstantArray>(all->getInitializer()) : nullptr;
		for (unsigned i = 0; entries && i < entries->getNumOperands(); i++) {
			auto *entry = cast<ConstantStruct>(entries->getOperand(i));
			auto *said = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
			auto *words = said ? dyn_cast<ConstantDataArray>(said->getInitializer()) : nullptr;
			auto *value = dyn_cast<GlobalValue>(entry->getOperand(0)->stripPointerCasts());
			if (value && words && words->isCString() && words->getAsCString() == text)
				found.insert(value);
		}
		return found;
	}

	void forget(StringRef name)
	{
		if (GlobalVariable *variable = M.getGlobalVariable(name))
			variable->eraseFromParent();
	}
};

/* ---- what plugin.cpp runs ---- */

/* Before mem2reg, of the device's side. */
void prepare(Module &M);
void instrument_device(Module &M);
void instrument_host(Module &M);

#endif
