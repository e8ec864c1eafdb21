"""Optimizers, schedules of learning rates, moving averages and loss scaling."""
