"""The IR: what a serQ program is. Types, JSON form, validation, and the way from the kernel tree. Knows no text."""
