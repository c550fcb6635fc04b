// What does this layer hold, zoom by zoom? _stats works on each number of an array by itself: one reduce answers
// counts, bytes, first and last time, and the box of columns and rows.
(function (doc) {
  if (doc.type !== 'tile') return
  var image = doc._attachments && doc._attachments.tile
  var seconds = Date.parse(doc.time) / 1000
  // of a store without validation: one value that is no number, and the reduce answers nothing at all
  if (!isFinite(seconds) || typeof doc.x !== 'number' || typeof doc.y !== 'number') return
  var kind = !image ? 'gone' : doc.current ? 'current' : 'past'
  emit([doc.layer, doc.z, kind], [image ? image.length : 0, seconds, doc.x, doc.y])
})
