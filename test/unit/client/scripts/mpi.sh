#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH -n 128
#SBATCH --ntasks-per-node=64
#SBATCH --hint=nomultithread

module purge
module load gcc openmpi
export OMP_NUM_THREADS=1
mpirun ./solver input.nml > solver.log 2>&1
