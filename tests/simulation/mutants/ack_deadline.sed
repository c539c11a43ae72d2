# substrate/claims.cpp: an ack counts after its claim's deadline, too
s/ AND claimed = 1 AND at > ?3 AND dedupe_key IS NULL/ AND claimed = 1 AND ?3 > 0 AND dedupe_key IS NULL/
