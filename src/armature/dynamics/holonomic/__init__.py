"""Holonomic constraints on robots (Z5): closed loops, constraints of any form, linearised equations
(Z7)."""
