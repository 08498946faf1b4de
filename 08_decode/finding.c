#include "lesson.h"

#include "moved.h"
#include "step.h"

static void print_blocks(FILE *out, const struct kernel_result *split, const struct problem *p, uint64_t sms)
{
	size_t without = p->splits - smaller(p->seq, p->splits);
	fprintf(out, "\n%zu head%s of keys x %zu make %llu blocks: %llu of %llu SMs have work.", p->kv_heads,
	        p->kv_heads == 1 ? "" : "s", p->splits, (unsigned long long)blocks_of(split, p),
	        (unsigned long long)smaller(blocks_with_keys(split, p), sms), (unsigned long long)sms);
	if (without)
		fprintf(out, "\n%zu split%s no key.", without, without == 1 ? " has" : "s have");
}

void print_finding(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *split)
{
	const struct problem *p = &result->problem;
	double kv = (double)asked_of(split, true), all = (double)requested(split);
	terminal_print(
		terminal, STYLE_BOLD, "\n%zu split%s cost%s %.1f %% more bytes than keys and values alone", p->splits,
		p->splits == 1 ? "" : "s", p->splits == 1 ? "s" : "", 100.0 * (all - kv) / kv);
	fprintf(terminal->out, ": Q once for each,\nO, m and l written and read by the merge, then O.");
	if (result->device->gpu)
		print_blocks(terminal->out, split, p, (uint64_t)result->device->gpu->sms);
	fputc('\n', terminal->out);
}

void print_pages(const struct terminal *terminal, const struct problem *p)
{
	uint64_t touched = pages_touched(p->seq, p->splits, p->page);
	fprintf(terminal->out, "The table has %zu page%s of %zu token%s; a head of keys reads %llu of its words%s\n",
	        p->pages, p->pages == 1 ? "" : "s", p->page, p->page == 1 ? "" : "s", (unsigned long long)touched,
	        touched > p->pages ? ":\ntwo splits that share a page both look it up." : ".");
}
