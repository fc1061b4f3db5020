"""Derives a feed's interval, archive policy and schedule from its subscribers; a feed without any rests."""
