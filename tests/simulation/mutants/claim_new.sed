# actors/standing_claims.cpp: a new job is claimed past others that are due
s/ && e.dry && !e.look && room(e) > 0/ \&\& room(e) > 0/
