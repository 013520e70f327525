"""What is asked of the solver and what it answers: models, problems, stages, results."""
