#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=sweep
#SBATCH --array=0-15%4
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=04:00:00
#SBATCH --output=logs/%A_%a.out

set -euo pipefail
lrs=(1e-3 3e-4 1e-4 3e-5)
python train.py --lr "${lrs[$((SLURM_ARRAY_TASK_ID % 4))]}" --seed "$((SLURM_ARRAY_TASK_ID / 4))"
