// Which tiles expire by the ttl of their layer, and which come first?
(function (doc) {
  function isTime (text) {
    if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
    var date = new Date(text)
    return !isNaN(date.getTime()) && date.toISOString().slice(0, 19) + 'Z' === text
  }

  if (doc.type === 'tile' && doc.current && isTime(doc.stored) && !isTime(doc.expires)) {
    emit([doc.layer, doc.stored], null)
  }
})
