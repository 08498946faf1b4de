# A data file of the simulated device as one of a GPU would look: times of another kind, nothing counted. The times are
# invented: for tests of the scripts only.
BEGIN { FS = OFS = "\t" }
/^# [a-z]+\t/ { line = $0; sub(/^# /, "", line); n = split(line, name, "\t"); for (i = 1; i <= n; i++) at[name[i]] = i; print; next }
/^#/ { if (NR == 1) sub(/ on .*/, " on an invented GPU, for a test"); print; next }
{
	for (i = 1; i <= n; i++)
		if (name[i] ~ /^(requested|footprint)_|atomic_bytes|sectors|counted|exponentials|hbm_requests|^shared_[rw]|ideal/) $i = "NaN"
	if ($at["median_ms"] != "NaN") {
		$at["time_kind"] = "measured-gpu"
		$at["median_ms"] *= 0.004; $at["p10_ms"] *= 0.004; $at["p90_ms"] *= 0.004
	}
	print
}
