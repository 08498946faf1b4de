/*
 * The device's side. Each load, store and copy of memory that is not a thread's own variable gets a call of the engine's
 * hook in front of it, with the record of its place; calls of the engine, of the C library and of device functions get
 * theirs; kernels and functions announce themselves. Variables move to where the engine looks for them, with red zones. What
 * may touch memory in a way that nothing here knows is an error: an access is counted or refused.
 */
#include "ptx.h"

enum AddressSpace { DEVICE = 7, CONSTANT = 8, SHARED = 9 }; /* as -ffake-address-space-map has them */

/* What a function is said to do no longer holds with the engine's calls in it, whoever said so; nor does a tail call
 * remain one, behind which the function says that it leaves. */
static void forget_promises(Function &F)
{
	static const char *const promises[] = {"readnone",
	                                       "readonly",
	                                       "writeonly",
	                                       "argmemonly",
	                                       "inaccessiblememonly",
	                                       "inaccessiblemem_or_argmemonly",
	                                       "memory",
	                                       "willreturn",
	                                       "nosync",
	                                       "nofree",
	                                       "speculatable",
	                                       "mustprogress",
	                                       "norecurse"};
	std::vector<Attribute::AttrKind> kinds;
	for (const char *promise : promises)
		if (Attribute::AttrKind kind = Attribute::getAttrKindFromName(promise))
			kinds.push_back(kind); /* or it is of another LLVM */
	for (Attribute::AttrKind kind : kinds)
		F.removeFnAttr(kind);
	for (Instruction &I : instructions(F)) {
		auto *call = dyn_cast<CallBase>(&I);
		if (!call || (call->getCalledFunction() && call->getCalledFunction()->isIntrinsic()))
			continue;
		for (Attribute::AttrKind kind : kinds)
			call->removeFnAttr(kind);
		if (auto *plain = dyn_cast<CallInst>(call))
			plain->setTailCallKind(CallInst::TCK_None);
	}
}

/* A number that the integer's type has not becomes the nearest that it has; NaN is 0, or the sign's bit alone where one of
 * the types has 64 bits (PTX's cvt). One CPU does this, another one does not. */
static void convert_as_gpus_do(CastInst &cast)
{
	IRBuilder<> B(&cast);
	Value *from = cast.getOperand(0);
	const unsigned bits = std::max(32u, cast.getType()->getIntegerBitWidth());
	Type *type = B.getIntNTy(bits);
	const auto nearest = isa<FPToSIInst>(cast) ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
	Value *to = B.CreateIntrinsic(nearest, {type, from->getType()}, {from});
	if (bits > 32 || from->getType()->isDoubleTy())
		to = B.CreateSelect(
			B.CreateFCmpUNO(from, from), ConstantInt::get(type, APInt::getSignMask(bits)), to);
	cast.replaceAllUsesWith(B.CreateTrunc(to, cast.getType()));
	cast.eraseFromParent();
}

/* What C++ calls undefined, and a GPU defines: a shift by the width and more leaves nothing, or the sign; an integer of a
 * number that is too large. Nor does an argument's __restrict__ hold over a barrier, where other threads write. */
static void define_as_gpus_do(Function &F)
{
	for (Argument &argument : F.args())
		argument.removeAttr(Attribute::NoAlias);
	std::vector<BinaryOperator *> shifts;
	std::vector<CastInst *> conversions;
	for (Instruction &I : instructions(F)) {
		if (auto *shift = dyn_cast<BinaryOperator>(&I))
			if (shift->isShift() && shift->getType()->isIntegerTy())
				shifts.push_back(shift);
		if (isa<FPToSIInst>(I) || isa<FPToUIInst>(I))
			if (I.getType()->isIntegerTy() && I.getType()->getIntegerBitWidth() <= 64 &&
			    (I.getOperand(0)->getType()->isFloatTy() || I.getOperand(0)->getType()->isDoubleTy()))
				conversions.push_back(cast<CastInst>(&I));
	}
	for (CastInst *cast : conversions)
		convert_as_gpus_do(*cast);
	for (BinaryOperator *shift : shifts) {
		const unsigned bits = shift->getType()->getIntegerBitWidth();
		auto *known = dyn_cast<ConstantInt>(shift->getOperand(1));
		if (known && known->getValue().ult(bits))
			continue;
		IRBuilder<> B(shift);
		Value *by = shift->getOperand(1);
		Value *fits = B.CreateICmpULT(by, ConstantInt::get(by->getType(), bits));
		if (shift->getOpcode() == Instruction::AShr) {
			shift->setOperand(1, B.CreateSelect(fits, by, ConstantInt::get(by->getType(), bits - 1)));
			continue;
		}
		shift->setOperand(1, B.CreateSelect(fits, by, ConstantInt::get(by->getType(), 0)));
		B.SetInsertPoint(shift->getNextNode());
		auto *all = cast<Instruction>(B.CreateSelect(fits, shift, ConstantInt::get(shift->getType(), 0)));
		shift->replaceUsesWithIf(all, [&](Use &use) { return use.getUser() != all; });
	}
}

/* A struct that a call returns, and that is made where it stays (`new (p) float4(f())`), is stored as the CPU's registers have
 * it: in two parts on x86-64, in four on ARM64. It becomes a copy of the whole, as an assignment is. */
