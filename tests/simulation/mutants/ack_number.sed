# substrate/claims.cpp: an ack counts for a later claim than its own, too
s/DELETE FROM alkstore_jobs WHERE id = ?1 AND claim_number = ?2/DELETE FROM alkstore_jobs WHERE id = ?1 AND claim_number >= ?2/
