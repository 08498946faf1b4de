/* Cooperative groups' scans: over the lanes of a tile or of a coalesced group, in shuffles. */
#ifndef _COOPERATIVE_GROUPS_SCAN_H
#define _COOPERATIVE_GROUPS_SCAN_H

#include <cooperative_groups/reduce.h>

SIM_FOR_BOTH

#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups
{

template <class Group_, class Type_, class Operator_>
SIM_GROUP Type_ inclusive_scan(const Group_ &group, Type_ value, Operator_ combine)
{
	for (unsigned distance = 1; distance < group.size(); distance *= 2) {
		const Type_ below = group.shfl_up(value, distance);

		if (group.thread_rank() >= distance)
			value = combine(below, value);
	}
	return value;
}
template <class Group_, class Type_>
SIM_GROUP Type_ inclusive_scan(const Group_ &group, Type_ value)
{
	return inclusive_scan(group, value, plus<Type_>());
}

/* The first gets Type_(). */
template <class Group_, class Type_, class Operator_>
SIM_GROUP Type_ exclusive_scan(const Group_ &group, Type_ value, Operator_ combine)
{
	const Type_ below = group.shfl_up(inclusive_scan(group, value, combine), 1);

	return group.thread_rank() == 0 ? Type_() : below;
}
template <class Group_, class Type_>
SIM_GROUP Type_ exclusive_scan(const Group_ &group, Type_ value)
{
	return exclusive_scan(group, value, plus<Type_>());
}

} // namespace cooperative_groups

#endif
SIM_FOR_BOTH_END

#endif
