#!/bin/sh
# status.sh ID: prints running, success or failed. A job that the scheduler does not know any more has failed; when the
# scheduler does not answer, nothing is known, and the next round asks again.
set -eu
# PBS; -x includes finished jobs
if ! record=$(qstat -x -f "$1" 2>&1); then
    case $record in
        *[Uu]nknown*) echo failed ;;
        *) echo running ;;
    esac
    exit 0
fi
value() { printf '%s\n' "$record" | sed -n "s/^ *$1 = //p" | head -n 1; }
case $(value job_state) in
    F | C) if [ "$(value Exit_status)" = 0 ]; then echo success; else echo failed; fi ;;
    *) echo running ;;
esac
# Grid Engine: qstat -j ID while it runs, then qacct -j ID (exit_status). LSF: bjobs -noheader -o "stat" ID (DONE, EXIT).
