"""Sub-commands of the console command, one module each (see :mod:`tripleaudit.cli`)."""
