#!/bin/sh
# cancel.sh ID...: PBS and Grid Engine; LSF has bkill.
exec qdel "$@"
