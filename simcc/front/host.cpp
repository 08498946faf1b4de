/*
 * The host's side. A kernel's stub gets a function that calls the kernel with the arguments of a launch, device variables
 * mean the device side's, and launches say where they stand.
 */
#include "side.h"

namespace
{

struct Host : Side {
	const SetVector<GlobalValue *> in_device = annotated("sim_variable"); /* functions that are for both, too */

	using Side::Side;

	void run()
	{
		const SetVector<GlobalValue *> constants = annotated("sim_constant");
		SetVector<GlobalValue *> variables = in_device;
		variables.insert(constants.begin(), constants.end());
		for (GlobalValue *value : variables)
			if (auto *variable = dyn_cast<GlobalVariable>(value))
				use_of_device(*variable, constants.count(variable) ? "__constant__" : "__device__");
		for (const char *name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
			if (GlobalVariable *variable = M.getGlobalVariable(name))
				refuse_builtin(*variable, name);
		forget("llvm.global.annotations");
		std::vector<Function *> stubs, own;
		for (Function &F : M)
			if (!F.isDeclaration() && !F.hasAvailableExternallyLinkage() && F.getSubprogram())
				own.push_back(&F);
		for (Function &F : M)
			if (!F.isDeclaration() && F.getName().find("__device_stub__") != StringRef::npos)
				stubs.push_back(&F);
		for (Function &F : M)
			if (!F.isDeclaration() && !is_contained(stubs, &F))
				place_launches(F);
		for (Function *stub : stubs)
			describe(*stub);
		if (!relocatable)
			for (Function *stub : stubs)
				if (stub->hasLocalLinkage())
					keep_to_file(*stub);
		for (Function *F : own)
			if (!is_contained(stubs, F)) { /* where it launches, a report says so */
				F->setSection("sim_text");
				function_record(*F, {}, false);
			}
		appendToUsed(M, kept);
		M.appendModuleInlineAsm(environment("SIM_MARK"));
	}

	/* The host has only a shadow of it. */
	void use_of_device(GlobalVariable &shadow, StringRef qualifier)
	{
		const std::string name = shadow.getName().str();
		const bool is_local = is_local_symbol(name);
		warn_of_accesses(shadow, qualifier);
		auto *variable = new GlobalVariable(
			M, shadow.getValueType(), false, GlobalValue::ExternalLinkage, nullptr, "");
		if (!relocatable || is_local)
			variable->setVisibility(GlobalValue::HiddenVisibility);
		shadow.replaceAllUsesWith(ConstantExpr::getPointerBitCastOrAddrSpaceCast(variable, shadow.getType()));
		shadow.eraseFromParent();
		variable->setName(relocatable && !is_local ? name : device_name(name, relocatable));
	}

	/* Here the host reads and writes what the device has. A constant's value it knows; a function that is for both sides may
	 * be the device's. */
	void warn_of_accesses(GlobalVariable &shadow, StringRef qualifier)
	{
		SetVector<User *> users(shadow.user_begin(), shadow.user_end());
		for (size_t i = 0; i < users.size() && !shadow.isConstant(); i++) {
			User *user = users[i];
			if (isa<GEPOperator>(user) || isa<BitCastOperator>(user) ||
			    isa<AddrSpaceCastOperator>(user)) {
				users.insert(user->user_begin(), user->user_end());
				continue;
			}
			auto *I = dyn_cast<Instruction>(user);
			if (!I || in_device.count(I->getFunction()))
				continue;
			const Value *written = isa<StoreInst>(I) ? I->getOperand(1) : nullptr;
			if (auto *copy = dyn_cast<AnyMemTransferInst>(I))
				written = copy->getRawDest();
			else if (!isa<LoadInst>(I) && !isa<StoreInst>(I))
				continue;
			const bool is_write = written && getUnderlyingObject(written) == &shadow;
			if (isa<StoreInst>(I) && !is_write) /* its address is stored */
				continue;
			warning(*I->getFunction(), I->getDebugLoc(),
			        "a " + qualifier + " variable \"" + demangle(shadow.getName().str()) +
			                "\" cannot be directly " + (is_write ? "written" : "read") +
			                " in a host function: cudaMemcpy" + (is_write ? "To" : "From") +
			                "Symbol() copies it");
		}
	}

	/* The host has none. A function that is for the device, too, is told when it runs. */
	void refuse_builtin(GlobalVariable &variable, const std::string &name)
	{
		SetVector<User *> users(variable.user_begin(), variable.user_end());
		for (size_t i = 0; i < users.size(); i++) {
			auto *I = dyn_cast<Instruction>(users[i]);
			if (!I) {
				users.insert(users[i]->user_begin(), users[i]->user_end());
			} else if (in_device.count(I->getFunction())) {
				IRBuilder<> B(I);
				B.CreateCall(engine("sim_used_by_host", nothing, {pointer}), {string(name)});
			} else {
				error(*I->getFunction(), I->getDebugLoc(),
				      "a __device__ variable \"" + name +
				              "\" cannot be directly read in a host function");
			}
		}
		variable.replaceAllUsesWith(UndefValue::get(variable.getType()));
		variable.eraseFromParent();
	}

	/* A template of the host's whose argument is a kernel is this file's, as the kernel is. */
	void keep_to_file(Function &stub)
	{
		SetVector<User *> users(stub.user_begin(), stub.user_end());
		for (size_t i = 0; i < users.size(); i++)
			if (auto *I = dyn_cast<Instruction>(users[i])) {
				Function *user = I->getFunction();
				if (!user->hasLocalLinkage() && user->isWeakForLinker()) {
					user->setComdat(nullptr);
					user->setLinkage(GlobalValue::InternalLinkage);
				}
			} else if (isa<ConstantExpr>(users[i])) {
				users.insert(users[i]->user_begin(), users[i]->user_end());
			}
	}

	void place_launches(Function &F)
	{
		std::vector<CallBase *> launches;
		for (Instruction &I : instructions(F))
			if (auto *call = dyn_cast<CallBase>(&I))
				if (call->getCalledFunction() &&
				    (call->getCalledFunction()->getName() == "__cudaPushCallConfiguration" ||
				     call->getCalledFunction()->getName() == "cudaLaunchKernel"))
					launches.push_back(call);
		for (CallBase *launch : launches) {
			const DILocation *where = place(launch->getDebugLoc());
			IRBuilder<> B(launch);
			Value *depth = B.CreateCall(
				engine("sim_launch_from", i32, {pointer, i32}),
				{string(where ? file_of(where->getFile()) : ""),
			         B.getInt32(where ? where->getLine() : 0)});
			/* Behind the call of the kernel: has it been one? */
			if (launch->getCalledFunction()->getName() != "__cudaPushCallConfiguration")
				continue;
			for (User *compared : launch->users())
				for (User *user : compared->users())
					if (auto *branch = dyn_cast<BranchInst>(user)) {
						B.SetInsertPoint(&*branch->getSuccessor(0)->getFirstInsertionPt());
						B.CreateCall(engine("sim_launched", nothing, {i32}), {depth});
					}
		}
	}

	/* _Z16__device_stub__kPf -> _Z1kPf. In front of the length may be a name that ends in a digit. */
	static std::string without_stub(StringRef name)
	{
		static const StringRef word = "__device_stub__";
		const size_t at = name.find(word);
		const StringRef behind = name.substr(at + word.size());
		std::string wanted = demangle(name.str());
		wanted.erase(wanted.find(word.str()), word.size());
		for (size_t digits = at; digits-- > 0 && isDigit(name[digits]);) {
			unsigned length = 0;
			if (name.substr(digits, at - digits).getAsInteger(10, length) || length <= word.size())
				continue;
			const std::string tried =
				(name.substr(0, digits) + Twine(length - word.size()) + behind).str();
			if (demangle(tried) == wanted)
				return tried;
		}
		return (name.substr(0, at) + behind).str();
	}

	void describe(Function &stub)
	{
		const std::string name = without_stub(stub.getName());
		const bool is_local = is_local_symbol(name);
		Function *kernel = Function::Create(
			stub.getFunctionType(), GlobalValue::ExternalLinkage,
			device_name(name, relocatable && is_local), M);
		kernel->setAttributes(stub.getAttributes());
		if (!relocatable || is_local)
			kernel->setVisibility(GlobalValue::HiddenVisibility);
		Function *thunk = thunk_of(stub, kernel);
		if (!thunk)
			return;
		Constant *called = string(split(demangle(name)).first);
		IRBuilder<> B(&*stub.getEntryBlock().getFirstInsertionPt());
		B.CreateCall(engine("sim_enter_stub", nothing, {pointer}), {called});
		stripDebugInfo(stub); /* a launch is where the program launches, not where its kernel is */
		if (!relocatable && stub.hasLinkOnceLinkage()) { /* of a template: this file's */
			stub.setComdat(nullptr);
			stub.setLinkage(GlobalValue::InternalLinkage);
		}
		record("sim_stubs", {as_pointer(&stub), as_pointer(kernel), as_pointer(thunk), called}, &stub);
	}

	/* Calls the kernel with the arguments that cudaLaunchKernel() gets. Where each part of them goes the stub tells, which
	 * puts what it gets itself into memory. */
	Function *thunk_of(Function &stub, Function *kernel)
	{
		CallInst *launch = nullptr;
		for (Instruction &I : instructions(stub))
			if (auto *call = dyn_cast<CallInst>(&I))
				if (call->getCalledFunction() &&
				    call->getCalledFunction()->getName() == "cudaLaunchKernel")
					launch = call;
		if (!launch)
			return nullptr;
		/* The array of pointers to arguments: by its allocation, what is stored at which place. */
		DenseMap<Value *, uint64_t> given;
		Value *array = nullptr;
		for (Use &argument : launch->args())
			if (auto *candidate = dyn_cast<AllocaInst>(argument->stripPointerCasts()))
				array = candidate;
		std::vector<StoreInst *> stores;
		std::vector<AnyMemTransferInst *> copies;
		for (Instruction &I : instructions(stub)) {
			if (auto *copy = dyn_cast<AnyMemTransferInst>(&I))
				copies.push_back(copy);
			auto *store = dyn_cast<StoreInst>(&I);
			if (!store)
				continue;
			APInt offset(64, 0);
			Value *base = store->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, offset, true);
			if (base == array)
				given[store->getValueOperand()->stripPointerCasts()] = offset.getZExtValue() / 8;
			else
				stores.push_back(store);
		}
		Function *thunk = Function::Create(
			FunctionType::get(nothing, {PointerType::getUnqual(pointer)}, false),
			GlobalValue::InternalLinkage, "sim.thunk", M);
		thunk->addFnAttr("frame-pointer", "all");
		IRBuilder<> B(BasicBlock::Create(C, "", thunk));
		const auto part = [&](uint64_t index, uint64_t offset, Type *type) {
			Value *slot = B.CreateGEP(pointer, thunk->getArg(0), B.getInt64(index));
			Value *start = B.CreateLoad(pointer, slot);
			return B.CreatePointerCast(
				B.CreateGEP(byte, start, B.getInt64(offset)), PointerType::getUnqual(type));
		};
		std::vector<Value *> arguments;
		for (Argument &argument : stub.args()) {
			Type *type = argument.getType();
			if (given.count(&argument)) { /* in memory already */
				Value *there = part(given[&argument], 0, byte);
				if (!argument.hasByValAttr()) { /* of a class with a constructor: each thread has its own */
					const uint64_t size = size_of_parameter(stub, given[&argument]);
					if (size == 0)
						return refuse(stub, thunk);
					AllocaInst *own = B.CreateAlloca(byte, B.getInt64(size));
					/* Its size is a multiple of what it asks for, which may be more than 16. */
					const Align align(std::max<uint64_t>(16, size & -size));
					own->setAlignment(align);
					B.CreateMemCpy(own, align, there, Align(1), size);
					there = own;
				}
				arguments.push_back(B.CreatePointerCast(there, type));
				continue;
			}
			StoreInst *kept_in = nullptr;
			for (StoreInst *store : stores) {
				Value *value = store->getValueOperand();
				auto *cast = dyn_cast<CastInst>(value);
				if (value == &argument || (cast && cast->getOperand(0) == &argument))
					kept_in = store;
			}
			if (!kept_in)
				return refuse(stub, thunk);
			APInt offset(64, 0);
			Value *base =
				kept_in->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, offset, true);
			uint64_t at = offset.getZExtValue();
			Type *stored = kept_in->getValueOperand()->getType();
			const uint64_t size = DL.getTypeStoreSize(stored);
			for (AnyMemTransferInst *copy :
			     copies) /* through a variable that is as long as registers are */
				if (!given.count(base) && getUnderlyingObject(copy->getRawSource()) == base) {
					APInt behind(64, 0);
					base = copy->getRawDest()->stripAndAccumulateConstantOffsets(
						DL, behind, true);
					at += behind.getZExtValue();
					/* Such a variable may be longer than the argument, which ends where others begin. */
					const uint64_t length = cast<ConstantInt>(copy->getLength())->getZExtValue();
					AllocaInst *whole = B.CreateAlloca(stored);
					B.CreateMemCpy(
						whole, Align(1), part(given[base], at, byte), Align(1),
						std::min(size, length - std::min(length, offset.getZExtValue())));
					arguments.push_back(B.CreateLoad(type, whole));
					kept_in = nullptr;
					break;
				}
			if (!kept_in)
				continue;
			if (!given.count(base))
				return refuse(stub, thunk);
			Value *loaded = B.CreateAlignedLoad(stored, part(given[base], at, stored), Align(1));
			arguments.push_back(stored == type ? loaded : as(B, loaded, type));
		}
		CallInst *call = B.CreateCall(kernel, arguments);
		call->setAttributes(stub.getAttributes());
		call->setTailCallKind(CallInst::TCK_NoTail);
		B.CreateRetVoid();
		return thunk;
	}

