"""Tests of replay and study."""
