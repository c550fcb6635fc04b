// What does this layer hold, zoom by zoom? _stats works on each number of an array by itself: one reduce answers
// counts, bytes, first and last time, and the box of columns and rows.
(function (doc) {
  if (doc.type !== 'tile') return
  var image = doc._attachments && doc._attachments.tile
  var kind = !image ? 'gone' : doc.current ? 'current' : 'past'
  emit([doc.layer, doc.z, kind], [image ? image.length : 0, Date.parse(doc.time) / 1000, doc.x, doc.y])
})
