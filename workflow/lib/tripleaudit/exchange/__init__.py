"""Finished results between people: two of them compared, one of them bundled, read back and published."""
