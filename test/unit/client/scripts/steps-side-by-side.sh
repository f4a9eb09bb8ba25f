#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --ntasks=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=4

for fold in 0 1 2 3; do
	srun --exact -n1 --gpus-per-task=1 -o "fold$fold.log" python cross_validate.py --fold "$fold" &
done
wait
