#include "report/provenance.h"

#include "measure/cpu_name.h"
#include "report/command.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void print_compiler(FILE *out)
{
	fprintf(out, "# compiler: ");
#ifdef DEVICE_CUDA
	fprintf(out, "nvcc of CUDA %d.%d, host ", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#endif
#ifdef __clang__
	fprintf(out, "clang %d.%d.%d\n", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
	fprintf(out, "gcc %d.%d.%d\n", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/* What the floors of this file were worked out with. */
static void print_roofs(FILE *out, const struct gpu *gpu)
{
	fprintf(out,
	        "# roofs: hbm_bytes_per_s=%.6g fp32_flop_per_s=%.6g fp16_tensor_flop_per_s=%.6g "
	        "shared_bytes_per_s=%.6g exp_per_s=%.6g l2_bytes=%zu sms=%d\n",
	        gpu->hbm_bytes_per_s, gpu->fp32_flop_per_s, gpu->fp16_tensor_flop_per_s, gpu->shared_bytes_per_s,
	        gpu->exp_per_s, gpu->l2_bytes, gpu->sms);
}

void provenance_print(FILE *out, const struct run_result *result)
{
	const struct device *device = result->device;
	struct utsname system;
	char cpu[80], date[40] = "", day[20] = "";
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	time_t now = time(NULL);
	struct tm utc;
	gmtime_r(&now, &utc);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
	strftime(day, sizeof day, "%Y-%m-%d", &utc);
	uname(&system);
	cpu_name_find(cpu, sizeof cpu);

	const char *plural = cores == 1 ? "" : "s";
	if (device->simulated)
		fprintf(out, "# %s on the simulated device (limits of %s), %s with %ld core%s, %s\n",
		        result->chapter->name, device->gpu->title, cpu, cores, plural, day);
	else
		fprintf(out, "# %s on %s, %s with %ld core%s, %s\n", result->chapter->name, device->title, cpu, cores,
		        plural, day);
	fprintf(out, "# machine: %s, %ld core%s, %s %s\n", cpu, cores, plural, system.sysname, system.machine);
	if (device->simulated)
		fprintf(out, "# device: sim, limits of %s, %s\n", device->gpu->name, device->gpu->title);
	else
		fprintf(out, "# device: cuda, %s\n", device->title);
	if (device->gpu)
		print_roofs(out, device->gpu);
	print_compiler(out);
	fprintf(out, "# date: %s\n", date);
	fputs("# command: ", out);
	command_print(out, result->program, result->arguments);
	fputc('\n', out);
}
