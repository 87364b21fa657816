"""The five GREScores (TS, US, FS, GS, CS) and the length statistics."""
