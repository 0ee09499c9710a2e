"""Small things that several rooms share: progress, waiting for what is away and for asynchronous work, the wall time of stages."""
