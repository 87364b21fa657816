"""Systems without training: stored outputs, programs, services, classes, language models."""
