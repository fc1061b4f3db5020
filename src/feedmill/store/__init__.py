"""Reads and writes the database: values in, one atomic batch or typed values out."""
