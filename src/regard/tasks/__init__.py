"""What is learned: one file for each task, and what the rest of the program asks of it."""
