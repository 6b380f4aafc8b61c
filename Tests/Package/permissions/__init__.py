"""Who may what with a database of the service; run by Tests/Package/rights."""
