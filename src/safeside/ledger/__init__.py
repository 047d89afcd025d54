"""What was spent: events, budget arithmetic, stores; reserve, draw, commit."""
