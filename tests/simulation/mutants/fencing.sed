# substrate/schedules.cpp: a tick does not ask whether it still leads
s/if (!leases::holds(tx, leadership))/if (false)/
