"""Stores behind a network: a real S3 service and a web server, both on the loopback."""
