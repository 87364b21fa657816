#!/bin/sh
# submit.sh RULE THREADS MEMORY_MB MINUTES GPUS JOBSCRIPT: submits the job script and prints the job's id, nothing else.
set -eu
rule=$1 threads=$2 memory=$3 minutes=$4 gpus=$5 script=$6
gpu=
if [ "$gpus" -gt 0 ]; then gpu=":ngpus=$gpus"; fi
mkdir -p results/cluster
# PBS. -V hands the environment on; the output of the job script goes next to the workflow's own logs.
exec qsub -V -N "$rule" -j oe -o results/cluster/ \
    -l "select=1:ncpus=$threads:mem=${memory}mb$gpu" -l "walltime=$((minutes * 60))" "$script"
# Grid Engine:
# exec qsub -terse -V -cwd -N "$rule" -j y -o results/cluster/ -pe smp "$threads" \
#     -l "h_vmem=$((memory / threads))M,h_rt=$((minutes * 60))" ${gpu:+-l gpu="$gpus"} "$script"
# LSF:
# bsub -J "$rule" -n "$threads" -R "span[hosts=1] rusage[mem=${memory}MB]" -W "$minutes" ${gpu:+-gpu "num=$gpus"} \
#     -o "results/cluster/$rule.%J" "$script" | sed -E 's/.*<([0-9]+)>.*/\1/'
