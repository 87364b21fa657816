"""Triple types, strata, the generalisation protocols, cardinality settings and Entity Noising."""
