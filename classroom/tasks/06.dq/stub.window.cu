// Your class, in about 14 lines: a query does not see keys that are WINDOW or more away.
