"""Mutation testing of the rule sets; see README.md here."""
