// Two files with the same names for different device code. nvcc compiles the device code of each file for itself;
// host code is one program's, as ever.
#define THIS_FILE 1
#include "definitions.cuh"

void run_other_file(int (*host_counter)());

int main()
{
	//= row<32> load=128/1/4 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1 static=4*64
	//= deduced<int> load=128/1/4 store=128/1/4
	//= row<32> load=128/1/4 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1 static=4*64 x2
	//= use_everything<7> load=20/4/4 store=8/2/2 const=4/1 tensor:counter=4/4/4/4 tensor:functions=8/0/8/0
	run_file<1>(shared_by_the_host);
	//= row<32> load=128/1/4 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1 static=4*96
	//= deduced<int> load=128/1/4 store=128/1/4
	//= row<32> load=128/1/4 store=128/1/4 sstore=128/1/1/1 sload=128/1/1/1 barriers=1 static=4*96 x2
	//= use_everything<7> load=20/4/4 store=8/2/2 const=4/1 tensor:counter=4/4/4/4 tensor:functions=8/0/8/0
	run_other_file(shared_by_the_host);
	return 0;
}
