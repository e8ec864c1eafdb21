"""The commands of `flatlite`, a module each: SUMMARY, add_arguments and execute."""
