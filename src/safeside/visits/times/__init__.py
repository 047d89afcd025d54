"""When: `window` is what a question is about, `clocks` is how a column tells the time."""
