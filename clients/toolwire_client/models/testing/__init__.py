"""Scripted, recorded and faulty models for tests."""
