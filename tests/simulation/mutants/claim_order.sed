# substrate/claims.cpp: of one priority the latest job is claimed first
s/ ORDER BY at, id LIMIT ?4/ ORDER BY at DESC, id LIMIT ?4/
