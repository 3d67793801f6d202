"""The parts that streams stand on, started on this machine: for development, tests and demos."""
