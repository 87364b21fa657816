#!/bin/sh
# submit.sh RULE THREADS MEMORY_MB MINUTES GPUS JOBSCRIPT: creates a Kubernetes job and prints its name, nothing else.
# The names of claim, volume path, image and label are those of setup.yaml.
set -eu
rule=$1 threads=$2 memory=$3 minutes=$4 gpus=$5 script=$6
gpu=
if [ "$gpus" -gt 0 ]; then gpu="nvidia.com/gpu: \"$gpus\""; fi
kubectl create -o name -f - <<MANIFEST
apiVersion: batch/v1
kind: Job
metadata:
  generateName: tripleaudit-$(printf %s "$rule" | tr _ - | cut -c 1-40)-
  labels: {app: tripleaudit-job, rule: "$rule"}
spec:
  backoffLimit: 0                      # Snakemake itself tries again, with more memory
  activeDeadlineSeconds: $((minutes * 60))
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels: {app: tripleaudit-job, rule: "$rule"}
    spec:
      restartPolicy: Never
      containers:
        - name: job
          image: "${TRIPLEAUDIT_IMAGE:-python:3.11}"
          command: [sh, "$script"]
          workingDir: "$PWD"
          env:
            - {name: HF_HUB_OFFLINE, value: "1"}
            - {name: PYTHONSAFEPATH, value: "1"}
            - {name: TRIPLEAUDIT_SAFE_PATH, value: "1"}
          resources:
            requests: {cpu: "$threads", memory: "${memory}M", $gpu}
            limits: {memory: "${memory}M", $gpu}
          volumeMounts:
            - {name: project, mountPath: "${TRIPLEAUDIT_VOLUME:-/project}"}
      volumes:
        - name: project
          persistentVolumeClaim: {claimName: "${TRIPLEAUDIT_CLAIM:-tripleaudit}"}
MANIFEST
