"""``python -m tripleaudit`` is the console command ``tripleaudit``."""

import sys

from tripleaudit.cli import main

if __name__ == "__main__":
    sys.exit(main())
