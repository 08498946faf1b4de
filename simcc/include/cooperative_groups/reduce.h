/* Cooperative groups' reduce(): over the lanes of a tile or of a coalesced group, in shuffles. */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H
#define _COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups.h>

SIM_FOR_BOTH

#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups
{

/* Each has a type, as in CUDA; a call may convert. */
#define SIM_OPERATOR(name, expression)                                                                               \
	template <class Type_>                                                                                       \
	struct name {                                                                                                \
		SIM_GROUP Type_ operator()(Type_ a, Type_ b) const { return expression; }                            \
	};
SIM_OPERATOR(plus, a + b)
SIM_OPERATOR(less, b < a ? b : a)
SIM_OPERATOR(greater, a < b ? b : a)
SIM_OPERATOR(bit_and, a &b)
SIM_OPERATOR(bit_or, a | b)
SIM_OPERATOR(bit_xor, a ^ b)
#undef SIM_OPERATOR

/* In pairs, then pairs of pairs: every lane adds the same, in one order, and gets the same bits. */
template <unsigned Size_, class Parent_, class Type_, class Operator_>
SIM_GROUP Type_ reduce(const thread_block_tile<Size_, Parent_> &tile, Type_ value, Operator_ combine)
{
	for (unsigned distance = Size_ / 2; distance > 0; distance /= 2)
		value = combine(value, tile.shfl_xor(value, distance));
	return value;
}

/* One lane after the other. */
template <class Type_, class Operator_>
SIM_GROUP Type_ reduce(const coalesced_group &group, Type_ value, Operator_ combine)
{
	Type_ result = group.shfl(value, 0);

	for (int rank = 1; rank < static_cast<int>(group.size()); rank++)
		result = combine(result, group.shfl(value, rank));
	return result;
}

} // namespace cooperative_groups

#endif
SIM_FOR_BOTH_END

#endif
