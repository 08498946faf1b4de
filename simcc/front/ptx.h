/*
 * Inline PTX that the simulated device knows: a row for each form. An asm statement may hold several of them, each ended by
 * a semicolon. What is in no form of the table is an error with its text.
 */
#ifndef SIM_FRONT_PTX_H
#define SIM_FRONT_PTX_H

#include <cctype>

#include "side.h"

/* In a form @ stands for an operand or a number. `takes` says what the engine's function gets of them, in their order: 'u'
 * 32 bits, 'p' an address, 's' the length of a copy, a constant; '=' is what it returns, a float. */
struct PtxForm {
	const char *text; /* an expression */
	const char *function, *takes;
	std::vector<unsigned> lengths; /* that 's' may be */
};

inline const std::vector<PtxForm> &ptx_forms()
{
	/* The caches that a copy passes, and what is fetched with it, are no matter here. */
	static const std::string shared = "[.]shared(::cta)?[.]global([.]L2::(64|128|256)B)? \\[@\\], \\[@\\], @";
	static const std::string ca = "cp[.]async[.]ca" + shared, cg = "cp[.]async[.]cg" + shared;
	static const std::string ca_zero = ca + ", @", cg_zero = cg + ", @";
	static const std::vector<PtxForm> forms = {
		/* PTX ISA, 9.7.9.25: asynchronous copies */
		{ca.c_str(), "sim_cp_async", "ups", {4, 8, 16}},
		{cg.c_str(), "sim_cp_async", "ups", {16}},
		{ca_zero.c_str(), "sim_cp_async_zero", "upsu", {4, 8, 16}},
		{cg_zero.c_str(), "sim_cp_async_zero", "upsu", {16}},
		{"cp[.]async[.]commit_group", "sim_copies_commit", "", {}},
		{"cp[.]async[.]wait_group @", "sim_copies_wait", "u", {}},
		{"cp[.]async[.]wait_all", "sim_copies_wait_all", "", {}},
		/* 9.7.3: an exponential, and counted as one */
		{"ex2[.]approx[.]f32 @, @", "sim_exp2f", "=f", {}},
		{"ex2[.]approx[.]ftz[.]f32 @, @", "sim_ex2_ftz", "=f", {}},
	};
	return forms;
}

/* A statement as the table has it, its operands by number (those of the asm statement; numbers in the text behind them). */
struct PtxStatement {
	std::string text, form;
	std::vector<unsigned> operands;
	std::vector<uint64_t> numbers; /* by operand - NUMBER */
	static constexpr unsigned NUMBER = 1000;
};

/* LLVM's text as the program has it: $0 is %0, ${0:c} %c0, $( $| $) { | }, $$ a dollar, and % is %% but for a basic asm. */
inline std::string ptx_as_written(StringRef text, bool is_basic)
{
	std::string written;
	for (size_t i = 0; i < text.size(); i++) {
		const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ';
		if (c != '$') {
			written += c == '%' && !is_basic ? "%%" : std::string(1, c);
			continue;
		}
		const size_t end = next == '{' ? text.find('}', i) : StringRef::npos;
		if (end != StringRef::npos) {
			const auto [operand, modifier] = text.slice(i + 2, end).split(':');
			written += "%" + (modifier == "uid" ? "=" : (modifier + operand).str());
			i = end;
		} else if (isDigit(next)) {
			written += '%';
		} else {
			written += next == '(' ? '{' : next == ')' ? '}' : next;
			i++;
		}
	}
	return written;
}

/* `text` as LLVM has it: $0 is an operand, $$ a dollar. */
inline std::vector<PtxStatement> ptx_statements(StringRef text)
{
	std::vector<PtxStatement> all;
	PtxStatement now;
	/* One space where there is any and behind a comma, none in brackets. */
	const auto add = [&](char c) {
		const char last = now.form.empty() ? ' ' : now.form.back();
		if (c == ' ' && (last == ' ' || last == '['))
			return;
		if ((c == ']' || c == ',') && last == ' ')
			now.form.pop_back();
		now.form += c;
		if (c == ',')
			now.form += ' ';
	};
	for (size_t i = 0; i < text.size();) {
		const char c = text[i];
		unsigned number = 0;
		uint64_t value = 0;
		StringRef rest = text.substr(i);
		const char last = now.form.empty() ? ' ' : now.form.back();
		if (c == ';') {
			all.push_back(now);
			now = {};
			i++;
			continue;
		}
		if (c == '$' && !rest.drop_front().consumeInteger(10, number)) {
			StringRef behind = rest.drop_front();
			behind.consumeInteger(10, number);
			now.operands.push_back(number);
			add('@');
			now.text += (rest.substr(0, rest.size() - behind.size())).str();
			i += rest.size() - behind.size();
			continue;
		}
		if (isDigit(c) && (last == ' ' || last == ',' || last == '[')) {
			rest.consumeInteger(0, value);
			now.operands.push_back(PtxStatement::NUMBER + (unsigned)now.numbers.size());
			now.numbers.push_back(value);
			add('@');
			now.text += text.substr(i, text.size() - i - rest.size()).str();
			i = text.size() - rest.size();
			continue;
		}
		add(isspace((unsigned char)c) ? ' ' : c);
		now.text += isspace((unsigned char)c) ? ' ' : c;
		i++;
	}
	all.push_back(now);
	for (PtxStatement &statement : all) {
		statement.form = StringRef(statement.form).trim().str();
		statement.text = StringRef(statement.text).trim().str();
	}
	all.erase(
		std::remove_if(all.begin(), all.end(), [](const PtxStatement &each) { return each.form.empty(); }),
		all.end());
	return all;
}

#endif
