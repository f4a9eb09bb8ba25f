#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
#SBATCH --mem-per-gpu=60G

mpirun -np $SLURM_NTASKS ./gpu_app --pick-by-local-rank
