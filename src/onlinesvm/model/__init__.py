"""What every estimator shares: learning and scoring, parameters, tasks, its state."""
