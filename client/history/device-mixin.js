// What a history layer does when some of it is on the device, as a Leaflet mixin (`includes`).

export const deviceMixin = /** @type {ThisType<any>} */ ({
  /** How far up an image is looked for where a tile has none. */
  _ancestry () {
    const { overzoom } = this.options
    return { overzoom: Math.max(overzoom, this._source.limits?.enlarged ?? 0), minzoom: this._doc?.minzoom ?? 0 }
  },

  /** Tiles came to the device, became others there, or left it. */
  async _onDeviceChanged () {
    const { _source: source, _scene: scene, options: { layer, offline } } = this
    await this._loader.look()
    scene.retry()
    const extent = await offline.device.extent(layer)
    if (extent && !(this._extent?.first <= extent.first && this._extent?.last >= extent.last)) this._readExtent()
    const items = [...scene.items].filter(({ picture, shown }) => picture && shown)
    const held = await source.holds(layer, items.map(({ picture }) => picture.version))
    items.forEach((item, at) => item.view.note(held[at] || (Boolean(offline.browse) && item.isNear)))
  }
})
