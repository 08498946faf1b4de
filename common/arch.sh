#!/bin/sh
# The architecture to build for: arch.sh NVCC prints sm_90, say. The GPU's own; of one that is newer than this nvcc,
# the newest that nvcc knows below it: the program carries PTX, which the driver compiles for that GPU. Without a GPU
# sm_90, or the newest that nvcc knows.
nvcc=$1
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/[^0-9]//gp')
known=$("$nvcc" --list-gpu-code 2>/dev/null | sed -n 's/^ *sm_\([0-9][0-9]*\) *$/\1/p' | sort -n)
wanted=${capability:-90}
best=$wanted
if [ -n "$known" ]; then
	best=
	for code in $known; do
		[ "$code" -le "$wanted" ] && best=$code
	done
fi
# Older than all that nvcc knows: its own message says so better than we can.
echo "sm_${best:-$wanted}"
