dist_doc_DATA =
