"""The interior-point solver: barrier, elastic mode, homotopy, Newton's system by the Riccati
recursion."""
