"""The command line: one command, one file per verb; each verb is one library call. Heavy imports
stay inside the verbs."""

from armature.surface import attach

attach(__name__)
