// Which versions does this tile, or every tile of this part of the map, have? One range per column of a view.
(function (doc) {
  if (doc.type !== 'tile') return
  var image = doc._attachments && doc._attachments.tile
  emit([doc.layer, doc.z, doc.x, doc.y, doc.time], {
    rev: doc._rev,
    bytes: image ? image.length : 0,
    expires: doc.expires || null,
    gone: !image,
    digest: image && image.digest ? image.digest.slice(4) : null // md5 of the bytes in base64
  })
})
