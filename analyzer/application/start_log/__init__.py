"""From the lines of a server log to what one start of the server says."""
