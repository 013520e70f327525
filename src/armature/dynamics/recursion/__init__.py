"""Trees of bodies as plain functions on any number type: sweeps, kinematics, masses, energies,
three routes to the accelerations."""
