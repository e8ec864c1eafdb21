"""Custom operators that come with flatlite; a class registered under the same name goes first."""
