"""Headsets for the lab: firmware in Python that speaks over Bluetooth what the real ones speak.

`python -m headsets DESCRIPTION` (with Tests/Lab in PYTHONPATH) owns /dev/vhci and serves all headsets of a description; see
`headsets.description` for its form, `headsets.control` for the commands, `headsets.journal` for what is logged.
"""
