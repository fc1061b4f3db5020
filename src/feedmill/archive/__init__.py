"""What is kept as bytes: raw bodies and images. In: bytes and a key. Out: the same bytes, until retention ends."""
