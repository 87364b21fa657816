#!/bin/bash
# A Ray cluster inside one SLURM allocation, for as long as a command runs                     (docs/scale.md)
#   sbatch --nodes 4 --gpus-per-node 4 --cpus-per-task 32 workflow/profiles/slurm/ray.sh \
#     tripleaudit collection run texts/ --model MODEL --gate ZCC --out triples/ --workers 16
set -euo pipefail
export RAY="python -m ray.scripts.scripts" # the Ray of the Python in PATH
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=token # nobody else on these nodes may use the cluster
RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export RAY_AUTH_TOKEN
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export RAY_ADDRESS=$head:$((20000 + SLURM_JOB_ID % 20000))
folder=$(mktemp -d /tmp/tripleaudit-ray-XXXXXX)
# one task a node: the first one keeps the list of the others
srun --ntasks-per-node 1 --overlap bash -c '
  if [ "$SLURM_NODEID" = 0 ]; then where="--head --port ${RAY_ADDRESS##*:} --include-dashboard=false --temp-dir '"$folder"'"
  else sleep 5; where="--address $RAY_ADDRESS"; fi
  exec $RAY start $where --num-cpus "${SLURM_CPUS_ON_NODE:-1}" ${RAY_START_OPTIONS:-} --block --disable-usage-stats' &
cluster=$!
trap 'kill $cluster 2>/dev/null || true; wait $cluster 2>/dev/null || true; rm -rf "$folder"' EXIT
until $RAY status > /dev/null 2>&1; do
  kill -0 $cluster || { echo "ray.sh: the Ray cluster did not start" >&2; exit 1; }
  sleep 1
done
"$@"
