"""Formula documentation: what is said about each release, and what spans them."""
