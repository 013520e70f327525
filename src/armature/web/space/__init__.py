"""What is seen in space: shapes of links, figures of a robot with handles, and the camera."""
