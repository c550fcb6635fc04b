"""Asks the system to forget what it keeps in memory of some files: evict.py, with their names on standard input, one a line."""
import os
import sys

for name in sys.stdin.read().splitlines():
    file = os.open(name, os.O_RDONLY)
    try:
        os.fsync(file)  # what is not on the disk yet cannot be forgotten
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)
