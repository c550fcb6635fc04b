// How many tiles and bytes is this area now? One range per column and zoom, summed by the reduce.
(function (doc) {
  if (doc.type !== 'tile' || !doc.current) return
  var image = doc._attachments && doc._attachments.tile
  if (image) emit([doc.layer, doc.z, doc.x, doc.y], image.length)
})
