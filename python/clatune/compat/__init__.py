"""Interfaces of other tuners, served by clatune."""
