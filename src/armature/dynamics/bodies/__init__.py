"""Mechanisms of single bodies, couplings and force elements, by Gauss's principle (V1)."""
