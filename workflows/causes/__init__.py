"""The causes of what is wrong, asked of a catalog's file and written for people."""
