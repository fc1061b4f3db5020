"""Texts in each language: message catalogues, dates and the explanations of reason codes."""
