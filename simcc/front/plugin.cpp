/*
 * simcc's front end: what clang generates for one side of a .cu file, made fit for the simulated device.
 *
 * clang compiles a .cu file twice, for this machine's own CPU: once as the device's code, once as the host's. This plugin
 * runs before all optimization, on code in which each access of the source is still one instruction. (driver/cuda.py has
 * the options; ../engine/tables.h is the contract with the engine.)
 *
 * Environment: SIM_SIDE=device|host; SIM_HEADERS, the folder of simcc's own headers, which are transparent: what they do is
 * done by the line that called them; SIM_RELOCATABLE=1: device code belongs to the whole program (-rdc=true); SIM_FAST=1:
 * nothing is counted; SIM_DEBUG=1: variables stay in memory, for a debugger; SIM_MARK, assembly
 * that the host's side takes along.
 *
 * For LLVM 14 and newer.
 */
#include "side.h"

namespace
{

struct Prepare : PassInfoMixin<Prepare> {
	PreservedAnalyses run(Module &M, ModuleAnalysisManager &)
	{
		prepare(M);
		return PreservedAnalyses::none();
	}
	static bool isRequired() { return true; }
};

struct Instrument : PassInfoMixin<Instrument> {
	PreservedAnalyses run(Module &M, ModuleAnalysisManager &)
	{
		if (environment("SIM_SIDE") == "device")
			instrument_device(M);
		else
			instrument_host(M);
		return PreservedAnalyses::none();
	}
	static bool isRequired() { return true; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "simcc", "1", [](PassBuilder &B) {
			B.registerPipelineStartEPCallback([](ModulePassManager &passes, auto) {
				if (environment("SIM_SIDE") == "device") {
					passes.addPass(AlwaysInlinerPass());
					passes.addPass(Prepare());
					if (environment("SIM_FAST") != "1" && environment("SIM_DEBUG") != "1")
						passes.addPass(createModuleToFunctionPassAdaptor(PromotePass()));
				}
				passes.addPass(Instrument());
			});
		}};
}
