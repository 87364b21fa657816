"""Hands a command to a process that has imported the large libraries (``support/forks.py``)."""

import os
import sys

ADDRESS = os.environ.get("TRIPLEAUDIT_WARM")
# python -m snakemake …, or the script of this name
_given = [argument for argument in sys.orig_argv[1:] if argument != "-P"]
MODULE, *ARGUMENTS = _given[1:] if _given[:1] == ["-m"] else _given or [""]

if ADDRESS and os.path.basename(MODULE) in ("tripleaudit", "snakemake") and os.path.exists(ADDRESS):
    import json
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.connect(ADDRESS)
        request = json.dumps(
            [os.path.basename(MODULE), ARGUMENTS, os.getcwd(), dict(os.environ)]
        ).encode()
        socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(request)
        status = server.recv(1)
    os._exit(status[0] if status else 1)
