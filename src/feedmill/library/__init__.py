"""What users and administrators do, by noun: rights and limits are checked here."""
