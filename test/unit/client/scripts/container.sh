#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH -N 2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8

srun apptainer exec --nv image.sif python train.py
