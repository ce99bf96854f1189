"""What sessions bring with them: recorded traces, read from CSV."""
