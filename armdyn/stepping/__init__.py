"""Steps of a simulation: programs, torques, and the way from row to row by each integrator."""
