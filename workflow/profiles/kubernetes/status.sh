#!/bin/sh
# status.sh NAME: prints running, success or failed. A job that is gone has failed; when the cluster does not answer,
# nothing is known, and the next round asks again.
set -eu
if ! state=$(kubectl get "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}' 2>&1); then
    case $state in
        *NotFound*) echo failed ;;
        *) echo running ;;
    esac
    exit 0
fi
case $state in
    *Complete*) echo success ;;
    *Failed*) echo failed ;;
    *) echo running ;;
esac
