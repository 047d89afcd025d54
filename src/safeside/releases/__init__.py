"""Publishing: artefacts, signing, verifying."""
