"""Texts for people: messages (a code with parameters), a catalogue for each language, numbers, dates, durations.

`catalogue`, `english` and `messages` import nothing of weight, so that every command can use them. `translator` and
`dates` use Babel and are for pages.
"""
