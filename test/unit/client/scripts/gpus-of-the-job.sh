#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --gpus=16
#SBATCH --ntasks-per-gpu=1
#SBATCH --cpus-per-gpu=8

srun python -m trainer.main --world "$SLURM_NTASKS"
