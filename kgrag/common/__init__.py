"""Small things that several rooms share: progress, waiting for what is away, the wall time of stages, the user's folders."""
