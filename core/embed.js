// Tells whether an address asks for the viewer as a map in a frame of another page (`?embed`). Such a viewer shows only
// the map, so that the other page cannot trick visitors into pressing its buttons. The gateway and the page use this.

/** @param {string} search of an address, with its question mark */
export const isEmbedded = search => new URLSearchParams(search).has('embed')
