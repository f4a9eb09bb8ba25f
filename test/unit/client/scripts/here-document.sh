#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --nodes=3
#SBATCH --gres=gpu:2

cat > launch.sh <<'END'
#!/bin/bash
torchrun --nnodes=3 --nproc_per_node=2 --node_rank=$SLURM_NODEID train.py
END
chmod +x launch.sh
srun ./launch.sh
