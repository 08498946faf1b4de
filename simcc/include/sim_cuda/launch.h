/*
 * What simcc makes of kernel<<<grid, block, shared, stream>>>(arguments):
 *
 *     sim::launch(kernel<64>, sim::launch_config(grid, block, shared, stream), "kernel")(arguments)
 *     sim::launch_deduced(callable, config, "kernel")(arguments)      where the call alone can name the function
 *     sim::launch_first<2>(kernel, callable, config, "kernel")(a, b)  where the call has the defaults of the rest
 *
 * The arguments are evaluated and copied once, on the host; each thread calls the kernel with copies of its own.
 */
#ifndef SIM_CUDA_LAUNCH_H
#define SIM_CUDA_LAUNCH_H

#include <cuda_runtime_api.h>
#include <new>

#ifdef SIM_FRONT
/* What clang makes of a launch: it pushes the configuration, which the kernel's stub takes back for cudaLaunchKernel(). */
extern "C" unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);

template <class... Types_>
cudaError_t cudaLaunchKernel(
	void (*kernel)(Types_...), dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
	cudaStream_t stream = nullptr)
{
	return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared_bytes, stream);
}
#else
/* Names end in _ where a program's -DN=1024 or -DT=float would otherwise reach them. */

extern "C" cudaError_t sim_launch_kernel(
	dim3 grid, dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream, const void *kernel, const char *name,
	const char *file, unsigned line, void (*invoke)(void *), void *arguments);

/* The first statement of each kernel: ends the program where no launch has called it. */
extern "C" void sim_enter_kernel(const char *kernel);

/* For a default argument: calls make(place) where this launch has not yet, as host code; `launch` remembers. */
extern "C" void sim_default_value(unsigned long *launch, void (*make)(void *), void *place);

/* Runs in the place of a device thread, but is no device code: it reads the arguments where the host left them. */
#define SIM_NOT_COUNTED __attribute__((no_sanitize("thread")))

namespace sim
{

struct config {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
	const char *file; /* where the launch is */
	unsigned line;
};

inline config launch_config(
	dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
	const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
{
	return config{grid, block, shared_bytes, stream, file, line};
}

template <class Body_>
SIM_NOT_COUNTED void invoke_body(void *body)
{
	(*static_cast<Body_ *>(body))();
}

template <class Body_>
cudaError_t run(const config &at, const void *kernel, const char *name, Body_ &body)
{
	return sim_launch_kernel(
		at.grid, at.block, at.shared_bytes, at.stream, kernel, name, at.file, at.line, invoke_body<Body_>,
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
typed_launch<Types_...> launch(void (*kernel)(Types_...), config at, const char *name)
{
	return {at, name, kernel};
}

template <class Callable_>
deduced_launch<Callable_> launch_deduced(Callable_ call, config at, const char *name)
{
	return {at, name, call};
}

/* The first arguments have the kernel's types, and convert to them on the host; the call adds the others. */
template <class Callable_, class... Given_>
struct first_launch {
	config at;
	const char *name;
	const void *kernel;
	Callable_ call;

	void operator()(Given_... arguments) const
	{
		const Callable_ &callable = call;
		auto body = [&]() SIM_NOT_COUNTED { callable(arguments...); };
		run(at, kernel, name, body);
	}
};

template <size_t count_, class Callable_, class... Given_>
struct given_types {
	template <class Next_, class... Rest_>
	struct of : given_types<count_ - 1, Callable_, Given_..., Next_>::template of<Rest_...> {
	};
};
template <class Callable_, class... Given_>
struct given_types<0, Callable_, Given_...> {
	template <class... Rest_>
	struct of {
		typedef first_launch<Callable_, Given_...> type;
	};
};

template <size_t count_, class... Types_, class Callable_>
typename given_types<count_, Callable_>::template of<Types_...>::type launch_first(
	void (*kernel)(Types_...), Callable_ call, config at, const char *name)
{
	return {at, name, reinterpret_cast<const void *>(kernel), call};
}

/* A default argument, whose text may call functions: each thread's call of the kernel asks for it. */
template <class Make_>
SIM_NOT_COUNTED auto default_value(Make_) -> decltype((*static_cast<Make_ *>(nullptr))())
{
	typedef decltype((*static_cast<Make_ *>(nullptr))()) type;
	static unsigned long launch;
	alignas(type) static unsigned char place[sizeof(type)];
	sim_default_value(
		&launch, [](void *at) { new (at) type((*static_cast<Make_ *>(nullptr))()); }, place);
	return *reinterpret_cast<type *>(place);
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
	const cudaError_t error = run(at, reinterpret_cast<const void *>(kernel), "kernel", body);
	cudaPeekAtLastError(); /* it is returned: nobody need ask for it */
	return error;
}

} // namespace sim

template <class... Types_>
cudaError_t cudaLaunchKernel(
	void (*kernel)(Types_...), dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
	cudaStream_t stream = nullptr, const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
{
	return sim::launch_unpacked(
		sim::launch_config(grid, block, shared_bytes, stream, file, line), kernel, arguments,
		typename sim::count_to<sizeof...(Types_)>::type());
}

#endif /* SIM_FRONT */

#endif
