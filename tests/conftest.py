"""Settings of every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A test never fails for being slow: deadlines and health checks would time the machine.
settings.register_profile(
    "repository", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repository")
