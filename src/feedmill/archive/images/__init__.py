"""Downloads the images of entries and stores them."""
