/*
 * What simcc makes of kernel<<<grid, block, shared, stream>>>(arguments):
 *
 *     sim::launch(sim::launch_config(grid, block, shared, stream), "kernel", kernel<64>)(arguments)
 *     sim::launch_deduced(config, "kernel", callable)(arguments)      where the call alone can name the function
 *
 * The arguments are evaluated and copied once, on the host; each thread calls the kernel with copies of its own.
 */
#ifndef SIM_CUDA_LAUNCH_H
#define SIM_CUDA_LAUNCH_H

#include <cuda_runtime_api.h>

/* Names end in _ where a program's -DN=1024 or -DT=float would otherwise reach them. */

extern "C" cudaError_t sim_launch_kernel(dim3 grid, dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream,
                                         const void *kernel, const char *name, void (*invoke)(void *),
                                         void *arguments);

/* The first statement of each kernel: ends the program where no launch has called it. */
extern "C" void sim_enter_kernel(const char *kernel);

/* Runs in the place of a device thread, but is no device code: it reads the arguments where the host left them. */
#define SIM_NOT_COUNTED __attribute__((no_sanitize("thread")))

namespace sim
{

struct config {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
};

inline config launch_config(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
	return config{grid, block, shared_bytes, stream};
}

template <class Body_>
SIM_NOT_COUNTED void invoke_body(void *body)
{
	(*static_cast<Body_ *>(body))();
}

template <class Body_>
cudaError_t run(const config &at, const void *kernel, const char *name, Body_ &body)
{
	return sim_launch_kernel(at.grid, at.block, at.shared_bytes, at.stream, kernel, name, invoke_body<Body_>,
	                         &body);
}

template <class... Types_>
struct typed_launch {
	config at;
	const char *name;
	void (*kernel)(Types_...);

	void operator()(Types_... arguments) const
	{
		void (*const call)(Types_...) = kernel;
		auto body = [&]() SIM_NOT_COUNTED { call(arguments...); };
		run(at, reinterpret_cast<const void *>(kernel), name, body);
	}
};

template <class Callable_>
struct deduced_launch {
	config at;
	const char *name;
	Callable_ call;

	template <class... Types_>
	void operator()(Types_... arguments) const
	{
		const Callable_ &callable = call;
		auto body = [&]() SIM_NOT_COUNTED { callable(arguments...); };
		run(at, nullptr, name, body);
	}
};

template <class... Types_>
typed_launch<Types_...> launch(config at, const char *name, void (*kernel)(Types_...))
{
	return {at, name, kernel};
}

template <class Callable_>
deduced_launch<Callable_> launch_deduced(config at, const char *name, Callable_ call)
{
	return {at, name, call};
}

/* The types behind cudaLaunchKernel's void **, by position. */
template <size_t...>
struct positions {
};
template <size_t count_, size_t... indices_>
struct count_to : count_to<count_ - 1, count_ - 1, indices_...> {
};
template <size_t... indices_>
struct count_to<0, indices_...> {
	typedef positions<indices_...> type;
};
template <class Type_>
struct plain {
	typedef Type_ type;
};
template <class Type_>
struct plain<const Type_> {
	typedef Type_ type;
};

template <class... Types_, size_t... indices_>
cudaError_t launch_unpacked(const config &at, void (*kernel)(Types_...), void **arguments, positions<indices_...>)
{
	(void)arguments;
	auto body = [&]() SIM_NOT_COUNTED {
		kernel(*static_cast<typename plain<Types_>::type *>(arguments[indices_])...);
	};
	return run(at, reinterpret_cast<const void *>(kernel), "kernel", body);
}

} // namespace sim

template <class... Types_>
cudaError_t cudaLaunchKernel(void (*kernel)(Types_...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
	return sim::launch_unpacked(sim::launch_config(grid, block, shared_bytes, stream), kernel, arguments,
	                            typename sim::count_to<sizeof...(Types_)>::type());
}

#endif
