"""What a scenario left behind, checked from outside: the database against what the headsets' journals tell."""
