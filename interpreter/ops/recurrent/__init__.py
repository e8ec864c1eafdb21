"""Recurrent networks: RNN, LSTM and SVDF, each in every type that it has."""
