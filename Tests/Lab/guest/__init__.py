"""What runs inside the lab's machine: its first process, and the session that performs a scenario."""
