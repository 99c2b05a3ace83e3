"""The experiments of five papers, run again by public names of unskew only."""
