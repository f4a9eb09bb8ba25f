#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64

nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${nodes[0]}
srun --nodes=1 --ntasks=1 -w "$head" ray start --head --port=6379 --block &
for ((i = 1; i < SLURM_NNODES; i++)); do
	srun --nodes=1 --ntasks=1 -w "${nodes[$i]}" ray start --address "$head:6379" --num-gpus="$SLURM_GPUS_PER_NODE" --block &
done
python -u driver.py
