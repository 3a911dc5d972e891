"""What differs between the platforms whose logs are read: one file a platform, as data; `index` lists them."""
