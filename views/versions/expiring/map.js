// Which tiles carry an expiry of their own, and which come first?
(function (doc) {
  if (doc.type === 'tile' && doc.current && doc.expires) emit([doc.expires, doc.layer], null)
})
