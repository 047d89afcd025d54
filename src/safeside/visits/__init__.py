"""The data model, readers and checks; counting people per target on any engine."""
