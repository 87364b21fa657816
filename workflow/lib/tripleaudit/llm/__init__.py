"""Language models behind endpoints: client, store, budget, conversations and readers."""
