"""Encoders, decoders, and their composition."""
