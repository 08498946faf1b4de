// Vector types, unions, structs and casts: what each access costs. 32 lanes; 16 bytes a lane are 16 sectors.
#include "check.cuh"

union quad {
	float4 vector;
	float element[4];
};

struct __align__(16) packet
{
	int id;
	float value;
	double weight;
};

__global__ void copies(const float4 *a, float4 *b, const int2 *c, int2 *d, const double2 *e, double2 *f)
{
	int t = threadIdx.x;
	b[t] = a[t];
	d[t] = c[t];
	f[t] = e[t];
}

__global__ void braces(float4 *a, int4 *b, float2 *c)
{
	int t = threadIdx.x;
	float4 v = {1, 2, 3, (float)t};
	a[t] = v;
	b[t] = make_int4(t, t + 1, t + 2, t + 3);
	c[t] = {0.5f, (float)t};
}

__global__ void pun(const float4 *a, float *b)
{
	quad q;
	q.vector = a[threadIdx.x];
	float sum = 0;
	for (int i = 0; i < 4; i++)
		sum += q.element[i];
	b[threadIdx.x] = sum;
}

// A float array read as float4: a quarter of the requests, the same bytes.
__global__ void wide_view(const float *a, float *b)
{
	float4 v = reinterpret_cast<const float4 *>(a)[threadIdx.x];
	reinterpret_cast<float2 *>(b)[threadIdx.x] = make_float2(v.x + v.y, v.z + v.w);
}

__global__ void fields(float4 *a)
{
	a[threadIdx.x].x += 1;
	a[threadIdx.x].w = a[threadIdx.x].y * a[threadIdx.x].z;
}

// 12 bytes, aligned to 4: three accesses of 4 bytes.
__global__ void triples(const float3 *a, float3 *b)
{
	float3 v = a[threadIdx.x];
	b[threadIdx.x] = make_float3(v.z, v.y, v.x);
}

__global__ void small(const uchar4 *a, uchar4 *b, const short *c, unsigned char *d)
{
	int t = threadIdx.x;
	b[t] = a[t];
	d[t] = (unsigned char)c[t];
}

__global__ void packets(const packet *a, packet *b)
{
	packet p = a[threadIdx.x];
	p.value = 2 * p.value;
	b[threadIdx.x] = p;
}

__global__ void shared_vectors(float4 *b)
{
	__shared__ float4 tile[32];
	tile[threadIdx.x] = make_float4((float)threadIdx.x, 0, 0, 1);
	__syncthreads();
	b[threadIdx.x] = tile[31 - threadIdx.x];
}

// Arrays of floats seen as vectors: the type that is said counts, at both ends, also where neither end tells it.
__global__ void views(const float4 *a, float4 *b, float2 *c)
{
	__shared__ float fixed[128];
	extern __shared__ float dynamic[];
	int t = threadIdx.x;
	((float4 *)fixed)[t] = a[t];
	__syncthreads();
	reinterpret_cast<float4 *>(dynamic)[t] = reinterpret_cast<float4 *>(fixed)[31 - t];
	__syncthreads();
	b[t] = *(float4 *)&dynamic[4 * t];
	c[t] = ((float2 *)dynamic)[t];
}

// The same bytes as a float2, but aligned to 4: two accesses of 4 bytes, whatever the array would allow.
struct loose {
	float x, y;
};

__global__ void loose_views(const loose *a, loose *b)
{
	__shared__ __align__(16) float tile[64];
	__shared__ loose pairs[32];
	int t = threadIdx.x;
	((loose *)tile)[t] = a[t];
	__syncthreads();
	pairs[t] = ((loose *)tile)[31 - t];
	__syncthreads();
	b[t] = pairs[t];
}

// 16 bytes, aligned to 4: four accesses, whether what it is copied from or to is a variable, lies better or is of float4.
struct four {
	float a, b, c, d;
};
__device__ float plain[2][136];

