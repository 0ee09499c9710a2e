"""The stages of a build, one file each: what is missing, do that, write it with its ledger entries."""
