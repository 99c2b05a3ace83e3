"""Which pairs should be asked about, of whom, and how many answers decide? Plans, and the draw (MATHS §16)."""
