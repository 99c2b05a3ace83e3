"""schnabel16, "Recommendations as Treatments": estimation under selection in a world whose truth is known."""
