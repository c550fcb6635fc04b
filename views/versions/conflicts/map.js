// Which documents have several leaves after replication between masters? The value names the losing revisions.
(function (doc) {
  if (doc._conflicts) emit([doc.layer || null, doc.type || null], doc._conflicts)
})
