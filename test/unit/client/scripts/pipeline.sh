#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --time=30
#SBATCH --mail-type=END,FAIL

# stage the data, train, evaluate: srun is not needed on one node
set -e
trap 'echo "torchrun failed" >&2' ERR
rsync -a data/ "$TMPDIR/"
python preprocess.py --in "$TMPDIR" && python train.py && python eval.py | tee result.txt
