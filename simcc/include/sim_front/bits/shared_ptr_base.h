/* The C++ library spells an attribute __noinline__, which to CUDA programs is an attribute itself. */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
