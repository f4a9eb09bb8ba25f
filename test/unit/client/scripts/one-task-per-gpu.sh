#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=12
#SBATCH --time=1-00:00:00

export WORLD_SIZE=$SLURM_NTASKS
srun --cpu-bind=cores bash -c '
    export RANK=$SLURM_PROCID LOCAL_RANK=0
    exec python train.py
'
