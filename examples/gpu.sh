#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The smallest GPU job: two GPUs on one node.
#SBATCH --job-name=first
#SBATCH --gpus=2
#SBATCH --output=first-%j.out

echo "job $SLURM_JOB_ID on $SLURMD_NODENAME has GPUs $CUDA_VISIBLE_DEVICES"
