// Several files in one program: the same template kernel in two, a static kernel, shared array and variable of the
// same name in two.
#include "shared.cuh"

int main()
{
	int *dy = device_zeros<int>(32);
	//= add_constant<7> load=128/1/4 store=128/1/4
	//= same_name load=256/2/5 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1 tensor:offset=128/0/4/0
	run_first(dy);
	//= add_constant<7> load=128/1/4 store=128/1/4
	//= same_name load=256/2/5 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1
	run_second(dy);
	EXPECT_EACH(dy, 32, i, (70 + 4 + 7) * 10 + 5);
	//= add_constant<8> load=128/1/4 store=128/1/4
	add_constant<8><<<1, 32>>>(dy);
	return 0;
}
