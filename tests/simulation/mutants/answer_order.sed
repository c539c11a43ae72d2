# actors/substrate_writer.cpp: a batch is answered before its COMMIT
s/^\( *\)tx_->commit();/\1for (auto\& op : ran_)\n\1  op->answer();\n&/
