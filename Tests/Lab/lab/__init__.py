"""The lab, seen from the host: boots machines, performs scenarios in them, checks what they left, reports."""
