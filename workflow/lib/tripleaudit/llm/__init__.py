"""Language models behind endpoints: client, store of answers and spending, conversations,
reading of answers.
"""
