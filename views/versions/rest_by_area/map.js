// What is in this area beside the images of now: of the past, and versions that say that there is none?
(function (doc) {
  if (doc.type !== 'tile') return
  var image = doc._attachments && doc._attachments.tile
  if (doc.current && image) return
  emit([doc.layer, doc.z, image ? 'past' : doc.current ? 'gone' : 'past gone', doc.x, doc.y], image ? image.length : 0)
})
