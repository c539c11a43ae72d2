# actors/substrate_writer.cpp: a batch is answered before its COMMIT
s/^\( *\)tx->commit();/\1for (auto\& op : ran)\n\1  op->answer();\n&/
