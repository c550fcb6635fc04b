// Which style did this layer have at a time? The row of the layer itself comes first: before any style, it has the
// default one. After the styles: the layer again, and its editions.
(function (doc) {
  if (doc.type === 'layer') {
    emit([doc.layer, ''], null)
    emit([doc.layer, {}, ''], null)
  } else if (doc.type === 'style') emit([doc.layer, doc.time], null)
  else if (doc.type === 'edition') emit([doc.layer, {}, doc.time], null)
})
