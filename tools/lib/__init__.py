"""What several of the course's tools share."""
