#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4

if [[ -z ${INNER-} ]]; then
	export INNER=1
	exec srun --ntasks-per-node=1 "$0" "$@"
fi
torchrun --nnodes "$SLURM_NNODES" --node_rank "$SLURM_NODEID" --nproc_per_node 4 train.py "$@"
