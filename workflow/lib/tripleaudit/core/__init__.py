"""The machine under a job: devices, locks, memory, storage and progress; nothing here can alter
a result.
"""
