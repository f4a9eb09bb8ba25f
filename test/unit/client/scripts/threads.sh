#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#SBATCH --cpus-per-task=32
#SBATCH --mem=64G
#SBATCH --partition=cpu,long

OMP_NUM_THREADS="$SLURM_CPUS_PER_TASK" ./blas_bench
