#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH -J finetune
#SBATCH -p gpu
#SBATCH -N 1
#SBATCH --gpus-per-node=8
#SBATCH -c 64
#SBATCH --mem=0

source ~/venv/bin/activate
torchrun --standalone --nproc_per_node="$SLURM_GPUS_ON_NODE" finetune.py "$@"
