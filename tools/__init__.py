"""What the command line shows of models: contents, results, differences, times."""