__global__ void fours(four *p)
{
	__shared__ float4 tile[32];
	int t = threadIdx.x;
	((four *)(plain[1] + 1))[t] = ((four *)(plain[0] + 1))[t];
	tile[t] = make_float4(1, 2, 3, 4);
	p[t] = *(four *)&tile[t];
	alignas(16) four better = p[t];
	p[t] = better;
}

int main()
{
	float4 a[32], b[32];
	int2 c[32];
	double2 e[32];
	packet p[32];
	for (int i = 0; i < 32; i++) {
		a[i] = make_float4((float)i, 1, 2, 3);
		c[i] = make_int2(i, -i);
		e[i] = make_double2(i, 0.5);
		p[i] = {i, 1.5f, 2.5};
	}
	float4 *da = device_copy(a, 32), *db = device_zeros<float4>(32);
	int2 *dc = device_copy(c, 32), *dd = device_zeros<int2>(32);
	double2 *de = device_copy(e, 32), *df = device_zeros<double2>(32);
	float *ds = device_zeros<float>(96);
	int4 *di = device_zeros<int4>(32);

	//= copies load=512+256+512/3/16+8+16 store=512+256+512/3/16+8+16
	copies<<<1, 32>>>(da, db, dc, dd, de, df);
	EXPECT(element(db, 31).x == 31 && element(db, 31).w == 3);
	//= braces store=512+512+256/3/16+16+8
	braces<<<1, 32>>>(db, di, (float2 *)dd);
	EXPECT(element(db, 7).x == 1 && element(db, 7).w == 7);
	//= pun load=512/1/16 store=128/1/4
	pun<<<1, 32>>>(da, ds);
	EXPECT(element(ds, 10) == 16);
	//= wide_view load=512/1/16 store=256/1/8
	wide_view<<<1, 32>>>((const float *)da, ds);
	EXPECT(element(ds, 20) == 11 && element(ds, 21) == 5);
	// x read and written, y and z read, w written: 16 bytes apart, a sector holds two
	//= fields load=3*128/3/3*16 store=2*128/2/2*16
	fields<<<1, 32>>>(da);
	EXPECT(element(da, 5).x == 6 && element(da, 5).w == 2);
	//= triples load=384/3/36 store=384/3/36
	triples<<<1, 32>>>((const float3 *)da, (float3 *)db);
	//= small load=128+64/2/4+2 store=128+32/2/4+1
	small<<<1, 32>>>((const uchar4 *)dc, (uchar4 *)dd, (const short *)dc, (unsigned char *)ds);
	packet *dp = device_copy(p, 32), *dq = device_zeros<packet>(32);
	//= packets load=512/1/16 store=512/1/16
	packets<<<1, 32>>>(dp, dq);
	EXPECT(element(dq, 3).id == 3 && element(dq, 3).value == 3 && element(dq, 3).weight == 2.5);
	//= shared_vectors store=512/1/16 sstore=512/1/4/4 sload=512/1/4/4 barriers=1
	shared_vectors<<<1, 32>>>(db);
	EXPECT(element(db, 0).x == 31 && element(db, 31).w == 1);
	//= views load=512/1/16 sstore=512+512/2/8/8 sload=512+512+256/3/4+4+2/10 store=512+256/2/16+8 barriers=2
	views<<<1, 32, 512>>>(da, db, (float2 *)dd);
	fetch(b, db, 32);
	EXPECT(b[1].x == 31 && b[1].w == 2); // fields() changed them
	//= loose_views load=256/2/16 sstore=512/4/8/4 sload=512/4/8/4 store=256/2/16 barriers=2
	loose_views<<<1, 32>>>((const loose *)da, (loose *)db);
	// 4 bytes into a sector: of the four accesses the last reaches into a 17th
	//= fours load=2*512/8/130 sstore=512/1/4/4 sload=512/4/16/4 store=3*512/12/195
	fours<<<1, 32>>>((four *)(device_zeros<float>(132) + 1));
	return 0;
}
