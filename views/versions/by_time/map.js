// When did anything in this layer change, how many tiles, how many bytes?
(function (doc) {
  if (doc.type !== 'tile') return
  var image = doc._attachments && doc._attachments.tile
  emit([doc.layer, doc.time, doc.z], image ? image.length : 0)
})
