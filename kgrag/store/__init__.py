"""The door to the database. `kgrag.store.graph` opens it, and docs/architecture.md says what it offers ("The store's face")."""
