#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A multi-node job as it is written for GPU training: one task for each GPU, rendezvous on the first node.
#SBATCH --job-name=train
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --time=10

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
export MASTER_PORT=23456
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST: $SLURM_NTASKS ranks, MASTER_ADDR=$MASTER_ADDR:$MASTER_PORT"

# Where a training program would start, each rank says who it is and which GPU it takes.
srun bash -c '
sleep "${TRAIN_SECONDS:-0}"
printf "rank %2d of %d on %s  local %d  GPU %d of %s\n" "$SLURM_PROCID" "$SLURM_NTASKS" "$SLURMD_NODENAME" \
	"$SLURM_LOCALID" "$SLURM_LOCALID" "$CUDA_VISIBLE_DEVICES"'
