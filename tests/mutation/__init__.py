"""Plants faults in central modules, one at a time, and runs the quick tests about each: see
README.md.
"""
