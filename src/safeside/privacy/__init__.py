"""The definitions: policies, relations on records, guarantees, composition, risk."""
