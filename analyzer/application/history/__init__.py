"""Which commits between two revisions changed a formula."""
