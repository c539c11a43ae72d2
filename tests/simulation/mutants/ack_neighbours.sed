# substrate/claims.cpp: neighbours are acked without a look at their claims
s/if (held.integer(0) != static_cast<int64_t>(count))/if (held.integer(0) < 0)/