	/* As registers have it: a bool wider in memory, a small struct narrower. */
	static Value *as(IRBuilder<> &B, Value *value, Type *type)
	{
		if (value->getType()->isIntegerTy() && type->isIntegerTy())
			return B.CreateZExtOrTrunc(value, type);
		return type->isPointerTy() && value->getType()->isIntegerTy() ? B.CreateIntToPtr(value, type)
		                                                              : B.CreateBitOrPointerCast(value, type);
	}

	static uint64_t size_of_parameter(const Function &stub, uint64_t index)
	{
		const DISubprogram *described = stub.getSubprogram();
		const DISubroutineType *type = described ? described->getType() : nullptr;
		if (!type || index + 1 >= type->getTypeArray().size())
			return 0;
		const DIType *parameter = type->getTypeArray()[index + 1];
		while (auto *derived = dyn_cast_or_null<DIDerivedType>(parameter))
			parameter = derived->getBaseType();
		return parameter ? parameter->getSizeInBits() / 8 : 0;
	}

	Function *refuse(Function &stub, Function *thunk)
	{
		error(stub, DebugLoc(), "a kernel's parameter of this type is not supported by the simulated device");
		thunk->eraseFromParent();
		return nullptr;
	}
};

} // namespace

void instrument_host(Module &M)
{
	Host(M).run();
}
