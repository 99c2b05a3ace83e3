"""How is it computed fast? Compiled functions on arrays only; nothing here knows of files or frames."""
