"""What a person does: subscribes, sorts, reads, searches, marks."""
