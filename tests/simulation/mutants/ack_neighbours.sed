# substrate/claims.cpp: neighbours are acked without a look at their claims
s/if (held.integer(0) != count)/if (held.integer(0) < 0)/
