"""A stand-in for CUDA where steps are captured and replayed: no GPU is needed to see what a
graph would keep.
"""

import torch

from tripleaudit.training.step import CapturedStep


class Generator:
    """A GPU's random numbers: a capture that fails leaves them unusable, as PyTorch's do."""

    def __init__(self, usable=True):
        self.usable = usable

    def clone_state(self):
        return Generator(self.usable)

    def graphsafe_set_state(self, other):
        self.usable = other.usable


def pretend(monkeypatch) -> Generator:
    """Make up what a step asks of CUDA around a capture; returns the device's random numbers."""
    generator = Generator()
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "default_generators", (generator,))
    return generator


class Replayed:
    """A stand-in for a CUDA graph: what was run while it was captured runs at each replay, on
    the same buffers.
    """

    capturing = None

    def capture_begin(self, **options):
        Replayed.capturing = self

    def capture_end(self):
        Replayed.capturing = None


class ReplayedStep(CapturedStep):
    """What a graph would keep of a step: no number of the host's changes it afterwards."""

    def _run(self, batch, share, last):
        if Replayed.capturing is None:
            assert all(each.usable for each in torch.cuda.default_generators)
            super()._run(batch, share, last)
            return
        own = super()._run

        def replay():
            step, self.model.step = self.model.step, None
            own(batch, share, last)
            self.model.step = step

        Replayed.capturing.replay = replay
