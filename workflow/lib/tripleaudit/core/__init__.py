"""Infrastructure: files, errors, settings, plugins, devices, locks, memory and progress."""
