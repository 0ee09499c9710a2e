"""The jobs, one file each with its wiring on one screen: build, ask, resolve, communities, estimate, status."""
