"""What a study still takes, before it runs: requests and money of language models, hours of trainings."""
