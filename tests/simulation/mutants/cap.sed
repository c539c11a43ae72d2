# substrate/schedules.cpp: a tick fires all that was missed, not 64 of it
s/i < std::min(count, catch_up_cap)/i < count/