static void store_whole(CallInst &call)
{
	const DataLayout &DL = call.getModule()->getDataLayout();
	SetVector<Value *> parts;
	std::vector<std::pair<StoreInst *, uint64_t>> stores; /* and where */
	parts.insert(&call);
	for (size_t i = 0; i < parts.size(); i++)
		for (User *user : parts[i]->users())
			if (auto *store = dyn_cast<StoreInst>(user))
				stores.push_back({store, 0});
			else if (isa<ExtractValueInst>(user))
				parts.insert(user);
	Value *place = nullptr;
	StoreInst *first = nullptr, *last = nullptr;
	uint64_t start = UINT64_MAX, end = 0;
	for (auto &[store, at] : stores) {
		Value *address = store->getPointerOperand();
		APInt offset(DL.getIndexTypeSizeInBits(address->getType()), 0);
		Value *base = address->stripAndAccumulateConstantOffsets(DL, offset, true);
		if ((place && base != place) || isa<AllocaInst>(base) || store->isVolatile() ||
		    store->getParent() != call.getParent() || offset.isNegative())
			return;
		place = base;
		at = offset.getZExtValue();
		const uint64_t width = DL.getTypeStoreSize(store->getValueOperand()->getType());
		end = std::max(end, at + width);
		if (at < start)
			first = store, start = at;
		if (!last || last->comesBefore(store))
			last = store;
	}
	if (!first)
		return;
	const Align align = first->getAlign();
	const uint64_t size = alignTo(end - start, align);
	IRBuilder<> B(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
	Type *bytes = ArrayType::get(B.getInt8Ty(), size), *type = StructType::get(bytes);
	AllocaInst *whole = B.CreateAlloca(type);
	whole->setAlignment(align);
	B.SetInsertPoint(last->getNextNode());
	B.SetCurrentDebugLocation(first->getDebugLoc());
	B.CreateMemCpy(first->getPointerOperand(), align, whole, align, size);
	for (auto &[store, at] : stores) {
		B.SetInsertPoint(store);
		Value *part = B.CreateConstGEP1_64(
			B.getInt8Ty(), B.CreatePointerCast(whole, PointerType::getUnqual(B.getInt8Ty())), at - start);
		store->setOperand(
			StoreInst::getPointerOperandIndex(),
			B.CreatePointerCast(part, PointerType::getUnqual(store->getValueOperand()->getType())));
	}
}

/* Before mem2reg: a thread's variables hold bytes 0x7F until they are written, and no address is promised to be good. */
void prepare(Module &M)
{
	const DataLayout &DL = M.getDataLayout();
	for (GlobalAlias &alias : M.aliases())
		alias.replaceAllUsesWith(alias.getAliasee());
	const bool fast = environment("SIM_FAST") == "1";
	for (Function &F : M) {
		if (F.isDeclaration()) {
			F.removeFnAttr(Attribute::WillReturn);
			continue;
		}
		define_as_gpus_do(F);
		if (fast)
			continue;
		forget_promises(F);
		std::vector<CallInst *> calls;
		std::vector<AllocaInst *> variables;
		DenseMap<const Value *, std::vector<Instruction *>> begins;
		for (Instruction &I : instructions(F)) {
			if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
				GEP->setIsInBounds(false);
			else if (auto *variable = dyn_cast<AllocaInst>(&I))
				variables.push_back(variable);
			else if (auto *call = dyn_cast<CallInst>(&I); call && call->getType()->isAggregateType())
				calls.push_back(call);
			else if (auto *mark = dyn_cast<IntrinsicInst>(&I))
				if (mark->getIntrinsicID() == Intrinsic::lifetime_start)
					begins[getUnderlyingObject(mark->getArgOperand(mark->arg_size() - 1))]
						.push_back(mark);
		}
		for (AllocaInst *variable : variables) {
			auto found = begins.find(variable);
			std::vector<Instruction *> where;
			if (found != begins.end()) {
				for (Instruction *mark : found->second)
					where.push_back(mark->getNextNode());
			} else {
				Instruction *behind = variable->getNextNode();
				while (isa<AllocaInst>(behind))
					behind = behind->getNextNode();
				where.push_back(behind);
			}
			Type *type = variable->getAllocatedType();
			for (Instruction *at : where) {
				IRBuilder<> B(at);
				B.SetCurrentDebugLocation(DebugLoc());
				const uint64_t bits = DL.getTypeSizeInBits(type);
				if (!variable->isArrayAllocation() && type->isSingleValueType() && bits >= 8 &&
				    bits <= 128 && isPowerOf2_64(bits)) {
					Constant *empty = ConstantInt::get(
						M.getContext(), APInt::getSplat((unsigned)bits, APInt(8, 0x7f)));
					empty = type->isPointerTy() ? ConstantExpr::getIntToPtr(empty, type)
					                            : ConstantExpr::getBitCast(empty, type);
					B.CreateAlignedStore(empty, variable, variable->getAlign());
				} else if (uint64_t bytes = DL.getTypeAllocSize(type)) {
					Value *count = B.CreateZExtOrTrunc(variable->getArraySize(), B.getInt64Ty());
					B.CreateMemSet(
						 variable, B.getInt8(0x7f), B.CreateMul(count, B.getInt64(bytes)),
						 variable->getAlign())
						->setMetadata("sim.fill", MDNode::get(M.getContext(), {}));
				}
			}
		}
		for (CallInst *call : calls)
			store_whole(*call);
	}
}

namespace
{

struct Device : Side {
	SetVector<GlobalValue *> kernels, in_device, in_constant;
	DenseMap<GlobalVariable *, GlobalVariable *> arrays; /* shared ones, and their records */
	DenseMap<Function *, GlobalVariable *> functions;    /* their records */
	std::vector<Function *> own;                         /* functions of the source */
	GlobalVariable *dynamic, *call_site;
	bool fences = false;

	using Side::Side;

	void run()
	{
		for (GlobalObject &object : M.global_objects())
			if (!relocatable || is_local_symbol(object.getName()))
				object.setComdat(nullptr);
			else if (object.hasComdat()) /* which is not that of the host's side of the same name */
				object.setComdat(
					M.getOrInsertComdat(device_name(object.getComdat()->getName(), false)));
		kernels = annotated("sim_kernel");
		for (GlobalValue *kernel : kernels) {
			refuse_references(*cast<Function>(kernel));
			limit_parameters(*cast<Function>(kernel));
		}
		in_device = annotated("sim_variable");
		in_constant = annotated("sim_constant");
		forget("llvm.global.annotations");
		forget("llvm.compiler.used");
		forget("llvm.used");
		for (Function &F : M)
			if (!F.isDeclaration())
				own.push_back(&F);
		for (GlobalVariable &variable : M.globals())
			if (variable.getAddressSpace() == 0 && !variable.hasPrivateLinkage() &&
			    !starts(variable.getName(), "llvm.") &&
			    variable.getName().find("__cxxabiv1") == StringRef::npos)
				constants.push_back(&variable);
		dynamic = engine_variable("sim_dynamic_shared", ArrayType::get(byte, 0), true);
		call_site = engine_variable("sim_call_site", pointer, true);
		move_variables();
		for (Function *F : own)
			functions[F] = device_record(*F);
		for (Function *F : own)
			fast ? make_fast(*F) : instrument(*F);
		for (Function *F : own) /* the tables of virtual functions have been told by it */
			for (Instruction &I : instructions(*F)) {
				I.setMetadata(LLVMContext::MD_tbaa, nullptr);
				I.setMetadata(LLVMContext::MD_tbaa_struct, nullptr);
				/* `#pragma unroll` is for a GPU: here it makes a kernel ten times as long to compile. */
				I.setMetadata(LLVMContext::MD_loop, nullptr);
			}
		write_checks();
		describe_variables();
		name_functions();
		if (fences)
			kept.push_back(record("sim_fences", {number(byte, 1)}, nullptr));
		appendToUsed(M, kept);
	}

	/* What is declared, not what is done: no column is known. */
	void error_at(const Function &F, const DIFile *file, unsigned line, const Twine &message)
	{
		if (DISubprogram *described = F.getSubprogram()) {
			auto *scope = DILexicalBlockFile::get(C, described, const_cast<DIFile *>(file), 0);
			error(F, DILocation::get(C, line, 1, scope), message);
		}
	}

	void refuse_references(const Function &kernel)
	{
		const DISubprogram *described = kernel.getSubprogram();
		for (const DIType *type : described ? described->getType()->getTypeArray() : DITypeRefArray()) {
			auto *derived = dyn_cast_or_null<DIDerivedType>(named_type(type));
			if (derived && (derived->getTag() == dwarf::DW_TAG_reference_type ||
			                derived->getTag() == dwarf::DW_TAG_rvalue_reference_type))
				error_at(
					kernel, described->getFile(), described->getLine(),
					"a kernel's parameter cannot be a reference");
		}
	}

	/* ---- variables ---- */

	void move_variables()
	{
		static const std::pair<const char *, const char *> builtins[] = {
			{"threadIdx", "sim_builtin_thread"},
			{"blockIdx", "sim_builtin_block"},
			{"blockDim", "sim_builtin_block_dim"},
			{"gridDim", "sim_builtin_grid_dim"},
			{"warpSize", "sim_warp_size"}};
		for (const auto &[name, ours] : builtins)
			if (GlobalVariable *variable = M.getGlobalVariable(name))
				replace(variable,
				        engine_variable(
						ours, variable->getValueType(), StringRef(name) != "warpSize"));
		std::vector<GlobalVariable *> moved;
		std::vector<std::pair<GlobalVariable *, GlobalVariable *>>
			copied; /* of constexpr ones, to read from */
		for (GlobalVariable &variable : M.globals()) {
			const auto [name, suffix] = variable.getName().rsplit('.');
			if (variable.getAddressSpace() >= DEVICE && variable.getAddressSpace() <= SHARED)
				moved.push_back(&variable);
			else if (suffix == "const" && starts(name, "_ZZ") && M.getGlobalVariable(name, true))
				copied.push_back({&variable, M.getGlobalVariable(name, true)});
		}
		for (const auto &[copy, variable] : copied)
			replace(copy, variable);
		for (GlobalVariable *variable : moved) {
			if (variable->getAddressSpace() != SHARED)
				move_to_device(variable);
			else if (variable->isDeclaration())
				replace(variable, dynamic);
			else
				move_to_shared(variable);
		}
		limit_constants();
	}

	void replace(GlobalVariable *old, GlobalVariable *by)
	{
		old->replaceAllUsesWith(ConstantExpr::getPointerBitCastOrAddrSpaceCast(by, old->getType()));
		old->eraseFromParent();
	}

	/* struct sim_shape of a variable, by its type in the debug information; null where that does not tell. */
	Constant *shape_of(const GlobalVariable &variable)
	{
		SmallVector<DIGlobalVariableExpression *, 1> described;
		variable.getDebugInfo(described);
		const DIType *type = described.empty() ? nullptr : named_type(described[0]->getVariable()->getType());
		SmallVector<uint32_t, 8> dimensions;
		const DICompositeType *array;
		while ((array = dyn_cast_or_null<DICompositeType>(type)) &&
		       array->getTag() == dwarf::DW_TAG_array_type && !array->isVector()) {
			for (const DINode *each : array->getElements()) {
				auto *range = dyn_cast<DISubrange>(each);
				auto *count =
					range ? mdconst::dyn_extract_or_null<ConstantInt>(range->getRawCountNode())
					      : nullptr;
				if (!count || count->isZero() || !isUInt<32>(count->getZExtValue()))
					return null();
				dimensions.push_back(count->getZExtValue());
			}
			type = named_type(array->getBaseType());
		}
		const uint64_t size = type ? type->getSizeInBits() / 8 : 0;
		if (size == 0 || !isUInt<32>(size))
			return null();
		SmallVector<uint32_t, 8> shape = {(uint32_t)size, part_of(type), (uint32_t)dimensions.size()};
		shape.append(dimensions.begin(), dimensions.end());
		auto *data = ConstantDataArray::get(C, ArrayRef<uint32_t>(shape));
		return as_pointer(
			new GlobalVariable(M, data->getType(), true, GlobalValue::PrivateLinkage, data, "sim.shape"));
	}

	/* Behind typedef, const and volatile. */
	static const DIType *named_type(const DIType *type)
	{
		while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
			const unsigned tag = derived->getTag();
			if (tag != dwarf::DW_TAG_typedef && tag != dwarf::DW_TAG_const_type &&
			    tag != dwarf::DW_TAG_volatile_type)
				break;
			type = derived->getBaseType();
		}
		return type;
	}

	/* The bytes of .x where a struct consists of .x, .y, .z and .w, or the first of them, alike; 0 of another one. */
	static uint32_t part_of(const DIType *type)
	{
		auto *record = dyn_cast<DICompositeType>(type);
		if (!record || record->getTag() == dwarf::DW_TAG_enumeration_type)
			return type->getSizeInBits() / 8;
		uint64_t count = 0, bits = 0;
		for (const DINode *each : record->getElements()) {
			auto *member = dyn_cast<DIDerivedType>(each);
			if (!member || member->getTag() != dwarf::DW_TAG_member || member->isStaticMember())
				continue;
			bits = count == 0 ? member->getSizeInBits() : bits;
			if (count == 4 || member->getName() != StringRef("xyzw").substr(count, 1) ||
			    member->getOffsetInBits() != count * bits || member->getSizeInBits() != bits)
				return 0;
			count++;
		}
		return count > 1 && count * bits == record->getSizeInBits() ? bits / 8 : 0;
	}

	/* With a red zone behind it. */
	GlobalVariable *room_for(GlobalVariable *old, Constant *value, GlobalValue::ThreadLocalMode mode)
	{
		Type *type = StructType::get(C, {old->getValueType(), ArrayType::get(byte, REDZONE)});
		Constant *initial = value && !value->isNullValue() && !isa<UndefValue>(value)
		                            ? ConstantStruct::get(
						      cast<StructType>(type),
						      {value, Constant::getNullValue(ArrayType::get(byte, REDZONE))})
		                            : Constant::getNullValue(type);
		auto *variable = new GlobalVariable(M, type, false, old->getLinkage(), initial, "", nullptr, mode);
		if (relocatable && old->hasComdat())
			variable->setComdat(old->getComdat());
		if (!relocatable) {
			variable->setLinkage(
				mode == GlobalValue::NotThreadLocal ? GlobalValue::ExternalLinkage
								    : GlobalValue::InternalLinkage);
			variable->setComdat(nullptr);
		}
		SmallVector<DIGlobalVariableExpression *, 1> described;
		old->getDebugInfo(described);
		for (DIGlobalVariableExpression *it : described)
			variable->addDebugInfo(it);
		return variable;
	}

	void refuse_other_file(GlobalVariable &variable)
	{
		SetVector<User *> users(variable.user_begin(), variable.user_end());
		for (size_t i = 0; i < users.size(); i++)
			if (auto *I = dyn_cast<Instruction>(users[i]))
				error(*I->getFunction(), I->getDebugLoc(),
				      "'" + demangle(variable.getName().str()) +
				              "' is not defined in this file: device variables of other files need "
				              "-rdc=true");
			else
				users.insert(users[i]->user_begin(), users[i]->user_end());
	}

	void move_to_device(GlobalVariable *old)
	{
		const std::string symbol = old->getName().str();
		/* clang takes a const variable for a __constant__ one, nvcc one in a function for a __device__ one. */
		const bool is_constant =
			in_constant.count(old) || (old->getAddressSpace() == CONSTANT && !in_device.count(old) &&
		                                   (fast || !starts(symbol, "_ZZ")));
		if (old->isDeclaration()) {
			if (!relocatable)
				refuse_other_file(*old);
			auto *elsewhere = new GlobalVariable(
				M, old->getValueType(), false, GlobalValue::ExternalLinkage, nullptr);
			replace(old, elsewhere);
			elsewhere->setName(relocatable ? symbol : device_name(symbol, false));
			return;
		}
		if (is_constant && !in_constant.count(old)) { /* the host's, for its value */
			auto *value = new GlobalVariable(
				M, old->getValueType(), true, GlobalValue::PrivateLinkage, old->getInitializer());
			value->setAlignment(old->getAlign());
			replace(old, value);
			return;
		}
		const uint64_t size = DL.getTypeAllocSize(old->getValueType());
		GlobalVariable *variable = room_for(old, old->getInitializer(), GlobalValue::NotThreadLocal);
		variable->setSection(is_constant ? "sim_constant" : "sim_device");
		variable->setAlignment(Align(256));
		const bool is_local = is_local_symbol(symbol) || (old->hasLocalLinkage() && starts(symbol, "_ZZ"));
		if (is_local || old->hasLocalLinkage()) /* for the host's side */
			variable->setLinkage(GlobalValue::ExternalLinkage);
		if (!relocatable || is_local)
			variable->setVisibility(GlobalValue::HiddenVisibility);
		replace(old, variable);
		variable->setName(relocatable && !is_local ? symbol : device_name(symbol, relocatable));
		kept.push_back(variable);
		variables.push_back({last_name(demangle(symbol)), variable, size, is_constant, shape_of(*variable)});
	}

	struct Variable {
		std::string name;
		GlobalVariable *variable;
		uint64_t size;
		bool is_constant;
		Constant *shape;
	};
	std::vector<Variable> variables;

	/* Whichever GPU it is for. */
	static constexpr uint64_t STATIC_SHARED = 48 << 10; /* of a kernel */
	static constexpr uint64_t PARAMETERS = 32764;       /* of a kernel */
	static constexpr uint64_t IN_CONSTANT = 64 << 10;   /* of a file */

	static std::string beyond_static(const Twine &what, uint64_t size)
	{
		return (what + " " + Twine(size) + " bytes, and static shared memory ends at " +
		        Twine(STATIC_SHARED) + ": 'extern __shared__' with cudaFuncSetAttribute() can have more")
		        .str();
	}

	/* What is said must be said of a function, and the file may have none. */
	void error_at_variable(const GlobalVariable &variable, const Twine &message)
	{
		SmallVector<DIGlobalVariableExpression *, 1> where;
		variable.getDebugInfo(where);
		if (where.empty() || M.debug_compile_units().begin() == M.debug_compile_units().end())
			return;
		DIFile *file = where[0]->getVariable()->getFile();
		const unsigned line = where[0]->getVariable()->getLine();
		DIBuilder B(M, false, *M.debug_compile_units().begin());
		Function *F = Function::Create(
			FunctionType::get(nothing, false), GlobalValue::ExternalLinkage, "sim.variable", M);
		F->setSubprogram(B.createFunction(
			file, "", "", file, line, B.createSubroutineType(B.getOrCreateTypeArray({})), line,
			DINode::FlagZero, DISubprogram::SPFlagDefinition));
		error_at(*F, file, line, message);
	}

	/* At the first variable that no longer fits. */
	void limit_constants()
	{
		uint64_t all = 0;
		const GlobalVariable *first = nullptr;
		for (const Variable &it : variables)
			if (it.is_constant) {
				all += it.size;
				if (all > IN_CONSTANT && !first)
					first = it.variable;
			}
		if (first)
			error_at_variable(
				*first, "this file's __constant__ variables have " + Twine(all) +
						" bytes, and constant memory ends at " + Twine(IN_CONSTANT) +
						": a __device__ variable can have more");
	}

	/* As they lie one behind the other; a struct that is only declared here has no size. */
	uint64_t size_of_parameters(const DISubprogram &kernel)
	{
		uint64_t end = 0;
		bool is_result = true;
		for (const DIType *type : kernel.getType()->getTypeArray()) {
			const uint64_t align = is_result ? 1 : alignment_of(type, 0);
			for (auto *derived = dyn_cast_or_null<DIDerivedType>(type);
			     derived && !derived->getSizeInBits(); derived = dyn_cast_or_null<DIDerivedType>(type))
				type = derived->getBaseType();
			if (!is_result && type && type->getSizeInBits())
				end = alignTo(end, std::max<uint64_t>(align, 1)) + type->getSizeInBits() / 8;
			is_result = false;
		}
		return end;
	}

	void limit_parameters(const Function &kernel)
	{
		const DISubprogram *described = kernel.getSubprogram();
		const uint64_t size = described ? size_of_parameters(*described) : 0;
		if (size > PARAMETERS)
			error_at(
				kernel, described->getFile(), described->getLine(),
				"this kernel's parameters have " + Twine(size) + " bytes, and a kernel's end at " +
					Twine(PARAMETERS) + ": memory of cudaMalloc() can have more");
	}

	void move_to_shared(GlobalVariable *old)
	{
		const std::string symbol = old->getName().str();
		const uint64_t size = DL.getTypeAllocSize(old->getValueType());
		if (size > STATIC_SHARED)
			error_at_variable(*old, beyond_static("this __shared__ variable has", size));
		const uint64_t align = std::max<uint64_t>(16, old->getAlign() ? old->getAlign()->value() : 1);
		GlobalVariable *variable = room_for(old, nullptr, GlobalValue::LocalExecTLSModel);
		variable->setAlignment(Align(align));
		replace(old, variable);
		variable->setName(device_name(symbol, false));
		const std::string name = demangle(symbol);
		std::string array = last_name(name), function;
		if (starts(symbol, "_ZZ"))
			function = name.substr(0, name.size() - array.size() - 2);
		const size_t number_at = array.find(".");
		if (number_at != std::string::npos)
			array.resize(number_at);
		GlobalVariable *described =
			record("sim_shared",
		               {string(array), string(function), number(i64, 0), number(i64, size),
		                number(i64, align), shape_of(*variable)},
		               nullptr);
		if (variable->hasComdat()) { /* of a template: each object describes it, one record stays */
			described->setName("sim_shared." + symbol);
			described->setLinkage(GlobalValue::WeakODRLinkage);
			described->setComdat(M.getOrInsertComdat(described->getName()));
		}
		arrays[variable] = described;
		shared.push_back(variable);
	}
	std::vector<GlobalVariable *> shared;

	/* ---- functions ---- */

	GlobalVariable *device_record(Function &F)
	{
		std::vector<Constant *> used;
		uint64_t all = 0, largest = 0;
		for (GlobalVariable *array : shared_of(F)) {
			const uint64_t size = DL.getTypeAllocSize(array->getValueType()) - REDZONE;
			all += size, largest = std::max(largest, size);
			used.push_back(as_pointer(arrays[array]));
		}
		const DISubprogram *described = F.getSubprogram();
		if (all > STATIC_SHARED && largest <= STATIC_SHARED && kernels.count(&F) && described)
			error_at(
				F, described->getFile(), described->getLine(),
				beyond_static("this kernel's __shared__ variables have", all));
		return function_record(F, used, kernels.count(&F));
	}

	/* What the constants and instructions of a function name, directly or through constants. */
	void named_by(const Function &F, SetVector<const GlobalValue *> &found)
	{
		SetVector<const Constant *> queue;
		for (const Instruction &I : instructions(F))
			for (const Value *operand : I.operands())
				if (auto *constant = dyn_cast<Constant>(operand))
					queue.insert(constant);
		for (size_t i = 0; i < queue.size(); i++) {
			if (auto *value = dyn_cast<GlobalValue>(queue[i])) {
				found.insert(value);
				continue;
			}
			for (const Value *operand : queue[i]->operands())
				if (auto *constant = dyn_cast<Constant>(operand))
					queue.insert(constant);
		}
	}

	/* The shared arrays that a function and what it calls in this object use: a kernel is launched, not called. */
	std::vector<GlobalVariable *> shared_of(Function &F)
	{
		SetVector<const Function *> reached;
		SetVector<const GlobalValue *> found;
		reached.insert(&F);
		for (size_t i = 0; i < reached.size() && !shared.empty(); i++) {
			SetVector<const GlobalValue *> &names = named[reached[i]];
			if (names.empty())
				named_by(*reached[i], names);
			for (const GlobalValue *value : names) {
				found.insert(value);
				auto *callee = dyn_cast<Function>(value);
				if (callee && !callee->isDeclaration() &&
				    !kernels.count(const_cast<Function *>(callee)))
					reached.insert(callee);
			}
		}
		std::vector<GlobalVariable *> used;
		for (GlobalVariable *array : shared)
			if (found.count(array))
				used.push_back(array);
		return used;
	}
	DenseMap<const Function *, SetVector<const GlobalValue *>> named;

	/* Nothing of the device's may be taken for the host's of the same name, whichever the linker sees first. */
	void name_functions()
	{
		for (Function &F : M) {
			const StringRef name = F.getName();
			if (F.isDeclaration() && !F.isIntrinsic() && !starts(name, "sim_") &&
			    !starts(name, "__cxa_") && !is_mathematics(name) &&
			    !(fast && is_contained(RENAMED, name)))
				F.setName(device_name(name, false));
		}
		for (Function *F : own) {
			const std::string name = F->getName().str();
			const bool is_kernel = kernels.count(F);
			const bool is_local = is_kernel ? is_local_symbol(name) : F->hasLocalLinkage();
			F->setSection("sim_text");
			if (!fast || is_kernel) {
				F->addFnAttr(Attribute::NoInline);
				F->removeFnAttr(Attribute::AlwaysInline);
			}
			F->setName(device_name(name, relocatable && is_local));
			if (relocatable && !is_local)
				continue;
			F->setComdat(nullptr);
			F->setLinkage(is_kernel ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage);
			if (is_kernel)
				F->setVisibility(GlobalValue::HiddenVisibility);
		}
		for (GlobalVariable *variable : constants) { /* tables of virtual functions, temporaries, strings */
			variable->setName(
				device_name(variable->getName(), relocatable && variable->hasLocalLinkage()));
			if (!relocatable && !variable->isDeclaration()) {
				variable->setComdat(nullptr);
				variable->setLinkage(GlobalValue::InternalLinkage);
			}
		}
	}
	std::vector<GlobalVariable *> constants;

	/* ---- --fast ---- */

	/* Where a thread stands among the callers of __activemask() the optimizer, which may make two calls of one, must not
	 * decide: the call says it, with those of the calls that led there. */
	void make_fast(Function &F)
	{
		std::vector<CallBase *> calls;
		for (Instruction &I : instructions(F))
			if (auto *call = dyn_cast<CallBase>(&I))
				calls.push_back(call);
		for (CallBase *call : calls) {
			if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
				ptx(F, *call, *assembly);
				continue;
			}
			Function *callee = call->getCalledFunction();
			if (!callee || callee->isIntrinsic())
				continue;
			const bool asks = callee->getName() == "sim_warp_active_mask_at";
			if (asks)
				call->setArgOperand(0, number(i64, ++places));
			else if (callee->isDeclaration())
				this->call(F, *call);
			else if (leads_to_mask(*callee)) {
				IRBuilder<> B(call);
				Value *before =
					B.CreateCall(engine("sim_place_enter", i64, {i64}), {number(i64, ++places)});
				B.SetInsertPoint(call->getNextNode());
				B.CreateCall(engine("sim_place_leave", nothing, {i64}), {before});
			}
		}
	}
	uint64_t places = 0;

	bool leads_to_mask(const Function &F)
	{
		SetVector<const Function *> reached;
		reached.insert(&F);
		for (size_t i = 0; i < reached.size(); i++) {
			SetVector<const GlobalValue *> names;
			named_by(*reached[i], names);
			for (const GlobalValue *value : names)
				if (auto *callee = dyn_cast<Function>(value)) {
					if (callee->getName() == "sim_warp_active_mask_at")
						return true;
					reached.insert(callee);
				}
		}
		return false;
	}

	/* ---- accesses ---- */

	Constant *site(Function &F, const DebugLoc &at, Op op, unsigned size)
	{
		const DILocation *where = place(at);
		auto *type = StructType::get(C, {pointer, pointer, i32, i16, byte, byte});
		auto *variable = new GlobalVariable(M, type, false, GlobalValue::PrivateLinkage, nullptr, "sim.site");
		variable->setInitializer(ConstantStruct::get(
			type, {string(where ? file_of(where->getFile()) : ""), as_pointer(functions[&F]),
		               number(i32, where ? where->getLine() : 0),
		               number(i16, where ? std::min(where->getColumn(), 65535u) : 0), number(byte, op),
		               number(byte, size)}));
		variable->setSection("sim_sites");
		variable->setAlignment(Align(8));
		if (relocatable && F.hasComdat())
			variable->setComdat(F.getComdat());
		kept.push_back(variable);
		return as_pointer(variable);
	}

	void instrument(Function &F)
	{
		std::vector<Instruction *> all;
		bool is_leaf = !kernels.count(&F);
		for (Instruction &I : instructions(F))
			all.push_back(&I);
		for (Instruction *I : all)
			is_leaf &= !instrument(F, *I);
		if (is_leaf)
			return;
		Instruction *first = &*F.getEntryBlock().getFirstInsertionPt();
		while (isa<AllocaInst>(first))
			first = first->getNextNode();
		IRBuilder<> B(first);
		const DISubprogram *described = F.getSubprogram();
		/* Not with -g: a debugger stops at the first line that has one, behind the arguments. */
		if (described && environment("SIM_DEBUG") != "1")
			B.SetCurrentDebugLocation(DILocation::get(C, described->getLine(), 0, F.getSubprogram()));
		B.CreateCall(engine("sim_enter", nothing, {pointer}), {as_pointer(functions[&F])});
		for (BasicBlock &block : F)
			if (auto *end = dyn_cast<ReturnInst>(block.getTerminator())) {
				B.SetInsertPoint(end);
				B.CreateCall(
					 engine("sim_leave", nothing, {pointer}),
					 {site(F, end->getDebugLoc(), OTHER, 0)})
					->setTailCallKind(CallInst::TCK_NoTail);
			}
	}

	/* True where the engine comes into play. */
	bool instrument(Function &F, Instruction &I)
	{
		if (auto *load = dyn_cast<LoadInst>(&I))
			return load->isAtomic() ? refuse_atomic(F, I)
			                        : access(F, I, load->getPointerOperand(), load->getType(),
			                                 load->getAlign(), load->isVolatile(), LOAD);
		if (auto *store = dyn_cast<StoreInst>(&I))
			return store->isAtomic()
			               ? refuse_atomic(F, I)
			               : access(F, I, store->getPointerOperand(), store->getValueOperand()->getType(),
			                        store->getAlign(), store->isVolatile(), STORE);
		if (isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I) || isa<FenceInst>(I))
			return refuse_atomic(F, I);
		if (auto *memory = dyn_cast<AnyMemIntrinsic>(&I))
			return copy(F, *memory);
		if (auto *call = dyn_cast<CallBase>(&I))
			return this->call(F, *call);
		if (auto *operation = dyn_cast<BinaryOperator>(&I))
			return operation->getType()->isIntegerTy() && division(F, *operation);
		if (I.mayReadOrWriteMemory())
			error(F, I.getDebugLoc(),
			      Twine("'") + I.getOpcodeName() +
			              "' in device code is not supported by the simulated device");
		return false;
	}

	bool refuse_atomic(Function &F, Instruction &I)
	{
		Value *address = const_cast<Value *>(getLoadStorePointerOperand(&I));
		const bool guards = address && starts(getUnderlyingObject(address)->getName(), "_ZGV");
		error(F, I.getDebugLoc(),
		      Twine(guards ? "'a static variable initialized at run time'" : "'a compiler atomic'") +
		              " in device code is not supported by the simulated device");
		return false;
	}

	/* Memory that is no access of the source's: a thread's own variable, as far as the compiler can tell that it stays in
	 * it; a constant that only the compiler names; the built-in variables. */
	bool is_own(Value *pointer_operand, uint64_t size)
	{
		APInt offset(DL.getIndexTypeSizeInBits(pointer_operand->getType()), 0);
		Value *base = pointer_operand->stripAndAccumulateConstantOffsets(DL, offset, true);
		const auto holds = [&](Type *type) {
			const uint64_t room = DL.getTypeAllocSize(type);
			return size <= room && offset.ule(room - size);
		};
		if (auto *variable = dyn_cast<AllocaInst>(base))
			return !variable->isArrayAllocation() && holds(variable->getAllocatedType());
		if (auto *argument = dyn_cast<Argument>(base))
			return argument->hasByValAttr() && holds(argument->getParamByValType());
		auto *global = dyn_cast<GlobalVariable>(base);
		return global && (starts(global->getName(), "sim_builtin_") || global->getName() == "sim_warp_size" ||
		                  is_constant(*global));
	}

	/* Of the program's text, as the compiler has it: no __constant__ variable, which can be written. */
	static bool is_constant(const GlobalVariable &variable)
	{
		return variable.isConstant() && variable.hasLocalLinkage();
	}

	/* Is it an address in a table of virtual functions? (The pointer to its table is a part of an object.) */
	bool is_of_vtable(Value *address)
	{
		auto *table = dyn_cast<LoadInst>(address->stripInBoundsOffsets());
		if (!table)
			if (auto *GEP = dyn_cast<GEPOperator>(address->stripPointerCasts()))
				table = dyn_cast<LoadInst>(GEP->getPointerOperand()->stripPointerCasts());
		MDNode *tag = table ? table->getMetadata(LLVMContext::MD_tbaa) : nullptr;
		return tag && tag->isTBAAVtableAccess();
	}

	uint64_t alignment_of(const DIType *type, int depth)
	{
		if (!type || depth > 20)
			return 16;
		uint64_t align = type->getAlignInBits() / 8;
		if (auto *derived = dyn_cast<DIDerivedType>(type)) {
			if (derived->getTag() == dwarf::DW_TAG_pointer_type ||
			    derived->getTag() == dwarf::DW_TAG_reference_type)
				return std::max<uint64_t>(align, 8);
			return std::max(align, alignment_of(derived->getBaseType(), depth + 1));
		}
		auto *composite = dyn_cast<DICompositeType>(type);
		if (!composite)
			return std::max(align, std::min<uint64_t>(16, type->getSizeInBits() / 8));
		if (composite->getTag() == dwarf::DW_TAG_array_type ||
		    composite->getTag() == dwarf::DW_TAG_enumeration_type)
			return std::max(align, alignment_of(composite->getBaseType(), depth + 1));
		if (composite->isForwardDecl())
			return 16;
		for (const DINode *element : composite->getElements())
			if (auto *member = dyn_cast<DIDerivedType>(element))
				if (!member->isStaticMember() && (member->getTag() == dwarf::DW_TAG_member ||
				                                  member->getTag() == dwarf::DW_TAG_inheritance))
					align = std::max(align, alignment_of(member, depth + 1));
		return std::max<uint64_t>(align, 1);
	}

	/* In `*(double *)&floats[i]` clang goes by what it knows of the variable; what counts is the type that is said. */
	bool is_cast_of_variable(Value *address)
	{
		return isa<GlobalVariable>(getUnderlyingObject(address, 0)) && !is_in_packed(address);
	}

	/* A member of a packed struct lies where it lies. */
	static bool is_in_packed(Value *address)
	{
		for (auto *step = dyn_cast<Operator>(address); step; step = dyn_cast<Operator>(step->getOperand(0))) {
			auto *GEP = dyn_cast<GEPOperator>(step);
			if (GEP)
				for (auto type = gep_type_begin(GEP); type != gep_type_end(GEP); ++type)
					if (StructType *record = type.getStructTypeOrNull())
						if (record->isPacked())
							return true;
			if (!GEP && step->getOpcode() != Instruction::BitCast &&
			    step->getOpcode() != Instruction::AddrSpaceCast)
				return false;
		}
		return false;
	}

	/* ---- which type a copy is of: its alignment says whether it is one access or several ----
	 * clang says how well each end lies. Behind a pointer that is what the type asks for; a variable may lie better, and
	 * worse than what it is cast to: ((float4 *)floats)[i]. But it says the type, too, where both ends have the same and
	 * it optimizes (not with -g). */

	struct Copied {
		uint64_t align; /* or 0 */
		bool is_known;  /* or guessed: then an end that lies worse is no mistake */
	};

	Copied type_of_copied(AnyMemIntrinsic &I, uint64_t size)
	{
		SmallVector<std::pair<Value *, MaybeAlign>, 2> ends = {{I.getRawDest(), I.getDestAlign()}};
		if (auto *transfer = dyn_cast<AnyMemTransferInst>(&I))
			ends.push_back({transfer->getRawSource(), transfer->getSourceAlign()});
		uint64_t behind_pointers = 0, of_own = 0, of_variables = 0;
		for (const auto &[end, known] : ends) {
			const uint64_t said = known.valueOrOne().value();
			Value *object = getUnderlyingObject(end, 0);
			if (auto *own = dyn_cast<AllocaInst>(object)) {
				/* A larger one may lie better than its type asks for. */
				if (size <= 16 && own == end->stripPointerCasts() && !own->isArrayAllocation() &&
				    isa<StructType>(own->getAllocatedType()) &&
				    DL.getTypeAllocSize(own->getAllocatedType()) == size)
					of_own = own->getAlign().value();
			} else if (auto *variable = dyn_cast<GlobalVariable>(object)) {
				of_variables = std::max(of_variables, alignment_in(*variable, size));
			} else if (auto *given = dyn_cast<Argument>(object); !given || !given->hasByValAttr()) {
				behind_pointers = std::min(behind_pointers ? behind_pointers : said, said);
			}
		}
		const MDNode *tag = I.getMetadata(LLVMContext::MD_tbaa);
		const uint64_t of_type = alignment_of_type(tag, size);
		if (behind_pointers) {
			const uint64_t align = of_own ? std::min(of_own, behind_pointers) : behind_pointers;
			return {align, tag ? of_type >= align : true};
		}
		if (of_type)
			return {of_type, true};
		if (of_own || of_variables || ends.size() == 1)
			return {of_own ? of_own : of_variables, false};
		return {alignment_of_any(size), false};
	}

	/* Of the struct of that size in what clang says of aliases (-new-struct-path-tbaa); or 0. */
	uint64_t alignment_of_type(const MDNode *tag, uint64_t size)
	{
		auto *type = tag ? dyn_cast<MDNode>(tag->getOperand(1)) : nullptr;
		auto *id = type && type->getNumOperands() > 2 ? dyn_cast<MDString>(type->getOperand(2)) : nullptr;
		uint64_t align = 0;
		for (const DICompositeType *each : id ? types_of(size) : std::vector<const DICompositeType *>()) {
			/* One that is local to the file has a name only. */
			const StringRef known = each->getIdentifier();
			if (known == id->getString() ||
			    (known.empty() && each->getName() == last_name(demangle(id->getString().str()))))
				align = std::min(align ? align : UINT64_MAX, alignment_of(each, 0));
		}
		return align;
	}

	std::vector<const DICompositeType *> types_of(uint64_t size)
	{
		if (!types.type_count())
			types.processModule(M);
		std::vector<const DICompositeType *> found;
		for (const DIType *type : types.types())
			if (auto *composite = dyn_cast<DICompositeType>(type))
				if (composite->getTag() != dwarf::DW_TAG_array_type && !composite->isForwardDecl() &&
				    composite->getSizeInBits() == size * 8)
					found.push_back(composite);
		return found;
	}

	/* Of the struct of that size that a variable is, or has in it; or 0. */
	uint64_t alignment_in(const GlobalVariable &variable, uint64_t size)
	{
		SmallVector<DIGlobalVariableExpression *, 1> described;
		variable.getDebugInfo(described);
		return described.empty() ? 0 : alignment_in(described[0]->getVariable()->getType(), size, 0);
	}

	uint64_t alignment_in(const DIType *type, uint64_t size, int depth)
	{
		if (!type || depth > 20)
			return 0;
		if (auto *derived = dyn_cast<DIDerivedType>(type))
			return derived->getTag() == dwarf::DW_TAG_pointer_type ||
			                       derived->getTag() == dwarf::DW_TAG_reference_type ||
			                       derived->isStaticMember()
			               ? 0
			               : alignment_in(derived->getBaseType(), size, depth + 1);
		auto *composite = dyn_cast<DICompositeType>(type);
		if (!composite || composite->getTag() == dwarf::DW_TAG_enumeration_type)
			return 0;
		if (composite->getTag() == dwarf::DW_TAG_array_type)
			return alignment_in(composite->getBaseType(), size, depth + 1);
		if (composite->getSizeInBits() == size * 8)
			return alignment_of(composite, 0);
		uint64_t align = 0;
		for (const DINode *element : composite->getElements())
			if (auto *member = dyn_cast<DIDerivedType>(element))
				align = std::max(align, alignment_in(member, size, depth + 1));
		return align;
	}

	uint64_t alignment_of_any(uint64_t size)
	{
		uint64_t align = 0;
		for (const DICompositeType *type : types_of(size))
			align = std::max(align, alignment_of(type, 0));
		return align;
	}

	bool access(Function &F, Instruction &I, Value *address, Type *type, Align known, bool is_volatile, Op op)
	{
		const uint64_t size = DL.getTypeStoreSize(type);
		if (is_own(address, size) || is_of_vtable(address))
			return false;
		const bool has_hook = size <= 16 && isPowerOf2_64(size);
		if (has_hook && (known.value() >= size || is_cast_of_variable(address)))
			hook(F, I, address, size, op, Twine(is_volatile ? "volatile_" : "") + verb(op) + Twine(size));
		else
			range(F, I, address, size, 4, op, is_volatile);
		return true;
	}

	static const char *verb(Op op) { return op == LOAD ? "read" : "write"; }

	void hook(Function &F, Instruction &I, Value *address, uint64_t size, Op op, const Twine &name)
	{
		IRBuilder<> B(&I);
		B.CreateCall(
			engine(("sim_" + name).str(), nothing, {pointer, pointer}),
			{B.CreatePointerBitCastOrAddrSpaceCast(address, pointer),
		         site(F, I.getDebugLoc(), op, size)});
	}

	/* `align`: of the type, where it is known. */
	void range(
		Function &F, Instruction &I, Value *address, uint64_t size, uint64_t align, Op op, bool is_volatile)
	{
		IRBuilder<> B(&I);
		B.CreateCall(
			engine((Twine("sim_") + (is_volatile ? "volatile_" : "") + verb(op) + "_range").str(),
		               nothing, {pointer, i64, i64, pointer}),
			{B.CreatePointerBitCastOrAddrSpaceCast(address, pointer), B.getInt64(size),
		         B.getInt64(
				 align >= 16  ? 16
				 : align >= 8 ? 8
					      : 4),
		         site(F, I.getDebugLoc(), op, 0)});
	}

	/* Of a struct. */
	bool copy(Function &F, AnyMemIntrinsic &I)
	{
		if (I.getMetadata("sim.fill"))
			return false; /* prepare()'s */
		auto *length = dyn_cast<ConstantInt>(I.getLength());
		if (!length) {
			error(F, I.getDebugLoc(),
			      "a copy of a length that only running tells in device code is not supported by the "
			      "simulated device");
			return false;
		}
		const uint64_t size = length->getZExtValue();
		const Copied type = type_of_copied(I, size);
		const auto count = [&](Value *address, MaybeAlign known, Op op) {
			const uint64_t said = known.valueOrOne().value();
			const uint64_t align = !type.align || is_in_packed(address) ? said : type.align;
			return part(F, I, address, size, align, said >= align || type.is_known, op);
		};
		bool counted = false;
		if (auto *transfer = dyn_cast<AnyMemTransferInst>(&I)) {
			auto *constant = dyn_cast<GlobalVariable>(getUnderlyingObject(transfer->getRawSource()));
			if (!(constant && is_constant(*constant)))
				counted |= count(transfer->getRawSource(), transfer->getSourceAlign(), LOAD);
		}
		counted |= count(I.getRawDest(), I.getDestAlign(), STORE);
		return counted;
	}

	/* `lies_so`: an address that is not aligned so is a mistake. */
	bool part(Function &F, Instruction &I, Value *address, uint64_t size, uint64_t align, bool lies_so, Op op)
	{
		if (size == 0 || is_own(address, size))
			return false;
		const bool in_two = size == 16 && align == 8;
		if (lies_so && size <= 16 && isPowerOf2_64(size) && (align >= size || in_two))
			hook(F, I, address, size, op, Twine(verb(op)) + Twine(size) + (in_two ? "_by_8" : ""));
		else
			range(F, I, address, size, in_two ? 16 : align, op, false);
		return true;
	}

	/* ---- calls ---- */

	void announce(CallBase &call, Function &F, Op op, unsigned size)
	{
		if (fast)
			return;
		IRBuilder<> B(&call);
		B.CreateAlignedStore(site(F, call.getDebugLoc(), op, size), call_site, Align(8), true);
	}

	bool call(Function &F, CallBase &call)
	{
		if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
			return ptx(F, call, *assembly);
		}
		Function *callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
		if (!callee) {
			announce(call, F, OTHER, 0);
			return true;
		}
		const std::string name = callee->getName().str();
		const StringRef which = StringRef(name).split('.').second.split('.').first;
		if (callee->isIntrinsic() && (which == "exp" || which == "exp2" || which == "exp10")) {
			if (!fast && (call.getType()->isFloatTy() || call.getType()->isDoubleTy()))
				call.setCalledFunction(M.getOrInsertFunction(
					("sim_" + which + (call.getType()->isFloatTy() ? "f" : "")).str(),
					callee->getFunctionType()));
			return true;
		}
		if (callee->isIntrinsic()) {
			if (callee->getIntrinsicID() == Intrinsic::trap ||
			    callee->getIntrinsicID() == Intrinsic::debugtrap)
				return false;
			if (call.mayReadOrWriteMemory() && !isa<DbgInfoIntrinsic>(call) &&
			    !call.isLifetimeStartOrEnd() && !isa<AssumeInst>(call) &&
			    !is_harmless(callee->getIntrinsicID()))
				error(F, call.getDebugLoc(),
				      Twine("'") + name +
				              "' in device code is not supported by the simulated device");
			return false;
		}
		const std::string refused = refused_name(*callee);
		if (refused == "delete" && F.getName().find("D0Ev") != StringRef::npos) {
			call.setCalledFunction(
				engine("sim_trap", nothing, {pointer})); /* nobody can have called new */
			call.setAttributes(AttributeList());
			return true;
		}
		if (!refused.empty()) {
			error(F, call.getDebugLoc(),
			      Twine("'") + refused + "' " + why_denied(refused) + instead_of(refused));
			return false;
		}
		if (!callee->isDeclaration()) {
			announce(call, F, OTHER, 0);
			return true;
		}
		if (starts(name, "sim_")) {
			fences |= starts(name, "sim_threadfence");
			const bool is_atomic = starts(name, "sim_atomic_");
			if (starts(name, "sim_atomic_exch_") || starts(name, "sim_atomic_block_exch_"))
				announce(call, F, ATOMIC, call.use_empty() ? 0 : 1);
			else
				announce(call, F, is_atomic ? ATOMIC : OTHER, 0);
			return true;
		}
		const bool is_output = starts(name, "print") || starts(name, "vprint");
		if (name == "__assert_fail" || (is_contained(RENAMED, StringRef(name)) && (!fast || is_output))) {
			announce(call, F, OTHER, 0);
			FunctionCallee ours = M.getOrInsertFunction(
				name == "__assert_fail" ? "sim_assert_fail" : "sim_" + name,
				callee->getFunctionType());
			call.setCalledOperand(ConstantExpr::getPointerCast(
				cast<Constant>(ours.getCallee()), call.getCalledOperand()->getType()));
			return true;
		}
		if (is_mathematics(name) || is_contained(RENAMED, StringRef(name)))
			return false;
		if (!relocatable) {
			error(F, call.getDebugLoc(),
			      "'" + demangle(name) +
			              "' is not defined in this file: device code of other files needs -rdc=true");
			return false;
		}
		announce(call, F, OTHER, 0);
		return true;
	}

	/* Each statement becomes a call of the engine. */
	bool ptx(Function &F, CallBase &call, InlineAsm &assembly)
	{
		const std::vector<PtxStatement> statements = ptx_statements(StringRef(assembly.getAsmString()));
		if (statements.empty()) /* it is for the compiler, and does nothing */
			return false;
		if (call.isTerminator()) {
			error(F, call.getDebugLoc(), "asm goto is not supported by the simulated device");
			return false;
		}
		/* No operands, and of clobbers at most those that clang adds. */
		const StringRef constraints = assembly.getConstraintString();
		const bool is_basic = (constraints.empty() || constraints[0] == '~') &&
		                      constraints.find("~{memory}") == StringRef::npos;
		unsigned outputs = 0;
		for (const InlineAsm::ConstraintInfo &each : assembly.ParseConstraints())
			outputs += each.Type == InlineAsm::isOutput;
		Value *result = nullptr;
		for (const PtxStatement &statement : statements) {
			const PtxForm *form = nullptr;
			for (const PtxForm &each : ptx_forms())
				if (Regex("^" + std::string(each.text) + "$").match(statement.form))
					form = &each;
			const std::string refused = form ? ptx_call(F, call, statement, *form, outputs, result)
			                                 : "is not supported by the simulated device";
			if (!refused.empty())
				error(F, call.getDebugLoc(),
				      "inline PTX '" + ptx_as_written(statement.text, is_basic) + "' " + refused);
		}
		if (result)
			call.replaceAllUsesWith(result);
		else if (!call.use_empty())
			call.replaceAllUsesWith(UndefValue::get(call.getType()));
		call.eraseFromParent();
		return true;
	}

	/* What is wrong with it, or "". */
	std::string ptx_call(
		Function &F, CallBase &call, const PtxStatement &statement, const PtxForm &form, unsigned outputs,
		Value *&result)
	{
		IRBuilder<> B(&call);
		std::vector<Value *> arguments;
		std::vector<Type *> types;
		bool returns = false;
		for (size_t i = 0; form.takes[i]; i++) {
			const unsigned operand = statement.operands[i];
			const bool is_output = operand < outputs;
			if (form.takes[i] == '=') {
				if (!is_output || outputs != 1)
					return "has another output than the one operand that it writes";
				returns = true;
				continue;
			}
			if (is_output || (operand < PtxStatement::NUMBER && operand - outputs >= call.arg_size()))
				return "has an operand that is none of its inputs";
			Value *value = operand >= PtxStatement::NUMBER
			                       ? number(i64, statement.numbers[operand - PtxStatement::NUMBER])
			                       : call.getArgOperand(operand - outputs);
			if (form.takes[i] == 's') {
				auto *length = dyn_cast<ConstantInt>(value);
				if (!length || !is_contained(form.lengths, length->getZExtValue()))
					return form.lengths.size() > 1 ? "copies 4, 8 or 16 bytes"
					                               : "copies 16 bytes";
			}
			Type *type = form.takes[i] == 'p'   ? (Type *)pointer
			             : form.takes[i] == 'f' ? B.getFloatTy()
			                                    : i32;
			if (type == pointer)
				value = value->getType()->isPointerTy()
				                ? B.CreatePointerBitCastOrAddrSpaceCast(value, pointer)
				                : B.CreateIntToPtr(value, pointer);
			else if (type == i32 && value->getType()->isPointerTy())
				value = B.CreatePtrToInt(value, i32);
			else if (type == i32 && value->getType()->isIntegerTy())
				value = B.CreateZExtOrTrunc(value, i32);
			if (value->getType() != type)
				return "has an operand of another type";
			arguments.push_back(value);
			types.push_back(type);
		}
		announce(call, F, OTHER, 0);
		CallInst *made =
			B.CreateCall(engine(form.function, returns ? B.getFloatTy() : nothing, types), arguments);
		if (returns)
			result = made;
		return "";
	}

	/* They are said to touch memory, and touch none. */
	static bool is_harmless(Intrinsic::ID id)
	{
		switch (id) {
		case Intrinsic::stacksave:
		case Intrinsic::stackrestore:
		case Intrinsic::vastart:
		case Intrinsic::vaend:
		case Intrinsic::experimental_noalias_scope_decl:
		case Intrinsic::var_annotation:
		case Intrinsic::ptr_annotation:
		case Intrinsic::annotation:
		case Intrinsic::invariant_start:
		case Intrinsic::invariant_end:
		case Intrinsic::prefetch:
		case Intrinsic::sideeffect: return true;
		default: return false;
		}
	}

	/* By zero, or of the least integer by -1: the CPU's exception, were it not for the optimizer, to which it cannot be. */
	bool division(Function &F, BinaryOperator &I)
	{
		const auto op = I.getOpcode();
		const bool is_signed = op == Instruction::SDiv || op == Instruction::SRem;
		if (!is_signed && op != Instruction::UDiv && op != Instruction::URem)
			return false;
		Value *by = I.getOperand(1);
		auto *known = dyn_cast<ConstantInt>(by);
		if (known && !known->isZero() && !(is_signed && known->isMinusOne()))
			return false;
		IRBuilder<> B(&I);
		Value *wrong = B.CreateICmpEQ(by, ConstantInt::get(by->getType(), 0));
		if (is_signed) {
			const unsigned bits = by->getType()->getIntegerBitWidth();
			Value *least = B.CreateICmpEQ(
				I.getOperand(0), ConstantInt::get(by->getType(), APInt::getSignedMinValue(bits)));
			wrong = B.CreateOr(
				wrong,
				B.CreateAnd(least, B.CreateICmpEQ(by, ConstantInt::get(by->getType(), -1, true))));
		}
		checks.push_back({&I, wrong, site(F, I.getDebugLoc(), OTHER, 0)});
		return true;
	}

	struct Check {
		Instruction *at;
		Value *wrong;
		Constant *site;
	};
	std::vector<Check> checks;
	DebugInfoFinder types; /* filled when it is asked for */

	/* ---- the tables ---- */

	void write_checks()
	{
		for (const Check &check : checks) {
			Instruction *then = SplitBlockAndInsertIfThen(check.wrong, check.at, true);
			IRBuilder<> B(then);
			B.SetCurrentDebugLocation(check.at->getDebugLoc());
			CallInst *call =
				B.CreateCall(engine("sim_division_by_zero", nothing, {pointer}), {check.site});
			call->setDoesNotReturn();
		}
	}

	void describe_variables()
	{
		std::sort(variables.begin(), variables.end(), [](const Variable &a, const Variable &b) {
			return a.name < b.name;
		});
		for (const Variable &it : variables)
			record("sim_variables",
			       {string(it.name), as_pointer(it.variable), number(i64, it.size),
			        number(i64, it.is_constant), it.shape},
			       relocatable ? it.variable : nullptr);
		if (shared.empty())
			return;
		/* Where they lie only the running program knows, whichever CPU it is for. */
		Function *places = Function::Create(
			FunctionType::get(nothing, false), GlobalValue::InternalLinkage, "sim.place_shared", M);
		IRBuilder<> B(BasicBlock::Create(C, "", places));
		for (GlobalVariable *array : shared)
			B.CreateCall(
				engine("sim_place_shared", nothing, {pointer, pointer}),
				{as_pointer(arrays[array]), as_pointer(array)});
		B.CreateRetVoid();
		appendToGlobalCtors(M, places, 101);
	}
};

} // namespace

void instrument_device(Module &M)
{
	Device(M).run();
}
