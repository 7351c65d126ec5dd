"""The one loop, schedules, and run folders."""
