"""TF operations lowered to the IR: one family a file, one-to-one operations as rows of a table."""
