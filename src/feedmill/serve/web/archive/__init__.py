"""Raw bodies, images and storage usage of feeds; reparsing."""
