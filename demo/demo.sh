#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A virtual GPU cluster from nothing: 4 nodes with 8 GPUs each, a multi-node job, and the end of it all.
# Everything happens below a directory in /tmp that is gone afterwards.
set -euo pipefail
top=$(dirname "$(dirname "$(readlink -f "$0")")")
bin=${MUSTER_BIN:-$top/build/bin}

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'; else bold='' dim='' off=''; fi
say() { printf '\n%s%s%s\n' "$dim" "# $*" "$off"; }
show() {
	local word line=
	for word; do
		case $word in *' '*) line+=" \"$word\"" ;; *) line+=" $word" ;; esac
	done
	printf '%s$%s%s\n' "$bold" "$line" "$off"
	"$@"
}

dir=$(mktemp -d /tmp/muster-demo.XXXXXX)
finish() {
	"$bin/muster" down --dir "$dir/cluster" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

say "4 nodes with 8 GPUs each, as you, in a directory"
printf '%s$ muster up --nodes 4 --gpus 8 --gpu-type h100%s\n' "$bold" "$off"
"$bin/muster" up --dir "$dir/cluster" --nodes 4 --gpus 8 --gpu-type h100
. "$dir/cluster/env"
cd "$dir"
show sinfo -o "%9P %.5a %.6D %.6t %.12G %N"

say "a job for all 32 GPUs: examples/train.sh"
printf '%s' "$dim"
grep '^#SBATCH\|MASTER_ADDR=\|^srun' "$top/examples/train.sh" | sed 's/^/    /'
printf '%s' "$off"
cp "$top/examples/train.sh" .
export TRAIN_SECONDS=2
show sbatch --output=train.out train.sh
job=$(squeue -h -o %A)

until [ "$(squeue -h -j "$job" -o %T)" = RUNNING ] || [ -z "$(squeue -h -j "$job")" ]; do sleep 0.05; done
say "while it runs"
show squeue
show sinfo
while [ -n "$(squeue -h -j "$job")" ]; do sleep 0.1; done

say "its output: every rank with its node and its GPU"
show sort -s -k1,1 -k2,2n train.out
show squeue

say "and down"
printf '%s$ muster down%s\n' "$bold" "$off"
"$bin/muster" down --dir "$dir/cluster"
if [ "$(grep -c '^rank .* GPU [0-7] of ' train.out)" -ne 32 ]; then
	echo "muster: the demo's job did not run on all 32 GPUs" >&2
	exit 1
fi
