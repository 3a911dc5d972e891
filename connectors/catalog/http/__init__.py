"""The catalog's REST API: thin routes over the store and the questions, and the server."""
