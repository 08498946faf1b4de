// Arithmetic on the halves and the bytes of a word: each line is an instruction and its result, worked out by hand. The
// header makes both widths of one line; both are here where it says their limits.
#include "check.cuh"

// bytes of a: -128 127 1 -1 (0x80 0x7f 0x01 0xff), of b: 1 1 -1 127; halves of c: -32768 1, of d: -1 32767
__global__ void all(unsigned a, unsigned b, unsigned c, unsigned d, int *bad)
{
	const unsigned results[][2] = {
		{__vadd4(a, b), 0x8180007e},
		{__vaddss4(a, b), 0x817f007e},
		{__vaddss2(c, d), 0x80007fff},
		{__vaddus4(a, b), 0x8180ffff},
		{__vsub4(a, b), 0x7f7e0280},
		{__vsubss4(a, b), 0x807e0280},
		{__vsubus4(a, b), 0x7f7e0080},
		{__vneg4(a), 0x8081ff01},
		{__vnegss2(c), 0x7fffffff},
		{__vabs4(a), 0x807f0101},
		{__vabsss2(c), 0x7fff0001},
		{__vabsdiffs4(a, b), 0x817e0280},
		{__vabsdiffu4(a, b), 0x7f7efe80},
		{__vavgu4(a, b), 0x414080bf},
		{__vhaddu4(a, b), 0x404080bf},
		{__vmaxs4(a, b), 0x017f017f},
		{__vmaxu4(a, b), 0x807fffff},
		{__vmins4(a, b), 0x8001ffff},
		{__vminu4(a, b), 0x0101017f},
		{__vcmpeq4(a, a ^ 1), 0xffffff00},
		{__vseteq2(c, c ^ 1), 0x00010000},
		{__vcmpne4(a, a ^ 1), 0x000000ff},
		{__vsetne2(c, c ^ 1), 0x00000001},
		{__vcmpges4(a, b), 0x00ffff00},
		{__vsetges2(c, c), 0x00010001},
		{__vcmpgeu4(a, b), 0xffff00ff},
		{__vsetgeu2(d, d), 0x00010001},
		{__vcmpgts4(a, a), 0x00000000},
		{__vsetgts2(d, c), 0x00010001},
		{__vcmpgtu4(a, b), 0xffff00ff},
		{__vsetgtu2(d, d), 0x00000000},
		{__vcmples4(a, b), 0xff0000ff},
		{__vsetles2(c, c), 0x00010001},
		{__vcmpleu4(a, b), 0x0000ff00},
		{__vsetleu2(c, c), 0x00010001},
		{__vcmplts4(a, b), 0xff0000ff},
		{__vsetlts2(c, c), 0x00000000},
		{__vcmpltu4(a, b), 0x0000ff00},
		{__vsetltu2(c, c), 0x00000000},
		{__vsads4(a, b), 129 + 126 + 2 + 128},
		{__vsadu4(a, b), 127 + 126 + 254 + 128},
	};
	*bad = first_wrong(results);
}

int main()
{
	int *bad = device_zeros<int>(1);
	//= all store=4/1/1
	all<<<1, 1>>>(0x807f01ff, 0x0101ff7f, 0x80000001, 0xffff7fff, bad);
	EXPECT(element(bad, 0) == 0);
	return 0;
}
