#include "report/provenance.h"

#include <ctype.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void remove_all(char *text, const char *word)
{
	size_t length = strlen(word);
	for (char *found; (found = strstr(text, word));)
		memmove(found, found + length, strlen(found + length) + 1);
}

void provenance_shorten_cpu(char *name)
{
	static const char *const words[] = {"(R)", "(r)", "(TM)", "(tm)", " CPU", " Processor"};
	char *clock = strstr(name, " @ ");
	if (clock)
		*clock = '\0';
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		remove_all(name, words[i]);
	for (char *twice; (twice = strstr(name, "  "));)
		memmove(twice, twice + 1, strlen(twice));
	size_t length = strlen(name);
	while (length && isspace((unsigned char)name[length - 1]))
		name[--length] = '\0';
}

/* The model of the first CPU that Linux lists; "unknown CPU" where it names none. */
static void find_cpu(char name[80])
{
	char line[256];
	FILE *list = fopen("/proc/cpuinfo", "r");
	snprintf(name, 80, "unknown CPU");
	while (list && fgets(line, sizeof line, list)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		provenance_shorten_cpu(colon + 1);
		snprintf(name, 80, "%.79s", colon + 1 + strspn(colon + 1, " \t"));
		break;
	}
	if (list)
		fclose(list);
}

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

static void print_command(FILE *out, const struct run_result *result)
{
	fprintf(out, "# command: ./%s", result->chapter->program);
	for (const char *const *argument = result->arguments; argument && *argument; argument++) {
		fputc(' ', out);
		for (const char *c = *argument; *c; c++)
			fputc(iscntrl((unsigned char)*c) ? '?' : *c, out);
	}
	fputc('\n', out);
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
	find_cpu(cpu);

	const char *plural = cores == 1 ? "" : "s";
	if (device->simulated)
		fprintf(out, "# %s on the simulated device (limits of %s), %s with %ld core%s, %s\n",
		        result->chapter->name, device->gpu->title, cpu, cores, plural, day);
	else
		fprintf(out, "# %s on an %s, %s with %ld core%s, %s\n", result->chapter->name, device->title, cpu,
		        cores, plural, day);
	fprintf(out, "# machine: %s, %ld core%s, %s %s\n", cpu, cores, plural, system.sysname, system.machine);
	if (device->simulated)
		fprintf(out, "# device: sim, limits of %s, %s\n", device->gpu->name, device->gpu->title);
	else
		fprintf(out, "# device: cuda, %s\n", device->title);
	if (device->gpu)
		print_roofs(out, device->gpu);
	print_compiler(out);
	fprintf(out, "# date: %s\n", date);
	print_command(out, result);
}
