"""The command line: parse, call one function, print. No privacy logic lives here."""
