// Copies that do more than copy: constructors and assignments that somebody wrote compute, clamp and convert, on the
// device and on the host, with any compiler. Beside them the compiler's own, and members copied by hand.
#include "check.cuh"

struct doubled {
	int a;
	doubled() = default;
	__host__ __device__ doubled(int value) : a(value) {}
	__host__ __device__ doubled(const doubled &other) : a(other.a + 1) {}
	__host__ __device__ doubled &operator=(const doubled &other)
	{
		a = other.a * 2;
		return *this;
	}
};

struct second_only {
	int a, b;
	__host__ __device__ second_only &operator=(const second_only &other)
	{
		b = other.b;
		return *this;
	}
};

struct fixed8 {
	int value;
	__host__ __device__ fixed8(const float &f) : value((int)(f * 256)) {}
};

struct scaled {
	float value;
	__host__ __device__ scaled(const float &f, float k) : value(f * k) {}
};

struct celsius {
	double degrees;
};

struct kelvin {
	double degrees;
	__host__ __device__ kelvin(const celsius &c) : degrees(c.degrees + 273.15) {}
};

struct wide {
	long value;
	__host__ __device__ wide(const int &i) : value(i) {}
};

struct clamped {
	float value;
	__host__ __device__ clamped &operator=(const clamped &other)
	{
		value = other.value > 10 ? 10 : other.value;
		return *this;
	}
};

struct negated {
	int value;
	__host__ __device__ negated(int v) : value(v) {}
	__host__ __device__ negated(negated &&other) : value(-other.value) {}
};

// Returns the other one, as nobody should.
struct astray {
	int value;
	__host__ __device__ const astray &operator=(const astray &other)
	{
		value = other.value;
		return other;
	}
};

struct plain {
	float x, y, z;
};

enum { VALUES = 12 };

__host__ __device__ void copies(float *y)
{
	doubled one(7), two(one), three;
	three = one;
	y[0] = (float)two.a;
	y[1] = (float)three.a;
	second_only from = {3, 4}, to = {1, 2};
	to = from;
	y[2] = (float)(10 * to.a + to.b);
	y[3] = (float)fixed8(2.5f).value;
	y[4] = scaled(2.0f, 3.0f).value;
	y[5] = (float)kelvin(celsius{20}).degrees;
	y[6] = (float)wide(5).value;
	clamped high = {99}, low;
	low = high;
	y[7] = low.value;
	negated first(3), moved(static_cast<negated &&>(first));
	y[8] = (float)moved.value;
	astray left = {1}, right = {2};
	y[9] = &(left = right) == &right ? 1.0f : 0.0f;
	plain p = {1, 2, 3}, q;
	q = p;
	y[10] = q.x + 10 * q.y + 100 * q.z;
	__builtin_memcpy(&q, &p, sizeof q);
	y[11] = q.z;
}

__global__ void on_device(float *y)
{
	copies(y);
}

__global__ void builtin(const plain *x, plain *y)
{
	__builtin_memcpy(y, x, sizeof *y);
	__builtin_memset(y + 1, 0, 8);
	__builtin_memmove(&y[1].y, &x->x, 8); // what lies there may overlap
}

int main()
{
	static const float expected[VALUES] = {8, 14, 14, 640, 6, 293.15f, 5, 10, -3, 1, 321, 3};
	float host[VALUES], device[VALUES], *dy = device_zeros<float>(VALUES);
	copies(host);
	//= on_device store=48/12/12
	on_device<<<1, 1>>>(dy);
	fetch(device, dy, VALUES);
	for (int i = 0; i < VALUES; i++)
		EXPECT(host[i] == expected[i] && device[i] == expected[i]);
	plain p = {1, 2, 3};
	plain *dp = device_copy(&p, 1), *dq = device_zeros<plain>(2);
	//= builtin load=20/5/5 store=28/7/7
	builtin<<<1, 1>>>(dp, dq);
	EXPECT(element(dq, 0).z == 3 && element(dq, 1).x == 0 && element(dq, 1).y == 1 && element(dq, 1).z == 2);
	return 0;
}
